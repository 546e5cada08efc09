"""The period of a report, and figures computed without Spark: time in incidents, and coverage."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any, Final

from qmon.pipeline.lake.delta import ReadFilter

HOUR_S: Final = 3600.0
Row = Mapping[str, Any]

# A target and the name of one of its queues.
Key = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Period:
    """The time from ``start`` up to but not including ``end``, seconds since the epoch."""

    start: float
    end: float

    def read_filter(self, over: str, dates: Sequence[date]) -> ReadFilter:
        """Return the part of a table for this period. ``dates``: the days in the lake."""
        first, last = utc_day(self.start), utc_day(self.end - 0.001)
        return ReadFilter(
            [each for each in dates if first <= str(each) <= last], over=over, low=self.start, high=self.end
        )

    def whole_hours(self) -> Period:
        """Return the period extended to whole hours."""
        return Period(self.start // HOUR_S * HOUR_S, -(-self.end // HOUR_S) * HOUR_S)

    def previous_period(self) -> Period:
        """Return the previous period with the same number of whole hours."""
        whole = self.whole_hours()
        return Period(whole.start - (whole.end - whole.start), whole.start)


@dataclass(frozen=True, slots=True)
class Trouble:
    """The time in incidents (``seconds``; overlapping time is counted once), and the number of incidents."""

    seconds: float
    incidents: int


@dataclass(frozen=True, slots=True)
class Coverage:
    """How much of a target was watched. ``seconds``: seconds watched in the period. ``share``: share of the period.

    ``gap_s``: the longest gap in whole hours, 0 if there is none. ``gap_at``: the start of that gap.
    """

    target: str
    seconds: float
    share: float
    gap_s: float = 0.0
    gap_at: float | None = None


def utc_day(at: float) -> str:
    """Return the day in UTC."""
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d")


def trouble_by_queue(incidents: Iterable[Row], period: Period) -> dict[Key, Trouble]:
    """Return the time in incidents of each queue within a period."""
    spans: dict[Key, list[tuple[float, float]]] = defaultdict(list)
    for row in incidents:
        start, end = max(row["start_at"], period.start), min(row["end_at"], period.end)
        if start <= end and row["start_at"] < period.end:
            spans[row["target"], row["queue"]].append((start, end))
    return {key: Trouble(_union_seconds(each), len(each)) for key, each in spans.items()}


def _union_seconds(spans: list[tuple[float, float]]) -> float:
    total, until = 0.0, float("-inf")
    for start, end in sorted(spans):
        total += max(0.0, end - max(start, until))
        until = max(until, end)
    return total


def coverage_by_target(hours: Mapping[tuple[str, float], float], period: Period) -> tuple[Coverage, ...]:
    """Return the coverage of each target, least watched first, from the seconds watched per hour (target, start)."""
    found = []
    for target in sorted({target for target, _ in hours}):
        seconds, gap_s, gap_at, begun = 0.0, 0.0, None, None
        for place in range(int(-(-(period.end - period.start) // HOUR_S))):
            at = period.start + place * HOUR_S
            watched = hours.get((target, at), 0.0)
            seconds += watched
            begun = None if watched > 0 else at if begun is None else begun
            until = min(at + HOUR_S, period.end)
            if begun is not None and until - begun > gap_s:
                gap_s, gap_at = until - begun, begun
        share = min(1.0, seconds / (period.end - period.start))
        found.append(Coverage(target, seconds, share, gap_s, gap_at))
    return tuple(sorted(found, key=lambda each: (each.share, each.target)))
