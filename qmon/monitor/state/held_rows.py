"""Count rows that open transactions hold. For designs that delete on pop, these are the messages in progress."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass

from qmon.model.probe_constants import HELD_AT_LEAST
from qmon.model.samples.polled_samples import HeldSample, WriterSample
from qmon.model.snapshot import QueueSamples


@dataclass(frozen=True, slots=True)
class HeldRows:
    """Rows near the head that are held by running transactions.

    ``late``: held for longer than the timeout. ``unseen``: held by transactions whose age our role cannot see.
    ``whole``: all held rows were read.
    """

    rows: int
    late: int
    unseen: int
    whole: bool


class HeldRowsTrack:
    """The transactions that hold rows near the head of one queue, from poll to poll."""

    def __init__(self) -> None:
        self._before: frozenset[str] = frozenset()

    def record_poll(self, samples: QueueSamples, writers: Sequence[WriterSample] | None) -> HeldRows | None:
        """Record one poll and return the held rows, or ``None`` if they were not read."""
        before = self._before
        if samples.held is not None:
            self._before = frozenset(each.xid for each in samples.held)
        return _held_rows(samples, writers, before)


def _held_rows(
    samples: QueueSamples, writers: Sequence[WriterSample] | None, before: Container[str]
) -> HeldRows | None:
    if writers is None or samples.head is None or samples.held is None:
        return None
    open_now = None if samples.held_at is None else {w.xid for w in writers}
    held = [
        (h.rows, _held_seconds(h, writers, before))
        for h in samples.held
        if h.running and (open_now is None or h.xid in open_now)
    ]
    rows = sum(rows for rows, _ in held)
    late = sum(rows for rows, age in held if age is not None and age > samples.layout.timeout_s)
    unseen = sum(rows for rows, age in held if age is None)
    # Consumers start at the head. If some of the rows that were read are free, no row behind them is held.
    in_order = samples.layout.traits.order in ("fifo", "due") and rows < max(samples.head_limit, HELD_AT_LEAST)
    return HeldRows(rows, late, unseen, in_order or samples.head.counted < samples.head_limit)


def _held_seconds(held: HeldSample, writers: Sequence[WriterSample], before: Container[str]) -> float | None:
    """Return the seconds since the transaction that holds the rows began; ``None`` if our role cannot see it.

    An xid missing from ``writers`` belongs to a transaction that started or ended between the two reads. If the xid
    already held rows ``before``, it belongs to a released savepoint, which does not identify its transaction. The
    result is then the age of the youngest transaction to which the savepoint can belong, which is a lower bound.
    """
    same = [w.transaction_s for w in writers if w.xid == held.xid]
    if not same and held.xid not in before:
        return 0.0
    ages = same or [w.transaction_s for w in writers if int(w.xid) <= int(held.xid)]
    known = [age for age in ages if age is not None]
    return None if ages and not known else min(known, default=0.0)
