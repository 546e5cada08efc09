"""Operations: what an operator is about to do, may have done, or did to a queue; and pauses as they are seen."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from qmon.model.layout.layout import Layout
from qmon.model.samples.polled import PauseSample
from qmon.model.text import time_of_day

DEFAULT_PAUSE_S: Final = 900.0
# How many of the rows a plan shows.
MAX_FIRST: Final = 10


class Kind(StrEnum):
    """What is done."""

    REQUEUE = "requeue"
    REDRIVE = "redrive"
    PURGE = "purge"
    PAUSE = "pause"
    RESUME = "resume"
    UNDO = "undo"
    REPAIR = "repair"
    END_SESSION = "end-session"
    INSTALL_GATE = "install-gate"
    REMOVE_GATE = "remove-gate"
    EMPTY_TRASH = "empty-trash"


class Side(StrEnum):
    """Whom a pause stops."""

    PUSHERS = "pushers"
    POPPERS = "poppers"


class OwnerState(StrEnum):
    """What is known of the popper that holds a message. ``NONE``: the layout has no owner, age is all there is."""

    DEAD = "dead"
    ALIVE = "alive"
    UNKNOWN = "unknown"
    NONE = "none"


class OperationState(StrEnum):
    """How an operation stands. ``INTERRUPTED``: it says running, and the session that ran it is gone.

    ``UNKNOWN``: the connection was lost while something of it took effect. The database never has this state.
    """

    RUNNING = "running"
    DONE = "done"
    CANCELLED = "cancelled"
    INTERRUPTED = "interrupted"
    FAILED = "failed"
    UNKNOWN = "unknown"


class Consent(StrEnum):
    """What the operator must give before a plan may be applied."""

    # Choosing the button that is not Cancel; `--yes` on the command line.
    BUTTON = "button"
    # The queue's name typed, and a reason.
    TYPED = "typed"


@dataclass(frozen=True, slots=True)
class Choice:
    """Which messages are meant. All that is given must hold; nothing given means every message the kind is for.

    ``ids``: as text. ``state``: ready, in_progress, done or dead. ``older_than_s``: seconds in progress (requeue), or
    since the push (purge, redrive); ``newer_than_s``: less than so many. ``owner``: exactly this text.
    ``owner_states``: of messages in progress. ``error``, ``payload``: what the last error, or the message, contains, in
    capitals or not. ``limit``: how many at most.
    """

    ids: tuple[str, ...] = ()
    state: str | None = None
    older_than_s: float | None = None
    owner: str | None = None
    owner_states: frozenset[OwnerState] = frozenset({OwnerState.DEAD})
    limit: int | None = None
    newer_than_s: float | None = None
    error: str | None = None
    payload: str | None = None

    @property
    def aged(self) -> bool:
        """Whether the age matters."""
        return self.older_than_s is not None or self.newer_than_s is not None

    @property
    def texts(self) -> bool:
        """Whether what a message or its error contains matters."""
        return self.error is not None or self.payload is not None


DEFAULT_RATE: Final = 10.0
DEFAULT_FAILURES: Final = 5


@dataclass(frozen=True, slots=True)
class RedriveLimits:
    """How a redrive goes on. ``rate``: messages per second at most; ``None``: as batches that rest allow.

    ``failures``: it stops once so many of its messages have failed again; ``None``: however many do.
    """

    rate: float | None = DEFAULT_RATE
    failures: int | None = DEFAULT_FAILURES


@dataclass(frozen=True, slots=True)
class PlanRow:
    """One message as a plan shows it. ``age_s``: seconds. ``payload``, ``error`` (the last one, where a column has it):
    shortened, redacted, safe to print.
    """

    id: str
    state: str
    age_s: float | None
    owner: str | None
    owner_state: OwnerState
    attempts: int | None
    payload: str | None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Messages that match but are not touched, and why (``owner alive``, ``locked``, ``changed since``)."""

    why: str
    count: int

    @property
    def words(self) -> str:
        """``12 locked``."""
        return f"{self.count:,} {self.why}"


@dataclass(frozen=True, slots=True)
class Undo:
    """Whether it can be undone, and what would not come back. ``until``: seconds since the epoch, of the trash."""

    possible: bool
    notes: tuple[str, ...] = ()
    until: float | None = None


class Nothing(StrEnum):
    """Why a plan has nothing to do. That is no failure."""

    NO_MESSAGE = "no message matches: nothing to do"
    NO_TRASH = "nothing in the trash is that old: nothing to do"


@dataclass(frozen=True, slots=True)
class Plan:
    """What would be done, read from the server and frozen: applying may only ever touch less.

    Attributes:
        count: messages (or sessions, slots, rows of trash) it will touch, exactly; ``unit`` names them.
        predicate: which they are, in words with the frozen values.
        sql: the statements that will run, as the server will see them.
        batch: how many are touched in one transaction at most; ``None`` where it is all at once.
        seconds: how long it will take, estimated; ``None`` where nothing is known to estimate from.
        consequences: what will be so afterwards, and what consumers will notice of it; one line each.
        risks: what may go wrong by it, such as double delivery; one line each.
        consent: what the operator must give.
        reason: whether a reason must be given; where the name must be typed, it must be in any case.
        refused: why it cannot be applied at all (read-only, a missing right, nothing to do); ``None`` where it can.
    """

    kind: Kind
    target: str
    queue: str
    title: str
    count: int = 0
    unit: str = "messages"
    predicate: str = ""
    sql: tuple[str, ...] = ()
    first: tuple[PlanRow, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    batch: int | None = None
    seconds: float | None = None
    undo: Undo = field(default_factory=lambda: Undo(possible=False))
    consequences: tuple[str, ...] = ()
    risks: tuple[str, ...] = ()
    consent: Consent = Consent.BUTTON
    refused: str | None = None

    @property
    def nothing_to_do(self) -> bool:
        """Whether the plan is refused only because it would change nothing."""
        return self.refused in set(Nothing)

    @property
    def needs_reason(self) -> bool:
        """Whether it is applied only with a reason."""
        return self.consent is Consent.TYPED


@dataclass(frozen=True, slots=True)
class Progress:
    """How far an operation is. Counts as in ``OperationResult``; ``rate``: per second; ``left_s``: seconds left,
    estimated.
    """

    total: int
    done: int = 0
    skipped: int = 0
    changed: int = 0
    rate: float | None = None
    left_s: float | None = None
    note: str = ""
    refused: int = 0


@dataclass(frozen=True, slots=True)
class OperationResult:
    """How an operation ended.

    ``done``: touched. ``skipped``: locked by others, left alone. ``changed``: no longer what the plan saw, left alone.
    ``refused``: left alone, since the server would not have it; ``notes`` say why and which.
    ``notes``: what the operator should know, such as that a pause did not bring the push rate to 0. ``operation``: its
    id, by which it is undone; empty where nothing was begun.
    """

    operation: str
    kind: Kind
    queue: str
    state: OperationState
    done: int
    skipped: int = 0
    changed: int = 0
    notes: tuple[str, ...] = ()
    refused: int = 0


@dataclass(frozen=True, slots=True)
class Operation:
    """One line of the history. Times in seconds since the epoch, on the server's clock.

    ``undo_state``: ``possible``, ``undone``, ``partly undone``, ``gone`` (trash emptied), or ``no``.
    """

    id: str
    kind: Kind
    queue: str
    state: OperationState
    by: str
    reason: str
    planned: int
    done: int
    skipped: int
    changed: int
    started_at: float
    ended_at: float | None
    undo_state: str
    undo_of: str | None = None
    details: Mapping[str, str] = field(default_factory=dict)
    refused: int = 0


@dataclass(frozen=True, slots=True)
class Pause:
    """A pause that is in force. ``until``: seconds since the epoch; ``by``: who; ``way``: switch or gate.

    ``table``: the queue's table, by which it is known: the queue's name may differ between configurations.
    """

    queue: str
    side: Side
    until: float
    by: str
    reason: str
    since: float
    way: str
    table: str = ""


def pause_of(sample: PauseSample) -> Pause:
    """The pause that a probe has seen."""
    return Pause(
        sample.queue,
        Side(sample.side),
        sample.until_at,
        sample.by,
        sample.reason,
        sample.since_at,
        sample.way,
        sample.about,
    )


def paused_as(layout: Layout) -> str:
    """What a pause of this queue is recorded for: its table, or of a table of several queues its part."""
    value = None if layout.part is None else layout.part.value
    return str(layout.table) if value is None else f"{layout.table}/{value}"


def pauses_of(layout: Layout, samples: Iterable[PauseSample]) -> tuple[Pause, ...]:
    """The pauses of one queue, pushers first, whatever name it went by when it was paused."""
    own = (pause_of(each) for each in samples if each.about == paused_as(layout))
    return tuple(sorted(own, key=lambda pause: pause.side is not Side.PUSHERS))


def because(reason: str) -> str:
    """``: deploy`` after what was done, where somebody gave a reason."""
    return f": {reason}" if reason else ""


def pause_line(pause: Pause) -> str:
    """``pushers paused by anna@app-7 until 07:15:00 UTC: deploy``; the reason is whatever somebody typed."""
    return f"{pause.side} paused by {pause.by} until {time_of_day(pause.until)}{because(pause.reason)}"
