"""Screen 6: the operations on the queues, with user, reason and result, and whether each can be undone."""

from __future__ import annotations

from collections.abc import Callable

from textual import on
from textual.app import ComposeResult

from qmon.model import formatting
from qmon.model.operation_records import Operation, OperationKind, OperationResult
from qmon.texts import Text
from qmon.tui import keys
from qmon.tui.actions.availability import read_only_reason
from qmon.tui.actions.dialog_text import KeyHint
from qmon.tui.actions.request import ActionRequest
from qmon.tui.operations import operation_rows
from qmon.tui.operations.reading_screen import OperationsReading
from qmon.tui.sanitize import clean
from qmon.tui.screen_texts import ScreenText
from qmon.tui.shared.text_dialog import TextDialog
from qmon.tui.shown_state import ShownState
from qmon.tui.widgets.filter_bar import filter_items
from qmon.tui.widgets.grid import Grid
from qmon.tui.widgets.lines import Lines


class OperationsText(Text):
    """The texts of the screen, and why an operation cannot be undone."""

    VIEW_ONLY = "view only: operations are not read"
    READING = "reading the operations"
    NONE = "no operations yet"
    UNREADABLE = "cannot be read: {problem}"
    NO_OPERATION_SELECTED = "no operation is selected"
    NO_UNDO = "this operation cannot be undone: {state}"
    SELECTED = "selected operation"
    DETAIL_KEYS = "u undoes the operation · esc closes"


class OperationsScreen(OperationsReading):
    """The operations, newest first."""

    NAME = "operations"
    BINDINGS = keys.OPERATIONS
    SORT_COLUMNS = operation_rows.SORT_COLUMNS
    REREAD_S = 5.0

    def __init__(self) -> None:
        super().__init__()
        self.sorted_by = operation_rows.DEFAULT_SORT

    def compose_body(self) -> ComposeResult:
        yield Lines(id="operations-heading")
        yield Grid(operation_rows.COLUMNS, id="operations")
        yield Lines(id="chosen-heading")
        yield Lines(id="chosen")

    def draw_figures(self, shown: ShownState, now: float, *, stale: bool) -> None:
        found = filter_items(self.operations or (), self.filter_text, operation_rows.searchable_text)
        kept = operation_rows.sort_operations(found, *self.sorted_by)
        self.grid.show(operation_rows.rows_for(kept), sorted_by=self.sorted_by, empty=self._empty_text())
        chosen = self._selected_operation()
        self.set_class(chosen is None, "-nothing-chosen")
        if chosen is not None:
            self.query_one("#chosen", Lines).show(lambda cells, _: operation_rows.detail_lines(chosen, cells)[1:-1])

    @property
    def _problem(self) -> str:
        return self.problems.get(self.app.current.name, "")

    def _empty_text(self) -> str:
        if self.app.runner is None:
            return OperationsText.VIEW_ONLY
        if self._problem:
            return clean(self._problem)
        if self.operations is None:
            return OperationsText.READING
        return self.no_match_text("operation") if self.operations else OperationsText.NONE

    def draw_headings(self, shown: ShownState, now: float) -> None:
        count = f"{len(self.grid.row_keys)}"
        read = ""
        if self.operations is not None:
            read = ScreenText.READ_AGO.render(age=formatting.whole_seconds(now - self._read_at))
        problem = self._problem and OperationsText.UNREADABLE.render(problem=clean(self._problem))
        extra = " · ".join(part for part in (count if self.operations else "", problem or read) if part)
        self.show_heading("operations-heading", "operations", extra, aged=False)
        self.show_heading("chosen-heading", OperationsText.SELECTED, aged=False)

    # ------------------------------------------------------------------------------------------------------- keys

    def _selected_operation(self) -> Operation | None:
        return next((each for each in self.operations or () if each.id == self.grid.cursor), None)

    def disabled_reasons(self) -> dict[str, str]:
        """Return why the operation under the cursor cannot be undone."""
        why = read_only_reason(self.app.runner, self.app.shown.view)
        each = self._selected_operation()
        if why is None and each is None:
            why = OperationsText.NO_OPERATION_SELECTED
        if why is None and each is not None and not each.undo_state.can_undo:
            why = OperationsText.NO_UNDO.render(state=each.undo_state)
        return {"undo": why} if why is not None else {}

    def request_for(self, action: str) -> ActionRequest | None:
        """Return the request to undo the operation under the cursor."""
        each = self._selected_operation()
        return ActionRequest(OperationKind.UNDO, each.queue, operation=each.id) if each is not None else None

    def handle_result(self, result: OperationResult | None) -> None:
        self.read_operations()

    @on(Grid.Opened)
    def _open_row(self, message: Grid.Opened) -> None:

        each = self._selected_operation()

        def undo_if_chosen(undo: bool | None) -> None:
            if undo:
                self.action_act("undo")

        if each is not None:
            self.app.push_screen(
                OperationDetails(self._newest_version, each, undoable="undo" not in self.disabled_reasons()),
                undo_if_chosen,
            )

    def _newest_version(self, shown: Operation) -> Operation:
        """Return the operation from the newest reading."""
        return next((each for each in self.operations or () if each.id == shown.id), shown)

    @on(Grid.Selected)
    def _cursor_moved(self) -> None:
        self.redraw()


class OperationDetails(TextDialog):
    """The details of an operation. The result is True if the user asks for an undo. ``undoable``: undo is possible."""

    BINDINGS = keys.DETAILS

    def __init__(self, newest: Callable[[Operation], Operation], operation: Operation, *, undoable: bool) -> None:
        hint = OperationsText.DETAIL_KEYS if undoable else KeyHint.CLOSE
        super().__init__(lambda cells: operation_rows.detail_lines(newest(operation), cells), hint)
