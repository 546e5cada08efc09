"""Histograms of latencies, which the loops inside the server count in buckets.

A bucket is an eighth of an octave wide.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterable, Sequence
from typing import Final

BUCKETS: Final = 192

# An operation of t microseconds is in bucket floor(8 · log2(1 + t)). The last bucket also counts all longer operations.
PER_OCTAVE: Final = 8

EMPTY: Final = (0,) * BUCKETS


def bucket_start_us(index: float) -> float:
    """Return the start of a bucket in microseconds."""
    return math.exp2(index / PER_OCTAVE) - 1


def add_histograms(histograms: Iterable[Sequence[int]]) -> tuple[int, ...]:
    """Return the sum of histograms. Without histograms, the sum is all zero."""
    total = [0] * BUCKETS
    for each in histograms:
        if each is not EMPTY:
            for index, count in enumerate(each):
                total[index] += count
    return tuple(total)


def percentile(counts: Sequence[int], share: float) -> float | None:
    """Return the milliseconds that this share (0 to 1) of operations did not exceed; ``None`` without operations.

    The position within a bucket is unknown, so the error is at most 9 %, and usually 4 %.
    """
    wanted = share * sum(counts)
    seen = 0
    for index, count in enumerate(counts):
        if count and seen + count >= wanted:
            return bucket_start_us(index + max(0.0, wanted - seen) / count) / 1000
        seen += count
    return None


def from_server(text: object) -> tuple[int, ...]:
    """Convert a histogram from the server: ``{0,12,…}``, or four bytes for each bucket. An empty value is all zero."""
    if isinstance(text, bytes):
        return struct.unpack(f">{BUCKETS}i", text)
    inner = str(text or "").strip("{}")
    return tuple(map(int, inner.split(","))) if inner else EMPTY
