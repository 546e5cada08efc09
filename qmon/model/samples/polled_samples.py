"""Samples: the typed rows of each probe. There is one record per probe. Field names are the column names of the SQL.

Times are in seconds. A field ``*_at`` is a time since the Unix epoch on the server's clock, and a field ``*_s`` is a
duration. Counters are totals since their last reset, never rates.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from qmon.model.formatting import count_text
from qmon.texts import Text


class SampleText(Text):
    """Messages in unknown states."""

    AT_LEAST = "at least {rows}"
    IN_UNKNOWN_STATE = "{rows} in no state that qmon knows"
    UNKNOWN_VALUES = "{rows} in states that qmon does not know: {listed}{more} in `{column}`{remedy}"
    NAME_STATES = "; name them in qmon.toml"


# Maximum number of values named in one line.
_MAX_VALUES: Final = 5


@dataclass(frozen=True, slots=True)
class LostSample:
    """One row. Its number changes when a named table appears or disappears, or when our role's permissions change."""

    found: int


@dataclass(frozen=True, slots=True)
class ReadableSample:
    """One row per table: whether our role may read it."""

    table_id: int
    readable: bool


@dataclass(frozen=True, slots=True)
class ServerSample:
    """One row about the server and the watched database.

    A counter is ``None`` if our role may not see it.

    Attributes:
        in_recovery: true for a standby or a read-only database.
        sessions: number of sessions of this database; ``None`` if our role may not see them.
        sees_sessions: false if our role (``role``) sees only its own sessions.
        replay_paused: true if the standby currently applies no changes.
        behind_s: seconds behind the primary; ``None`` if unknown.
        pollers: number of qmons that poll this database, including ours; ``None`` if our role may not see them.
        untracked: number of sessions with ``track_activities`` off, whose statements and times are hidden.
        counts: false if ``track_counts`` is off, so that the counters of tables do not change.
        sessions_used: number of sessions of all databases; ``None`` if our role may not see them.
        sessions_limit: maximum number of sessions; ``None`` if unknown.
    """

    now_at: float
    started_at: float
    stats_reset_at: float | None
    in_recovery: bool
    sessions: int | None
    commits: int | None
    rollbacks: int | None
    deadlocks: int | None
    sees_sessions: bool = True
    role: str = ""
    replay_paused: bool = False
    behind_s: float | None = None
    pollers: int | None = None
    untracked: int = 0
    counts: bool = True
    sessions_used: int | None = None
    sessions_limit: int | None = None


@dataclass(frozen=True, slots=True)
class WaitSample:
    """One row per wait: how many sessions currently wait. An empty ``event`` means that sessions run on a processor."""

    kind: str
    event: str
    sessions: int


@dataclass(frozen=True, slots=True)
class BlockingSample:
    """One row per pair of a session and its blocker. A value is ``None`` if the server does not report it.

    A prepared transaction is session 0 and has a ``gid``. Fields that are not listed here describe the session.

    Attributes:
        blocker: the session that it waits for; ``None`` if the session does not wait and only blocks other sessions.
        ahead: true if the blocker does not hold the lock, but is ahead of the session in the lock queue.
        holders: number of blockers that hold the lock, including blockers without a row.
        line: number of blockers ahead in the lock queue, including blockers without a row.
        mode: mode of the lock that the session waits for.
        object: the locked object.
        table_id: the table of the lock.
        started_at: when the session started, seconds since the epoch.
        transactions: open transactions, including nested ones.
        isolation: isolation level; empty: unknown.
        batch_s: seconds since the session's last batch started.
        reads: pages that the current request has read in memory; without a request, pages that the session has read.
        writes: pages that the current request has written; without a request, pages that the session has written.
        memory: bytes granted to the request.
        undone: completed share of the rollback, 0 to 1.
        threads: number of waiting threads of the session.
    """

    session: int
    gid: str
    blocker: int | None
    blocker_gid: str
    ahead: bool
    holders: int
    line: int
    waiting_s: float | None
    mode: str
    object: str
    table_id: int | None
    started_at: float | None
    kind: str
    state: str
    state_s: float | None
    transaction_s: float | None
    login: str
    application: str
    host: str
    database: str
    statement: str
    transactions: int | None = None
    isolation: str = ""
    batch_s: float | None = None
    reads: int | None = None
    writes: int | None = None
    memory: int | None = None
    undone: float | None = None
    threads: int | None = None


@dataclass(frozen=True, slots=True)
class WriterSample:
    """One row per running transaction that has written. The transaction's session holds the changed rows.

    A prepared transaction is session 0, with its name in ``application``. ``transaction_s`` is ``None`` if our role may
    not see this time or the session does not report it. It is 0 if the transaction has just ended.
    """

    xid: str
    session: int
    transaction_s: float | None
    state: str
    application: str


@dataclass(frozen=True, slots=True)
class CounterSample:
    """One row per table: the server's statistics counters, as totals of rows.

    The totals of a parent table are the sums of its partitions.

    Attributes:
        live: current live rows.
        dead: current dead rows.
        modified_since_analyze: modifications by committed transactions only; ``None`` if the server does not count
            modifications.
        called: the table's current name; ``None`` or a number if the table is gone.
        files: a number that identifies the table's storage. Samples with different numbers are not compared.
        readable: true if our role may read the table.
        counted: false if the server has not counted anything yet or has discarded its counters.
        partitions: number of partitions with counters; ``None`` if this server does not count per partition.
        altered: a number that changes when the table or one of its indexes is altered; ``None`` if there is no such
            number.
    """

    table_id: int
    inserted: int
    updated: int
    deleted: int
    hot_updated: int
    live: int
    dead: int
    modified_since_analyze: int | None
    vacuums: int
    analyzes: int
    bytes: int
    called: str | None = None
    files: int | None = None
    readable: bool = True
    counted: bool = True
    partitions: int | None = None
    altered: int | None = None


@dataclass(frozen=True, slots=True)
class SequenceSample:
    """One row per sequence: the last number issued, or ``None`` if no number was issued or our role may not see it."""

    sequence_id: int
    last_value: int | None
    visible: bool


@dataclass(frozen=True, slots=True)
class PartialSample:
    """One row per table of which our role sees only some rows, or sees a masked column.

    Attributes:
        column_name: the masked column; ``None`` if rows are hidden.
        why: why rows or values are hidden, in one line.
        helps: the role that sees all rows and values.
    """

    table_id: int
    column_name: str | None
    why: str
    helps: str


@dataclass(frozen=True, slots=True)
class ReplicaSample:
    """The age of a standby's rows, if a separate statement reads this age.

    The fields are those of ``ServerSample``.
    """

    replay_paused: bool
    behind_s: float | None


@dataclass(frozen=True, slots=True)
class NewestIdSample:
    """One row per queue: the greatest committed id, or ``None`` if the table has no rows."""

    last_id: int | None


@dataclass(frozen=True, slots=True)
class HeadSample:
    """One row per queue: the first ready message, searched from the last known head on, and a limited count.

    ``counted``: number of ready rows, up to the requested limit. ``oldest_s``: age of the first message in seconds.
    """

    head_id: str | None
    oldest_s: float | None
    counted: int


@dataclass(frozen=True, slots=True)
class WalkSample:
    """One row per queue: the first ready message, searched among a limited number of rows of any state.

    The next search starts at ``place``. ``whole``: true if the search reached the end of the rows or the requested
    limit, so that ``counted`` is exact below that limit. Other fields are as in ``HeadSample``.
    """

    place: str | None
    head_id: str | None
    oldest_s: float | None
    counted: int
    whole: bool


@dataclass(frozen=True, slots=True)
class HeldSample:
    """One row per transaction that has locked ready rows near the first message: the number of locked rows.

    ``xid`` may belong to a savepoint. ``running``: true if the transaction has neither committed nor rolled back.
    """

    xid: str
    rows: int
    running: bool


@dataclass(frozen=True, slots=True)
class LockSample:
    """One row per lock on a row of a queue's table. ``locks``: all locks of this kind held by ``xid``.

    ``taken``: the lock is exclusive, on a row that was deleted, changed or added. Otherwise, the lock is on a row that
    is about to be changed. ``table_id`` 0: not a lock, but a sign that the database uses optimized locking.
    """

    table_id: int
    index_id: int
    name: str | None
    xid: str
    taken: bool
    place: str
    locks: int


@dataclass(frozen=True, slots=True)
class UnseenSample:
    """One sample per lock whose table row is not visible. ``keys``: the number of locks for one row of the queue."""

    place: str
    keys: int


@dataclass(frozen=True, slots=True)
class ProgressSample:
    """One row per queue: messages in progress, counted up to a limit.

    ``timed``: how many of the messages have a start time. ``stuck``: how many messages with a start time exceed the
    timeout, or ``None`` if unknown.
    """

    in_progress: int
    timed: int
    stuck: int | None
    longest_s: float | None


@dataclass(frozen=True, slots=True)
class ProgressIdSample:
    """One row per message in progress, if the table has no start time. Only the id is known."""

    id: str


@dataclass(frozen=True, slots=True)
class CountSample:
    """One row: the number of scheduled or dead messages, up to the requested limit."""

    counted: int


@dataclass(frozen=True, slots=True)
class StateValueSample:
    """One row per state value that qmon does not know: the value as text, and the number of rows up to a limit."""

    value: str
    counted: int


@dataclass(frozen=True, slots=True)
class StrangeStates:
    """Messages in states that qmon does not know.

    Attributes:
        column: the state column; empty if no single column has the state.
        values: some of the unknown values as text; empty if all values are known and other columns cause the unknown
            state.
        counted: number of messages in unknown states.
        at_least: true if there may be more such messages.
        configurable: true if the user can name the states in ``qmon.toml``.
        hides: the figures that are unknown because of these messages; ``None`` in recordings that lack this list.
    """

    column: str
    values: tuple[str, ...]
    counted: int
    at_least: bool = False
    configurable: bool = True
    hides: tuple[str, ...] | None = None

    @property
    def text(self) -> str:
        """The number of rows in unknown states and the unknown values, as one line."""
        rows = count_text(self.counted, "row")
        if self.at_least:
            rows = SampleText.AT_LEAST.render(rows=rows)
        if not self.values:
            return SampleText.IN_UNKNOWN_STATE.render(rows=rows)
        listed = ", ".join(f"`{value}`" for value in self.values[:_MAX_VALUES])
        more = ", …" if len(self.values) > _MAX_VALUES else ""
        remedy = SampleText.NAME_STATES if self.configurable else ""
        return SampleText.UNKNOWN_VALUES.render(rows=rows, listed=listed, more=more, column=self.column, remedy=remedy)


@dataclass(frozen=True, slots=True)
class RingSample:
    """One row per ring: both positions and the slots around the positions, from one statement.

    If a ring has several subscribers, the ``pop_…`` fields describe the subscriber with the most ready messages. In a
    ring without turns, a number that waits for its message looks like a popped number. ``push_open`` then counts only
    numbers beyond ``pop_last``, and ``pop_waiting`` counts only numbers that no producer has drawn.

    Attributes:
        push_last: last number drawn by producers.
        pop_last: last number drawn by consumers.
        push_open: how many numbers near ``push_last`` have a slot that does not contain the message yet.
        push_open_ahead: how many numbers beyond ``pop_last`` have no message, because they are holes or their message
            is not pushed yet.
        pop_waiting: how many numbers up to ``pop_last`` have a message that is not pushed yet.
        pop_held: how many numbers up to ``pop_last`` have a message that is not popped yet.
        oldest_s: age in seconds of the oldest ready message.
    """

    push_last: int
    pop_last: int
    push_open: int
    push_open_ahead: int
    pop_waiting: int
    pop_held: int
    oldest_s: float | None

    @property
    def span(self) -> int:
        """How many numbers producers have drawn but consumers have not; negative if consumers are ahead."""
        return self.push_last - self.pop_last


@dataclass(frozen=True, slots=True)
class ClockSample:
    """One row: the server's clock, seconds since the epoch."""

    now_at: float


@dataclass(frozen=True, slots=True)
class ValueSample:
    """The value of a figure that a probe reads directly. ``value``: ``None`` if no message has a value."""

    value: float | None


@dataclass(frozen=True, slots=True)
class KeptValue:
    """The last value of such a figure. ``read_at``: when it was read, server clock, seconds since the epoch."""

    value: float | None
    read_at: float


@dataclass(frozen=True, slots=True)
class DepthSample:
    """One row: the number of ready rows, which the server maintains in an index."""

    counted_at: float
    ready: int


@dataclass(frozen=True, slots=True)
class EmptySample:
    """One row: whether a table without a suitable index is empty, or ``None`` if the table is too large to check."""

    empty: bool | None


@dataclass(frozen=True, slots=True)
class MessageSample:
    """One row per message, for the queue screen.

    ``age_s``: seconds since the message was popped or, if it was not popped, pushed. ``error``: the last 200
    characters of the most recent error, or ``None`` if there is no error or no column for errors.
    """

    id: str
    state: str
    age_s: float | None
    owner: str | None
    attempts: int | None
    payload: str | None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class CostSample:
    """One row: the cost of our own session so far. A field is ``None`` if the server does not report it.

    ``buffers``: pages touched. ``cpu_ms``: milliseconds of processor time.
    """

    buffers: int | None
    cpu_ms: int | None = None


@dataclass(frozen=True, slots=True)
class PausesKnown:
    """One row: whether our role can read the recorded pauses of this database.

    ``operations``: whether our role can read the recorded operations.
    """

    readable: bool
    operations: bool


@dataclass(frozen=True, slots=True)
class OperatedSample:
    """One row per running or recently finished operation of qmon: the table, and how many rows were changed."""

    id: str
    about: str
    done: int


@dataclass(frozen=True, slots=True)
class PauseSample:
    """One row per pause in force.

    Attributes:
        queue: the queue's name, which may differ between configurations.
        about: the queue's table, which identifies the queue; see ``pause_subject``.
        side: producers or consumers; a value of ``Side``.
        since_at: seconds since the epoch, server clock; so is ``until_at``.
        by: the account that paused the queue.
        way: switch or gate.
    """

    queue: str
    about: str
    side: str
    since_at: float
    until_at: float
    by: str
    reason: str
    way: str
