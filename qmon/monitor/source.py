"""Define sources of snapshots: the poller of a live target, a ``qmon serve``, or a replay."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Protocol

from qmon.model.samples.listing_samples import PageRequest
from qmon.model.snapshot import Snapshot


class Phase(StrEnum):
    """The state of a source's connection to its target."""

    CONNECTING = "connecting"
    LIVE = "live"
    # A poll has overrun its deadline. The figures on screen get older.
    LATE = "late"
    # No connection; the next try is at `retry_at`.
    LOST = "lost"
    PAUSED = "paused"
    CLOSED = "closed"


@dataclass(frozen=True, slots=True)
class SourceState:
    """A change of phase. ``retry_at`` and ``changed_at``: our monotonic clock, seconds; ``reason``: one line.

    ``catalog``: the source is connected and reads the catalog for the first time.
    """

    target: str
    phase: Phase
    reason: str = ""
    retry_at: float | None = None
    changed_at: float = 0.0
    catalog: bool = False


# Maximum number of messages listed for a queue.
ROW_LIMIT: Final = 200

Event = Snapshot | SourceState

# Called from the source's own thread, so it must be quick and thread-safe.
Sink = Callable[[Event], None]


# If there are many queues, each poll reads at most this many queues with problems, the worst problems first.
MOST_WRONG: Final = 50


@dataclass(frozen=True, slots=True)
class ReadScope:
    """The reads that the current screen needs in addition to the reads of every poll.

    ``rows_of``: the queue whose messages are listed. ``listing``: the listed messages; ``None``: messages in progress
    or at the head. ``blocking``: the lock chains are on screen. ``closely``: the waits are on screen, so waits are
    sampled more often. ``cursor``: the queue under the cursor. ``visible``: the queues whose rows are on screen.
    ``consumers``: the consumers of ``rows_of`` are on screen, so the workers of a library are listed.
    ``with_verdict``: queues with a problem, on screen or not. ``away``: another target is on screen, so waits are
    sampled less often.
    """

    rows_of: str | None = None
    listing: PageRequest | None = None
    blocking: bool = False
    closely: bool = False
    cursor: str | None = None
    visible: frozenset[str] = frozenset()
    with_verdict: frozenset[str] = frozenset()
    away: bool = False
    consumers: bool = False

    @property
    def priority_queues(self) -> frozenset[str]:
        """The queues whose figures matter most now: opened, under the cursor, or with a problem."""
        return self.with_verdict | {each for each in (self.rows_of, self.cursor) if each is not None}

    def needs_poll(self, before: ReadScope) -> bool:
        """Return whether the change from ``before`` justifies a poll now."""
        opened = self.rows_of is not None and (self.rows_of, self.listing) != (before.rows_of, before.listing)
        return opened or (self.blocking and not before.blocking) or (self.consumers and not before.consumers)


class SnapshotSource(Protocol):
    """A source of snapshots. All methods may be called from any thread. All except ``close`` return immediately."""

    @property
    def target(self) -> str:
        """The target's name, free of secrets."""

    @property
    def interval_s(self) -> float:
        """The configured seconds between polls."""

    def start(self, sink: Sink) -> None:
        """Start. ``sink`` gets every snapshot and every phase change."""

    def poll_now(self, changed: str = "", *, include_throttled: bool = False) -> None:
        """Poll as soon as the running poll has ended. ``changed``: a queue whose messages an action changed.

        ``include_throttled``: also read the throttled probes.
        """

    def set_interval(self, seconds: float) -> None:
        """Set the seconds between polls (0.5 to 60)."""

    def set_focus(self, focus: ReadScope) -> None:
        """Set the current screen."""

    def count_exactly(self, queue: str) -> None:
        """Request an exact count of one queue on the background connection. The result replaces the queue's count."""

    def close(self) -> None:
        """Stop. Waits at most two seconds for the running poll, then abandons it."""
