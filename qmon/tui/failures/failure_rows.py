"""The rows of the failures screen: one row for each kind of error."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from qmon.model import formatting
from qmon.model.failures import FailureGroup
from qmon.texts import Text
from qmon.tui import figures
from qmon.tui.sanitize import clean, shorten_words
from qmon.tui.widgets.grid_table import Cell, GridColumn, GridRow, sorted_by_value, text_cell


class FailureRowText(Text):
    """Why a time is unknown."""

    NO_TIME = "no column contains the time at which these messages failed or were pushed"


COLUMNS: Final = (
    GridColumn("count", "COUNT", True, least=5, most=9, about="messages whose last error is of this kind"),
    GridColumn("dead", "DEAD", True, 1, least=4, most=9, about="of these, messages that are dead"),
    GridColumn("retried", "RETRIED", True, 4, least=7, most=9, about="of these, messages that consumers retry"),
    GridColumn(
        "first",
        "FIRST",
        rank=3,
        least=8,
        most=11,
        about="time of the oldest message: when it failed, or when it was pushed if the tables lack that time",
    ),
    GridColumn("last", "LAST", rank=2, least=8, most=11, about="time of the newest message, like FIRST"),
    GridColumn(
        "error",
        "ERROR",
        least=16,
        shorten=shorten_words,
        grows=True,
        about="the last error; <n>, <id>, <time> and <text> replace values that differ from message to message",
    ),
)
SORT_COLUMNS: Final = ("count", "dead", "retried", "first", "last", "error")
DEFAULT_SORT: Final = ("count", True)

_VALUES: Final[dict[str, Callable[[FailureGroup], float | str | None]]] = {
    "count": lambda group: group.count,
    "dead": lambda group: group.states.get("dead", 0),
    "retried": lambda group: retried_count(group),
    "first": lambda group: group.first_at,
    "last": lambda group: group.last_at,
    "error": lambda group: group.error.casefold(),
}


def retried_count(group: FailureGroup) -> int:
    """Return the number of messages that have failed but are not dead."""
    return group.count - group.states.get("dead", 0)


def rows_for(groups: Sequence[FailureGroup]) -> tuple[GridRow, ...]:
    """Return one row per group, in the given order."""
    return tuple(_row(group) for group in groups)


def _row(group: FailureGroup) -> GridRow:
    dead = group.states.get("dead", 0)
    return GridRow(
        group.error,
        (
            (formatting.count(group.count), "strong"),
            (formatting.count(dead), "alarm" if dead else "muted"),
            (formatting.count(retried_count(group)), "accent" if retried_count(group) else "muted"),
            _time_cell(group.first_at),
            _time_cell(group.last_at),
            (clean(group.error), "text"),
        ),
        {} if group.first_at is not None else {"first": FailureRowText.NO_TIME, "last": FailureRowText.NO_TIME},
        id=clean(group.error),
    )


def _time_cell(at: float | None) -> Cell:
    return text_cell(None if at is None else figures.moment_text(at, seconds=True, short=True))


def sort_groups(groups: Sequence[FailureGroup], by: str, descending: bool) -> list[FailureGroup]:
    """Return the groups sorted by one column. Groups without a value are last."""
    return sorted_by_value(groups, _VALUES[by], descending=descending)


def searchable_text(group: FailureGroup) -> str:
    """Return the text that the filter searches: the errors, the ids and the payloads of all messages of the group."""
    texts = (text for m in group.messages for text in (m.id, m.error, m.payload) if text)
    return " ".join((group.error, *texts))
