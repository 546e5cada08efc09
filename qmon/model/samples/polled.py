"""Samples: the typed rows of each probe. Field names are the column names of the SQL, one record a probe.

Times are seconds: ``*_at`` since the Unix epoch on the server's clock, ``*_s`` durations. Counters are totals since
the server last reset them, never rates.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

# Values that a line names at most.
_LISTED: Final = 5


@dataclass(frozen=True, slots=True)
class ReadableSample:
    """One row a table: whether our role may read it."""

    table_id: int
    readable: bool


@dataclass(frozen=True, slots=True)
class ServerSample:
    """One row: the server and the watched database as a whole.

    ``in_recovery``: a standby, or a database that may only be read; then ``behind_s``: how many seconds behind the
    primary it is, ``None`` where that is not known, and ``replay_paused``: it stays where it is.
    ``sessions``, ``sessions_used`` of all databases and ``pollers`` (qmons that poll this database, ours included):
    ``None`` if our role may not see them. ``sessions_limit``: how many there may be, ``None`` if that is not known.
    ``sees_sessions`` false: our role, ``role``, sees only its own sessions. ``untracked``: sessions in which
    ``track_activities`` is off, so that their statements and times are not shown. ``counts`` false: ``track_counts`` is
    off, so that the counters of tables stand still. A counter is ``None`` if this server does not show it to us.
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
    """One row a wait: how many sessions wait for it at this moment. ``event`` empty: running on a processor."""

    kind: str
    event: str
    sessions: int


@dataclass(frozen=True, slots=True)
class BlockingSample:
    """One row a pair of a session and one that it waits for; ``blocker`` ``None``: it waits for nobody, only blocks.

    A prepared transaction is session 0 and has a ``gid``. ``ahead``: the blocker does not hold the lock, it stands
    before the session in the line for it. ``holders`` and ``line`` count both kinds of blockers, also those beyond what
    is listed. ``mode`` and ``object``: the lock that is waited for; ``table_id``: the table it belongs to. The rest is
    about the session; ``started_at``: when it began, seconds since the epoch.

    ``transactions``: transactions that it has begun and not ended, nested ones included. ``isolation``: its isolation
    level; empty: not known. ``batch_s``: seconds since its last batch began. ``reads`` and ``writes``: pages that its
    request has read in memory and written, or the session if it has no request. ``memory``: bytes granted to its
    request. ``undone``: the share of its rollback that is done, 0 to 1. ``threads``: how many of its threads wait.
    What is ``None`` the server does not say.
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
    """One row a running transaction that has written: who holds the rows it has touched.

    A prepared transaction is session 0, and ``application`` its name. ``transaction_s`` is ``None`` where our role may
    not see it or the session does not report it, and 0 where the transaction has just ended.
    """

    xid: str
    session: int
    transaction_s: float | None
    state: str
    application: str


@dataclass(frozen=True, slots=True)
class CounterSample:
    """One row a table: the server's statistics counters. ``live`` and ``dead`` are rows, the rest totals of rows.

    ``modified_since_analyze``: those of committed transactions alone, ``None`` where the server does not count them.
    Of a parent they are the sums of its partitions. ``called``: the table's name now, ``None`` or a number where it is
    gone. ``files``: a number made of what holds its rows; across another one nothing is compared. ``readable``: by our
    role. ``counted``: false where the server has counted nothing of it yet, or has forgotten what it had counted.
    ``partitions``: those of which it has counted something, and ``altered``: a number that is another one after the
    table or an index of it was altered; ``None`` where the counters do not hang on that.
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
    """One row a sequence: the last number issued, ``None`` where none was yet or our role may not see it."""

    sequence_id: int
    last_value: int | None
    visible: bool


@dataclass(frozen=True, slots=True)
class PartialSample:
    """One row a table of which our role may see a part of the rows only, or a column that is masked for it.

    ``column_name``: that column, ``None``: rows are hidden. ``why``: what hides the rest, one line; ``helps``: who sees
    all.
    """

    table_id: int
    column_name: str | None
    why: str
    helps: str


@dataclass(frozen=True, slots=True)
class ReplicaSample:
    """How old the rows of a standby are, as in ``ServerSample``, where another statement tells it."""

    replay_paused: bool
    behind_s: float | None


@dataclass(frozen=True, slots=True)
class NewestIdSample:
    """One row a queue: the greatest id that was committed, ``None`` where there is no row."""

    last_id: int | None


@dataclass(frozen=True, slots=True)
class HeadSample:
    """One row a queue: the oldest ready message found from the last known head on, and a bounded count.

    ``counted``: ready rows seen, up to the limit asked for; ``oldest_s``: age of the head in seconds.
    """

    head_id: str | None
    oldest_s: float | None
    counted: int


@dataclass(frozen=True, slots=True)
class WalkSample:
    """One row a queue: a head looked for among a bounded number of rows of any state; next time from ``place`` on.

    ``whole``: the look was not cut short, so that ``counted`` is exact below the limit asked for; the rest is as in
    ``HeadSample``.
    """

    place: str | None
    head_id: str | None
    oldest_s: float | None
    counted: int
    whole: bool


@dataclass(frozen=True, slots=True)
class HeldSample:
    """One row a transaction that has locked ready rows near the head, with how many: where no row says "in progress".

    ``xid`` may be that of a savepoint; ``running``: it has neither committed nor rolled back.
    """

    xid: str
    rows: int
    running: bool


@dataclass(frozen=True, slots=True)
class ProgressSample:
    """One row a queue: messages in progress, counted up to the limit, and how many of them are beyond the timeout."""

    in_progress: int
    stuck: int | None
    longest_s: float | None


@dataclass(frozen=True, slots=True)
class ProgressIdSample:
    """One row a message in progress of a table without a start time: only its id is known."""

    id: str


@dataclass(frozen=True, slots=True)
class CountSample:
    """One row: a count up to the limit asked for (scheduled, dead)."""

    counted: int


@dataclass(frozen=True, slots=True)
class StateValueSample:
    """One row a value of the state that qmon does not know: as text, and its rows, up to the limit asked for."""

    value: str
    counted: int


@dataclass(frozen=True, slots=True)
class StrangeStates:
    """Messages in states that qmon does not know.

    ``column``: the state, empty if no column says it. ``values``: those states as text, or some of them; none if all
    values are known, and other columns tell that the messages are in no known state. ``counted``: how many messages;
    ``at_least``: there may be more.
    """

    column: str
    values: tuple[str, ...]
    counted: int
    at_least: bool = False

    @property
    def words(self) -> str:
        """The values, and how many messages have them, in one clause."""
        about = "at least " if self.at_least else ""
        messages = f"{about}{self.counted:,} message{'' if self.counted == 1 else 's'}"
        if not self.values:
            return f"{messages} in no state that qmon knows"
        listed = ", ".join(f"`{value}`" for value in self.values[:_LISTED])
        more = ", …" if len(self.values) > _LISTED else ""
        noun = "value" if len(self.values) == 1 else "values"
        known = f"this table has the {noun} {listed}{more}, which qmon does not know"
        return f"{known}: {messages} by `{self.column}`"


@dataclass(frozen=True, slots=True)
class RingSample:
    """One row a ring: positions and the slots around both of them, from one statement.

    ``push_last`` and ``pop_last``: last numbers drawn; ``push_open``: numbers near ``push_last`` whose slot does not
    hold the message yet; ``push_open_ahead``: those beyond ``pop_last`` without a message, given up as holes or not
    there yet; ``pop_waiting``: numbers up to ``pop_last`` whose message is not there yet; ``pop_held``: those whose
    message is there and not popped yet; ``oldest_s``: age in seconds of the oldest message that is ready. Of several
    subscribers ``pop_…`` is about the one that is furthest behind. In a ring without turns a number whose message is
    still to come looks like one that was popped: ``push_open`` then ends at ``pop_last``, and ``pop_waiting`` has only
    numbers that no pusher has drawn.
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
        """How many numbers pushers have drawn that no popper has; negative where poppers are ahead."""
        return self.push_last - self.pop_last


@dataclass(frozen=True, slots=True)
class ClockSample:
    """One row: the server's clock, seconds since the epoch."""

    now_at: float


@dataclass(frozen=True, slots=True)
class DepthSample:
    """One row: the ready rows, as the server itself counts them in an index."""

    counted_at: float
    ready: int


@dataclass(frozen=True, slots=True)
class EmptySample:
    """One row: whether no message is left in a table that only a scan counts; ``None``: too large to look."""

    empty: bool | None


@dataclass(frozen=True, slots=True)
class MessageSample:
    """One row a message, for the queue screen. ``age_s``: seconds since it was started, or else enqueued.

    ``error``: the newest end of its last error, at most 200 characters; ``None``: it has none, or nothing contains it.
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
    """One row: what our own session has cost the server so far. ``None``: this server does not say.

    ``buffers``: pages touched; ``cpu_ms``: milliseconds on a processor.
    """

    buffers: int | None
    cpu_ms: int | None = None


@dataclass(frozen=True, slots=True)
class PausesKnown:
    """One row: whether this database records pauses, and ``operations``, that our role may read."""

    readable: bool
    operations: bool


@dataclass(frozen=True, slots=True)
class OperatedSample:
    """One row an operation of qmon that is under way, or has ended lately: its table, and how many rows it changed."""

    id: str
    about: str
    done: int


@dataclass(frozen=True, slots=True)
class PauseSample:
    """One row a pause in force. ``about``: the table; ``side``: pushers or poppers; ``way``: switch or gate."""

    queue: str
    about: str
    side: str
    since_at: float
    until_at: float
    by: str
    reason: str
    way: str
