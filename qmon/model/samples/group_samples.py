"""Samples of groups (``model.groups``): one record for each probe of the same name. The SQL explains each column."""

from __future__ import annotations

from dataclasses import dataclass

from qmon.model.samples.message_samples import OwnerSample


@dataclass(frozen=True, slots=True)
class GroupStateSample:
    """One row per queue with messages in this state.

    ``late``: messages that have been in this state for too long. ``timed``: messages for which this is known.
    """

    state: str
    queue: str | None
    counted: int
    oldest_s: float | None
    late: int
    timed: int


@dataclass(frozen=True, slots=True)
class GroupStrangeSample:
    """One row per queue and state value: the number of messages in no known state."""

    queue: str | None
    value: str | None
    counted: int


@dataclass(frozen=True, slots=True)
class GroupOwnerSample(OwnerSample):
    """The owner of a message, with the queue of the message."""

    queue: str | None = None


@dataclass(frozen=True, slots=True)
class GroupWorkersSample:
    """One row per queue: number of the queue's workers that reported recently.

    If the table does not record queues, workers of all queues are counted.
    """

    queue: str | None
    counted: int


@dataclass(frozen=True, slots=True)
class GroupListedSample:
    """One row: number of queues in the list of a group's queues, counted up to a limit."""

    counted: int


@dataclass(frozen=True, slots=True)
class WorkerSample:
    """One row per live worker of a library.

    Attributes:
        worker: the name by which messages refer to their worker.
        host: the worker's machine; ``None`` if the table does not contain it.
        started_s: seconds since the worker started; ``None`` if unknown.
        queue: the queue that the worker serves; ``None`` if the table does not contain it.
    """

    worker: str
    host: str | None
    started_s: float | None
    queue: str | None


@dataclass(frozen=True, slots=True)
class GroupLastSample:
    """One row: the greatest id of an append-only table."""

    last_id: int | None


@dataclass(frozen=True, slots=True)
class GroupStepsSample:
    """One row per queue: number of steps after a given row of an append-only table; ``settled`` of them are final."""

    step: str
    queue: str | None
    counted: int
    settled: int


@dataclass(frozen=True, slots=True)
class GroupStepsAtSample:
    """One row per queue: number of steps within the last seconds."""

    step: str
    queue: str | None
    counted: int


@dataclass(frozen=True, slots=True)
class StepTotals:
    """Messages pushed, popped, completed and failed since watching started. A field is ``None`` if it is unknown."""

    pushed: int | None = None
    popped: int | None = None
    completed: int | None = None
    failed: int | None = None


@dataclass(frozen=True, slots=True)
class GroupBlockerSample:
    """One row per queue and blocker that some of the queue's blocked messages wait for.

    ``held_s``: seconds for which ``holder`` has held the blocker. ``seen``: how many of the messages that were read
    wait for the blocker. Only a limited number is read.
    """

    queue: str | None
    blocker: str | None
    holder: str | None
    held_s: float | None
    seen: int


@dataclass(frozen=True, slots=True)
class BlockedMessages:
    """The blocked messages of a queue.

    Attributes:
        oldest_s: age of the oldest blocked message in seconds; ``None`` if unknown.
        why: why messages in these states are blocked, in words.
        every_s: seconds between two counts if counts are less frequent than usual, else 0.
    """

    counted: int
    oldest_s: float | None = None
    blockers: tuple[GroupBlockerSample, ...] = ()
    why: tuple[str, ...] = ()
    every_s: float = 0.0
