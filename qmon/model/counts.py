"""Counts of a whole table, of states that no index leads to: what scans of it have found, range by range."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

# The server's counters may be so late: PostgreSQL has an idle session hand in what it did (PGSTAT_IDLE_INTERVAL).
_LAG_S: Final = 10.0


@dataclass(frozen=True, slots=True)
class PartSample:
    """One row a table that holds rows of a queue: the table itself, or one of its partitions.

    ``pages``: of its rows, ``None`` where it has none that could be read range by range. ``rows_there``: as the server
    counts them, where ranges are of a key. ``place``: that key.
    """

    part_id: int
    part_schema: str
    part_name: str
    pages: int | None
    rows_there: int | None
    place: str | None


@dataclass(frozen=True, slots=True)
class ScanSample:
    """One row a range of a table, or a whole one. ``None``: the layout has no such state.

    ``counted_at``, ``oldest_at``: seconds since the epoch, server clock. ``timed``: those in progress of which it is
    known since when. ``oldest_at``: when the oldest that is ready and due was pushed; ``longest_at``:
    when the one longest in progress was popped. ``next_place``: the key of the
    last row seen. ``strange``: rows in a state that is not known, or in none; ``strange_first``, ``strange_last``: the
    first and the last of these states, as text.
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
    """What one scan of a whole table has counted. ``None``: the layout has no such state, or no time tells.

    Rows move while a scan of many ranges goes on: one may be seen twice or not at all, so the sums are estimates. A row
    that nobody touches, such as a stuck one, is seen once.

    ``counted_at``: the middle of the scan, seconds since the epoch on the server's clock; ``took_s``: seconds from its
    first to its last range, 0 where it was one statement. ``every_s``: seconds between two scans at most, as far as is
    known. ``ranges``: statements it took. ``began_at``: when the scan began; where nobody has written since, by the
    server's counters, ``counted_at`` is later. ``strange_values``: some of the
    states that are not known. The rest is as in ``ScanSample``.
    """

    counted_at: float
    took_s: float
    every_s: float
    ranges: int
    ready: int
    in_progress: int | None = None
    stuck: int | None = None
    scheduled: int | None = None
    dead: int | None = None
    oldest_at: float | None = None
    longest_at: float | None = None
    began_at: float | None = None
    strange: int | None = None
    strange_values: tuple[str, ...] = ()

    @property
    def holds_since(self) -> float:
        """What was popped later than this may not be in it, seconds since the epoch, server clock."""
        began = self.counted_at - self.took_s / 2 if self.began_at is None else self.began_at
        if self.counted_at <= began + self.took_s:
            return began
        return max(began, self.counted_at - _LAG_S)

    @property
    def may_be_empty(self) -> bool:
        """Whether it has found no message that is ready, in progress or in a state that is not known."""
        return not (self.ready or self.in_progress or self.strange)

    @property
    def waits_for_time(self) -> bool:
        """Whether a figure may change while nobody writes: messages become due, or stuck."""
        return bool(self.scheduled) or (self.stuck is not None and self.stuck < (self.in_progress or 0))


def summed(samples: list[ScanSample], took_s: float, every_s: float) -> TableCount:
    """The count of a table whose ranges these are, at least one."""
    first = samples[0]
    in_progress = _sum([s.in_progress for s in samples])
    timed, stuck = _sum([s.timed for s in samples]), _sum([s.stuck for s in samples])
    return TableCount(
        first.counted_at + took_s / 2,
        took_s,
        every_s,
        len(samples),
        sum(s.ready for s in samples),
        in_progress,
        None if in_progress and not timed else stuck,
        _sum([s.scheduled for s in samples]),
        _sum([s.dead for s in samples]),
        min((s.oldest_at for s in samples if s.oldest_at is not None), default=None),
        min((s.longest_at for s in samples if s.longest_at is not None), default=None),
        first.counted_at,
        _sum([s.strange for s in samples]),
        tuple(sorted({each for s in samples for each in (s.strange_first, s.strange_last) if each is not None})),
    )


def _sum(parts: list[int | None]) -> int | None:
    known = [part for part in parts if part is not None]
    return sum(known) if known else None
