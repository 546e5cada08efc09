"""Screens at rest, and the fixture that compares them with saved pictures."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Protocol

from textual.app import App
from textual.pilot import Pilot

from qmon.model.view import View
from qmon.tui.app import QmonApp
from qmon.tui.past_reader import KnownPast
from qmon.tui.watched_target import DashboardTarget
from tests.tui.scripted import TAKEN_AT, Clock, Scripted, view

SIZES = [(80, 24), (120, 40), (200, 50)]
Steps = Callable[[Pilot[None]], Awaitable[None]]


class Compare(Protocol):
    """The fixture of pytest-textual-snapshot."""

    def __call__(self, app: App[None], *, terminal_size: tuple[int, int], run_before: Steps) -> bool:
        """Return whether the picture is unchanged."""
        ...


class Shot:
    """An app at rest, and the keys that lead to a picture."""

    def __init__(
        self,
        *keys: str,
        found: View | None = None,
        dark: bool = True,
        plain: bool = False,
        known: KnownPast | None = None,
        served: str = "",
    ) -> None:
        self.source = Scripted()
        self.found = found or view()
        self.clock = Clock()
        self.app = QmonApp(
            DashboardTarget(self.source, self.source.fold, prod=True, read_only=True, past=known or KnownPast()),
            clock=self.clock,
            dark=dark,
            plain=plain,
            served=served,
        )
        self.keys = keys

    async def ready(self, pilot: Pilot[None]) -> None:
        """Give figures, then press the keys."""
        await pilot.pause()
        self.source.give(self.found)
        for _ in range(3):
            await pilot.pause()
        for key in self.keys:
            await pilot.press(key)
            for _ in range(3):
                await pilot.pause()

    async def at(self, pilot: Pilot[None], seconds: float) -> None:
        """Set the clock to this number of seconds after the figures."""
        self.clock.now = TAKEN_AT + seconds
        self.app.tick()
        for _ in range(3):
            await pilot.pause()
