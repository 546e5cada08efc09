"""Samples of groups (``model.groups``): one record a probe of the same name; see there for each column."""

from __future__ import annotations

from dataclasses import dataclass

from qmon.model.samples.messages import OwnerSample


@dataclass(frozen=True, slots=True)
class GroupStateSample:
    """One row a queue that has messages in this state. ``late``: those that have been in it for too long."""

    state: str
    queue: str | None
    counted: int
    oldest_s: float | None
    late: int


@dataclass(frozen=True, slots=True)
class GroupStrangeSample:
    """One row for each queue and value of the state that has messages in no known state."""

    queue: str | None
    value: str | None
    counted: int


@dataclass(frozen=True, slots=True)
class GroupOwnerSample(OwnerSample):
    """The same as of any queue, with the queue that the message is in."""

    queue: str | None = None


@dataclass(frozen=True, slots=True)
class GroupWorkersSample:
    """One row a queue: workers that serve it and have been heard of lately; of any queue where nothing says which."""

    queue: str | None
    counted: int


@dataclass(frozen=True, slots=True)
class GroupLastSample:
    """One row: the greatest number of a table to which rows are only ever added."""

    last_id: int | None


@dataclass(frozen=True, slots=True)
class GroupStepsSample:
    """One row a queue: steps since a row of such a table, and how many of these up to a later one."""

    step: str
    queue: str | None
    counted: int
    settled: int


@dataclass(frozen=True, slots=True)
class GroupStepsAtSample:
    """One row a queue: steps within some seconds."""

    step: str
    queue: str | None
    counted: int


@dataclass(frozen=True, slots=True)
class StepTotals:
    """Messages pushed, popped, completed and failed since watching began; ``None``: nothing tells."""

    pushed: int | None = None
    popped: int | None = None
    completed: int | None = None
    failed: int | None = None


@dataclass(frozen=True, slots=True)
class GroupBlockerSample:
    """One row a queue and blocker, which some of the queue's blocked messages wait for.

    ``held_s``: seconds that ``holder`` has held it; ``seen``: messages that wait for it, among a bounded number read.
    """

    queue: str | None
    blocker: str | None
    holder: str | None
    held_s: float | None
    seen: int


@dataclass(frozen=True, slots=True)
class BlockedMessages:
    """The blocked messages of a queue. ``oldest_s``: age of the oldest in seconds, ``None`` if unknown.

    ``why``: why messages in these states are blocked, in words. ``every_s``: seconds between two counts if that is
    longer than usual, else 0.
    """

    counted: int
    oldest_s: float | None = None
    blockers: tuple[GroupBlockerSample, ...] = ()
    why: tuple[str, ...] = ()
    every_s: float = 0.0
