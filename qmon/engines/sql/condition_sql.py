"""Write conditions of a group (``model.groups``) as SQL, with quoted names and a ``?`` for each value."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from qmon.engines.base import Engine, Value
from qmon.model.groups.conditions import (
    AdvisoryLock,
    AllOf,
    AnyOf,
    ColumnRef,
    Compared,
    Condition,
    Contains,
    Exists,
    IsNull,
    OneOf,
    Renamed,
    Shift,
    Timed,
    known_times,
    table_column,
)
from qmon.model.groups.group import Group, State
from qmon.model.layout.time_zones import Zone

# The alias of the group's own table in the statements.
ROW_ALIAS: Final = "q"
_OTHER_SUFFIX: Final = "x"


@dataclass(frozen=True, slots=True)
class RowColumn:
    """A name for statements: a column of a row in a group's table, or of another row to which that row refers."""

    column: ColumnRef
    group: Group
    table: str

    @property
    def zone(self) -> Zone:
        """The time zone of the value."""
        return self.group.zone_of(self.column, self.table)

    @property
    def kind(self) -> str:
        """The type of a column with a payload or an error. The type is empty if it is unknown and for other columns."""
        if self.column.element is not None or self.column.path or self.column.changes:
            return ""
        return dict(self.group.types).get(table_column(self.column, self.table), "")


@dataclass(frozen=True, slots=True)
class RowCondition:
    """A name for statements: a condition on a row of a group's table."""

    condition: Condition
    group: Group
    table: str


class GroupNames:
    """The names for statements about the rows of a group."""

    def __init__(self, group: Group) -> None:
        self._group = group

    def column(self, column: ColumnRef | None, table: str | None = None) -> RowColumn | None:
        """Return the name for a column of a row, or of another row to which that row refers.

        ``table``: the row's table. The default is the group's own table.
        """
        return None if column is None else RowColumn(column, self._group, table or self._group.table.name)

    def condition(self, *conditions: Condition, table: str | None = None) -> RowCondition:
        """Return the conjunction of these conditions on a row. ``table``: see ``column``."""
        whole = conditions[0] if len(conditions) == 1 else AllOf(conditions)
        return RowCondition(whole, self._group, table or self._group.table.name)

    def reference_names(self) -> dict[str, RowColumn | str | None]:
        """Return the column that refers to the row with the queue, and its name.

        The result is empty if the row itself contains the queue.
        """
        queue = self._group.queue
        if queue is None or queue.lookup is None:
            return {}
        return {"by": self.column(ColumnRef(queue.lookup.referring_column)), "by_name": queue.lookup.referring_column}

    def row_names(self, states: Sequence[State]) -> dict[str, Sequence[str] | RowColumn | RowCondition | None]:
        """Return the names for statements that read rows in one of these states."""
        group = self._group
        late = group.late_condition(states)
        return {
            "table": group.table.parts,
            "id": self.column(ColumnRef(group.id)),
            "queue": self.column(group.queue),
            "since": self.column(states[0].since if len(states) == 1 else None),
            "owner": self.column(group.owner),
            "attempts": self.column(group.attempts),
            "payload": self.column(group.payload),
            "error": self.column(group.error),
            "rows": self.condition(
                states[0].when if len(states) == 1 else AnyOf(tuple(state.when for state in states))
            ),
            "late": self.condition(late),
            "timed": self.condition(known_times(late)),
        }


def row_sql(engine: Engine, part: RowColumn | RowCondition, name: str) -> tuple[str, dict[str, Value]]:
    """Return the SQL text and its values in the order of the question marks. ``name``: prefix of the value names."""
    writer = _ConditionWriter(engine, part.group, name)
    if isinstance(part, RowCondition):
        return writer.condition_text(part.condition, ROW_ALIAS, part.table), writer.values
    return writer.column_text(part.column, ROW_ALIAS, part.table), writer.values


def written_once(expression: str, build: Callable[[str], str]) -> str:
    """Return ``build(expression)``, which may repeat the expression. A subquery is still written only once.

    A subquery may be expensive, and it may contain question marks.
    """
    if "SELECT" not in expression and "?" not in expression:
        return build(expression)
    return f"(SELECT {build('m.at')} FROM (SELECT {expression} AS at) AS m)"  # noqa: S608 - quoted by the engine


class _ConditionWriter:
    def __init__(self, engine: Engine, group: Group, name: str) -> None:
        self._engine = engine
        self._group = group
        self._name = name
        self.values: dict[str, Value] = {}

    def condition_text(self, condition: Condition, alias: str, table: str) -> str:
        """Return the condition on a row of this table, which has this ``alias``."""
        match condition:
            case OneOf():
                return self._one_of_text(condition, alias, table)
            case IsNull(column, negated):
                return f"{self.column_text(column, alias, table)} IS {'NOT ' if negated else ''}NULL"
            case Compared(column, how, other):
                left = self.column_text(column, alias, table, as_number=True)
                right = self._bind(other) if isinstance(other, int) else self._number_text(other, alias, table)
                return f"{left} {how} {right}"
            case Timed(column, how, plus):
                zone = self._group.zone_of(column, table)
                is_text = bool(column.path) and zone.count is None and not column.is_computed_time
                left = self._utc_text(column, alias, table) if is_text else self.column_text(column, alias, table)
                return f"{left} {how} {self._engine.now_minus(zone, self._seconds_text(plus, alias, table))}"
            case AdvisoryLock(column, negated):
                held = self._engine.advisory_lock_condition(self.column_text(column, alias, table, as_number=True))
                return f"{'NOT ' if negated else ''}({held})"
            case Exists():
                return self._exists_text(condition, alias, table)
            case Contains(column, wanted, binary):
                return self._engine.contains_condition(
                    self.column_text(column, alias, table), self._bind(wanted), binary=binary
                )
            case AllOf(conditions):
                return f"({' AND '.join(self.condition_text(each, alias, table) for each in conditions) or '1 = 1'})"
            case AnyOf(conditions):
                return f"({' OR '.join(self.condition_text(each, alias, table) for each in conditions) or '1 = 0'})"

    def column_text(self, column: ColumnRef, alias: str, table: str, *, as_number: bool = False) -> str:
        """Return the value of a column of a row of ``table``, with all changes.

        ``as_number``: a value inside JSON becomes a whole number. It does so anyway if its times are numbers.
        """
        zone = self._group.stored_zone_of(column, table)
        text = self._stored_text(column, alias, as_number=as_number or zone.count is not None)
        is_time = False
        for change in column.changes:
            if isinstance(change, Renamed):
                text = self._renamed_text(text, change)
                continue
            if not is_time:
                text, is_time = self._to_utc(text, zone), True
            if isinstance(change, Shift):
                seconds = self._seconds_text(change.amount, alias, table) or "0"
                text = self._engine.shifted_time(text, f"-({seconds})" if change.back else seconds)
            else:
                others = [self._utc_text(each, alias, table) for each in change.others]
                text = self._engine.latest_time([text, *others])
            text = f"(SELECT {text})"
        return text

    def _stored_text(self, column: ColumnRef, alias: str, *, as_number: bool) -> str:
        """Return the stored value. A column of another table becomes a subquery with one value."""
        quote, lookup = self._engine.quote, column.lookup
        other = alias if lookup is None else alias + _OTHER_SUFFIX
        element = "" if column.element is None else f"[{column.element:d}]"
        text = f"{other}.{quote((column.name,))}{element}"
        if column.path:
            text = self._engine.json_value(text, column.path, is_number=as_number)
        if lookup is None:
            return text
        found = text if lookup.pick is None else f"{lookup.pick.upper()}({text})"
        same = self._same_text(lookup.pairs, other, alias)
        more = "" if lookup.when is None else f" AND {self.condition_text(lookup.when, other, lookup.table)}"
        return f"(SELECT {found} FROM {quote((self._group.schema, lookup.table))} AS {other} WHERE {same}{more})"  # noqa: S608 - quoted

    def _same_text(self, pairs: Sequence[tuple[str, str]], other: str, alias: str) -> str:
        """Return the condition that the columns of each pair are equal. The first column is that of ``other``."""
        quote = self._engine.quote
        return " AND ".join(f"{other}.{quote((key,))} = {alias}.{quote((by,))}" for key, by in pairs)

    def _number_text(self, column: ColumnRef, alias: str, table: str) -> str:
        return self.column_text(column, alias, table, as_number=True)

    def _utc_text(self, column: ColumnRef, alias: str, table: str) -> str:
        return self._to_utc(self.column_text(column, alias, table), self._group.zone_of(column, table))

    def _to_utc(self, text: str, zone: Zone) -> str:
        return written_once(text, lambda once: self._engine.utc_expression(once, zone))

    def _seconds_text(self, seconds: float | ColumnRef, alias: str, table: str) -> str:
        """Return seconds: empty for 0, a bound value, or the seconds in a column."""
        if isinstance(seconds, ColumnRef):
            return self._engine.seconds_expression(self._number_text(seconds, alias, table))
        return self._bind(seconds) if seconds else ""

    def _renamed_text(self, text: str, change: Renamed) -> str:
        def renamed(once: str) -> str:
            cases = [self._engine.renamed_case(once, pattern, name) for pattern, name in change.names]
            return f"CASE {' '.join(cases)} ELSE {once} END"

        return written_once(self._engine.text_expression([text]), renamed)

    def _bind(self, value: Value) -> str:
        self.values[f"{self._name}_{len(self.values) + 1}"] = value
        return "?"

    def _one_of_text(self, condition: OneOf, alias: str, table: str) -> str:
        column = self.column_text(condition.column, alias, table)
        values = map(str, condition.values) if condition.column.path else condition.values
        marks = ", ".join(self._bind(value) for value in values)
        if condition.negated:
            return f"({column} IS NULL OR {column} NOT IN ({marks}))"
        return f"{column} = {marks}" if len(condition.values) == 1 else f"{column} IN ({marks})"

    def _exists_text(self, condition: Exists, alias: str, outer_table: str) -> str:
        """Return the condition on a row of the table ``outer_table``."""
        other = alias + _OTHER_SUFFIX
        quote = self._engine.quote
        table, key = quote((self._group.schema, condition.table)), quote((condition.key,))
        more = (
            f" AND {self.condition_text(condition.when, other, condition.table)}" if condition.when is not None else ""
        )
        both = [f"{other}.{key}", self.column_text(condition.referring_column, alias, outer_table)]
        same = " = ".join(self._engine.text_expression([each]) if condition.as_text else each for each in both)
        same += f" AND {self._same_text(condition.also, other, alias)}" if condition.also else ""
        found = f"EXISTS (SELECT 1 FROM {table} AS {other} WHERE {same}{more})"  # noqa: S608 - quoted
        return f"NOT {found}" if condition.negated else found
