"""Score how much a table looks like a queue. Each reason has a weight."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from qmon.model.formatting import count_text
from qmon.model.layout.layout import ObjectName
from qmon.monitor.catalog.catalog import Activity, ColumnRow, TableDetails
from qmon.monitor.catalog.column_names import (
    BLOB_TYPES,
    ColumnRole,
    column_for_role,
    queue_name_score,
    split_words,
    state_for_value,
)
from qmon.monitor.catalog.state_values import KnownValues, values_text
from qmon.texts import Text


class ShapeText(Text):
    """Why a table looks like a queue, or does not."""

    NAME = "has a typical name of a queue"
    SEQUENCE = "the sequence {sequence} is named after it"
    CLAIMS = "records when or by whom a row was taken ({columns})"
    ATTEMPTS = "counts attempts (`{column}`)"
    DUE_TIME = "has a due time (`{column}`)"
    WITH_VALUES = " with values {values}"
    FLAG = "has a flag (`{column}`){values}"
    STATE = "has a state column (`{column}`){values}"
    INDEX_STARTS = "the index `{index}` starts with this column"
    INDEX_OF_ONE_STATE = "the index `{index}` contains only rows of one state"
    PAYLOAD = "has a payload (`{column}`)"
    NUMBERED = "numbers its rows (`{column}`)"
    MANY_COLUMNS = "but has {count:,} columns"
    DELETED = "{share} of the inserted rows were deleted again"
    UPDATED = "{share} of its rows were updated"
    UNCHANGED = "but almost none of its {inserted:,} inserted rows were changed or deleted"
    REFERRED_TO = "but {tables} {have} foreign keys to it"
    REFERS = "but its foreign keys refer to {count:,} other tables"


_CLAIMS: Final[tuple[ColumnRole, ...]] = ("started_at", "taken_flag", "lease", "heartbeat", "owner_name")
_FEW, _MANY, _TOO_MANY = 6, 15, 25

# Minimum number of inserted rows for which the counters are evidence.
ENOUGH_ROWS: Final = 50
_MAY_BE: Final = 0.3

# Maximum score of a table whose rows are never claimed, marked, due or removed, even if its name suggests a queue.
_UNPROVEN: Final = 0.35


@dataclass(slots=True)
class Shape:
    """The score so far, from 0 to about 1.5, and one phrase for each reason."""

    score: float = 0.0
    why: list[str] = field(default_factory=list)
    behaves: bool = False

    def add_reason(self, weight: float, reason: str = "", *, behaves: bool = False) -> None:
        """Add a reason. ``behaves``: the reason concerns how rows are used, not the name of the table."""
        self.score += weight
        self.behaves = self.behaves or behaves
        if reason:
            self.why.append(reason)


def name_type_pairs(columns: Sequence[ColumnRow]) -> list[tuple[str, str]]:
    """Return the names and types of columns."""
    return [(column.column_name, column.type_name) for column in columns]


def may_be_queue(name: str, columns: Sequence[ColumnRow], activity: Activity | None) -> bool:
    """Return whether names and counters suggest a queue.

    Most tables of a large database do not suggest a queue and need no examination.
    """
    if activity is not None and activity.inserted >= ENOUGH_ROWS and activity.rows_are_deleted:
        return True
    pairs = name_type_pairs(columns)
    roles: tuple[ColumnRole, ...] = (*_CLAIMS, "flag", "attempts", "due_at", "reference_count")
    score = 0.3 * sum(1 for role in roles if column_for_role(role, pairs)) + (
        0.15 if column_for_role("state", pairs) else 0.0
    )
    return queue_name_score(name) + score >= _MAY_BE


def score_shape(
    details: TableDetails,
    state: tuple[ColumnRow, bool] | None,
    state_values: KnownValues,
    sequence: ObjectName | None = None,
) -> Shape:
    """Score one table.

    ``state``: its state column and whether that column is only a flag. ``state_values``: that column's values.
    ``sequence``: an unowned sequence named after the table or its id.
    """
    shape = Shape()
    pairs = name_type_pairs(details.columns)
    sounds = queue_name_score(details.table.table_name)
    shape.add_reason(sounds, ShapeText.NAME if sounds >= 0.3 else "", behaves=sounds >= 0.45)
    if sequence is not None and sounds >= 0.3:
        shape.add_reason(0.15, ShapeText.SEQUENCE.render(sequence=sequence), behaves=True)
    _score_state(shape, details, state, state_values)
    claims = [name for role in _CLAIMS if (name := column_for_role(role, pairs))]
    if claims:
        shape.add_reason(0.25, ShapeText.CLAIMS.render(columns=_quoted_list(claims)), behaves=True)
    if (attempts := column_for_role("attempts", pairs)) is not None:
        shape.add_reason(0.2, ShapeText.ATTEMPTS.render(column=attempts), behaves=True)
    if (due := column_for_role("due_at", pairs)) is not None:
        shape.add_reason(0.15, ShapeText.DUE_TIME.render(column=due), behaves=True)
    _score_contents(shape, details, pairs, state)
    if details.activity is not None:
        _score_activity(shape, details.activity, state is not None)
    _score_relations(shape, details)
    if not shape.behaves:
        shape.score = min(shape.score, _UNPROVEN)
    shape.score = round(shape.score, 2)
    return shape


def _quoted_list(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _score_state(
    shape: Shape, details: TableDetails, state: tuple[ColumnRow, bool] | None, state_values: KnownValues
) -> None:
    if state is None:
        return
    column, flag = state
    name = column.column_name
    values = ShapeText.WITH_VALUES.render(values=values_text(state_values.values)) if state_values.values else ""
    if flag:
        shape.add_reason(0.2, ShapeText.FLAG.render(column=name, values=values), behaves=True)
    else:
        meant = {state_for_value(value) for value in state_values.values}
        working = {"ready", "in_progress"} <= meant
        shape.add_reason(0.3 if working else 0.1, ShapeText.STATE.render(column=name, values=values), behaves=working)
    for index in details.indexes:
        if index.keys[:1] == (name,) or (index.where is not None and index.where.values_if_only(name)):
            text = ShapeText.INDEX_STARTS if index.keys[:1] == (name,) else ShapeText.INDEX_OF_ONE_STATE
            score = 0.2 if flag or index.where is not None else 0.1
            shape.add_reason(score, text.render(index=index.name), behaves=True)
            break


def _score_contents(
    shape: Shape, details: TableDetails, pairs: list[tuple[str, str]], state: tuple[ColumnRow, bool] | None
) -> None:
    payload = column_for_role("payload", pairs)
    if payload is not None:
        column = details.column(payload)
        blob = column is not None and column.type_name in BLOB_TYPES
        shape.add_reason(0.15 if blob else 0.1, ShapeText.PAYLOAD.render(column=payload))
    numbered = next((c for c in details.columns if c.is_identity or c.sequence_id is not None), None)
    if numbered is not None:
        shape.add_reason(0.05, ShapeText.NUMBERED.render(column=numbered.column_name))
    count = len(details.columns)
    if count <= _FEW and (payload is not None or state is not None):
        shape.add_reason(0.1)
    elif count > _MANY:
        shape.add_reason(-0.3 if count > _TOO_MANY else -0.1, ShapeText.MANY_COLUMNS.render(count=count))


def _score_activity(shape: Shape, activity: Activity, has_state: bool) -> None:
    inserted = activity.inserted
    if inserted < ENOUGH_ROWS:
        return
    deleted, updated = activity.deleted / inserted, activity.updated / inserted
    if activity.rows_are_deleted:
        shape.add_reason(0.25, ShapeText.DELETED.render(share=_percent(deleted)), behaves=True)
    if updated >= 0.3 and has_state:
        shape.add_reason(0.1, ShapeText.UPDATED.render(share=_percent(updated)), behaves=True)
    if deleted < 0.01 and updated < 0.01 and inserted >= 20 * ENOUGH_ROWS:
        shape.add_reason(-0.2, ShapeText.UNCHANGED.render(inserted=inserted))


def _percent(share: float) -> str:
    return f"{min(share, 1.0) * 100:.0f} %"


def _score_relations(shape: Shape, details: TableDetails) -> None:
    family = split_words(details.table.table_name)[:1]
    if details.referring and family:
        tables = count_text(len(details.referring), "other table")
        have = "has" if len(details.referring) == 1 else "have"
        shape.add_reason(-0.25, ShapeText.REFERRED_TO.render(tables=tables, have=have))
    if len(details.referred) >= 2:
        shape.add_reason(-0.15, ShapeText.REFERS.render(count=len(details.referred)))
    elif details.referred:
        shape.add_reason(-0.05)
