"""The app over the scripted source, driven by a pilot: the harness of all tests of screens."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

from textual.pilot import Pilot

from qmon.config.preferences import Preferences
from qmon.model.view import View
from qmon.monitor.alerting import Alerting
from qmon.monitor.source import Phase
from qmon.tui.action_runner import ActionRunner
from qmon.tui.app import QmonApp
from qmon.tui.past_reader import KnownPast
from qmon.tui.themes import tones
from qmon.tui.watched_target import DashboardTarget
from qmon.tui.widgets.grid import Grid
from qmon.tui.widgets.lines import Lines
from tests.tui.pilot_waits import pilot_until
from tests.tui.scripted import TAKEN_AT, Clock, Scripted, view


@dataclass
class Driver:
    """One running app, its source and its clock."""

    app: QmonApp
    source: Scripted
    clock: Clock
    pilot: Pilot[None]

    async def give(self, given: View | None = None) -> None:
        """Give new figures, and paint them."""
        self.source.give(given or view())
        await self.settle()

    async def settle(self) -> None:
        """Let the app handle its events, lay out, and paint."""
        for _ in range(3):
            await self.pilot.pause()

    async def say(self, phase: Phase, reason: str = "", *, retry_at: float | None = None, at: float = 1.0) -> None:
        """Give a change of phase, ``at`` seconds after the first figures."""
        self.source.say(phase, reason, retry_at=retry_at, at=TAKEN_AT + at)
        await self.pilot.pause()

    async def wait(self, now: float) -> None:
        """Set the clock to ``now`` seconds after the first figures, and update the screen."""
        self.clock.now = TAKEN_AT + now
        self.app.tick()
        await self.settle()

    async def press(self, *keys: str) -> None:
        """Press keys one after the other."""
        for key in keys:
            await self.pilot.press(key)
            await self.settle()

    async def resize(self, cells: int, rows: int) -> None:
        """Give the terminal another size."""
        await self.pilot.resize_terminal(cells, rows)
        await self.settle()

    async def until(self, ask: Callable[[], object], what: str = "") -> None:
        """Let the app go on until ``ask`` is true."""
        await pilot_until(self.pilot, ask, lambda: f"{what}\n{self.text()}")
        await self.settle()

    def said(self) -> str:
        """Return the notifications that are still on screen."""
        return "\n".join(str(each.message) for each in self.app._notifications)  # there is no public access to them

    @property
    def grid(self) -> Grid:
        """Return the table of the screen in front."""
        return self.app.screen.query_one(Grid)

    def lines(self, id: str) -> str:
        """Return the text of a panel."""
        return "\n".join(self.app.screen.query_one(f"#{id}", Lines).plain_lines)

    def text(self) -> str:
        """Return the whole painted screen, a line per row."""
        strips = self.app.screen._compositor.render_strips()  # the only way to the painted text, except for the SVG
        return "\n".join(strip.text.rstrip() for strip in strips)

    def is_grey(self, text: str) -> bool:
        """Return whether the painted ``text`` has the colour of figures that are too old."""
        grey = tones(self.app.theme, stale=True)["text"].color
        for strip in self.app.screen._compositor.render_strips():
            for segment in strip:
                if text in segment.text and segment.style is not None:
                    return segment.style.color == grey
        raise AssertionError(f"{text!r} is not on the screen")


@asynccontextmanager
async def dashboard(
    size: tuple[int, int] = (120, 40),
    *,
    prod: bool = True,
    read_only: bool = True,
    plain: bool | None = False,
    runner: ActionRunner | None = None,
    alerting: Callable[[Clock], Alerting] | None = None,
    known: KnownPast | None = None,
    served: str = "",
    preferences: Preferences | None = None,
    first_queue: str = "",
) -> AsyncIterator[Driver]:
    """The app at a size, without figures yet."""
    source, clock = Scripted(), Clock()
    app = QmonApp(
        DashboardTarget(source, source.fold, prod=prod, read_only=read_only, runner=runner, past=known or KnownPast()),
        clock=clock,
        plain=plain,
        alerting=None if alerting is None else alerting(clock),
        served=served,
        preferences=preferences,
    )
    app.first_queue = first_queue
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        yield Driver(app, source, clock, pilot)


def later(seconds: float, *, sequence: int) -> View:
    """Return the same figures, polled ``seconds`` after the first."""
    return replace(view(at=seconds), sequence=sequence)
