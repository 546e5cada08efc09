"""Group: a table whose rows are the messages of one or several queues, and the tables that its rows refer to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import or_
from typing import Final, Literal

from qmon.model.groups.conditions import (
    NEVER,
    AllOf,
    ColumnRef,
    ColumnsRead,
    Condition,
    OneOf,
    TableColumn,
    Timed,
    columns_read,
    table_column,
)
from qmon.model.layout.layout import (
    DEFAULT_TIMEOUT_S,
    Layout,
    LayoutSource,
    ObjectName,
    RequeueWrite,
    SharedTableQueue,
    StateValue,
)
from qmon.model.layout.table_facts import ListPath
from qmon.model.layout.time_zones import NUMBER_ZONES, UTC_ZONE, Zone

StateKind = Literal["ready", "scheduled", "in_progress", "blocked", "dead", "done"]
Step = Literal["pushed", "popped", "completed", "failed"]

# Maximum number of queues read per table. If there are more, the queues with the most messages are read.
MOST_QUEUES: Final = 500
STATE_KINDS: Final[tuple[StateKind, ...]] = ("ready", "scheduled", "in_progress", "blocked", "dead", "done")


@dataclass(frozen=True, slots=True)
class Blocker:
    """The columns of a blocker, such as a lock: its name, its holder, and the time since which the holder has it."""

    name: ColumnRef
    holder: ColumnRef | None = None
    since: ColumnRef | None = None

    def columns_read(self, table: str) -> ColumnsRead:
        """Return the columns that are read for a row of ``table``."""
        names = columns_read(self.name, table) | columns_read(self.holder, table)
        return names | columns_read(self.since, table, as_time=True)


@dataclass(frozen=True, slots=True)
class State:
    """One state of a message, by its name in the library.

    Attributes:
        kind: the state as qmon shows it.
        when: condition that the rows in this state meet. Each row is in one state.
        since: the time from which the age of a message in this state is counted.
        blocker: for blocked states, what blocks the messages.
        why: for blocked states, why the messages are blocked, in words.
    """

    name: str
    kind: StateKind
    when: Condition
    since: ColumnRef | None = None
    blocker: Blocker | None = None
    why: str = ""

    @property
    def key(self) -> str:
        """The suffix of the names of this state's probes, for example ``dead:discarded``."""
        return f"{self.kind}:{self.name}"


@dataclass(frozen=True, slots=True)
class StepTable:
    """The table in which a library records pushes, pops and ends of messages.

    Attributes:
        table: the table with the steps.
        id: the column that numbers the rows, if rows are only appended; ``at`` is then ``None``.
        at: the column with the time of a step, if an index finds the steps by queue and time.
        queue: the column with the queue.
        steps: the rows that record each step.
    """

    table: str
    id: str | None
    at: str | None
    queue: ColumnRef | None
    steps: tuple[tuple[Step, Condition | None], ...]

    @property
    def columns_read(self) -> ColumnsRead:
        """The columns that are read."""
        found = [columns_read(condition, self.table) for _, condition in self.steps]
        found += [columns_read(self.queue, self.table), *_columns_read_by_name(self.id, self.table)]
        return reduce(or_, [*found, *_columns_read_by_name(self.at, self.table, as_time=True)])


@dataclass(frozen=True, slots=True)
class Workers:
    """The table of a library's workers.

    Attributes:
        alive: condition that a worker meets if it reported recently.
        queue: the column with the queue that a worker serves, or ``None`` if there is no such column.
        name: the column by which messages refer to their worker. Without it, workers are only counted.
        host: the column with the worker's machine.
        started: the column with the time at which the worker started.
    """

    table: str
    alive: Condition
    queue: ColumnRef | None = None
    name: ColumnRef | None = None
    host: ColumnRef | None = None
    started: ColumnRef | None = None

    @property
    def columns_read(self) -> ColumnsRead:
        """The columns by which live workers are counted."""
        return columns_read(self.alive, self.table) | columns_read(self.queue, self.table)


@dataclass(frozen=True, slots=True)
class GroupWrites:
    """How to act on the messages of a group.

    Attributes:
        ready: the columns that a requeue and a redrive set; empty if neither is declared.
        purge: true if a purge may delete rows.
        text: the group as JSON, in the form of ``qmon.toml``.
    """

    ready: tuple[RequeueWrite, ...] = ()
    purge: bool = False
    text: str = ""


@dataclass(frozen=True, slots=True)
class Group:
    """How the rows of a table are messages of one queue, or of one queue per value of ``queue``.

    Table names have no schema, because all tables are in the schema of ``table``.

    Attributes:
        overdue: condition that a row meets if it is in progress beyond its own timeout; ``None``: ``timeout_s`` applies
            to all rows.
        gone: condition that a row meets if its worker is known to be gone.
        error: the column with the last error of a message.
        counters: true if the server's counters of the table show the flow, because a pop updates its row and done
            messages are deleted.
        where: condition that all rows of the group meet.
        times: the meaning of times without a zone.
        zones: the meaning of the times of each column, from the catalog.
        types: types of the columns with the message and its error, from the catalog.
        writes: how to act on the messages; ``None`` if the group does not declare it.
        library: the library that the tables belong to; empty for the user's own tables.
        version: the versions of the library, if versions with other tables have their own file.
    """

    name: str
    table: ObjectName
    id: str
    states: tuple[State, ...]
    queue: ColumnRef | None = None
    overdue: Condition | None = None
    gone: Condition | None = None
    owner: ColumnRef | None = None
    attempts: ColumnRef | None = None
    payload: ColumnRef | None = None
    error: ColumnRef | None = None
    steps: tuple[StepTable, ...] = ()
    workers: Workers | None = None
    counters: bool = False
    where: Condition | None = None
    times: str | None = None
    zones: tuple[tuple[TableColumn, Zone], ...] = ()
    types: tuple[tuple[TableColumn, str], ...] = ()
    timeout_s: float = DEFAULT_TIMEOUT_S
    writes: GroupWrites | None = None
    library: str = ""
    version: str = ""
    source: LayoutSource = LayoutSource.DISCOVERY

    @property
    def schema(self) -> str:
        """The schema of all its tables."""
        return self.table.schema

    @property
    def zone(self) -> Zone:
        """The meaning of times without a zone in this group. The default is UTC."""
        return NUMBER_ZONES.get(self.times or "", UTC_ZONE)

    def zone_of(self, column: ColumnRef, table: str) -> Zone:
        """Return the meaning of the times of a column that rows of ``table`` have or refer to."""
        return UTC_ZONE if column.is_computed_time else self.stored_zone_of(column, table)

    def stored_zone_of(self, column: ColumnRef, table: str) -> Zone:
        """Return the meaning of a column's times as they are stored, before any changes."""
        if column.times is not None:
            return NUMBER_ZONES.get(column.times, UTC_ZONE)
        if column.path:
            return UTC_ZONE
        return dict(self.zones).get(table_column(column, table), self.zone)

    @property
    def columns_read(self) -> ColumnsRead:
        """All columns of the group that qmon reads."""
        own = self.table.name
        columns = (self.queue, self.owner, self.attempts, self.payload, self.error, ColumnRef(self.id))
        of_rows = (*columns, self.overdue, self.gone, *(state.when for state in self.states))
        found = [columns_read(each, own) for each in of_rows]
        found += [columns_read(state.since, own, as_time=True) for state in self.states]
        found += [state.blocker.columns_read(own) for state in self.states if state.blocker is not None]
        found += [steps.columns_read for steps in self.steps]
        found += [] if self.workers is None else [self.workers.columns_read]
        return reduce(or_, found)

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """The conditions on the group's rows."""
        found = (self.where, self.overdue, self.gone, *(state.when for state in self.states))
        return tuple(each for each in found if each is not None)

    def restrict_to(self, where: Condition) -> Group:
        """Return the group restricted to the rows that also meet ``where``."""
        return replace(self, where=where, states=tuple(replace(s, when=AllOf((where, s.when))) for s in self.states))

    def late_condition(self, states: Sequence[State]) -> Condition:
        """Return the condition that a message in one of these states meets if it is in progress for too long."""
        if any(state.kind != "in_progress" for state in states):
            return NEVER
        if self.overdue is not None:
            return self.overdue
        since = states[0].since if len(states) == 1 else None
        return NEVER if since is None else Timed(since, "<=", self.timeout_s)

    def queue_layout(self, value: str | None) -> Layout:
        """Return the layout of the queue with this value. ``None`` returns the layout of the whole table."""
        kinds = tuple(dict.fromkeys(state.kind for state in self.states))
        own = not self.library or self.source is LayoutSource.CONFIGURATION
        part = SharedTableQueue(
            self.name,
            value,
            self.library,
            kinds,
            own_timeout=self.overdue is not None,
            proves=self.gone is not None,
            own=own,
            version=self.version,
            declared="" if self.writes is None else self.writes.text,
        )
        name = self.name if value is None else f"{self.name}/{value}"
        return Layout(
            name,
            self.library or "states",
            self.table,
            id=self.id,
            timeout_s=self.timeout_s,
            part=part,
            source=self.source,
            payload=None if self.payload is None else self.payload.name,
            error=None if self.error is None else self.error.name,
        )


@dataclass(frozen=True, slots=True)
class ResolvedGroup:
    """A group that exists on the server.

    Attributes:
        table_id: the id of the group's table.
        rows: estimated rows from the catalog.
        walk: the index for listing the messages, if an index contains all messages.
        labels: labels of the enum column that distinguishes the states; ``None`` if there is no such column.
        tables: the name and id of each table whose columns are read.
    """

    group: Group
    table_id: int
    rows: int | None
    walk: ListPath | None = None
    labels: frozenset[str] | None = None
    tables: tuple[tuple[str, int], ...] = ()


def find_state_column(group: Group) -> tuple[ColumnRef, tuple[StateValue, ...]] | None:
    """Return the column whose value every state tests, and the known values, or ``None`` if no column fits."""
    found: list[dict[ColumnRef, tuple[StateValue, ...]]] = []
    for state in group.states:
        parts = state.when.conditions if isinstance(state.when, AllOf) else (state.when,)
        if NEVER not in parts:
            tests = (part for part in parts if isinstance(part, OneOf) and not part.negated)
            found.append({test.column: test.values for test in tests if test.column == ColumnRef(test.column.name)})
    for column in found[0] if found else ():
        if all(column in tests for tests in found):
            return column, tuple(dict.fromkeys(value for tests in found for value in tests[column]))
    return None


def _columns_read_by_name(column: str | None, table: str, *, as_time: bool = False) -> list[ColumnsRead]:
    return [] if column is None else [columns_read(ColumnRef(column), table, as_time=as_time)]
