"""How far an archive was read, and which keys below may still come, so that what commits late is not lost. Pure.

A number that is missing while a greater one is there was given to a transaction that runs still, or to one that was
rolled back, or its row was deleted. So it is asked who writes, after it was asked how far the rows go: a number below
can only come from those. Once none of them runs any more, its row is there, or never will be; and what is read after
that was asked has it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from qmon.pipeline.messages.archive_reader import Survey

# From one key to another, both included.
Range = tuple[int, int]


@dataclass(frozen=True, slots=True)
class KeyGap:
    """Keys that are missing, and the transactions that one of them may still bring."""

    first: int
    last: int
    writers: frozenset[str]


@dataclass(frozen=True, slots=True)
class Watermark:
    """How far the archive of one queue was read: every key up to ``upto``, but for the gaps.

    ``table_id``: of the archive's table, ``None`` before the first read. ``made``: how often it was made anew, from 1.
    ``messages``: taken in so far.
    """

    upto: int = 0
    gaps: tuple[KeyGap, ...] = ()
    table_id: int | None = None
    made: int = 1
    messages: int = 0

    @property
    def awaited(self) -> int:
        """How many keys are missing and may still come."""
        return sum(gap.last - gap.first + 1 for gap in self.gaps)


def wanted(mark: Watermark, seen: Survey) -> list[Range]:
    """The ranges to read now, in order: the gaps, and what lies beyond."""
    ranges = [(gap.first, gap.last) for gap in mark.gaps]
    if seen.newest is not None and seen.newest > mark.upto:
        ranges.append((mark.upto + 1, seen.newest))
    return ranges


def shared_out(ranges: Sequence[Range], oldest: int | None, parts: int) -> list[list[Range]]:
    """The ranges cut into at most so many disjoint parts of about as many keys.

    Those before ``oldest``, the least key that was seen, do not count, but are read: one may have come since.
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


def after(mark: Watermark, seen: Survey, found: Iterable[Range], messages: int) -> Watermark:
    """The mark when what is ``wanted`` was read after the survey; ``found``: the stretches of keys that were there."""
    stretches = sorted(found)
    gaps = []
    for gap in mark.gaps:
        if still := gap.writers & seen.writers:
            gaps += [KeyGap(*missing, still) for missing in without((gap.first, gap.last), stretches)]
    upto = max(mark.upto, seen.newest or 0)
    if seen.writers and upto > mark.upto:
        gaps += [KeyGap(*missing, seen.writers) for missing in without((mark.upto + 1, upto), stretches)]
    return replace(mark, upto=upto, gaps=tuple(gaps), messages=mark.messages + messages)


def without(whole: Range, stretches: Sequence[Range]) -> list[Range]:
    """What is left of a range when these stretches, in order and disjoint, are taken out."""
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


def as_json(mark: Watermark) -> dict[str, Any]:
    """For the lake's log."""
    gaps = [[gap.first, gap.last, sorted(gap.writers)] for gap in mark.gaps]
    return {"upto": mark.upto, "gaps": gaps, "table_id": mark.table_id, "made": mark.made, "messages": mark.messages}


def from_json(raw: Mapping[str, Any]) -> Watermark:
    """What ``as_json`` wrote."""
    gaps = tuple(KeyGap(first, last, frozenset(writers)) for first, last, writers in raw["gaps"])
    return Watermark(raw["upto"], gaps, raw["table_id"], raw["made"], raw["messages"])
