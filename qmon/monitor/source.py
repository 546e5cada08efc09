"""Where snapshots come from: the poller of a live target, a ``qmon serve``, or a replay. Screens cannot tell which."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Protocol

from qmon.model.samples.listing import Listing
from qmon.model.snapshot import Snapshot


class Phase(StrEnum):
    """What the source is doing about its target."""

    CONNECTING = "connecting"
    LIVE = "live"
    # A poll has overrun its deadline; figures on screen age.
    LATE = "late"
    # No connection; the next try is at `retry_at`.
    LOST = "lost"
    PAUSED = "paused"
    CLOSED = "closed"


@dataclass(frozen=True, slots=True)
class SourceState:
    """A change of phase. ``retry_at`` and ``changed_at`` are our monotonic clock in seconds; ``reason`` is one line.

    ``catalog``: connected, and the catalogue was being read for the first time.
    """

    target: str
    phase: Phase
    reason: str = ""
    retry_at: float | None = None
    changed_at: float = 0.0
    catalog: bool = False


# Messages of a queue that are listed, at most.
ROW_LIMIT: Final = 200

Event = Snapshot | SourceState
# Called from the source's own thread, so it must be quick and thread-safe.
Sink = Callable[[Event], None]


# Queues with something wrong that are read in each poll, the worst, where queues are many.
MOST_WRONG: Final = 50


@dataclass(frozen=True, slots=True)
class Focus:
    """What the screens show now, beside what every poll reads.

    ``rows_of``: the queue whose messages are listed, and ``listing`` which of them, ``None``: those in progress, or at
    the head; ``blocking``: who blocks whom; ``closely``: waits, which are then
    sampled more often. ``cursor``: the queue under the cursor; ``visible``: the queues whose rows are on the screen;
    ``with_verdict``: those with something wrong, on the screen or not. ``away``: another target is on the screen;
    waits are then sampled less often.
    """

    rows_of: str | None = None
    listing: Listing | None = None
    blocking: bool = False
    closely: bool = False
    cursor: str | None = None
    visible: frozenset[str] = frozenset()
    with_verdict: frozenset[str] = frozenset()
    away: bool = False

    @property
    def watched(self) -> frozenset[str]:
        """The queues whose figures matter most now: looked at by themselves, or with something wrong."""
        return self.with_verdict | {each for each in (self.rows_of, self.cursor) if each is not None}

    def at_once(self, before: Focus) -> bool:
        """Whether what it adds to the one before is worth a poll before the next one is due."""
        opened = self.rows_of is not None and (self.rows_of, self.listing) != (before.rows_of, before.listing)
        return opened or (self.blocking and not before.blocking)


class SnapshotSource(Protocol):
    """Something that produces snapshots. All methods may be called from any thread and return at once."""

    @property
    def target(self) -> str:
        """The target's name, free of secrets."""

    @property
    def interval_s(self) -> float:
        """Seconds between polls, as asked for."""

    def start(self, sink: Sink) -> None:
        """Begin; ``sink`` gets every snapshot and every change of phase."""

    def poll_now(self, changed: str = "", *, whole: bool = False) -> None:
        """Poll as soon as the poll under way has ended. ``changed``: a queue that older messages were put back to.

        ``whole``: read what is throttled, too.
        """

    def set_interval(self, seconds: float) -> None:
        """Poll every ``seconds`` from now on (0.5 to 60)."""

    def set_focus(self, focus: Focus) -> None:
        """Say what is on the screens."""

    def count_exactly(self, queue: str) -> None:
        """Ask for an exact count of one queue, on the slow connection; it arrives as that queue's count."""

    def close(self) -> None:
        """End; waits at most two seconds for the poll under way, then abandons it."""
