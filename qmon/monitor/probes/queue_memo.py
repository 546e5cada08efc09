"""Remember facts about one queue between polls, such as where to search for its head, so that probes stay cheap."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Any, Final

from qmon.model.probe_constants import COUNT_LIMIT
from qmon.model.samples.polled_samples import HeadSample, RingSample, StateValueSample, WalkSample

# Rows read to count messages. One row above the limit shows that there are more messages than the limit.
COUNT_ROWS: Final = COUNT_LIMIT + 1
_BOUND_LAG: Final = 2


@dataclass(slots=True)
class QueueMemo:
    """State of one queue between polls, which keeps its probes cheap.

    ``bounded``: the search for the head starts at a known id, because a search from the first row was expensive (many
    dead rows). ``still``: number of polls with the same head. ``counted``: rows counted with the newest head.
    ``denied``: number of consecutive readings in which the server's own row count was 0 although there were rows.
    ``counted_apart``: rows beyond the limit are counted by the server or by a scan, so most polls need not count up to
    the limit. ``asked_at``: when each probe that is not read in each poll was last asked (our clock, seconds).
    ``kept``: for each indexed probe, its last row and the time (server clock, seconds). ``strange``: the unknown states
    in the last reading. ``strange_at``: the time of that reading, or of the first poll (server clock, seconds).
    ``counted_whole_at``: the time when the last full count of the table was recorded, server clock, seconds. ``span``:
    the distance between the positions of a ring in the newest poll. ``idle``: no message was ready or in progress in
    the last reading. ``may_be_empty``: the last full count found no message that was ready, in progress or in an
    unknown state.
    """

    polls: int = 0
    over_limit: bool = False
    counted_apart: bool = False
    head_limit: int = COUNT_ROWS
    bounded: bool = False
    bounds: deque[str] = field(default_factory=lambda: deque(maxlen=_BOUND_LAG))
    asked_at: dict[str, float] = field(default_factory=dict)
    kept: dict[str, tuple[Any, float]] = field(default_factory=dict)
    strange: tuple[StateValueSample, ...] = ()
    strange_at: float | None = None
    head_id: str | None = None
    still: int = 0
    counted: int = 0
    counted_whole_at: float | None = None
    denied: int = 0
    span: int | None = None
    idle: bool = False
    may_be_empty: bool = False

    def record_head(self, head: HeadSample | None, last_id: int | None, *, walks: bool = False) -> None:
        """Record the head of this poll for the next polls. ``walks``: the search starts at a place, not at an id."""
        self.polls += 1
        if head is None:
            return
        self.still = self.still + 1 if head.head_id is not None and head.head_id == self.head_id else 0
        self.head_id = head.head_id
        if self.head_limit == COUNT_ROWS:
            self.over_limit = head.counted >= COUNT_ROWS
        elif head.counted == 0:
            self.over_limit = False
        if walks:
            return
        if head.head_id is not None:
            self.bounds.append(head.head_id)
        elif last_id is not None:
            self.bounds.append(str(last_id))

    def record_states(self, unknown: tuple[StateValueSample, ...] | None, now_at: float) -> None:
        """Record the unknown states; ``None`` if this poll did not read them. ``now_at``: server clock, seconds."""
        if unknown is not None or self.strange_at is None:
            self.strange, self.strange_at = unknown or (), now_at

    def record_span(self, ring: RingSample | None) -> None:
        """Record the distance between a ring's positions for the next poll."""
        if ring is not None:
            self.span = ring.span

    def window_size(self, near: int, size: int) -> int:
        """Return how many numbers to read behind each position of a ring.

        All numbers between the two positions are read, unless there are too many numbers.

        Args:
            near: how far behind a position the number of an open transaction may be.
            size: slots in the ring.
        """
        if self.span is None:
            return min(COUNT_LIMIT, size)
        between = self.span if 0 < self.span <= COUNT_LIMIT else 0
        return min(near + between, COUNT_LIMIT, size)

    def record_place(self, walked: WalkSample | None) -> None:
        """Record the place where the next walk may begin."""
        if walked is not None and walked.place is not None:
            self.bounds.append(walked.place)

    def head_bound(self) -> str | None:
        """Return the id at which the search for the head starts: an earlier head, so that late commits are found."""
        return self.bounds[0] if self.bounded and len(self.bounds) == _BOUND_LAG else None

    def record_found_head(self, head_id: str) -> None:
        """Record a head that the background reader found. Searches start at this head until newer heads are known."""
        self.bounds.clear()
        self.bounds.extend([head_id] * _BOUND_LAG)
