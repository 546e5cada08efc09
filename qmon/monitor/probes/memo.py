"""What is remembered of one queue between polls, to ask cheaply: where to seek its head, and how far to count."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Final

from qmon.model.samples.groups import BlockedMessages
from qmon.model.samples.polled import HeadSample, RingSample, StateValueSample, WalkSample

# Ready, in-progress and dead messages are counted exactly up to this many, each poll.
COUNT_LIMIT: Final = 1000
# Rows that are read to count them: one more than the limit tells that there are more.
FULL: Final = COUNT_LIMIT + 1
_BOUND_LAG: Final = 2


@dataclass(slots=True)
class Memo:
    """What is remembered of one queue between polls, to ask cheaply.

    ``bounded``: the head is sought from a known id on, since seeking it from the start was dear (many dead rows).
    ``still``: polls for which the head has been the same. ``counted``: rows that the newest head saw. ``denied``: how
    many times in a row the server counted no row while there were some. ``counted_apart``: rows beyond the limit are
    counted in another way, by the server or a scan, so that most polls need not count up to it. ``extra``: by figure
    (``scheduled``, ``dead``) how many were counted, and when, server clock, seconds. ``strange``: the states that are
    not known, as last read; ``blocked``: the blocked messages, and when they were counted. ``counted_whole_at``: when
    the last count of the whole table was taken in, server clock, seconds. ``span``: how many numbers lay between the
    positions of a ring in the newest poll. ``idle``: nothing was ready or in progress when it was last read.
    ``may_be_empty``: the last count of the whole table found nothing ready, in progress or strange.
    """

    polls: int = 0
    over_limit: bool = False
    counted_apart: bool = False
    head_limit: int = FULL
    bounded: bool = False
    bounds: deque[str] = field(default_factory=lambda: deque(maxlen=_BOUND_LAG))
    counted_at: float = float("-inf")
    extra: dict[str, tuple[int, float]] = field(default_factory=dict)
    strange: tuple[StateValueSample, ...] = ()
    blocked: tuple[BlockedMessages | None, float | None] = (None, None)
    head_id: str | None = None
    still: int = 0
    counted: int = 0
    counted_whole_at: float | None = None
    denied: int = 0
    span: int | None = None
    idle: bool = False
    may_be_empty: bool = False

    def learn(self, head: HeadSample | None, last_id: int | None, *, walks: bool = False) -> None:
        """Take in the head of this poll, for the next ones; ``walks``: it is sought from a place, not from an id."""
        self.polls += 1
        if head is None:
            return
        self.still = self.still + 1 if head.head_id is not None and head.head_id == self.head_id else 0
        self.head_id = head.head_id
        if self.head_limit == FULL:
            self.over_limit = head.counted >= FULL
        elif head.counted == 0:
            self.over_limit = False
        if walks:
            return
        if head.head_id is not None:
            self.bounds.append(head.head_id)
        elif last_id is not None:
            self.bounds.append(str(last_id))

    def learn_span(self, ring: RingSample | None) -> None:
        """Take in how far a ring's positions are apart, for the next poll."""
        if ring is not None:
            self.span = ring.span

    def window(self, near: int, size: int) -> int:
        """How many numbers to read behind each position of a ring: all between the two, unless they are too many.

        Args:
            near: where a number may be in flight.
            size: slots in the ring.
        """
        if self.span is None:
            return min(COUNT_LIMIT, size)
        between = self.span if 0 < self.span <= COUNT_LIMIT else 0
        return min(near + between, COUNT_LIMIT, size)

    def learn_place(self, walked: WalkSample | None) -> None:
        """Take in where the next walk may begin."""
        if walked is not None and walked.place is not None:
            self.bounds.append(walked.place)

    def bound(self) -> str | None:
        """The id to seek the head from: one of an earlier poll, so that ids that commit late are still found."""
        return self.bounds[0] if self.bounded and len(self.bounds) == _BOUND_LAG else None

    def found_below(self, head_id: str) -> None:
        """The background reader found this head: seek from it until newer ones are known."""
        self.bounds.clear()
        self.bounds.extend([head_id] * _BOUND_LAG)
