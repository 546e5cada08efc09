"""The dashboard over a real poller and a real server that is frozen, killed and started again."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import pytest
from textual.pilot import Pilot

from qmon.demo.server import EmbeddedServer
from qmon.model.view import View
from qmon.monitor.history import History
from qmon.monitor.watch import open_poller
from qmon.tui.app import QmonApp
from qmon.tui.themes import DARK
from qmon.tui.widgets.lines import Lines
from tests.contract.watching import installed, target_of


@pytest.fixture
def own_server() -> Iterator[EmbeddedServer]:
    """A server that this test may hurt."""
    with EmbeddedServer() as server:
        yield server


def header(app: QmonApp) -> str:
    """What the header says."""
    return "\n".join(app.screen.query_one("#header", Lines).written)


async def until(pilot: Pilot[None], ask: Callable[[], bool], what: str, seconds: float = 60.0) -> None:
    """Let the app go on until ``ask`` is true."""
    deadline = time.monotonic() + seconds
    while not ask():
        assert time.monotonic() < deadline, f"not within {seconds} s: {what}; the header says {header(pilot.app)!r}"  # type: ignore[arg-type]
        await pilot.pause(0.05)


async def test_a_server_that_hangs_dies_and_comes_back(own_server: EmbeddedServer) -> None:
    installed(own_server.url(), "status", "ring")
    poller = open_poller(target_of(own_server.url()), interval_s=0.5)
    history, views = History(), list[View]()

    def fold(snapshot: object) -> View:
        views.append(history.add(snapshot))  # type: ignore[arg-type]
        return views[-1]

    app = QmonApp(poller, fold, plain=False)
    try:
        async with app.run_test(size=(120, 40)) as pilot:
            await until(pilot, lambda: "● live" in header(app) and len(views) > 2, "live at first")
            own_server.freeze()
            await until(pilot, lambda: "● live" not in header(app), "a frozen server is noticed")
            assert app.theme == DARK
            await pilot.press("t", "down", "enter")
            assert app.theme != DARK  # keys answer while the poll hangs
            assert app.current_mode == "queue"
            own_server.thaw()
            await until(pilot, lambda: "● live" in header(app), "live again after the frost")
            await pilot.press("escape")
            own_server.kill()
            await until(pilot, lambda: "✕ lost" in header(app), "a dead server is noticed")
            own_server.start()
            seen = len(views)
            await until(pilot, lambda: "● live" in header(app) and len(views) > seen + 2, "live again after a restart")
    finally:
        poller.close()
    rates = [f.value for v in views for q in v.queues for f in (q.push_rate, q.pop_rate, q.complete_rate)]
    assert all(rate is None or rate == 0 for rate in rates)  # nothing was pushed or popped, ever
