"""The tasks of an engineer on call, with the screen alone, counted in keys. Typed text is not counted.

Four more are in the tests of their screens: why messages failed and requeuing one kind of failure in
``test_failures_live``, who works on what in ``test_consumers_live``, the incident note in ``test_note_live``.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from qmon.operate.actions.redrive import RedriveText
from qmon.operate.actions.requeue import RequeueText
from qmon.tui.actions.action_dialog import DialogStep
from qmon.tui.overview.summary import SummaryText
from qmon.tui.widgets.grid import Grid
from tests.contract.sessions import pid, waiting
from tests.contract.watching import installed
from tests.facts import connected, query
from tests.jobs import fill, states
from tests.tui.driving import dashboard
from tests.tui.events import happened
from tests.tui.histories import read
from tests.tui.live import Real, looking
from tests.tui.scripted import SAMPLED_AT, queue, view


class Counted:
    """A dashboard on a real database, and the number of pressed keys."""

    def __init__(self, real: Real) -> None:
        self.real, self.pressed = real, 0

    async def press(self, *keys: str) -> None:
        """Press keys; each counts."""
        self.pressed += len(keys)
        await self.real.pilot.press(*keys)

    async def confirmed(self) -> None:
        """Confirm the dialog in front, whose focus is on Cancel at first, and wait for its end."""
        await self.real.step(DialogStep.CONFIRM)
        focused = self.real.app.screen.focused
        assert focused is not None
        assert focused.id == "act-close"
        await self.press("left", "enter")
        await self.real.step(DialogStep.ENDED)
        assert "done after" in self.real.text(), self.real.text()

    async def sees(self, *words: str) -> None:
        """Wait until all of it is on the screen."""
        await self.real.until(lambda: all(word in self.real.text() for word in words), f"{words} on the screen")


@asynccontextmanager
async def on_call(url: str, tmp_path: Path, queue: str = "jobs") -> AsyncIterator[Counted]:
    """Run the live dashboard on a table with messages of dead and living owners, ready ones, and ten dead messages."""
    if queue == "jobs":
        fill(url, dead=3, alive=2, ready=4)
        query(
            url, "INSERT INTO public.jobs (status, attempts, payload) SELECT 'dead', 5, n FROM generate_series(1, 10) n"
        )
    async with looking(url, tmp_path, queue=queue, layouts=None if queue == "jobs" else ()) as real:
        yield Counted(real)


async def test_trouble_and_why(database: str, tmp_path: Path) -> None:
    async with on_call(database, tmp_path) as d:
        only = SummaryText.ONLY_QUEUE.render(state=SummaryText.ONE_CRITICAL)
        await d.sees(f"{only}: jobs", "why: jobs no consumers", SummaryText.READY.render(count="4"))
        assert d.pressed == 0


async def test_requeue_what_is_stuck(database: str, tmp_path: Path) -> None:
    async with on_call(database, tmp_path) as d:
        await d.press("r")
        await d.confirmed()
        assert states(database) == {"dead": 10, "ready": 7, "working": 2}
        assert d.pressed <= 3


async def test_pause_and_resume(database: str, tmp_path: Path) -> None:
    installed(database, "status")
    async with on_call(database, tmp_path, "status") as d:
        await d.press("p")
        await d.confirmed()
        assert query(database, "SELECT count(*) FROM qmon.operations WHERE kind = 'pause'") == [(1,)]
        await d.press("p")
        await d.confirmed()
        assert query(database, "SELECT count(*) FROM qmon.operations WHERE kind = 'resume'") == [(1,)]
        assert d.pressed <= 6


async def test_mark_purge_and_undo(database: str, tmp_path: Path) -> None:
    async with on_call(database, tmp_path) as d:
        await d.real.pilot.press("2")  # the list of messages is on the screen
        await d.sees("card 4111-1111 of 1")
        before = query(database, "SELECT * FROM public.jobs ORDER BY id")
        await d.press("space", "x")
        await d.confirmed()
        assert len(query(database, "SELECT * FROM public.jobs")) == len(before) - 1
        await d.press("u")
        await d.confirmed()
        assert query(database, "SELECT * FROM public.jobs ORDER BY id") == before
        assert d.pressed <= 7


async def test_find_and_end_the_blocker(database: str, tmp_path: Path) -> None:
    async with on_call(database, tmp_path) as d:
        with connected(database, autocommit=False) as blocker:
            blocker.execute("LOCK TABLE public.jobs IN ACCESS EXCLUSIVE MODE")
            session = pid(blocker)
            with waiting(database, "UPDATE public.jobs SET attempts = 0"):
                await d.sees("blocked 1")
                await d.press("E")
                await d.real.step(DialogStep.CONFIRM)
                assert f" {session}" in d.real.text()
                await d.confirmed()
            assert query(database, f"SELECT 1 FROM pg_stat_activity WHERE pid = {session}") == []
        assert d.pressed <= 4


async def test_copy_an_id_and_the_whole_payload_and_help(database: str, tmp_path: Path) -> None:
    async with on_call(database, tmp_path) as d:
        await d.sees("no consumers")
        await d.press("question_mark")
        await d.sees("no consumers", "qmon help in a shell")
        assert d.pressed == 1
        await d.press("escape", "2")
        await d.sees("card 4111-1111 of 1")
        d.pressed = 0
        await d.press("y")
        id = d.real.app.screen.query_one(Grid).cursor
        assert id is not None
        assert d.real.app.clipboard == id
        assert d.pressed == 1
        await d.press("enter")
        await d.sees(f"card 4111-1111 of {id}", "payload  text, 19 B")
        assert d.pressed == 2


async def test_what_was_ten_minutes_ago() -> None:
    async with dashboard() as d:
        assert d.app.memory is not None
        happened(d.app.memory)
        await d.give(view([queue("mails"), queue("orders")]))
        await d.press("5")
        screen = await read(d)
        await d.press("<")
        assert screen.cursor_at == pytest.approx(SAMPLED_AT - 600, abs=1)
        assert "requeue" in d.lines("event") and "depth" in d.lines("values")


async def test_ten_dead_ones_are_redriven(database: str, tmp_path: Path) -> None:
    async with on_call(database, tmp_path) as d:
        await d.press("d")
        await d.sees(RedriveText.TITLE.render(messages="10 dead messages", queue="jobs"))
        await d.confirmed()
        assert states(database) == {"ready": 14, "working": 5}
        assert query(database, "SELECT count(*) FROM public.jobs WHERE status = 'ready' AND attempts = 0") == [(14,)]
        assert d.pressed <= 3


async def test_ten_dead_ones_are_made_ready_again(database: str, tmp_path: Path) -> None:
    async with on_call(database, tmp_path) as d:
        await d.press("r")
        await d.real.step(DialogStep.CONFIRM)
        await d.press("tab", "left")
        await d.sees("‹dead messages›", RequeueText.TITLE.render(messages="10 dead messages", queue="jobs"))
        await d.press("shift+tab")
        await d.confirmed()
        assert states(database) == {"ready": 14, "working": 5}
        assert d.pressed <= 7
