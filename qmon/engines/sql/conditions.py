"""SQL for the conditions of a group (``model.groups``): names quoted, a ``?`` for each value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from qmon.engines.base import Engine, Value
from qmon.model.groups.conditions import (
    AdvisoryLock,
    ColumnRef,
    Compared,
    Condition,
    Contains,
    Every,
    Exists,
    IsNull,
    OneOf,
    Some,
    Timed,
    column_of,
)
from qmon.model.groups.group import Group, State
from qmon.model.layout.zones import Zone

# The alias of the group's own table in the statements.
ROW: Final = "q"
_OTHER: Final = "x"


@dataclass(frozen=True, slots=True)
class RowColumn:
    """A column of a row of a group's table, or of the row it refers to, as a name for statements."""

    column: ColumnRef
    group: Group
    table: str

    @property
    def zone(self) -> Zone:
        """The time zone of its values."""
        return self.group.zone_of(column_of(self.column, self.table))

    @property
    def kind(self) -> str:
        """The type of a column with a payload or an error; empty for other columns, or if it is unknown."""
        if self.column.element is not None:
            return ""
        return dict(self.group.types).get(column_of(self.column, self.table), "")


@dataclass(frozen=True, slots=True)
class Where:
    """A condition on a row of a group's table, as a name for statements."""

    condition: Condition
    group: Group
    table: str


class GroupNames:
    """The names for statements about the rows of a group."""

    def __init__(self, group: Group) -> None:
        self._group = group

    def column(self, column: ColumnRef | None, table: str | None = None) -> RowColumn | None:
        """Return a column of a row, or of a row it refers to. ``table``: the row's table, by default
        the group's own.
        """
        return None if column is None else RowColumn(column, self._group, table or self._group.table.name)

    def where(self, *conditions: Condition, table: str | None = None) -> Where:
        """Return the conjunction of these conditions on a row. ``table``: see ``column``."""
        whole = conditions[0] if len(conditions) == 1 else Every(conditions)
        return Where(whole, self._group, table or self._group.table.name)

    def by(self) -> dict[str, RowColumn | str | None]:
        """Return the column that refers to the row with the queue, and its name; empty if the row
        itself has the queue.
        """
        queue = self._group.queue
        if queue is None or queue.lookup is None:
            return {}
        return {"by": self.column(ColumnRef(queue.lookup.by)), "by_name": queue.lookup.by}

    def rows(self, states: Sequence[State]) -> dict[str, Sequence[str] | RowColumn | Where | None]:
        """Return the names for statements that read rows in one of these states."""
        group = self._group
        return {
            "table": group.table.parts,
            "id": self.column(ColumnRef(group.id)),
            "queue": self.column(group.queue),
            "since": self.column(states[0].since if len(states) == 1 else None),
            "owner": self.column(group.owner),
            "attempts": self.column(group.attempts),
            "payload": self.column(group.payload),
            "error": self.column(group.error),
            "rows": self.where(states[0].when if len(states) == 1 else Some(tuple(state.when for state in states))),
            "late": self.where(group.late(states)),
        }


def row_sql(engine: Engine, given: RowColumn | Where, name: str) -> tuple[str, dict[str, Value]]:
    """Return the SQL text, and its values in the order of their question marks. ``name``: prefix of the value names."""
    writer = _Writer(engine, given.group, name)
    if isinstance(given, Where):
        return writer.text(given.condition, ROW, given.table), writer.values
    return writer.column(given.column, ROW), writer.values


class _Writer:
    def __init__(self, engine: Engine, group: Group, name: str) -> None:
        self._engine = engine
        self._group = group
        self._name = name
        self.values: dict[str, Value] = {}

    def text(self, condition: Condition, of: str, table: str) -> str:
        """Return the condition on a row of this table, which has this ``alias``."""
        match condition:
            case OneOf():
                return self._one_of(condition, of)
            case IsNull(column, negated):
                return f"{self.column(column, of)} IS {'NOT ' if negated else ''}NULL"
            case Compared(column, how, other):
                left = self.column(column, of)
                return f"{left} {how} {self._bound(other) if isinstance(other, int) else self.column(other, of)}"
            case Timed(column, how, plus):
                left, zone = self.column(column, of), self._group.zone_of(column_of(column, table))
                less = self.column(plus, of) if isinstance(plus, ColumnRef) else self._bound(plus) if plus else ""
                return f"{left} {how} {self._engine.now_less(zone, less)}"
            case AdvisoryLock(column, negated):
                return f"{'NOT ' if negated else ''}({self._engine.advisory_lock(self.column(column, of))})"
            case Exists():
                return self._exists(condition, of)
            case Contains(column, wanted, binary):
                return self._engine.contains(self.column(column, of), self._bound(wanted), binary=binary)
            case Every(conditions):
                return f"({' AND '.join(self.text(each, of, table) for each in conditions) or '1 = 1'})"
            case Some(conditions):
                return f"({' OR '.join(self.text(each, of, table) for each in conditions) or '1 = 0'})"

    def column(self, column: ColumnRef, of: str) -> str:
        """Return the column. A column of another table becomes a subquery with one value."""
        quote, lookup = self._engine.quote, column.lookup
        other = of if lookup is None else of + _OTHER
        element = "" if column.element is None else f"[{column.element:d}]"
        text = f"{other}.{quote((column.name,))}{element}"
        if lookup is None:
            return text
        found = text if lookup.pick is None else f"{lookup.pick.upper()}({text})"
        table, key, by = quote((self._group.schema, lookup.table)), quote((lookup.key,)), quote((lookup.by,))
        more = "" if lookup.when is None else f" AND {self.text(lookup.when, other, lookup.table)}"
        return f"(SELECT {found} FROM {table} AS {other} WHERE {other}.{key} = {of}.{by}{more})"  # noqa: S608 - quoted

    def _bound(self, value: Value) -> str:
        self.values[f"{self._name}_{len(self.values) + 1}"] = value
        return "?"

    def _one_of(self, condition: OneOf, of: str) -> str:
        column = self.column(condition.column, of)
        marks = ", ".join(self._bound(value) for value in condition.values)
        if condition.negated:
            return f"({column} IS NULL OR {column} NOT IN ({marks}))"
        return f"{column} = {marks}" if len(condition.values) == 1 else f"{column} IN ({marks})"

    def _exists(self, condition: Exists, of: str) -> str:
        other = of + _OTHER
        quote = self._engine.quote
        table, key = quote((self._group.schema, condition.table)), quote((condition.key,))
        more = f" AND {self.text(condition.when, other, condition.table)}" if condition.when is not None else ""
        both = [f"{other}.{key}", self.column(condition.by, of)]
        same = " = ".join(self._engine.text_of([each]) if condition.as_text else each for each in both)
        found = f"EXISTS (SELECT 1 FROM {table} AS {other} WHERE {same}{more})"  # noqa: S608 - quoted
        return f"NOT {found}" if condition.negated else found
