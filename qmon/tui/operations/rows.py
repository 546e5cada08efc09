"""The rows of the operations screen, and the details of one operation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from qmon.model import text
from qmon.model.operations import Operation, OperationState
from qmon.tui import figures
from qmon.tui.sanitize import clean
from qmon.tui.spans import Line, entry
from qmon.tui.widgets.columns import GridColumn, GridRow

COLUMNS: Final = (
    GridColumn("when", "WHEN", least=8, most=11, about="when it began, by the server's clock"),
    GridColumn("what", "WHAT", least=8, most=12, about="the action"),
    GridColumn("queue", "QUEUE", least=8, most=32, shrinks_to=10, about="the queue it was done to"),
    GridColumn("state", "STATE", least=6, most=13, about="interrupted: qmon was gone before it ended"),
    GridColumn("done", "DONE", True, 2, least=5, most=12, about="messages it touched"),
    GridColumn("left", "LEFT", True, 4, least=4, most=12, about="skipped because locked, or changed since the plan"),
    GridColumn("undo", "UNDO", rank=1, least=6, most=13, about="whether u can take it back"),
    GridColumn("by", "BY", rank=3, most=28, shrinks_to=10, about="who did it"),
    GridColumn("reason", "REASON", rank=5, least=12, grows=True, sortable=False, about="why, in their words"),
)

SORTS: Final = ("when", "what", "queue", "state", "by", "undo", "done")
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
    "when": lambda o: o.started_at,
    "what": lambda o: o.kind.value,
    "queue": lambda o: o.queue.casefold(),
    "state": lambda o: o.state.value,
    "by": lambda o: o.by.casefold(),
    "undo": lambda o: o.undo_state,
    "done": lambda o: o.done,
    "left": lambda o: o.skipped + o.changed + o.refused,
}


def rows(operations: Sequence[Operation]) -> tuple[GridRow, ...]:
    """Return one row per operation, in the given order."""
    return tuple(_row(each) for each in operations)


def _row(each: Operation) -> GridRow:
    left = each.skipped + each.changed + each.refused
    return GridRow(
        each.id,
        (
            (figures.moment(each.started_at, seconds=True, short=True), "text"),
            (_what(each), "strong"),
            (clean(each.queue), "text"),
            (each.state.value, _TONES[each.state]),
            (f"{each.done:,}", "text" if each.done else "muted"),
            (f"{left:,}", "accent" if left else "muted"),
            (clean(each.undo_state), "text" if each.undo_state == "possible" else "muted"),
            (clean(each.by), "muted"),
            (clean(each.reason), "muted"),
        ),
        id=each.id,
    )


def _what(each: Operation) -> str:
    return each.kind.value.replace("-", " ")


def ordered(operations: Sequence[Operation], by: str, descending: bool) -> list[Operation]:
    """Return the operations sorted by one column; equal ones newest first."""
    newest = sorted(operations, key=lambda o: o.started_at, reverse=True)
    return sorted(newest, key=_VALUES[by], reverse=descending)


def words(each: Operation) -> str:
    """Return the text that the filter searches."""
    return f"{each.id} {_what(each)} {each.queue} {each.state.value} {each.by} {each.reason} {each.undo_state}"


def details(each: Operation, cells: int) -> list[Line]:
    """Return everything known about one operation."""
    ended = f"ended {figures.moment(each.ended_at, seconds=True)}" if each.ended_at is not None else "has not ended"
    if each.ended_at is not None:
        ended += f", after {text.duration(each.ended_at - each.started_at)}"
    refused = f" · refused {each.refused:,}" if each.refused else ""
    lines: list[Line] = [
        (),
        *entry("what", f"{_what(each)} of {each.queue}", cells, "strong"),
        *entry("state", each.state.value, cells, _TONES[each.state]),
        *entry("when", f"began {figures.moment(each.started_at, seconds=True)}, {ended}", cells),
        *entry("by", each.by, cells),
        *entry("reason", each.reason or "none was given", cells, "text" if each.reason else "muted"),
        *entry("planned", f"{each.planned:,}", cells),
        *entry("done", f"{each.done:,} · skipped {each.skipped:,} · changed {each.changed:,}{refused}", cells),
        *entry("undo", each.undo_state, cells),
        *entry("undo of", each.undo_of or "", cells),
        *entry("operation", each.id, cells),
    ]
    for name, value in each.details.items():
        lines += entry(clean(name)[:10], value, cells, "muted", most=8)
    return [*lines, ()]
