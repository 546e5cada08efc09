"""The rows of the operations screen, and the details of one operation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from qmon.model import formatting
from qmon.model.operation_records import Operation, OperationState, UndoState
from qmon.texts import Text
from qmon.tui import figures
from qmon.tui.sanitize import clean, shorten_words
from qmon.tui.spans import Line, entry_lines
from qmon.tui.widgets.grid_table import GridColumn, GridRow


class OperationDetail(Text):
    """The facts about one operation."""

    NOT_ENDED = "began {began}, has not ended"
    ENDED = "began {began}, ended {ended}, after {duration}"
    WHAT = "{operation} of {queue}"
    NO_REASON = "none was given"
    UNDO_ROWS = "{state}; the plan of an undo reads how many messages can still be restored"
    DONE = "{done:,} · skipped {skipped:,} · changed {changed:,}"
    DONE_AND_REFUSED = "{done:,} · skipped {skipped:,} · changed {changed:,} · refused {refused:,}"


COLUMNS: Final = (
    GridColumn("when", "WHEN", least=8, most=11, about="start time, by the server's clock"),
    GridColumn("what", "WHAT", least=8, most=12, about="the action"),
    GridColumn("queue", "QUEUE", least=8, most=32, shrinks_to=10, about="queue of the changed messages"),
    GridColumn("state", "STATE", least=6, most=13, about="interrupted: qmon ended before the operation did"),
    GridColumn("done", "DONE", True, 2, least=5, most=12, about="number of changed messages"),
    GridColumn(
        "left",
        "LEFT",
        True,
        4,
        least=4,
        most=12,
        about="messages skipped because they were locked, or had changed since the plan",
    ),
    GridColumn(
        "undo", "UNDO", rank=1, least=6, most=13, about="rows saved: u shows how many messages can still be restored"
    ),
    GridColumn("by", "BY", rank=3, most=28, shrinks_to=10, about="user who ran the operation"),
    GridColumn(
        "reason",
        "REASON",
        rank=5,
        least=12,
        shorten=shorten_words,
        grows=True,
        sortable=False,
        about="reason given by the user",
    ),
)

SORT_COLUMNS: Final = ("when", "what", "queue", "state", "by", "undo", "done")
DEFAULT_SORT: Final = ("when", True)

_TONES: Final[dict[OperationState, str]] = {
    OperationState.RUNNING: "accent",
    OperationState.DONE: "muted",
    OperationState.CANCELLED: "text",
    OperationState.INTERRUPTED: "alarm",
    OperationState.FAILED: "alarm",
    OperationState.UNKNOWN: "alarm",
}
_VALUES: Final[dict[str, Callable[[Operation], float | str]]] = {
    "when": lambda operation: operation.started_at,
    "what": lambda operation: operation.kind.value,
    "queue": lambda operation: operation.queue.casefold(),
    "state": lambda operation: operation.state.value,
    "by": lambda operation: operation.by.casefold(),
    "undo": lambda operation: operation.undo_state,
    "done": lambda operation: operation.done,
    "left": lambda operation: operation.skipped + operation.changed + operation.refused,
}


def rows_for(operations: Sequence[Operation]) -> tuple[GridRow, ...]:
    """Return one row per operation, in the given order."""
    return tuple(_row(each) for each in operations)


def _row(operation: Operation) -> GridRow:
    left = operation.skipped + operation.changed + operation.refused
    return GridRow(
        operation.id,
        (
            (figures.moment_text(operation.started_at, seconds=True, short=True), "text"),
            (_kind_text(operation), "strong"),
            (clean(operation.queue), "text"),
            (operation.state.value, _TONES[operation.state]),
            (f"{operation.done:,}", "text" if operation.done else "muted"),
            (f"{left:,}", "accent" if left else "muted"),
            (operation.undo_state.label, "text" if operation.undo_state is UndoState.POSSIBLE else "muted"),
            (clean(operation.by), "muted"),
            (clean(operation.reason), "muted"),
        ),
        id=operation.id,
    )


def _kind_text(operation: Operation) -> str:
    return operation.kind.value.replace("-", " ")


def sort_operations(operations: Sequence[Operation], by: str, descending: bool) -> list[Operation]:
    """Return the operations sorted by one column. Operations with equal values are sorted newest first."""
    newest = sorted(operations, key=lambda operation: operation.started_at, reverse=True)
    return sorted(newest, key=_VALUES[by], reverse=descending)


def searchable_text(operation: Operation) -> str:
    """Return the text that the filter searches."""
    return (
        f"{operation.id} {_kind_text(operation)} {operation.queue} {operation.state.value} {operation.by} "
        f"{operation.reason} {operation.undo_state.label}"
    )


def _undo_text(state: UndoState) -> str:
    return OperationDetail.UNDO_ROWS.render(state=state.label) if state.can_undo else state.label


def detail_lines(operation: Operation, cells: int) -> list[Line]:
    """Return all known facts about one operation."""
    began = figures.moment_text(operation.started_at, seconds=True)
    when = OperationDetail.NOT_ENDED.render(began=began)
    if operation.ended_at is not None:
        when = OperationDetail.ENDED.render(
            began=began,
            ended=figures.moment_text(operation.ended_at, seconds=True),
            duration=formatting.duration(operation.ended_at - operation.started_at),
        )
    counts = {"done": operation.done, "skipped": operation.skipped, "changed": operation.changed}
    done = (
        OperationDetail.DONE_AND_REFUSED.render(**counts, refused=operation.refused)
        if operation.refused
        else OperationDetail.DONE.render(**counts)
    )
    what = OperationDetail.WHAT.render(operation=_kind_text(operation), queue=operation.queue)
    reason = operation.reason or OperationDetail.NO_REASON
    lines: list[Line] = [
        (),
        *entry_lines("what", what, cells, "strong"),
        *entry_lines("state", operation.state.value, cells, _TONES[operation.state]),
        *entry_lines("when", when, cells),
        *entry_lines("by", operation.by, cells),
        *entry_lines("reason", reason, cells, "text" if operation.reason else "muted"),
        *entry_lines("planned", f"{operation.planned:,}", cells),
        *entry_lines("done", done, cells),
        *entry_lines("undo", _undo_text(operation.undo_state), cells),
        *entry_lines("undo of", operation.undo_of or "", cells),
        *entry_lines("operation", operation.id, cells),
    ]
    for name, value in operation.details.items():
        lines += entry_lines(clean(name)[:10], value, cells, "muted", most=8)
    return [*lines, ()]
