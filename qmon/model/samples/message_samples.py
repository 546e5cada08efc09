"""Samples for verdicts about single messages: owners, failed attempts, losses of a ring.

There is one record for each probe of the same name. The SQL explains each column.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class OwnerSample:
    """One row for each of the messages that have been in progress for the longest time.

    ``owner_state``: dead, alive, unknown, or none if the message has no owner. ``age_s``: seconds since the pop.
    ``error``: the last error, if the message was popped before and the table has a column for errors.
    """

    id: str
    owner: str | None
    owner_state: str
    attempts: int | None
    age_s: float | None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class TriedSample:
    """One row per queue: the first message, which consumers may have failed to process.

    ``attempts``: how often the message was popped, or ``None`` if the table does not count attempts. ``mark``: a text
    that changes with every transaction that popped or locked the message and then gave it back. The text is empty if
    it was not read. ``error``: the last error, if the table has a column for errors.
    """

    id: str
    attempts: int | None
    mark: str
    error: str | None = None


@dataclass(frozen=True, slots=True)
class SweepSample:
    """One row per sweep over some slots of a ring from ``from_slot`` on: possible holes and orphans.

    Attributes:
        push_last: last number drawn by producers.
        pop_last: last number drawn by consumers.
        holes: number of possible holes. ``hole`` is the first one.
        orphans: number of possible orphans. ``orphan`` is the first one.
        orphan_s: seconds since the first orphan was pushed.
    """

    from_slot: int
    push_last: int
    pop_last: int
    holes: int
    hole: int | None
    orphans: int
    orphan: int | None
    orphan_s: float | None


@dataclass(frozen=True, slots=True)
class DrawerSample:
    """One row per open transaction that drew a number from a sequence. A prepared transaction has ``session`` 0."""

    sequence_id: int
    session: int
    application: str
    state: str
    transaction_s: float | None


@dataclass(frozen=True, slots=True)
class PrioritySample:
    """One row per priority with ready messages: the oldest ready message, which is ``oldest_s`` seconds old."""

    priority: int
    head_id: str
    oldest_s: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageDiagnostics:
    """Data about single messages of one queue from one poll.

    A field is ``None`` if its probe does not apply, was not due or failed.

    Attributes:
        owners_limit: maximum number of owners that the probe lists.
        proof: why an owner may be unknown; empty if owners are always known.
        push_drawers: transactions that drew a number to push, longest first.
        pop_drawers: transactions that drew a number to pop, longest first.
    """

    owners: tuple[OwnerSample, ...] | None = None
    owners_limit: int = 0
    proof: str = ""
    tried: TriedSample | None = None
    sweep: SweepSample | None = None
    push_drawers: tuple[DrawerSample, ...] | None = None
    pop_drawers: tuple[DrawerSample, ...] | None = None
    priorities: tuple[PrioritySample, ...] | None = None


NO_DIAGNOSTICS = MessageDiagnostics()
