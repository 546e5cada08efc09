"""Screen 4: lock chains with head blockers on top. A key ends the session under the cursor."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from textual import on
from textual.app import ComposeResult

from qmon.model import text
from qmon.model.operations import OperationResult
from qmon.model.waits.blocking import Forest, ForestLine
from qmon.monitor.source import Focus
from qmon.tui import keys
from qmon.tui.actions.availability import why_nothing
from qmon.tui.actions.request import ActionRequest, end_session
from qmon.tui.blocking import reports, tree
from qmon.tui.shared.reading import TextDialog
from qmon.tui.shared.screen import DashboardScreen
from qmon.tui.spans import Line, entry
from qmon.tui.status import Shown
from qmon.tui.widgets.grid import Grid
from qmon.tui.widgets.lines import Lines

_NOBODY: Final = Forest()


class BlockingScreen(DashboardScreen):
    """The tree of sessions that wait for locks."""

    NAME = "blocking"
    BINDINGS = keys.BLOCKING

    def __init__(self) -> None:
        super().__init__()
        self._places: dict[str, ForestLine] = {}

    def body(self) -> ComposeResult:
        yield Lines(id="blocking-heading")
        yield Grid(tree.COLUMNS, id="blocking")
        yield Lines(id="session-heading")
        yield Lines(id="session", most=8)
        yield Lines(id="reports-heading")
        yield Lines(id="reports", most=6)

    def draw(self, shown: Shown, now: float, *, stale: bool) -> None:
        places = tree.kept(self._forest(shown), self.filter_text)
        self._places = dict(zip(tree.keys(places), places, strict=True))
        empty = tree.nothing(shown.view, self.filter_text)
        self.grid.show(tree.rows(places), stale=stale, empty=empty)
        self._draw_session(stale=stale)
        blocked = shown.view.server.blocked if shown.view is not None else ()
        self.set_class(bool(blocked), "-reported")
        most = 6 if self.size.height >= 32 else 2
        self.query_one("#reports", Lines).show(
            lambda cells, rows: reports.lines(blocked, cells, min(rows, most)), stale=stale
        )

    def _forest(self, shown: Shown) -> Forest:
        return (shown.view.server.blocking if shown.view is not None else None) or _NOBODY

    def _draw_session(self, *, stale: bool) -> None:
        place = self._selected()
        self.set_class(place is None, "-nobody")
        self.query_one("#session", Lines).show(lambda cells, rows: tree.lines(place, cells, rows), stale=stale)

    def draw_ages(self, shown: Shown, now: float) -> None:
        """Draw the titles: waiting sessions, deadlocks, and ages."""
        extra = tree.summary(self._forest(shown))
        if shown.view is not None:
            rate = shown.view.server.deadlocks.text(text.rate)
            extra = " · ".join(part for part in (extra, f"deadlocks/s {rate}") if part)
        self.show_heading("blocking-heading", "blocking", extra)
        place = self._selected()
        self.show_heading("session-heading", f"session {tree.name(place.key)}" if place is not None else "session")

        found = shown.view.server.blocked if shown.view is not None else ()
        self.show_heading("reports-heading", "reported by the server", reports.summary(found))

    def focus_wanted(self) -> Focus:
        """Return a focus that reads full statements."""
        return Focus(blocking=True)

    # ----------------------------------------------------------------------------------------------- what keys do

    def _selected(self) -> ForestLine | None:
        """Return the session under the cursor, at its full place in the tree."""
        place = self._places.get(self.grid.cursor or "")
        return self._forest(self.app.shown).find(place.key) if place is not None and place.again else place

    def unavailable(self) -> dict[str, str]:
        """Return why the session under the cursor cannot be ended."""
        why = why_nothing(self.app.runner, self.app.shown.view)
        if why is None and self._selected() is None:
            why = "no session is chosen"
        return {"end-session": why} if why is not None else {}

    def request(self, action: str) -> ActionRequest | None:
        """Return the request to end the session under the cursor."""
        place = self._selected()
        return end_session(place.session.session, place.session.started_at) if place is not None else None

    def acted(self, result: OperationResult | None) -> None:
        """Poll immediately, to see who waits now."""
        self.app.source.poll_now()

    @on(Grid.Opened)
    def _opened(self, message: Grid.Opened) -> None:

        place = self._selected()
        if place is None:
            return
        session = place.session

        def then(end: bool | None) -> None:  # the cursor may be on another session by now
            why = why_nothing(self.app.runner, self.app.shown.view)
            if end and why is not None:
                self.app.say(why)
            elif end:
                self.plan(end_session(session.session, session.started_at))

        self.app.push_screen(SessionDetails(lambda: self._newest(place), place), then)

    def _newest(self, place: ForestLine) -> ForestLine | None:
        """Return the same session as it is now, ``None`` if it neither waits nor blocks any more."""
        now = self._forest(self.app.shown).find(place.key)
        return now if now is not None and now.session.started_at == place.session.started_at else None

    @on(Grid.Selected)
    def _cursor_moved(self) -> None:
        self._draw_session(stale=self.stale)
        self._draw_frame(self.app.shown, self.app.clock())


class SessionDetails(TextDialog):
    """The details of a session. The result is True to end it."""

    BINDINGS = keys.SESSION

    def __init__(self, newest: Callable[[], ForestLine | None], place: ForestLine) -> None:
        """``newest``: returns the session as it is now, ``None`` if it neither waits nor blocks any more."""

        def written(cells: int) -> list[Line]:
            now = newest()
            over = [] if now is not None else entry("over", "it no longer waits or blocks; this was the last", cells)
            return [*over, *tree.details(now or place, cells)]

        super().__init__(written, "E ends it · esc closes")
