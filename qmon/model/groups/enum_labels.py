"""Remove from conditions the labels that an enum column does not have.

The server rejects comparisons with unknown labels.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from qmon.model.groups.conditions import (
    ALWAYS,
    NEVER,
    AllOf,
    AnyOf,
    Change,
    ColumnRef,
    Compared,
    Condition,
    Contains,
    Exists,
    IsNull,
    LaterOf,
    OneOf,
    Shift,
    TableColumn,
    Timed,
    table_column,
)
from qmon.model.groups.group import Group

# Labels of each column with an enum type.
Labels = Mapping[TableColumn, frozenset[str]]


def drop_missing_labels(group: Group, labels: Labels) -> Group:
    """Return the group with conditions that use only existing labels. No row can have another label.

    Older versions of a library may lack states that qmon knows.
    """
    if not labels:
        return group
    own = group.table.name

    def condition(original: Condition | None, table: str = own) -> Condition | None:
        return None if original is None else _filter_condition(original, table, labels)

    def column(original: ColumnRef | None, table: str = own) -> ColumnRef | None:
        return None if original is None else _filter_column(original, labels)

    workers = group.workers
    if workers is not None:
        workers = replace(
            workers, alive=_filter_condition(workers.alive, workers.table, labels), queue=column(workers.queue)
        )
    return replace(
        group,
        states=tuple(
            replace(each, when=_filter_condition(each.when, own, labels), since=column(each.since))
            for each in group.states
        ),
        queue=column(group.queue),
        overdue=condition(group.overdue),
        gone=condition(group.gone),
        owner=column(group.owner),
        attempts=column(group.attempts),
        payload=column(group.payload),
        error=column(group.error),
        steps=tuple(
            replace(
                each,
                queue=column(each.queue),
                steps=tuple((step, condition(when, each.table)) for step, when in each.steps),
            )
            for each in group.steps
        ),
        workers=workers,
        where=condition(group.where),
    )


def _filter_condition(original: Condition, table: str, labels: Labels) -> Condition:
    match original:
        case OneOf(column, values, negated):
            known = None if column.element or column.path or column.changes else labels.get(table_column(column, table))
            kept = values if known is None else tuple(value for value in values if str(value) in known)
            if not kept:
                return ALWAYS if negated else NEVER
            return replace(original, column=_filter_column(column, labels), values=kept)
        case IsNull(column) | Contains(column):
            return replace(original, column=_filter_column(column, labels))
        case Compared(column, other=other):
            right = _filter_column(other, labels) if isinstance(other, ColumnRef) else other
            return replace(original, column=_filter_column(column, labels), other=right)
        case Timed(column, plus=plus):
            later = _filter_column(plus, labels) if isinstance(plus, ColumnRef) else plus
            return replace(original, column=_filter_column(column, labels), plus=later)
        case Exists(other_table, referring_column=column, when=when):
            inner = None if when is None else _filter_condition(when, other_table, labels)
            return replace(original, referring_column=_filter_column(column, labels), when=inner)
        case AllOf(conditions):
            return AllOf(tuple(_filter_condition(each, table, labels) for each in conditions))
        case AnyOf(conditions):
            return AnyOf(tuple(_filter_condition(each, table, labels) for each in conditions))
    return original


def _filter_column(original: ColumnRef, labels: Labels) -> ColumnRef:
    lookup = original.lookup
    if lookup is not None and lookup.when is not None:
        lookup = replace(lookup, when=_filter_condition(lookup.when, lookup.table, labels))
    return replace(original, lookup=lookup, changes=tuple(_filter_change(each, labels) for each in original.changes))


def _filter_change(original: Change, labels: Labels) -> Change:
    match original:
        case LaterOf(others):
            return LaterOf(tuple(_filter_column(each, labels) for each in others))
        case Shift(amount) if isinstance(amount, ColumnRef):
            return replace(original, amount=_filter_column(amount, labels))
    return original
