"""Screen 4: lock chains with head blockers on top. A key ends the session under the cursor."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from textual import on
from textual.app import ComposeResult

from qmon.model import formatting
from qmon.model.operation_records import OperationResult
from qmon.model.samples.deadlock_samples import BlockedReport
from qmon.model.waits.lock_chains import LockChainLine, LockChains
from qmon.monitor.source import ReadScope
from qmon.texts import Text
from qmon.tui import figures, keys
from qmon.tui.actions.availability import read_only_reason
from qmon.tui.actions.request import ActionRequest, end_session_request
from qmon.tui.blocking import tree
from qmon.tui.sanitize import clean
from qmon.tui.shared.dashboard_screen import DashboardScreen
from qmon.tui.shared.text_dialog import TextDialog
from qmon.tui.shown_state import ShownState
from qmon.tui.spans import Line, cut_line, entry_lines
from qmon.tui.widgets.grid import Grid
from qmon.tui.widgets.lines import Lines


class BlockingScreenText(Text):
    """The texts of the screen and of the details of a session."""

    NO_SESSION = "no session is selected"
    OVER = "no longer waits or blocks; these are its last figures"
    REPORTS = "reported by the server"
    DETAIL_KEYS = "E ends the session · esc closes"


_EMPTY_CHAINS: Final = LockChains()


class BlockingScreen(DashboardScreen):
    """The tree of sessions that wait for locks."""

    NAME = "blocking"
    BINDINGS = keys.BLOCKING

    def __init__(self) -> None:
        super().__init__()
        self._lines_by_key: dict[str, LockChainLine] = {}

    def compose_body(self) -> ComposeResult:
        yield Lines(id="blocking-heading")
        yield Grid(tree.COLUMNS, id="blocking")
        yield Lines(id="session-heading")
        yield Lines(id="session", most=8)
        yield Lines(id="reports-heading")
        yield Lines(id="reports", most=6)

    def draw_figures(self, shown: ShownState, now: float, *, stale: bool) -> None:
        places = tree.filter_sessions(self._chains(shown), self.filter_text)
        self._lines_by_key = dict(zip(tree.row_keys(places), places, strict=True))
        empty = tree.empty_text(shown.view, self.filter_text)
        self.grid.show(tree.rows_for(places), stale=stale, empty=empty)
        self._draw_session(stale=stale)
        blocked = shown.view.server.blocked if shown.view is not None else ()
        self.set_class(bool(blocked), "-reported")
        most = 6 if self.size.height >= 32 else 2
        self.query_one("#reports", Lines).show(
            lambda cells, rows: blocked_report_lines(blocked, cells, min(rows, most)), stale=stale
        )

    def _chains(self, shown: ShownState) -> LockChains:
        return (shown.view.server.blocking if shown.view is not None else None) or _EMPTY_CHAINS

    def _draw_session(self, *, stale: bool) -> None:
        place = self._selected_session()
        self.set_class(place is None, "-nobody")
        self.query_one("#session", Lines).show(lambda cells, rows: tree.panel_lines(place, cells, rows), stale=stale)

    def draw_headings(self, shown: ShownState, now: float) -> None:
        """Draw the titles: waiting sessions, deadlocks, and ages."""
        extra = tree.blocking_summary(self._chains(shown))
        if shown.view is not None:
            rate = shown.view.server.deadlocks.text(formatting.rate)
            extra = " · ".join(part for part in (extra, f"deadlocks/s {rate}") if part)
        self.show_heading("blocking-heading", "blocking", extra)
        place = self._selected_session()
        self.show_heading(
            "session-heading", f"session {tree.session_name(place.key)}" if place is not None else "session"
        )

        found = shown.view.server.blocked if shown.view is not None else ()
        self.show_heading("reports-heading", BlockingScreenText.REPORTS, blocked_reports_summary(found))

    def read_scope(self) -> ReadScope:
        """Return a focus that makes the source read full statements."""
        return ReadScope(blocking=True)

    # ------------------------------------------------------------------------------------------------------- keys

    def _selected_session(self) -> LockChainLine | None:
        """Return the line that lists the session under the cursor in full."""
        place = self._lines_by_key.get(self.grid.cursor or "")
        return self._chains(self.app.shown).find_line(place.key) if place is not None and place.is_repeated else place

    def disabled_reasons(self) -> dict[str, str]:
        """Return why the session under the cursor cannot be ended."""
        why = read_only_reason(self.app.runner, self.app.shown.view)
        if why is None and self._selected_session() is None:
            why = BlockingScreenText.NO_SESSION
        return {"end-session": why} if why is not None else {}

    def request_for(self, action: str) -> ActionRequest | None:
        """Return the request to end the session under the cursor."""
        place = self._selected_session()
        return end_session_request(place.session.session, place.session.started_at) if place is not None else None

    def handle_result(self, result: OperationResult | None) -> None:
        """Poll immediately, to show which sessions wait now."""
        self.app.source.poll_now()

    @on(Grid.Opened)
    def _open_row(self, message: Grid.Opened) -> None:

        place = self._selected_session()
        if place is None:
            return
        session = place.session

        def end_if_chosen(end: bool | None) -> None:  # the cursor may have moved to another session
            why = read_only_reason(self.app.runner, self.app.shown.view)
            if end and why is not None:
                self.app.notify_briefly(why)
            elif end:
                self.open_action_dialog(end_session_request(session.session, session.started_at))

        self.app.push_screen(SessionDetails(lambda: self._newest_version(place), place), end_if_chosen)

    def _newest_version(self, place: LockChainLine) -> LockChainLine | None:
        """Return the same session in its newest state, or ``None`` if it neither waits nor blocks any more."""
        now = self._chains(self.app.shown).find_line(place.key)
        return now if now is not None and now.session.started_at == place.session.started_at else None

    @on(Grid.Selected)
    def _cursor_moved(self) -> None:
        self._draw_session(stale=self.is_stale)
        self._draw_frame(self.app.shown, self.app.clock())


class SessionDetails(TextDialog):
    """The details of a session. The result is True if the user wants to end the session."""

    BINDINGS = keys.SESSION

    def __init__(self, newest: Callable[[], LockChainLine | None], place: LockChainLine) -> None:
        """``newest``: returns the session in its newest state, or ``None`` if it neither waits nor blocks any more."""

        def render_details(cells: int) -> list[Line]:
            now = newest()
            over = [] if now is not None else entry_lines("over", BlockingScreenText.OVER, cells)
            return [*over, *tree.detail_lines(now or place, cells)]

        super().__init__(render_details, BlockingScreenText.DETAIL_KEYS)


class BlockedReportText(Text):
    """The texts about the reports."""

    THE_LAST = "the last {count}"
    WAITED = "waited {duration} for"


def blocked_reports_summary(reports: Sequence[BlockedReport]) -> str:
    """Return the text for the panel's title."""
    return BlockedReportText.THE_LAST.render(count=len(reports)) if len(reports) > 1 else ""


def blocked_report_lines(reports: Sequence[BlockedReport], cells: int, rows: int) -> list[Line]:
    """Return the panel in at most ``rows`` lines."""
    out: list[Line] = []
    for report in reports:
        when = figures.moment_text(report.at, seconds=True)
        who = f"session {report.session}{_application_suffix(report.application)}"
        whom = f"session {report.blocker}{_application_suffix(report.blocker_application)}"
        out.append(
            cut_line(
                (
                    (f" {when} ", "muted"),
                    (who, "strong"),
                    (f" {BlockedReportText.WAITED.render(duration=formatting.duration(report.waited_s))} ", "text"),
                    (whom, "strong"),
                    (f", {clean(report.blocker_state)}" if report.blocker_state else "", "accent"),
                ),
                cells,
            )
        )
        said = " ".join(report.statement.split()), " ".join(report.blocker_statement.split())
        told = f"{clean(said[0])} · {clean(said[1])}" if said[1] else clean(said[0])
        if told:
            out.append(cut_line(((f" {told}", "muted"),), cells))
    return out[:rows]


def _application_suffix(application: str) -> str:
    return f" ({clean(application)})" if application else ""
