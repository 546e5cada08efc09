"""Counts of the messages that the workload has committed, over time and per queue."""

from __future__ import annotations

import bisect
import threading
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Final

from qmon.texts import Text


class CountText(Text):
    """Why a flow cannot be computed."""

    EMPTY_SPAN = "cannot compute the flow from {start} to {end}: the end must be later than the start"
    OUTSIDE = "no counts of {queue} at {at}: this is outside the counted time"


# Points are kept for this number of seconds.
KEEP_S: Final = 900.0


@dataclass(frozen=True, slots=True)
class Totals:
    """Totals since the load began. All fields count committed messages, except for the last six fields.

    - ``returned``: messages that failed and are ready again.
    - ``died``: messages that failed too often.
    - ``requeued``: messages requeued by a keeper.
    - ``repaired``: orphans requeued and holes filled in a ring.
    - ``full_pushes``: pushes into a full ring.
    - ``errors``: failed statements and connections.
    - ``popped_by``: messages popped by each subscriber, if there are several. ``popped`` is then the decrease of the
      largest backlog that any subscriber has.
    """

    pushed: int = 0
    popped: int = 0
    completed: int = 0
    returned: int = 0
    died: int = 0
    requeued: int = 0
    archived: int = 0
    repaired: int = 0
    push_rolled_back: int = 0
    pop_rolled_back: int = 0
    empty_pops: int = 0
    full_pushes: int = 0
    errors: int = 0
    popped_by: tuple[int, ...] = ()

    @property
    def ready_change(self) -> int:
        """The change in the number of ready messages."""
        return self.pushed - self.popped + self.returned + self.requeued


COUNTED_FIELDS: Final = tuple(field.name for field in fields(Totals) if field.name != "popped_by")


@dataclass(frozen=True, slots=True)
class CommittedFlow:
    """Messages that were committed between two times.

    The numbers may be fractions, because ``start`` and ``end`` may be between two points.
    """

    seconds: float
    pushed: float
    popped: float
    completed: float

    @property
    def push_rate(self) -> float:
        """Pushed messages per second."""
        return self.pushed / self.seconds

    @property
    def pop_rate(self) -> float:
        """Popped messages per second."""
        return self.popped / self.seconds

    @property
    def complete_rate(self) -> float:
        """Completed messages per second."""
        return self.completed / self.seconds


@dataclass(frozen=True, slots=True)
class CountPoint:
    """The totals of one queue at one time, in seconds since the epoch."""

    at: float
    pushed: int
    popped: int
    completed: int
    ready: int


class CommittedCounts:
    """The points of all queues. The thread of the load adds points, and any thread may read them."""

    def __init__(self, base: Mapping[str, int]) -> None:
        """``base``: messages ready in each queue when the load began."""
        self._base = dict(base)
        self._points: dict[str, list[CountPoint]] = {queue: [] for queue in base}
        self._totals: dict[str, Totals] = {queue: Totals() for queue in base}
        self._guard = threading.Lock()

    def record_point(self, at: float, totals: Mapping[str, Totals]) -> None:
        """Add a point to each queue. ``at``: seconds since the epoch, later than the last point."""
        with self._guard:
            for queue, now in totals.items():
                points = self._points[queue]
                points.append(
                    CountPoint(at, now.pushed, now.popped, now.completed, self._base[queue] + now.ready_change)
                )
                if len(points) > 200 and points[100].at < at - KEEP_S:
                    del points[:100]
                self._totals[queue] = now

    @property
    def queues(self) -> tuple[str, ...]:
        """The counted queues."""
        return tuple(self._base)

    def totals(self, queue: str) -> Totals:
        """Return the totals of a queue at the last point."""
        with self._guard:
            return self._totals[queue]

    def flow_between(self, start: float, end: float) -> dict[str, CommittedFlow]:
        """Return the messages that each queue committed from ``start`` to ``end`` (seconds since the epoch).

        The flow between two points is assumed to be even. Raises ``ValueError`` if the end is not after the start, or
        if a time is not between the oldest point and the last point.
        """
        if start >= end:
            raise ValueError(CountText.EMPTY_SPAN.render(start=start, end=end))
        out = {}
        for queue in self.queues:
            first, last = self._interpolate(queue, start), self._interpolate(queue, end)
            out[queue] = CommittedFlow(end - start, last[0] - first[0], last[1] - first[1], last[2] - first[2])
        return out

    def depth_at(self, queue: str, at: float) -> float:
        """Return the number of ready messages at a time (seconds since the epoch).

        Raises ``ValueError`` in the same cases as ``flow_between``.
        """
        return self._interpolate(queue, at)[3]

    def last_at(self) -> float:
        """Return the time of the last point, in seconds since the epoch; 0 if there is no point."""
        with self._guard:
            return max((points[-1].at for points in self._points.values() if points), default=0.0)

    def _interpolate(self, queue: str, at: float) -> tuple[float, float, float, float]:
        with self._guard:
            points = self._points[queue]
            if not points or not points[0].at <= at <= points[-1].at:
                raise ValueError(CountText.OUTSIDE.render(queue=queue, at=at))
            index = max(1, bisect.bisect_left(points, at, key=lambda point: point.at))
            if len(points) == 1:
                before = after = points[0]
            else:
                before, after = points[index - 1], points[index]
        share = 0.0 if after.at == before.at else (at - before.at) / (after.at - before.at)

        def mix(earlier: int, later: int) -> float:
            return earlier + (later - earlier) * share

        return (
            mix(before.pushed, after.pushed),
            mix(before.popped, after.popped),
            mix(before.completed, after.completed),
            mix(before.ready, after.ready),
        )
