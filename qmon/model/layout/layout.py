"""Layout: how one table, or a set of tables, acts as a queue. Data, not code."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, Literal

from qmon.model.layout.designs import OF_A_PART, TRAITS, Traits
from qmon.model.layout.zones import UNKNOWN, UTC_ZONE, TimeColumn, Zone

StateValue = str | int

DEFAULT_TIMEOUT_S: Final = 300.0
# What the routines of an installed design go by where its installation says nothing else.
DEFAULT_MAX_ATTEMPTS: Final = 5
MAX_MAX_ATTEMPTS: Final = 1_000_000


class LayoutSource(StrEnum):
    """Where a layout comes from, in falling order of trust."""

    CONFIGURATION = "configuration"
    REGISTRY = "registry"
    DISCOVERY = "discovery"


@dataclass(frozen=True, slots=True)
class TableName:
    """A table as the server names it, unquoted. ``schema`` is empty only where the user gave none."""

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
    """The column that says which state a row is in, and its values. ``None``: the state is not used.

    ``learnt``: the values are those that rows were seen to have. ``None`` then means that no such value was seen yet.
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
    """A column that pops go by."""

    column: str
    descending: bool = False


@dataclass(frozen=True, slots=True)
class Write:
    """What one column of a message gets that a requeue makes ready, or dead.

    ``null``; ``now``: the server's clock, in a column of numbers as seconds since the epoch; ``front``: a place before
    the first ready message that nobody has popped, or its own where that is earlier; ``value``: ``value``;
    ``keep``: what it has.
    """

    state: Literal["ready", "dead"]
    column: str
    what: Literal["null", "now", "front", "keep", "value"]
    value: StateValue | None = None


@dataclass(frozen=True, slots=True)
class OwnerColumn:
    """Who took a message, and what that name proves.

    ``session``: a server session id, dead when that session has vanished *and* ``held_while_working`` is true;
    ``lease``: a time until which the message is taken; ``heartbeat``: a time the owner renews; ``name``: no proof.
    """

    column: str
    kind: Literal["session", "lease", "heartbeat", "name"] = "name"
    held_while_working: bool = False


@dataclass(frozen=True, slots=True)
class Ring:
    """The parts of a ring: its size in slots, its two sequences and the columns of a slot.

    ``subscribers``: where several read every message, the pop sequence of each; ``pop_sequence`` is then the first.
    ``unread``: the column that says who of them still has to read, subscriber k as bit k - 1.
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
    """What push and pop of an installed design ask before anything else: until when they are paused.

    PostgreSQL: a sequence each; SQL Server: one table for both.
    """

    pushers: TableName
    poppers: TableName


@dataclass(frozen=True, slots=True)
class Clients:
    """Who pushes or pops: patterns (``*``, ``?``) for the application name, the login, or the procedure they call."""

    application: str | None = None
    login: str | None = None
    procedure: str | None = None


@dataclass(frozen=True, slots=True)
class GroupPart:
    """Which of the queues of a group this is (``model.groups``): the value of the column that tells them apart.

    ``value``: ``None`` for all that the table holds. ``library``: whose tables they are, empty for one's own;
    ``kinds``: which states there are. ``own_timeout``: each message says itself how long it may be in progress.
    ``proves``: whether a message's worker is gone is known. ``own``: of a library that the user has described.
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
    """How one table acts as a queue. Columns the table lacks are ``None``; what depends on them is switched off.

    ``id`` is the column that numbers the messages; where it alone does not make one known, ``key`` has all the columns
    that do, ``id`` last. ``sequence`` is the sequence that issues ids, where one is known. ``data_table`` is the second
    half of a split design, ``data_id`` its key; ``payload`` is then a column of that half. ``error``: the column with
    the error by which a message failed last. ``timeout_s``: seconds in
    progress after which a message is stuck. ``max_attempts``: pops after which a message that failed is dead, where the
    table counts attempts and has that state, or the column that says so of each; ``None``: no number of pops makes one
    dead. ``order``: the columns that pops go by; empty: not known. ``writes``: what a requeue writes besides the state.
    ``times``: what the user says of columns without a time zone, ``utc``, ``local`` or a zone; ``zones``: what is
    known of each, from the catalogue.
    ``pop``: ``"delete"`` where a pop deletes its row although rows have states; ``None``: as the design does.
    ``routines`` maps push, pop, complete, fail … to the procedures of an installed design; ``switch`` is what these ask
    whether they are paused, ``None`` for tables that qmon has not installed. ``library``: whose table it is,
    if that is known by its columns; ``no_gate``: why that can have no trigger. ``part``: of a group's queue, which one.
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
    pushers: Clients = field(default_factory=Clients)
    poppers: Clients = field(default_factory=Clients)
    routines: tuple[tuple[str, TableName], ...] = ()
    switch: Switch | None = None
    source: LayoutSource = LayoutSource.CONFIGURATION
    library: str = ""
    no_gate: str = ""
    part: GroupPart | None = None

    @property
    def asked_as(self) -> str:
        """By which name its probes are asked: all queues of a group together, by the group's."""
        return self.queue if self.part is None else self.part.group

    @property
    def is_guess(self) -> bool:
        """Whether only the shape of its table makes it a queue: no user and no library has said so."""
        return self.source is LayoutSource.DISCOVERY and not self.library

    @property
    def traits(self) -> Traits:
        """What is true of every queue of this design."""
        return OF_A_PART if self.part is not None else TRAITS[self.design]

    @property
    def ids(self) -> tuple[str, ...]:
        """The columns by which a message is called; none where it has no id."""
        return self.key or (() if self.id is None else (self.id,))

    def has(self, figure: str) -> bool:
        """Whether a queue of this layout has such a figure at all, by its design and columns.

        ``figure``: a field of ``QueueView``. What it has may still be unknown at a moment, or to our role.
        """
        if self.part is not None:
            return _part_has(self.part, figure)
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
            "blocked_oldest": False,  # no column says since when
            "fill": ring,
            "gap": ring or (self.id is not None and self.traits.order == "fifo"),
            "oldest": ring or not (self.id is None and self.enqueued_at is None and self.due_at is None),
            "complete_rate": self.pop is None
            and self.traits.completes
            and state is not None
            and state.in_progress is not None,
        }
        return known.get(figure, True)

    def timed(self, column: str | None) -> TimeColumn | None:
        """The column with what its times mean."""
        return None if column is None else TimeColumn(column, dict(self.zones).get(column, UTC_ZONE))

    def tells(self, column: str | None) -> bool:
        """There is such a column, and it is known what its times mean."""
        return column is not None and dict(self.zones).get(column) != UNKNOWN

    @property
    def deletes_on_pop(self) -> bool:
        """Whether a popped row is deleted in the popper's transaction: in progress means an open transaction."""
        return self.pop == "delete" or self.traits.deletes_on_pop

    def routine(self, verb: str) -> TableName | None:
        """The procedure of an installed design that does ``verb`` (``push``, ``pop``, …), if there is one."""
        return dict(self.routines).get(verb)


def _part_has(part: GroupPart, figure: str) -> bool:
    wanted = {"stuck": "in_progress", "complete_rate": "in_progress", "blocked_oldest": "blocked"}.get(figure, figure)
    if figure in ("gap", "fill"):
        return False
    return wanted not in ("in_progress", "scheduled", "blocked", "dead", "done") or wanted in part.kinds
