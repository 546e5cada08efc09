"""Counts of a whole table, for states without an index. The table is scanned range by range."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

# The server's counters may lag by this time: an idle PostgreSQL session reports its work after this time
# (PGSTAT_IDLE_INTERVAL).
_LAG_S: Final = 10.0


@dataclass(frozen=True, slots=True)
class PartSample:
    """One row per table that holds rows of a queue: the queue's table itself or one of its partitions.

    Attributes:
        pages: number of pages of the table; ``None`` if the pages cannot be read by range.
        rows_there: number of rows according to the server, if the ranges are key ranges.
        place: the key column, if the ranges are key ranges; else ``None``.
    """

    part_id: int
    part_schema: str
    part_name: str
    pages: int | None
    rows_there: int | None
    place: str | None


@dataclass(frozen=True, slots=True)
class ScanSample:
    """One row per scanned range of a table, or one row for the whole table.

    A figure is ``None`` if the layout has no such state.

    Attributes:
        counted_at: when the range was counted, seconds since the epoch, server clock.
        timed: messages in progress whose start time is known.
        oldest_at: when the oldest message that is ready and due was pushed, seconds since the epoch, server clock.
        longest_at: when the message that has been in progress for the longest time was popped.
        next_place: key of the last row seen.
        strange: rows with an unknown state or without a state.
        strange_first: the first of the unknown states, as text.
        strange_last: the last of the unknown states, as text.
    """

    counted_at: float
    rows_seen: int
    ready: int
    in_progress: int | None
    timed: int | None
    stuck: int | None
    scheduled: int | None
    dead: int | None
    oldest_at: float | None
    longest_at: float | None
    next_place: str | None
    strange: int | None = None
    strange_first: str | None = None
    strange_last: str | None = None


@dataclass(frozen=True, slots=True)
class TableCount:
    """The result of one scan of a whole table. A figure is ``None`` if the layout has no such state or time.

    Rows may move while a scan of many ranges runs. The scan then sees these rows twice or not at all, so the sums are
    estimates. A row that does not change, such as a stuck message, is seen exactly once. Fields that are not listed
    here are as in ``ScanSample``.

    Attributes:
        counted_at: the middle of the scan, seconds since the epoch, server clock. It is later if the server's counters
            show no writes since the scan.
        took_s: seconds from the first to the last range, 0 for a single statement.
        every_s: longest known interval between two scans, in seconds.
        ranges: number of statements.
        began_at: when the scan began.
        strange_values: some of the unknown states.
    """

    counted_at: float
    took_s: float
    every_s: float
    ranges: int
    ready: int
    in_progress: int | None = None
    timed: int | None = None
    stuck: int | None = None
    scheduled: int | None = None
    dead: int | None = None
    oldest_at: float | None = None
    longest_at: float | None = None
    began_at: float | None = None
    strange: int | None = None
    strange_values: tuple[str, ...] = ()

    @property
    def complete_until_at(self) -> float:
        """The time after which popped messages may be missing in the count (seconds since the epoch, server clock)."""
        began = self.counted_at - self.took_s / 2 if self.began_at is None else self.began_at
        if self.counted_at <= began + self.took_s:
            return began
        return max(began, self.counted_at - _LAG_S)

    @property
    def may_be_empty(self) -> bool:
        """True if the scan found no message that is ready, in progress or in an unknown state."""
        return not (self.ready or self.in_progress or self.strange)

    @property
    def may_change_with_time(self) -> bool:
        """True if a figure may change without any write, because messages become due or stuck."""
        return bool(self.scheduled) or (self.stuck is not None and self.stuck < (self.in_progress or 0))


def combine_ranges(samples: list[ScanSample], took_s: float, every_s: float) -> TableCount:
    """Return the count of a table from the samples of its ranges. ``samples`` must not be empty."""
    first = samples[0]
    in_progress = _sum_known([s.in_progress for s in samples])
    timed, stuck = _sum_known([s.timed for s in samples]), _sum_known([s.stuck for s in samples])
    return TableCount(
        first.counted_at + took_s / 2,
        took_s,
        every_s,
        len(samples),
        sum(s.ready for s in samples),
        in_progress,
        timed,
        None if in_progress and not timed else stuck,
        _sum_known([s.scheduled for s in samples]),
        _sum_known([s.dead for s in samples]),
        min((s.oldest_at for s in samples if s.oldest_at is not None), default=None),
        min((s.longest_at for s in samples if s.longest_at is not None), default=None),
        first.counted_at,
        _sum_known([s.strange for s in samples]),
        tuple(sorted({each for s in samples for each in (s.strange_first, s.strange_last) if each is not None})),
    )


def _sum_known(parts: list[int | None]) -> int | None:
    known = [part for part in parts if part is not None]
    return sum(known) if known else None
