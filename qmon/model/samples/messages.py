"""Samples that verdicts about single messages need: owners, failed attempts, what a ring has lost.

One record a probe of the same name; see there for each column.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class OwnerSample:
    """One row a message in progress, of the longest-running: who popped it, and what that proves.

    ``owner_state``: dead, alive, unknown, or none without an owner; ``age_s``: seconds since it was popped.
    """

    id: str
    owner: str | None
    owner_state: str
    attempts: int | None
    age_s: float | None


@dataclass(frozen=True, slots=True)
class TriedSample:
    """One row a queue: the message at the head that others may have failed on.

    ``attempts``: how often it was popped, ``None`` where nothing counts; ``mark``: changes with every transaction that
    has taken or locked the message and has not kept it; empty where that was not read.
    """

    id: str
    attempts: int | None
    mark: str


@dataclass(frozen=True, slots=True)
class SweepSample:
    """One row a sweep over some slots of a ring, from ``from_slot`` on: what looks like a hole or an orphan.

    ``holes`` and ``orphans`` are numbers of messages, ``hole`` and ``orphan`` the first of them; ``orphan_s``: seconds
    since that one was pushed. ``push_last`` and ``pop_last``: the last numbers drawn.
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
    """One row an open transaction that has drawn a number from a sequence. ``session`` 0: a prepared transaction."""

    sequence_id: int
    session: int
    application: str
    state: str
    transaction_s: float | None


@dataclass(frozen=True, slots=True)
class PrioritySample:
    """One row a priority that has ready messages: the oldest of them, ``oldest_s`` seconds old."""

    priority: int
    head_id: str
    oldest_s: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageDiagnostics:
    """About single messages of one queue, from one poll; ``None``: the probe does not apply, is not due, or failed.

    ``proof``: why an owner may be unknown, empty where it never is. ``owners_limit``: how many owners could have been
    listed. ``push_drawers``: who has drawn a number to push, longest first. ``slots``: of the whole ring.
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
