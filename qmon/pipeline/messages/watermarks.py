"""Stores how far an archive was read, and which lower keys may still appear, so that late commits are not lost.

A key can be missing below a greater key for three reasons: a running transaction has reserved the key, a transaction
was rolled back, or the row was deleted. Only transactions that are still writing after the last key was read can add
lower keys. So qmon lists the writing transactions at this time. When all of these transactions have ended, each missing
row either exists or will never exist. The next read finds the rows that exist.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from qmon.pipeline.messages.archive_reader import Survey

# The first and the last key of a range, both included.
Range = tuple[int, int]


@dataclass(frozen=True, slots=True)
class KeyGap:
    """A range of missing keys, and the transactions that may still add rows with these keys."""

    first: int
    last: int
    writers: frozenset[str]


@dataclass(frozen=True, slots=True)
class Watermark:
    """How far the archive of one queue was read: every key up to ``upto``, except for the gaps.

    ``table_id``: id of the archive's table, ``None`` before the first read. ``made``: 1 for the first archive of the
    queue; the number increases by 1 when the archive is recreated. ``messages``: total number of messages read.
    """

    upto: int = 0
    gaps: tuple[KeyGap, ...] = ()
    table_id: int | None = None
    made: int = 1
    messages: int = 0

    @property
    def awaited_count(self) -> int:
        """Number of missing keys that may still appear."""
        return sum(gap.last - gap.first + 1 for gap in self.gaps)


def ranges_to_read(mark: Watermark, survey: Survey) -> list[Range]:
    """Return the ranges to read now, in order: the gaps, and the keys after ``upto``."""
    ranges = [(gap.first, gap.last) for gap in mark.gaps]
    if survey.newest is not None and survey.newest > mark.upto:
        ranges.append((mark.upto + 1, survey.newest))
    return ranges


def split_ranges(ranges: Sequence[Range], oldest: int | None, parts: int) -> list[list[Range]]:
    """Split ranges into at most ``parts`` disjoint parts with about the same number of keys.

    Keys before ``oldest``, the smallest existing key, are not counted. These keys are still read, because rows with
    smaller keys may have appeared since ``oldest`` was read.
    """
    start = oldest or 0
    size = max(1, -(-sum(max(0, last - max(first, start) + 1) for first, last in ranges) // parts))
    out: list[list[Range]] = []
    room = 0
    for first, last in ranges:
        while first <= last:
            if room == 0:
                out.append([])
                room = size
            begin = max(first, start)
            end = min(last, begin + room - 1)
            out[-1].append((first, end))
            room -= max(0, end - begin + 1)
            first = end + 1
    return out


def advance_watermark(mark: Watermark, survey: Survey, found_ranges: Iterable[Range], messages: int) -> Watermark:
    """Return the watermark after reading ``ranges_to_read``. ``found_ranges``: the ranges of keys that were found."""
    stretches = sorted(found_ranges)
    gaps = []
    for gap in mark.gaps:
        if still := gap.writers & survey.writers:
            gaps += [KeyGap(*missing, still) for missing in subtract_ranges((gap.first, gap.last), stretches)]
    upto = max(mark.upto, survey.newest or 0)
    if survey.writers and upto > mark.upto:
        gaps += [KeyGap(*missing, survey.writers) for missing in subtract_ranges((mark.upto + 1, upto), stretches)]
    return replace(mark, upto=upto, gaps=tuple(gaps), messages=mark.messages + messages)


def subtract_ranges(whole: Range, stretches: Sequence[Range]) -> list[Range]:
    """Return the parts of a range that are not in these sorted, disjoint ranges."""
    first, last = whole
    left = []
    for begin, end in stretches:
        if end < first:
            continue
        if begin > last:
            break
        if begin > first:
            left.append((first, begin - 1))
        first = end + 1
    if first <= last:
        left.append((first, last))
    return left


def watermark_to_json(mark: Watermark) -> dict[str, Any]:
    """Convert a watermark for the lake's log."""
    gaps = [[gap.first, gap.last, sorted(gap.writers)] for gap in mark.gaps]
    return {"upto": mark.upto, "gaps": gaps, "table_id": mark.table_id, "made": mark.made, "messages": mark.messages}


def from_json(raw: Mapping[str, Any]) -> Watermark:
    """Restore a watermark from ``watermark_to_json``."""
    gaps = tuple(KeyGap(first, last, frozenset(writers)) for first, last, writers in raw["gaps"])
    return Watermark(raw["upto"], gaps, raw["table_id"], raw["made"], raw["messages"])
