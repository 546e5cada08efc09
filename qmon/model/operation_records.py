"""Operations on a queue: plans, progress and results, and pauses in force."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from qmon.model.formatting import time_of_day
from qmon.model.layout.layout import Layout
from qmon.model.samples.polled_samples import PauseSample
from qmon.texts import Text


class OperationText(Text):
    """Lines about operations."""

    NO_MESSAGE = "no message matches: nothing to do"
    NO_OLD_MESSAGE = "the trash has no messages that old: nothing to do"
    PAUSED = "{side} paused by {who} until {time}{reason}"


DEFAULT_PAUSE_S: Final = 900.0

# Number of rows that a plan shows.
MAX_PLAN_ROWS: Final = 10


class OperationKind(StrEnum):
    """What an operation does."""

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
    """Which programs a pause stops: producers or consumers."""

    PRODUCERS = "producers"
    CONSUMERS = "consumers"


class OwnerState(StrEnum):
    """The state of the consumer that holds a message.

    ``NONE``: the layout has no owner column, so only the age of the message counts.
    """

    DEAD = "dead"
    ALIVE = "alive"
    UNKNOWN = "unknown"
    NONE = "none"


class OperationState(StrEnum):
    """The state of an operation.

    ``INTERRUPTED``: recorded as running, but the session is gone. ``UNKNOWN``: the connection was lost during a commit,
    so it is unknown whether the last step took effect. The database never contains ``UNKNOWN``.
    """

    RUNNING = "running"
    DONE = "done"
    CANCELLED = "cancelled"
    INTERRUPTED = "interrupted"
    FAILED = "failed"
    UNKNOWN = "unknown"


class Consent(StrEnum):
    """The confirmation that a plan needs before it may be applied."""

    # Press the confirming button, or use `--yes` on the command line.
    BUTTON = "button"
    # Type the queue's name and give a reason.
    TYPED = "typed"


@dataclass(frozen=True, slots=True)
class Choice:
    """Which messages to select.

    All given conditions must hold. Without conditions, all messages that the operation can act on are selected.

    Attributes:
        ids: message ids as text.
        state: ready, in_progress, done or dead.
        older_than_s: minimum seconds in progress (requeue) or since the push (purge, redrive).
        owner: exact text of the owner.
        owner_states: owner states of messages in progress.
        limit: maximum number of messages.
        newer_than_s: maximum age in seconds, measured as for ``older_than_s``.
        error: text that the last error contains, ignoring case.
        payload: text that the message contains, ignoring case.
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
    def has_age_limit(self) -> bool:
        """True if the selection depends on the age of a message."""
        return self.older_than_s is not None or self.newer_than_s is not None

    @property
    def has_text_filter(self) -> bool:
        """True if the selection depends on the text of a message or its error."""
        return self.error is not None or self.payload is not None


DEFAULT_RATE: Final = 10.0
DEFAULT_FAILURES: Final = 5


@dataclass(frozen=True, slots=True)
class RedriveLimits:
    """The limits of a redrive.

    Attributes:
        rate: maximum messages per second; ``None``: limited only by the pauses between batches.
        failures: the redrive stops after this many of its messages failed again; ``None``: the redrive never stops.
    """

    rate: float | None = DEFAULT_RATE
    failures: int | None = DEFAULT_FAILURES


@dataclass(frozen=True, slots=True)
class PlanRow:
    """One message as a plan shows it.

    ``age_s``: seconds. ``error`` is the last error, if a column holds it. ``payload`` and ``error`` are shortened,
    redacted and safe to print.
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
    """How many matching messages stay unchanged, and why (``owner alive``, ``locked``, ``changed since``)."""

    why: str
    count: int

    @property
    def text(self) -> str:
        """``12 locked``."""
        return f"{self.count:,} {self.why}"


@dataclass(frozen=True, slots=True)
class Undo:
    """Whether an operation can be undone, and what an undo would not restore.

    ``until``: when the trash expires, seconds since the epoch.
    """

    possible: bool
    notes: tuple[str, ...] = ()
    until: float | None = None


class Nothing(StrEnum):
    """The reason why a plan has nothing to do. This is not a failure."""

    NO_MESSAGE = OperationText.NO_MESSAGE
    NO_TRASH = OperationText.NO_OLD_MESSAGE


@dataclass(frozen=True, slots=True)
class Plan:
    """The changes that an operation would make, as read from the server.

    If you apply the plan, nothing else changes.

    Attributes:
        count: exact number of messages (or of sessions, slots, rows of trash, as named by ``unit``).
        predicate: the selection in words, with the values that the plan has fixed.
        sql: the statements that will run, as the server will see them.
        batch: maximum rows in one transaction; ``None`` if one transaction changes everything.
        seconds: estimated duration; ``None`` if there is no basis for an estimate.
        consequences: the state after the operation and its effects on consumers, one line each.
        risks: what may go wrong, such as double delivery, one line each.
        consent: the confirmation that the operator must give.
        refused: why the plan cannot be applied (read-only, a missing permission, nothing to do), else ``None``.
    """

    kind: OperationKind
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
    def has_nothing_to_do(self) -> bool:
        """True if the plan is refused only because it would change nothing."""
        return isinstance(self.refused, Nothing)

    @property
    def needs_reason(self) -> bool:
        """True if the plan can be applied only with a reason."""
        return self.consent is Consent.TYPED


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of an operation.

    Counts are as in ``OperationResult``. ``rate``: per second. ``left_s``: estimated seconds left.
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
    """The result of an operation.

    Attributes:
        operation: the operation's id for ``undo``; empty if nothing was started.
        done: number of changed messages.
        skipped: number of messages left unchanged because other sessions lock them.
        changed: number of messages left unchanged because they no longer match the plan.
        notes: facts for the operator, such as that a pause did not bring the push rate to 0.
        refused: number of messages left unchanged because the server rejected the change. ``notes`` contain the ids and
            the reasons.
    """

    operation: str
    kind: OperationKind
    queue: str
    state: OperationState
    done: int
    skipped: int = 0
    changed: int = 0
    notes: tuple[str, ...] = ()
    refused: int = 0


class UndoState(StrEnum):
    """Whether an operation of the history can be undone. ``gone``: the trash was emptied."""

    POSSIBLE = "possible"
    PARTLY_UNDONE = "partly undone"
    UNDONE = "undone"
    GONE = "gone"
    NO = "no"

    @property
    def can_undo(self) -> bool:
        """True if an undo would restore messages."""
        return self in (UndoState.POSSIBLE, UndoState.PARTLY_UNDONE)

    @property
    def label(self) -> str:
        """The text for users.

        The history only shows that the old rows are saved. Only the plan of an undo reads whether the messages have
        changed since then.
        """
        return "rows saved" if self is UndoState.POSSIBLE else self.value


@dataclass(frozen=True, slots=True)
class Operation:
    """One line of the history. Times are seconds since the epoch, server clock."""

    id: str
    kind: OperationKind
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
    undo_state: UndoState
    undo_of: str | None = None
    details: Mapping[str, str] = field(default_factory=dict)
    refused: int = 0


def pause_subject(layout: Layout) -> str:
    """Return the name under which a pause of this queue is recorded.

    The name is the queue's table. If the table has several queues, the queue's part follows.
    """
    value = None if layout.part is None else layout.part.value
    return str(layout.table) if value is None else f"{layout.table}/{value}"


def pauses_for(layout: Layout, samples: Iterable[PauseSample]) -> tuple[PauseSample, ...]:
    """Return the pauses of one queue, producers first. A pause also counts if the queue was renamed later."""
    own = (each for each in samples if each.about == pause_subject(layout))
    return tuple(sorted(own, key=lambda pause: pause.side != Side.PRODUCERS))


def reason_suffix(reason: str) -> str:
    """Return ``: deploy`` to append to a text, or an empty text if there is no reason."""
    return f": {reason}" if reason else ""


def pause_line(pause: PauseSample) -> str:
    """Return ``producers paused by anna@app-7 until 07:15:00 UTC: deploy``.

    The reason is free text from the operator.
    """
    return OperationText.PAUSED.render(
        side=pause.side, who=pause.by, time=time_of_day(pause.until_at), reason=reason_suffix(pause.reason)
    )
