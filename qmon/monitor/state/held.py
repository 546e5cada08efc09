"""Rows that open transactions hold: in progress, where a pop deletes its message."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass

from qmon.model.samples.polled import HeldSample, WriterSample
from qmon.model.snapshot import QueueSamples
from qmon.monitor.probes.queue import HELD_AT_LEAST


@dataclass(frozen=True, slots=True)
class HeldRows:
    """Rows near the head that are held by transactions that still run.

    ``late``: how many for longer than the timeout; ``unseen``: those of transactions that our role does not see the
    age of. ``whole``: no more rows can be held than were read.
    """

    rows: int
    late: int
    unseen: int
    whole: bool


class Holders:
    """Who holds rows near the head of one queue, from poll to poll."""

    def __init__(self) -> None:
        self._before: frozenset[str] = frozenset()

    def see(self, q: QueueSamples, writers: Sequence[WriterSample] | None) -> HeldRows | None:
        """Take in one poll: what transactions hold in it, or ``None`` where that was not read."""
        before = self._before
        if q.held is not None:
            self._before = frozenset(each.xid for each in q.held)
        return _held_rows(q, writers, before)


def _held_rows(q: QueueSamples, writers: Sequence[WriterSample] | None, before: Container[str]) -> HeldRows | None:
    if writers is None or q.head is None or q.held is None:
        return None
    open_now = None if q.held_at is None else {w.xid for w in writers}
    held = [
        (h.rows, _held_s(h, writers, before)) for h in q.held if h.running and (open_now is None or h.xid in open_now)
    ]
    rows = sum(rows for rows, _ in held)
    late = sum(rows for rows, age in held if age is not None and age > q.layout.timeout_s)
    unseen = sum(rows for rows, age in held if age is None)
    # Poppers in order have begun at the head: where some rows that were read are free, none behind them is held.
    in_order = q.layout.traits.order in ("fifo", "due") and rows < max(q.head_limit, HELD_AT_LEAST)
    return HeldRows(rows, late, unseen, in_order or q.head.counted < q.head_limit)


def _held_s(held: HeldSample, writers: Sequence[WriterSample], before: Container[str]) -> float | None:
    """Seconds since the transaction that holds the rows began; ``None`` where our role does not see it.

    An id that is nowhere to be found is that of a transaction that has ended or begun meanwhile; or, where it held rows
    ``before``, too, of a savepoint that was released, which does not tell whose it is: then the youngest transaction it
    can belong to, a lower bound.
    """
    same = [w.transaction_s for w in writers if w.xid == held.xid]
    if not same and held.xid not in before:
        return 0.0
    ages = same or [w.transaction_s for w in writers if int(w.xid) <= int(held.xid)]
    known = [age for age in ages if age is not None]
    return None if ages and not known else min(known, default=0.0)
