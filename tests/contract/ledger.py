"""Checks on the ledger of a hammered queue: no message is lost, invented or doubled, and the order is as promised.

A pop *overtakes* a message if it began when the message was there, should have come after it, and came before it.
Consumers skip messages that others hold, so a lax order allows some overtaking, within ``allowed``.
"""

from __future__ import annotations

import bisect
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from qmon.model.layout.layout import Layout
from tests.facts import query

Promise = Literal["any", "commit", "due", "lax", "newest", "number"]

# The order in which each design promises to pop.
#
# `commit`: exactly in the order in which pushes were committed. `lax`: by id, within the number of processes. `newest`:
# the same by descending id. `due`: the same by due time, and never before it. `number`: exactly lap by lap in each
# slot, and by number from slot to slot, except that a late process delays its own consumer. `any`: no order.
PROMISES: Final[dict[str, Promise]] = {
    "batch_fast": "lax",
    "batch_single": "lax",
    "batch_split": "lax",
    "fifo": "lax",
    "flag": "lax",
    "heap": "any",
    "lifo": "newest",
    "naive": "lax",
    "pending": "due",
    "ring": "number",
    "ring_classic": "number",
    "ring_pointer": "number",
    "ring_subscribers": "number",
    "status": "lax",
    "strict_fifo": "commit",
}

LOST: Final = """
    SELECT message, s.number FROM ledger_pushed
    CROSS JOIN (SELECT generate_series(1, max(subscriber)) FROM ledger_popped) AS s(number)
    EXCEPT SELECT message, subscriber FROM ledger_popped"""
INVENTED: Final = "SELECT message FROM ledger_popped EXCEPT SELECT message FROM ledger_pushed"
DOUBLED: Final = "SELECT message FROM ledger_popped GROUP BY message, subscriber HAVING count(*) > 1"
COUNTED: Final = """
    SELECT id, count(*), max(attempt) FROM ledger_popped GROUP BY id
    HAVING count(*) <> max(attempt) OR count(DISTINCT attempt) <> count(*)"""
NOT_COMPLETED_ONCE: Final = """
    SELECT p.id, count(c.id) FROM ledger_pushed AS p LEFT JOIN ledger_completed AS c USING (id)
    GROUP BY p.id HAVING count(c.id) <> 1"""

COMMITTED: Final = """
    SELECT p.serial, u.id,
        rank() OVER (ORDER BY pg_xact_commit_timestamp(u.xmin), u.id), rank() OVER (ORDER BY p.serial)
    FROM ledger_popped AS p JOIN ledger_pushed AS u USING (message)"""
OUT_OF_LINE: Final = f"SELECT count(*) FROM ({COMMITTED}) AS c(serial, id, pushed, popped) WHERE pushed <> popped"
LAPPED: Final = """
    SELECT count(*) FROM (
        SELECT id, lag(id) OVER (PARTITION BY subscriber, id % CAST(? AS bigint) ORDER BY serial) AS before
        FROM ledger_popped
    ) AS p WHERE p.id <= p.before"""
AHEAD: Final = """
    SELECT coalesce(max(p.id - p.later), 0) FROM (
        SELECT id, min(id) OVER (
            PARTITION BY subscriber ORDER BY serial ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING
        ) AS later FROM ledger_popped
    ) AS p"""
EARLY: Final = "SELECT count(*) FROM ledger_popped JOIN ledger_pushed USING (message) WHERE popped_at < due"
FIRST_POPS: Final = """
    SELECT extract(epoch FROM coalesce(u.due, 'epoch')), u.id,
        extract(epoch FROM greatest(u.pushed_at, u.due)), extract(epoch FROM p.began_at)
    FROM ledger_popped AS p JOIN ledger_pushed AS u USING (message) WHERE p.attempt = 1 ORDER BY p.serial"""


@dataclass(frozen=True)
class Order:
    """The result of a run: pops out of order beyond the promise, and how far the worst pop ran ahead.

    ``furthest``: the messages it overtook; for a ring, the numbers between it and one that was popped later.
    """

    promise: Promise
    violations: int
    furthest: int


@dataclass(frozen=True)
class Pop:
    """The first pop of a message: its sort key, and the times when the message appeared and the pop began (seconds)."""

    key: tuple[float, ...]
    there_at: float
    began_at: float


def delivered(url: str, layout: Layout) -> None:
    """Check that every message was popped exactly once, or was popped once per attempt and completed once."""
    assert query(url, LOST) == []
    assert query(url, INVENTED) == []
    if layout.traits.completes:
        assert query(url, COUNTED) == []
        assert query(url, NOT_COMPLETED_ONCE) == []
    else:
        assert query(url, DOUBLED) == []


def order(url: str, layout: Layout, *, allowed: int) -> Order:
    """Return how well the pops in the ledger keep the promise of the design.

    Args:
        allowed: how many messages a pop may overtake if order is lax: those that others hold or are committing.
    """
    promise = PROMISES[layout.design]
    if promise == "any":
        return Order(promise, 0, 0)
    if promise == "number":
        assert layout.ring is not None
        return Order(promise, _count(url, LAPPED, layout.ring.size), max(0, _count(url, AHEAD)))
    found = list(overtaken(_pops(url, newest=promise == "newest")))
    furthest = max(found, default=0)
    if promise == "commit":
        return Order(promise, _count(url, OUT_OF_LINE), furthest)
    early = _count(url, EARLY) if promise == "due" else 0
    return Order(promise, early + sum(each > allowed for each in found), furthest)


def overtaken(pops: Sequence[Pop]) -> Iterator[int]:
    """Yield for each pop, in order, the number of messages it overtook."""
    arriving = sorted(range(len(pops)), key=lambda n: pops[n].there_at)
    waiting: list[tuple[tuple[float, ...], int]] = []
    arrived = 0
    for number, pop in enumerate(pops):
        while arrived < len(pops) and pops[arriving[arrived]].there_at < pop.began_at:
            if arriving[arrived] >= number:
                bisect.insort(waiting, (pops[arriving[arrived]].key, arriving[arrived]))
            arrived += 1
        place = bisect.bisect_left(waiting, (pop.key, number))
        yield sum(pops[each].there_at < pop.began_at for _, each in waiting[:place])
        if place < len(waiting) and waiting[place] == (pop.key, number):
            del waiting[place]


def _pops(url: str, *, newest: bool) -> list[Pop]:
    sign = -1 if newest else 1
    rows = [[float(str(value)) for value in row] for row in query(url, FIRST_POPS)]
    return [Pop((due, sign * number), there_at, began_at) for due, number, there_at, began_at in rows]


def _count(url: str, sql: str, *values: int) -> int:
    return int(str(query(url, sql, *(str(value) for value in values))[0][0]))
