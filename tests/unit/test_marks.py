"""Marks of an archive: each remaining row is taken once, whatever commits, rolls back or is deleted meanwhile."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from qmon.pipeline.messages.archive_reader import Survey
from qmon.pipeline.messages.watermarks import (
    KeyGap,
    Range,
    Watermark,
    advance_watermark,
    from_json,
    ranges_to_read,
    split_ranges,
    subtract_ranges,
    watermark_to_json,
)

Step = tuple[str, int]


@dataclass
class Server:
    """An archive: numbers are drawn in order, rows become visible when their transaction commits."""

    issued: int = 0
    begun: int = 0
    running: dict[str, list[int]] = field(default_factory=dict)
    rows: set[int] = field(default_factory=set)
    deleted: set[int] = field(default_factory=set)

    def step(self, what: str, which: int) -> None:
        """One event. ``which``: its transaction or row."""
        names = sorted(self.running)
        name = names[which % len(names)] if names else ""
        if what in ("begin", "draw"):
            self.begun += what == "begin" or not name
            self.issued += 1
            self.running.setdefault(name if name and what == "draw" else f"t{self.begun}", []).append(self.issued)
        elif what == "delete" and self.rows:
            self.deleted.add(gone := sorted(self.rows)[which % len(self.rows)])
            self.rows.discard(gone)
        elif name:
            keys = self.running.pop(name)
            self.rows |= set(keys) if what == "commit" else set()


@dataclass
class Reader:
    """A lake that takes from the archive. ``taken``: the number of times each key was taken."""

    mark: Watermark = field(default_factory=Watermark)
    taken: list[int] = field(default_factory=list)

    def take(self, server: Server, between: Sequence[Sequence[Step]] = ((), ())) -> None:
        """Read the ends, then the writers, then the rows; other events happen in between."""
        oldest, newest, issued = min(server.rows, default=None), max(server.rows, default=None), server.issued
        for what, which in between[0]:
            server.step(what, which)
        seen = Survey(oldest, newest, issued, frozenset(server.running))
        for what, which in between[1]:
            server.step(what, which)
        parts = split_ranges(ranges_to_read(self.mark, seen), seen.oldest, 3)
        keys = [key for part in parts for first, last in part for key in range(first, last + 1) if key in server.rows]
        assert len(parts) <= 3
        self.taken += keys
        self.mark = from_json(
            json.loads(json.dumps(watermark_to_json(advance_watermark(self.mark, seen, stretches(keys), len(keys)))))
        )


def stretches(keys: list[int]) -> list[Range]:
    """Return the keys as ranges without gaps."""
    out: list[Range] = []
    for key in sorted(keys):
        if out and out[-1][1] == key - 1:
            out[-1] = (out[-1][0], key)
        else:
            out.append((key, key))
    return out


WHAT = ("begin", "draw", "draw", "commit", "commit", "roll back", "delete")
STEPS = st.lists(st.tuples(st.sampled_from(WHAT), st.integers(0, 5)), max_size=12)


@example([([("begin", 0), ("begin", 0), ("commit", 1)], [("commit", 0)], [])])  # between the ends and the writers
@settings(max_examples=100)
@given(st.lists(st.tuples(STEPS, STEPS, STEPS), max_size=6))
def test_every_row_that_stays_is_taken_once(takes: list[tuple[list[Step], list[Step], list[Step]]]) -> None:
    server, reader = Server(), Reader()
    for before, first, second in takes:
        for what, which in before:
            server.step(what, which)
        reader.take(server, (first, second))
    server.running.clear()
    reader.take(server)
    assert len(reader.taken) == len(set(reader.taken)) == reader.mark.messages
    assert server.rows <= set(reader.taken) <= server.rows | server.deleted
    assert reader.mark.gaps == ()


def test_a_gap_is_awaited_as_long_as_one_of_its_writers_runs() -> None:
    seen = Survey(4, 9, 9, frozenset({"a", "b"}))
    mark = advance_watermark(Watermark(), seen, [(4, 6), (9, 9)], 4)
    assert (mark.upto, mark.awaited_count, mark.messages) == (9, 5, 4)
    assert [(gap.first, gap.last) for gap in mark.gaps] == [(1, 3), (7, 8)]
    assert ranges_to_read(mark, seen) == [(1, 3), (7, 8)]
    later = Survey(2, 9, 9, frozenset({"b", "c"}))
    mark = advance_watermark(mark, later, [(2, 2)], 1)
    assert mark.gaps == tuple(KeyGap(*each, frozenset({"b"})) for each in ((1, 1), (3, 3), (7, 8)))
    assert advance_watermark(mark, Survey(2, 9, 9, frozenset({"c"})), [], 0).gaps == ()


@pytest.mark.parametrize(
    ("ranges", "oldest", "parts", "wanted"),
    [
        ([], 1, 4, []),
        ([(1, 10)], None, 4, [[(1, 3)], [(4, 6)], [(7, 9)], [(10, 10)]]),
        ([(1, 10)], 1, 1, [[(1, 10)]]),
        ([(1, 10)], 8, 2, [[(1, 9)], [(10, 10)]]),
        ([(1, 2), (4, 5), (7, 10)], 8, 2, [[(1, 2), (4, 5), (7, 9)], [(10, 10)]]),
        ([(1, 2)], 8, 2, [[(1, 2)]]),
        ([(1, 2), (5, 5), (7, 12)], 1, 3, [[(1, 2), (5, 5)], [(7, 9)], [(10, 12)]]),
        ([(1, 2)], 1, 9, [[(1, 1)], [(2, 2)]]),
    ],
)
def test_parts_are_disjoint_and_about_as_large(
    ranges: list[Range], oldest: int | None, parts: int, wanted: list[list[Range]]
) -> None:
    assert split_ranges(ranges, oldest, parts) == wanted


def test_what_is_left_of_a_range() -> None:
    assert subtract_ranges((3, 9), []) == [(3, 9)]
    assert subtract_ranges((3, 9), [(1, 2), (4, 5), (9, 12)]) == [(3, 3), (6, 8)]
    assert subtract_ranges((3, 9), [(1, 20)]) == []
    assert subtract_ranges((3, 9), [(12, 20)]) == [(3, 9)]
