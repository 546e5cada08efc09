"""Group: a table, with those it refers to, whose rows are the messages of one queue or of several."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import or_
from typing import Final, Literal

from qmon.model.groups.conditions import NEVER, ColumnRef, Condition, Every, OneOf, TableColumn, Timed, Uses, uses
from qmon.model.layout.layout import DEFAULT_TIMEOUT_S, GroupPart, Layout, LayoutSource, StateValue, TableName
from qmon.model.layout.table_facts import ListPath
from qmon.model.layout.zones import COUNTED, UTC_ZONE, Zone

Kind = Literal["ready", "scheduled", "in_progress", "blocked", "dead", "done"]
Step = Literal["pushed", "popped", "completed", "failed"]
# Queues of one table that are read, at most: those with most messages.
MOST_QUEUES: Final = 500
KINDS: Final[tuple[Kind, ...]] = ("ready", "scheduled", "in_progress", "blocked", "dead", "done")


@dataclass(frozen=True, slots=True)
class Blocker:
    """The columns of a blocker, such as a lock: its name, its holder, and the time since when it is held."""

    name: ColumnRef
    holder: ColumnRef | None = None
    since: ColumnRef | None = None


@dataclass(frozen=True, slots=True)
class State:
    """One state of a message, as the library calls it, and what it comes to.

    ``since``: the time that its age is counted from; ``when``: what is true of its rows. A row is in one state.
    ``blocker``, ``why``: of a blocked state, the blocker of its messages, and the reason in words.
    """

    name: str
    kind: Kind
    when: Condition
    since: ColumnRef | None = None
    blocker: Blocker | None = None
    why: str = ""

    @property
    def key(self) -> str:
        """What is filed of it, the kind first: ``dead:discarded``."""
        return f"{self.kind}:{self.name}"


@dataclass(frozen=True, slots=True)
class Steps:
    """Where it is written down that messages were pushed, popped or ended.

    ``table``: rows are added to it, numbered by ``id`` in the order in which they come; or ``at`` has the time of the
    step, and an index leads to it by queue and time. ``queue``: the column with the queue; ``steps``: which rows are
    which step.
    """

    table: str
    id: str | None
    at: str | None
    queue: ColumnRef | None
    steps: tuple[tuple[Step, Condition | None], ...]


@dataclass(frozen=True, slots=True)
class Workers:
    """The table of a library's workers. ``alive``: true of one that has been heard of lately; ``queue``: the column
    with the queue that it serves, ``None``: that is not written down."""

    table: str
    alive: Condition
    queue: ColumnRef | None = None


@dataclass(frozen=True, slots=True)
class Group:
    """How the rows of a table are messages, of one queue or of as many as ``queue`` has values.

    Tables are named without their schema, which is that of ``table``. ``overdue``: true of a row in progress that has
    taken too long, where rows say so themselves; else it is ``timeout_s`` seconds. ``gone``: true of one whose worker
    is known to be gone. ``times``: what is said of times that have no zone; ``zones``: what is known of each column
    from the catalogue; ``payload_type``: the type of the column with the message, likewise. ``library``: whose tables
    they are, empty for one's own. ``counters``: the server's counters of the table tell what moves: a pop updates its
    row, what is done is deleted. ``where``: true of all of its rows. ``error``: why a message failed last.
    """

    name: str
    table: TableName
    id: str
    states: tuple[State, ...]
    queue: ColumnRef | None = None
    overdue: Condition | None = None
    gone: Condition | None = None
    owner: ColumnRef | None = None
    attempts: ColumnRef | None = None
    payload: ColumnRef | None = None
    error: ColumnRef | None = None
    steps: tuple[Steps, ...] = ()
    workers: Workers | None = None
    counters: bool = False
    where: Condition | None = None
    times: str | None = None
    zones: tuple[tuple[TableColumn, Zone], ...] = ()
    payload_type: str = ""
    timeout_s: float = DEFAULT_TIMEOUT_S
    library: str = ""
    source: LayoutSource = LayoutSource.DISCOVERY

    @property
    def schema(self) -> str:
        """The schema of all its tables."""
        return self.table.schema

    @property
    def zone(self) -> Zone:
        """What times mean that have no zone, as far as the group says so: UTC if it says nothing."""
        return COUNTED.get(self.times or "", UTC_ZONE)

    def zone_of(self, column: TableColumn) -> Zone:
        """What the times of a column mean."""
        return dict(self.zones).get(column, self.zone)

    @property
    def uses(self) -> Uses:
        """The columns that are read."""
        own = self.table.name
        columns = (self.queue, self.owner, self.attempts, self.payload, self.error, ColumnRef(self.id))
        of_rows = (*columns, self.overdue, self.gone, *(state.when for state in self.states))
        found = [uses(each, own) for each in of_rows]
        found += [uses(state.since, own, as_time=True) for state in self.states]
        for blocker in (state.blocker for state in self.states if state.blocker is not None):
            found += [uses(each, own) for each in (blocker.name, blocker.holder)]
            found.append(uses(blocker.since, own, as_time=True))
        for steps in self.steps:
            found += [uses(condition, steps.table) for _, condition in steps.steps]
            found += [uses(steps.queue, steps.table), *_named(steps.id, steps.table)]
            found += _named(steps.at, steps.table, as_time=True)
        if (workers := self.workers) is not None:
            found += [uses(workers.alive, workers.table), uses(workers.queue, workers.table)]
        return reduce(or_, found)

    def within(self, where: Condition) -> Group:
        """The part of it of which this is true."""
        return replace(self, where=where, states=tuple(replace(s, when=Every((where, s.when))) for s in self.states))

    def late(self, states: Sequence[State]) -> Condition:
        """True of a message in one of these states that has been in progress for too long."""
        if any(state.kind != "in_progress" for state in states):
            return NEVER
        if self.overdue is not None:
            return self.overdue
        since = states[0].since if len(states) == 1 else None
        return NEVER if since is None else Timed(since, "<=", self.timeout_s)

    def layout(self, value: str | None) -> Layout:
        """One of its queues; ``None``: all that it holds."""
        kinds = tuple(dict.fromkeys(state.kind for state in self.states))
        own = not self.library or self.source is LayoutSource.CONFIGURATION
        part = GroupPart(self.name, value, self.library, kinds, self.overdue is not None, self.gone is not None, own)
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
class FoundGroup:
    """A group that is there: the id of its table, and how many rows that has, as the catalogue estimates them.

    ``tables``: the names of all tables whose columns are read, each with its id. ``walk``: the index along which its
    messages are listed, if there is one that holds all of them. ``labels``: those of the enum column that its states
    differ by; ``None``: there is no such column.
    """

    group: Group
    table_id: int
    rows: int | None
    walk: ListPath | None = None
    labels: frozenset[str] | None = None
    tables: tuple[tuple[str, int], ...] = ()


def state_column(group: Group) -> tuple[ColumnRef, tuple[StateValue, ...]] | None:
    """The column of its rows whose value each state needs, and the values that are known; ``None`` without one."""
    found: list[dict[ColumnRef, tuple[StateValue, ...]]] = []
    for state in group.states:
        parts = state.when.of if isinstance(state.when, Every) else (state.when,)
        if NEVER not in parts:
            tests = (part for part in parts if isinstance(part, OneOf) and not part.negated)
            found.append({test.column: test.values for test in tests if test.column == ColumnRef(test.column.name)})
    for column in found[0] if found else ():
        if all(column in tests for tests in found):
            return column, tuple(dict.fromkeys(value for tests in found for value in tests[column]))
    return None


def _named(column: str | None, table: str, *, as_time: bool = False) -> list[Uses]:
    return [] if column is None else [uses(ColumnRef(column), table, as_time=as_time)]
