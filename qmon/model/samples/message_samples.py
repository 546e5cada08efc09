"""Samples for verdicts about single messages: owners, failed attempts, losses of a ring.

One record per probe of the same name; the SQL explains each column.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class OwnerSample:
    """One row for each message among those longest in progress: its owner, and the owner's state.

    ``owner_state``: dead, alive, unknown, or none without an owner. ``age_s``: seconds since it was popped.
    """

    id: str
    owner: str | None
    owner_state: str
    attempts: int | None
    age_s: float | None


@dataclass(frozen=True, slots=True)
class TriedSample:
    """One row per queue: the message at the head, which consumers may have failed to process.

    ``attempts``: how often it was popped, ``None`` if the table has no counter. ``mark``: a text that changes with
    every transaction that popped or locked the message and then gave it back; empty if it was not read.
    """

    id: str
    attempts: int | None
    mark: str


@dataclass(frozen=True, slots=True)
class SweepSample:
    """One row per sweep over some slots of a ring from ``from_slot`` on: possible holes and orphans.

    Attributes:
        push_last: last number drawn by producers.
        pop_last: last number drawn by consumers.
        holes: number of possible holes; ``hole`` is the first.
        orphans: number of possible orphans; ``orphan`` is the first.
        orphan_s: seconds since that orphan was pushed.
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
    """One row per open transaction that drew a number from a sequence. ``session`` 0: a prepared transaction."""

    sequence_id: int
    session: int
    application: str
    state: str
    transaction_s: float | None


@dataclass(frozen=True, slots=True)
class PrioritySample:
    """One row per priority with ready messages: the oldest of them, ``oldest_s`` seconds old."""

    priority: int
    head_id: str
    oldest_s: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageDiagnostics:
    """Data about single messages of one queue from one poll. ``None``: the probe does not apply, is not due, or failed.

    Attributes:
        owners_limit: maximum number of owners that the probe lists.
        proof: why an owner may be unknown; empty if it never is.
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
