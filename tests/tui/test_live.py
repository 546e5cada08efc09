"""The dashboard over a real poller and a real server that is frozen, killed and started again."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from typing import Final, cast

import pytest
from textual.pilot import Pilot

from qmon.demo.embedded_server import EmbeddedServer
from qmon.model.view import View
from qmon.monitor.open import open_poller
from qmon.monitor.state.target_history import TargetHistory
from qmon.tui.app import QmonApp
from qmon.tui.shared.header import HeaderText
from qmon.tui.themes import DARK, LIGHT
from qmon.tui.watched_target import DashboardTarget
from qmon.tui.widgets.lines import Lines
from tests.contract.watching import ROOMY, installed, target_of
from tests.tui.live import header, until

pytestmark = pytest.mark.server

FROZEN_S: Final = 20.0


@pytest.fixture
def own_server() -> Iterator[EmbeddedServer]:
    """Start a server that this test may damage."""
    with EmbeddedServer() as server:
        yield server


def oldest_on_screen(app: QmonApp) -> float:
    """Return the greatest age in seconds that any panel shows, without the plots' own times."""
    written = "\n".join("\n".join(lines.plain_lines) for lines in app.screen.query(Lines) if lines.id != "plot")
    return max(float(age) for age in re.findall(HeaderText.AGO.render(age=r"(\d+(?:\.\d+)?) s"), written))


async def answers_while_frozen(pilot: Pilot[None], server: EmbeddedServer) -> None:
    """For 20 s every key works, and the figures on screen show their growing age."""
    app = cast(QmonApp, pilot.app)
    ages = [oldest_on_screen(app)]
    end = time.monotonic() + FROZEN_S
    while time.monotonic() < end:
        other = LIGHT if app.theme == DARK else DARK
        await pilot.press("t", *other, "enter")
        assert app.theme == other
        await pilot.pause(0.5)
        assert HeaderText.LIVE not in header(app)
        ages.append(oldest_on_screen(app))
    assert server.is_running
    assert ages == sorted(ages)
    assert ages[-1] > ages[0] + 5


async def test_a_server_that_hangs_dies_and_comes_back(own_server: EmbeddedServer) -> None:
    installed(own_server.url(), "status", "ring")
    poller = open_poller(target_of(own_server.url()), interval_s=0.5, budget=ROOMY)
    history, views = TargetHistory(), list[View]()

    def fold(snapshot: object) -> View:
        views.append(history.record_snapshot(snapshot))  # type: ignore[arg-type]
        return views[-1]

    app = QmonApp(DashboardTarget(poller, fold), plain=False)
    try:
        async with app.run_test(size=(120, 40)) as pilot:
            await until(pilot, lambda: HeaderText.LIVE in header(app) and len(views) > 2, "live at first")
            own_server.freeze()
            await until(pilot, lambda: HeaderText.LIVE not in header(app), "a frozen server is noticed")
            assert app.theme == DARK
            await pilot.press("t", "down", "enter", "down", "enter")
            assert app.theme != DARK  # keys answer while the poll hangs
            assert app.current_mode == "queue"
            await answers_while_frozen(pilot, own_server)
            own_server.thaw()
            await until(pilot, lambda: HeaderText.LIVE in header(app), "live again after the freeze")
            await pilot.press("escape")
            own_server.kill()
            await until(pilot, lambda: HeaderText.LOST in header(app), "a dead server is noticed")
            own_server.start()
            seen = len(views)
            await until(
                pilot, lambda: HeaderText.LIVE in header(app) and len(views) > seen + 2, "live again after a restart"
            )
    finally:
        poller.close()
    rates = [f.value for v in views for q in v.queues for f in (q.push_rate, q.pop_rate, q.complete_rate)]
    assert all(rate is None or rate == 0 for rate in rates)  # nothing was pushed or popped, ever
