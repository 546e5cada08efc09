"""Why messages failed: the newest failed and retried messages of a queue, grouped by error text."""

from __future__ import annotations

from textual import on
from textual.app import ComposeResult

from qmon.model import formatting
from qmon.model.failures import FailureGroup
from qmon.model.operation_records import Choice, OperationKind, OperationResult
from qmon.model.probe_table import is_probe_of
from qmon.model.view import QueueView
from qmon.monitor.source import ReadScope
from qmon.texts import Text
from qmon.tui import keys
from qmon.tui.actions.availability import ACTIONS
from qmon.tui.actions.request import ActionRequest
from qmon.tui.failures import failure_rows
from qmon.tui.failures.failure_reading import FailureReading
from qmon.tui.message.message_screen import MessageScreen
from qmon.tui.sanitize import clean
from qmon.tui.screen_texts import ScreenText
from qmon.tui.shared.queue_detail import QueueDetailScreen
from qmon.tui.shown_state import ShownState
from qmon.tui.spans import LinePart, entry_lines
from qmon.tui.widgets.filter_bar import filter_items
from qmon.tui.widgets.grid import Grid
from qmon.tui.widgets.lines import Lines


class FailuresText(Text):
    """The texts of the screen, and why its keys are disabled."""

    TITLE = "failed and retried messages by error"
    NEWEST = "newest message of this kind"
    NOT_READ = "the next poll reads the failed messages"
    NONE = "no message has failed"
    NONE_AMONG = "no message has failed among the newest {count} rows"
    ONLY_NEWEST = "only the newest were read"
    NO_FAILURE_SELECTED = "no failure is selected"
    NONE_DEAD = "no message of this kind is dead; consumers retry these messages"
    IN_PROGRESS = "all messages of this kind are in progress"


def _ids_for(kind: OperationKind, group: FailureGroup) -> tuple[str, ...]:
    """Return the messages of a group on which an action acts: dead messages. A purge also takes waiting messages."""
    return group.ids_in("dead", "ready", "scheduled") if kind is OperationKind.PURGE else group.ids_in("dead")


class FailuresScreen(QueueDetailScreen):
    """The failures of one queue. The actions act only on the messages of the group under the cursor."""

    NAME = "failures"
    BINDINGS = keys.FAILURES
    SORT_COLUMNS = failure_rows.SORT_COLUMNS

    def __init__(self, queue: str) -> None:
        super().__init__(queue)
        self.sorted_by = failure_rows.DEFAULT_SORT
        self._reading = FailureReading()

    def compose_body(self) -> ComposeResult:
        yield from super().compose_body()
        yield Lines(id="failures-heading")
        yield Grid(failure_rows.COLUMNS, id="failures")
        yield Lines(id="newest-heading")
        yield Lines(id="newest", most=6)

    # ------------------------------------------------------------------------------------------------------- drawing

    def draw_figures(self, shown: ShownState, now: float, *, stale: bool) -> None:
        queue = self.current_queue()
        if shown.view is not None and queue is not None:
            listing = self._reading.listing
            self._reading.record_view(shown.view, queue)
            if self._reading.listing != listing:
                self.set_read_scope()
            self.draw_title("failures", LinePart.from_text(f"dead {queue.dead.text(formatting.count)}", "text", 1))
        groups = filter_items(self.groups, self.filter_text, failure_rows.searchable_text)
        self.grid.show(
            failure_rows.rows_for(failure_rows.sort_groups(groups, *self.sorted_by)),
            sorted_by=self.sorted_by,
            stale=stale,
            empty=self._empty_text(queue),
        )
        self._draw_newest()

    def _draw_newest(self) -> None:
        """Draw the newest message of the group under the cursor, with its unfolded error."""
        group = self.selected_group
        newest = None if group is None else group.messages[0]
        self.set_class(newest is None, "-nothing-chosen")
        if newest is not None:
            self.query_one("#newest", Lines).show(
                lambda cells, rows: [
                    *entry_lines("error", newest.error or "none", cells, most=max(1, rows - 2)),
                    *entry_lines("message", f"{newest.id}, {newest.state.replace('_', ' ')}", cells, most=1),
                    *entry_lines("payload", newest.payload or "none", cells, "muted", most=1),
                ]
            )

    def _empty_text(self, queue: QueueView | None) -> str:
        """Return why the table is empty."""
        failures = self._reading.failures
        if queue is None:
            return self.gone_text
        if self.app.fixed_reason:
            return self.app.fixed_reason
        failed = next(
            (each.text for each in queue.failures if is_probe_of(each.probe, ("messages_page", "group_page"))), ""
        )
        if failed:
            return clean(failed)
        if failures is None:
            return FailuresText.NOT_READ
        if failures.why:
            return clean(failures.why)
        if failures.groups:
            return self.no_match_text("failure")
        if failures.complete:
            return FailuresText.NONE
        return FailuresText.NONE_AMONG.render(count=formatting.count(failures.looked))

    def draw_headings(self, shown: ShownState, now: float) -> None:
        failures, parts = self._reading.failures, []
        if failures is not None and failures.groups:
            parts.append(formatting.count_text(len(failures.groups), "kind"))
            parts.append(formatting.count_text(failures.count, "message"))
            if not failures.complete:
                parts.append(FailuresText.ONLY_NEWEST)
            if shown.view is not None and (age_s := shown.view.sampled_at - failures.read_at) >= 1:
                parts.append(ScreenText.READ_AGO.render(age=formatting.whole_seconds(age_s)))
        self.show_heading("failures-heading", FailuresText.TITLE, " · ".join(parts), aged=False)
        self.show_heading("newest-heading", FailuresText.NEWEST, aged=False)

    def read_scope(self) -> ReadScope:
        listing = None if self.app.fixed_reason else self._reading.listing
        return ReadScope(rows_of=self.queue, listing=listing, visible=frozenset({self.queue}))

    # --------------------------------------------------------------------------------------------------------- acting

    @property
    def groups(self) -> tuple[FailureGroup, ...]:
        """The groups of the last reading."""
        return () if self._reading.failures is None else self._reading.failures.groups

    @property
    def selected_group(self) -> FailureGroup | None:
        """The group under the cursor."""
        return next((group for group in self.groups if group.error == self.grid.cursor), None)

    def disabled_reasons(self) -> dict[str, str]:
        """Return why keys are disabled. Only dead messages can be requeued; consumers retry the others."""
        group, reasons = self.selected_group, super().disabled_reasons()
        for action in ("requeue", "redrive", "purge"):
            if group is None:
                reasons.setdefault(action, FailuresText.NO_FAILURE_SELECTED)
            elif not _ids_for(ACTIONS[action][0], group):
                reasons.setdefault(action, FailuresText.IN_PROGRESS if action == "purge" else FailuresText.NONE_DEAD)
        return reasons

    def request_for(self, action: str) -> ActionRequest | None:
        """Return the request for the messages of the selected group, by their ids."""
        group, queue, (kind, side) = self.selected_group, self.current_queue(), ACTIONS[action]
        if kind is OperationKind.UNDO:
            return super().request_for(action)
        if queue is None or group is None or not (ids := _ids_for(kind, group)):
            return None
        choice = Choice(ids=ids, state="dead" if ids == group.ids_in("dead") else None)
        return ActionRequest(kind, queue.name, queue.layout, choice, side)

    def handle_result(self, result: OperationResult | None) -> None:
        """Read the failures again after an action."""
        if result is not None:
            self._read_again()

    def action_poll_now(self) -> None:
        """Poll now and read all failures again."""
        self.app.action_poll_now()
        self._read_again()

    def _read_again(self) -> None:
        self._reading.restart()
        self.set_read_scope()
        self.redraw()

    @on(Grid.Selected)
    def _cursor_moved(self) -> None:
        self.redraw()

    @on(Grid.Opened)
    def _open_row(self) -> None:
        """Open the newest message of the group. ``[`` and ``]`` go to its other messages."""
        if (group := self.selected_group) is not None:
            self.app.push_screen(MessageScreen(self.queue, group.messages, 0, self._reading.listing))
