"""Mishaps: what several polls have proven of single messages: failed again and again, in two hands, lost by a ring."""

from __future__ import annotations

from dataclasses import dataclass

from qmon.model.samples.messages import DrawerSample


@dataclass(frozen=True, slots=True)
class Repeated:
    """A message that has failed again and again. ``failures``: seen within ``seconds`` of watching it, at least.

    ``attempts``: how often it was popped in all, ``None`` where nothing counts.
    """

    id: str
    failures: int
    seconds: float
    attempts: int | None


@dataclass(frozen=True, slots=True)
class Twice:
    """A message in two hands. ``first``: its owner until it was popped again, who lives and has run nothing since.

    ``second``: who has it now; ``seconds``: since it was popped for the first of them.
    """

    id: str
    first: str
    second: str
    seconds: float


@dataclass(frozen=True, slots=True)
class RingLoss:
    """What a ring has lost, as far as its slots were looked at.

    ``hole``: the first number that poppers have drawn and that has no message, for ``hole_s`` seconds at least;
    ``drawer``: the oldest open transaction that may have it; without one, nobody can push it any more. ``orphans``:
    messages that were drawn by poppers, not popped; ``orphan`` the first of them, ``orphan_s`` seconds old;
    ``popper``: the oldest open transaction that may pop them; while there is one, no popper takes them. A number that
    was seen in one sweep only is none of them. ``swept``: share of the slots that were looked at, 0 to 1.
    """

    hole: int | None = None
    hole_s: float = 0.0
    drawer: DrawerSample | None = None
    orphans: int = 0
    orphan: int | None = None
    orphan_s: float | None = None
    swept: float = 0.0
    popper: DrawerSample | None = None


@dataclass(frozen=True, slots=True)
class Starved:
    """A priority whose oldest message stays while those of others are popped. ``still_s``: seconds it was seen so.

    ``others``: how often the head of another priority has moved meanwhile; ``oldest_s``: its age in seconds.
    """

    priority: int
    head_id: str
    still_s: float
    oldest_s: float | None
    others: int
