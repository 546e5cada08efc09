"""Layout: how one table, or a set of tables, acts as a queue. A layout is data, not code."""

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
class ObjectName:
    """A table name as on the server, unquoted. ``schema`` is empty only if the user gave no schema."""

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
    """The state column and its values. A value is ``None`` if the queue does not use this state.

    ``learnt``: true if the values were collected from rows. ``None`` then means that no row had such a value yet.
    ``also_done``: further values of messages that need no more work, such as ``cancelled``.
    """

    column: str
    ready: StateValue
    in_progress: StateValue | None = None
    done: StateValue | None = None
    dead: StateValue | None = None
    blocked: StateValue | None = None
    learnt: bool = field(default=False, compare=False)
    also_done: tuple[StateValue, ...] = ()

    @property
    def values(self) -> tuple[StateValue, ...]:
        """The values whose meaning is known."""
        known = (self.ready, self.in_progress, self.done, self.dead, self.blocked)
        return (*(each for each in known if each is not None), *self.also_done)

    @property
    def all_done(self) -> tuple[StateValue, ...]:
        """All values of messages that need no more work."""
        return (*(() if self.done is None else (self.done,)), *self.also_done)


@dataclass(frozen=True, slots=True)
class SortColumn:
    """A column that pops sort by."""

    column: str
    descending: bool = False


@dataclass(frozen=True, slots=True)
class RequeueWrite:
    """The value that a requeue writes into one column of a message that becomes ready or dead.

    ``what`` is one of these words. ``null``: NULL. ``now``: the server's current time, in a number column as seconds
    since the epoch. ``front``: a value that sorts before the first ready message that was never popped, or the
    message's own value if it sorts earlier. ``value``: the field ``value``. ``keep``: the current value.
    """

    state: Literal["ready", "dead"]
    column: str
    what: Literal["null", "now", "front", "keep", "value"]
    value: StateValue | None = None


@dataclass(frozen=True, slots=True)
class OwnerColumn:
    """The column with the owner of a message, and the kind of proof it gives.

    ``kind`` is one of these words. ``session``: the column contains a server session id. The owner is dead if the
    session is gone *and* ``held_while_working`` is true. ``lease``: the column contains the time until which the owner
    has the message. ``heartbeat``: the column contains a time that the owner renews. ``name``: there is no proof.
    """

    column: str
    kind: Literal["session", "lease", "heartbeat", "name"] = "name"
    held_while_working: bool = False


@dataclass(frozen=True, slots=True)
class Ring:
    """The parts of a ring: its size in slots, its two sequences and the columns of a slot.

    Attributes:
        subscribers: the pop sequence of each subscriber, if each message has several readers. The first one is
            ``pop_sequence``.
        unread: the column with the subscribers that have not read the message yet. Bit k - 1 stands for subscriber k.
    """

    size: int
    push_sequence: ObjectName
    pop_sequence: ObjectName
    slot: str = "slot"
    turn: str | None = "turn"
    message_id: str = "message_id"
    reference_count: str = "reference_count"
    subscribers: tuple[ObjectName, ...] = ()
    unread: str | None = None


@dataclass(frozen=True, slots=True)
class PauseSwitch:
    """The objects from which the push and pop routines of an installed design read the end of a pause.

    On PostgreSQL, each side has a sequence. On SQL Server, both sides have the same table.
    """

    producers: ObjectName
    consumers: ObjectName


@dataclass(frozen=True, slots=True)
class ClientPatterns:
    """Patterns (``*``, ``?``) that identify producers or consumers by application name, login or called procedure."""

    application: str | None = None
    login: str | None = None
    procedure: str | None = None


@dataclass(frozen=True, slots=True)
class SharedTableQueue:
    """One queue of a group (``model.groups``), identified by its value in the column with the queue.

    Attributes:
        value: the value that identifies the queue; ``None`` for all messages in the table.
        library: the library that the tables belong to; empty for the user's own tables.
        kinds: the kinds of states that exist.
        own_timeout: true if each message has its own timeout.
        proves: true if the tables can show that a message's worker is gone.
        own: true if the user configured the group. The tables may still belong to a library.
        version: the versions of the library, if versions with other tables have their own file.
        declared: the group as JSON, in the form of ``qmon.toml``, if it declares how to act on its messages.
    """

    group: str
    value: str | None = None
    library: str = ""
    kinds: tuple[str, ...] = ()
    own_timeout: bool = False
    proves: bool = False
    own: bool = False
    version: str = ""
    declared: str = ""


@dataclass(frozen=True, slots=True)
class Layout:
    """How one table acts as a queue. A missing column is ``None``, and functions that need the column are disabled.

    Attributes:
        id: the column that numbers the messages.
        key: all columns that identify a message, ``id`` last, if ``id`` alone does not.
        sequence: the sequence that issues ids, if known.
        data_table: the second table of a design with two tables. It also contains ``payload``.
        data_id: key of ``data_table``.
        error: the column with the last error of a message.
        timeout_s: a message is stuck after this many seconds in progress.
        max_attempts: number of pops after which a failed message is dead, or the column with that number. The limit
            applies if the table counts attempts and has a dead state. ``None``: there is no limit.
        order: the columns that pops sort by; empty if unknown.
        writes: what a requeue writes in addition to the state.
        times: the configured meaning of columns without a time zone: ``utc``, ``local`` or a zone.
        zones: the meaning of the times of each such column, from the catalog.
        pop: ``"delete"`` if a pop deletes its row although rows have states; ``None`` if pops are those of the design.
        routines: procedures of an installed design by verb: push, pop, complete, fail …
        switch: the objects from which these routines read whether they are paused; ``None`` for tables that qmon has
            not installed.
        library: the library that the table belongs to, if its columns show it.
        no_gate: why the table cannot have a trigger.
        part: the queue within its group; ``None`` if the queue does not belong to a group.
    """

    queue: str
    design: str
    table: ObjectName
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
    sequence: ObjectName | None = None
    data_table: ObjectName | None = None
    data_id: str | None = None
    key: tuple[str, ...] = ()
    ring: Ring | None = None
    times: str | None = None
    zones: tuple[tuple[str, Zone], ...] = ()
    timeout_s: float = DEFAULT_TIMEOUT_S
    max_attempts: int | str | None = None
    order: tuple[SortColumn, ...] = ()
    writes: tuple[RequeueWrite, ...] = ()
    pop: Literal["delete"] | None = None
    producers: ClientPatterns = field(default_factory=ClientPatterns)
    consumers: ClientPatterns = field(default_factory=ClientPatterns)
    routines: tuple[tuple[str, ObjectName], ...] = ()
    switch: PauseSwitch | None = None
    source: LayoutSource = LayoutSource.CONFIGURATION
    library: str = ""
    no_gate: str = ""
    part: SharedTableQueue | None = None

    @property
    def name_in_probe_keys(self) -> str:
        """The name of the queue in the keys of its probes. All queues of a group use the name of the group."""
        return self.queue if self.part is None else self.part.group

    @property
    def is_guess(self) -> bool:
        """True if qmon guessed from the table's columns that it is a queue."""
        library = self.library if self.part is None else self.part.library
        return self.source is LayoutSource.DISCOVERY and not library

    @property
    def traits(self) -> Traits:
        """Properties of every queue of this design."""
        return GROUP_TRAITS if self.part is not None else TRAITS[self.design]

    @property
    def id_columns(self) -> tuple[str, ...]:
        """The columns that identify a message; empty if messages have no id."""
        return self.key or (() if self.id is None else (self.id,))

    def has_figure(self, figure: str) -> bool:
        """Return whether the design and columns of this layout allow a figure.

        ``figure``: a field of ``QueueView``. The figure may still be unknown at a given time or for our role.
        """
        if self.part is not None:
            return _part_has_figure(self.part, figure)
        # Each poll asks this many times for each queue, so only the requested answer is computed.
        state, ring = self.state, self.ring is not None
        match figure:
            case "in_progress":
                return ring or self._shows_work
            case "stuck":
                return self._shows_work
            case "scheduled":
                return self.due_at is not None
            case "dead" | "done" | "blocked":
                return state is not None and getattr(state, figure) is not None
            case "blocked_oldest":
                return False  # no column contains the time at which a message became blocked
            case "fill":
                return ring
            case "gap":
                return ring or (self.id is not None and self.traits.order == "fifo")
            case "oldest":
                return ring or not (self.id is None and self.enqueued_at is None and self.due_at is None)
            case "complete_rate":
                has_work = state is not None and state.in_progress is not None
                return has_work and self.pop is None and self.traits.completes
        return True

    @property
    def _shows_work(self) -> bool:
        """True if rows show which messages are in progress, or locks on them do."""
        state = self.state
        return self.ring is None and (
            self.pop == "delete" or state is None or state.in_progress is not None or not self.traits.completes
        )

    def time_column(self, column: str | None) -> TimeColumn | None:
        """Return a column of times with the meaning of its times."""
        return None if column is None else TimeColumn(column, dict(self.zones).get(column, UTC_ZONE))

    def has_known_time(self, column: str | None) -> bool:
        """Return whether the layout has this column and the meaning of its times is known."""
        return column is not None and dict(self.zones).get(column) != UNKNOWN_ZONE

    @property
    def deletes_on_pop(self) -> bool:
        """True if a pop deletes the row, so that the message is in progress until the consumer's transaction ends."""
        return self.pop == "delete" or self.traits.deletes_on_pop

    def routine_for(self, verb: str) -> ObjectName | None:
        """Return the installed design's procedure for ``verb`` (``push``, ``pop``, …), or ``None`` if there is none."""
        return dict(self.routines).get(verb)


def _part_has_figure(part: SharedTableQueue, figure: str) -> bool:
    wanted = {"stuck": "in_progress", "complete_rate": "in_progress", "blocked_oldest": "blocked"}.get(figure, figure)
    if figure in ("gap", "fill"):
        return False
    return wanted not in ("in_progress", "scheduled", "blocked", "dead", "done") or wanted in part.kinds
