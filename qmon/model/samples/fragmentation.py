"""Samples of how far the indexes of a queue are fragmented (SQL Server)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TreeSample:
    """One row an index: its number as the server counts (0 a heap, 1 the clustered index), and its pages in use."""

    index_id: int
    pages: int


@dataclass(frozen=True, slots=True)
class FragmentSample:
    """One row, about one index. ``read_at``: the server's clock, seconds since the epoch; ``pages``: leaf pages;

    ``fragmented``: the share of these that are out of order, 0 to 1, ``None`` where there are none.
    """

    read_at: float
    pages: int
    fragmented: float | None


@dataclass(frozen=True, slots=True)
class Fragmentation:
    """What is known of one index. ``index_id``: as in ``UseSample``, 0 the table or its clustered index.

    ``unread``: why it is not read, else empty; the rest is as in ``FragmentSample``.
    """

    table_id: int
    index_id: int
    read_at: float | None = None
    fragmented: float | None = None
    unread: str = ""
