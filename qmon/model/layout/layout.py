"""Layout: how one table, or a set of tables, acts as a queue. Data, not code."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, Literal

from qmon.model.layout.designs import GROUP_TRAITS, TRAITS, Traits
from qmon.model.layout.time_zones import UNKNOWN_ZONE, UTC_ZONE, TimeColumn, Zone

StateValue = str | int

DEFAULT_TIMEOUT_S: Final = 300.0

# The routines of an installed design use this maximum number of attempts, unless the installation sets another one.
DEFAULT_MAX_ATTEMPTS: Final = 5
MAX_MAX_ATTEMPTS: Final = 1_000_000


class LayoutSource(StrEnum):
    """The origin of a layout, in decreasing order of trust."""

    CONFIGURATION = "configuration"
    REGISTRY = "registry"
    DISCOVERY = "discovery"


@dataclass(frozen=True, slots=True)
class TableName:
    """A table name as on the server, unquoted. ``schema`` is empty only if the user gave none."""

    schema: str
    name: str

    @property
    def parts(self) -> tuple[str, ...]:
        """The parts to quote and join with dots."""
        return (self.schema, self.name) if self.schema else (self.name,)

    def __str__(self) -> str:
        return ".".join(self.parts)


@dataclass(frozen=True, slots=True)
class StateColumn:
    """The state column and its values. ``None``: the queue does not use this state.

    ``learnt``: the values were collected from rows. ``None`` then means that no row had such a value yet.
    """

    column: str
    ready: StateValue
    in_progress: StateValue | None = None
    done: StateValue | None = None
    dead: StateValue | None = None
    blocked: StateValue | None = None
    learnt: bool = field(default=False, compare=False)

    @property
    def values(self) -> tuple[StateValue, ...]:
        """The values whose meaning is known."""
        known = (self.ready, self.in_progress, self.done, self.dead, self.blocked)
        return tuple(each for each in known if each is not None)


@dataclass(frozen=True, slots=True)
class Order:
    """A column that pops sort by."""

    column: str
    descending: bool = False


@dataclass(frozen=True, slots=True)
class Write:
    """The value that a requeue writes into one column of a message that becomes ready or dead.

    ``what``: ``null``. ``now``: the server's clock, as seconds since the epoch in a number column. ``front``: a value
    that sorts before the first ready message that was never popped, or the message's own value if that sorts earlier.
    ``value``: the field ``value``. ``keep``: the current value.
    """

    state: Literal["ready", "dead"]
    column: str
    what: Literal["null", "now", "front", "keep", "value"]
    value: StateValue | None = None


@dataclass(frozen=True, slots=True)
class OwnerColumn:
    """The column with the owner of a message, and the kind of proof it gives.

    ``kind``: ``session``: a server session id. The owner is dead if that session is gone *and* ``held_while_working``
    is true. ``lease``: the time until which the owner has the message. ``heartbeat``: a time that the owner renews.
    ``name``: no proof.
    """

    column: str
    kind: Literal["session", "lease", "heartbeat", "name"] = "name"
    held_while_working: bool = False


@dataclass(frozen=True, slots=True)
class Ring:
    """The parts of a ring: its size in slots, its two sequences and the columns of a slot.

    Attributes:
        subscribers: the pop sequence of each subscriber, if each message has several readers; ``pop_sequence`` is the
            first.
        unread: the column with the subscribers that have not read the message yet: bit k - 1 is subscriber k.
    """

    size: int
    push_sequence: TableName
    pop_sequence: TableName
    slot: str = "slot"
    turn: str | None = "turn"
    message_id: str = "message_id"
    reference_count: str = "reference_count"
    subscribers: tuple[TableName, ...] = ()
    unread: str | None = None


@dataclass(frozen=True, slots=True)
class Switch:
    """The objects from which the push and pop routines of an installed design read the end of a pause.

    PostgreSQL: one sequence each. SQL Server: one table for both.
    """

    producers: TableName
    consumers: TableName


@dataclass(frozen=True, slots=True)
class Clients:
    """Patterns (``*``, ``?``) for producers or consumers: application name, login, or called procedure."""

    application: str | None = None
    login: str | None = None
    procedure: str | None = None


@dataclass(frozen=True, slots=True)
class GroupPart:
    """One queue of a group (``model.groups``), identified by its value in the column with the queue.

    Attributes:
        value: ``None`` for all messages in the table.
        library: the library that the tables belong to; empty for the user's own.
        kinds: the kinds of states that exist.
        own_timeout: each message has its own timeout.
        proves: the tables can show that a message's worker is gone.
        own: the user configured the group. Its tables may still belong to a library.
    """

    group: str
    value: str | None = None
    library: str = ""
    kinds: tuple[str, ...] = ()
    own_timeout: bool = False
    proves: bool = False
    own: bool = False


@dataclass(frozen=True, slots=True)
class Layout:
    """How one table acts as a queue. Missing columns are ``None``, and everything that needs them is disabled.

    Attributes:
        id: the column that numbers the messages.
        key: all columns that identify a message, ``id`` last, if ``id`` alone does not.
        sequence: the sequence that issues ids, if known.
        data_table: the second half of a split design, which also contains ``payload``.
        data_id: key of ``data_table``.
        error: the column with the last error of a message.
        timeout_s: a message is stuck after this many seconds in progress.
        max_attempts: number of pops after which a failed message is dead, or the column with that number. It applies if
            the table counts attempts and has a dead state. ``None``: there is no limit.
        order: the columns that pops sort by; empty: unknown.
        writes: what a requeue writes in addition to the state.
        times: the configured meaning of columns without a time zone: ``utc``, ``local`` or a zone.
        zones: the facts from the catalog about each of these columns.
        pop: ``"delete"`` if a pop deletes its row although rows have states; ``None``: as the design does.
        routines: procedures of an installed design by verb: push, pop, complete, fail …
        switch: the objects that tell these routines whether they are paused; ``None`` for tables that qmon has not
            installed.
        library: the library that the table belongs to, if its columns show it.
        no_gate: why the table cannot have a trigger.
        part: the queue within its group; ``None`` if the layout is no group's queue.
    """

    queue: str
    design: str
    table: TableName
    id: str | None = None
    state: StateColumn | None = None
    started_at: str | None = None
    enqueued_at: str | None = None
    due_at: str | None = None
    owner: OwnerColumn | None = None
    attempts: str | None = None
    priority: str | None = None
    payload: str | None = None
    error: str | None = None
    sequence: TableName | None = None
    data_table: TableName | None = None
    data_id: str | None = None
    key: tuple[str, ...] = ()
    ring: Ring | None = None
    times: str | None = None
    zones: tuple[tuple[str, Zone], ...] = ()
    timeout_s: float = DEFAULT_TIMEOUT_S
    max_attempts: int | str | None = None
    order: tuple[Order, ...] = ()
    writes: tuple[Write, ...] = ()
    pop: Literal["delete"] | None = None
    producers: Clients = field(default_factory=Clients)
    consumers: Clients = field(default_factory=Clients)
    routines: tuple[tuple[str, TableName], ...] = ()
    switch: Switch | None = None
    source: LayoutSource = LayoutSource.CONFIGURATION
    library: str = ""
    no_gate: str = ""
    part: GroupPart | None = None

    @property
    def probe_name(self) -> str:
        """The queue name in the keys of its probes. All queues of a group use the group's name."""
        return self.queue if self.part is None else self.part.group

    @property
    def is_guess(self) -> bool:
        """True if qmon guessed from the table's columns that it is a queue."""
        return self.source is LayoutSource.DISCOVERY and not self.library

    @property
    def traits(self) -> Traits:
        """Properties of every queue of this design."""
        return GROUP_TRAITS if self.part is not None else TRAITS[self.design]

    @property
    def ids(self) -> tuple[str, ...]:
        """The columns that identify a message; empty if messages have no id."""
        return self.key or (() if self.id is None else (self.id,))

    def has_figure(self, figure: str) -> bool:
        """Return whether a queue of this layout has a figure at all, judged by its design and columns.

        ``figure``: a field of ``QueueView``. The figure may still be unknown at a given time or for our role.
        """
        if self.part is not None:
            return _part_has_figure(self.part, figure)
        state, ring = self.state, self.ring is not None
        working = not ring and (
            self.pop == "delete" or state is None or state.in_progress is not None or not self.traits.completes
        )
        known = {
            "in_progress": ring or working,
            "stuck": working,
            "scheduled": self.due_at is not None,
            "dead": state is not None and state.dead is not None,
            "done": state is not None and state.done is not None,
            "blocked": state is not None and state.blocked is not None,
            "blocked_oldest": False,  # no column contains the time at which a message became blocked
            "fill": ring,
            "gap": ring or (self.id is not None and self.traits.order == "fifo"),
            "oldest": ring or not (self.id is None and self.enqueued_at is None and self.due_at is None),
            "complete_rate": self.pop is None
            and self.traits.completes
            and state is not None
            and state.in_progress is not None,
        }
        return known.get(figure, True)

    def time_column(self, column: str | None) -> TimeColumn | None:
        """Return a column of times together with the meaning of its times."""
        return None if column is None else TimeColumn(column, dict(self.zones).get(column, UTC_ZONE))

    def has_known_time(self, column: str | None) -> bool:
        """Return whether the layout has this column and the meaning of its times is known."""
        return column is not None and dict(self.zones).get(column) != UNKNOWN_ZONE

    @property
    def deletes_on_pop(self) -> bool:
        """True if the consumer's transaction deletes a popped row. A message is in progress while it is open."""
        return self.pop == "delete" or self.traits.deletes_on_pop

    def routine_for(self, verb: str) -> TableName | None:
        """Return the procedure of an installed design for ``verb`` (``push``, ``pop``, …), or ``None`` without one."""
        return dict(self.routines).get(verb)


def _part_has_figure(part: GroupPart, figure: str) -> bool:
    wanted = {"stuck": "in_progress", "complete_rate": "in_progress", "blocked_oldest": "blocked"}.get(figure, figure)
    if figure in ("gap", "fill"):
        return False
    return wanted not in ("in_progress", "scheduled", "blocked", "dead", "done") or wanted in part.kinds
