"""Figures from the samples of one queue: pure functions, no state."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from qmon.model.flow import popped_up_to, pops_in_transaction, pushed_up_to, ring_ready
from qmon.model.readings import QueueReadings
from qmon.model.samples import HeldSample, WriterSample
from qmon.model.snapshot import QueueSamples
from qmon.model.use import QueueUse
from qmon.model.view import Figure
from qmon.monitor.watched import WatchedIds, WatchedProgress

COUNT_LIMIT: Final = 1000
"""Ready, in-progress and dead messages are counted exactly up to so many, each poll."""


def exact_ready(q: QueueSamples, held: int) -> float | None:
    """Messages ready now where they could be counted exactly, else ``None``.

    In a ring: where each number between its positions was looked at, since some may have no message.
    """
    if q.ring is not None:
        return float(ring_ready(q.ring)) if q.ring.span <= q.head_limit else None
    if q.head is None or q.head_limit <= COUNT_LIMIT or q.head.counted >= q.head_limit:
        return None
    return float(max(0, q.head.counted - held))


def ready(q: QueueSamples, exact: float | None, carried: tuple[float, float] | None) -> Figure:
    """Messages ready now: exact, carried on from a count (``~``), or a lower bound."""
    if exact is not None:
        return Figure(exact)
    if carried is not None:
        value, age = carried
        return Figure(round(value), estimated=True, age_s=age)
    if q.head is not None and q.head.counted:
        return Figure(
            float(q.head.counted), at_least=True, reason="more than are counted each poll; a count is under way"
        )
    return Figure.unknown(q.unknown.get("ready", "not read in this poll"))


def held_rows(q: QueueSamples, writers: Sequence[WriterSample] | None, timeout_s: float) -> tuple[int, int] | None:
    """Rows near the head held by transactions that still run, and those held for longer than the timeout."""
    if writers is None or q.head is None or q.held is None:
        return None
    held = [h for h in q.held if h.running]
    late = sum(h.rows for h in held if (held_s(h, writers) or 0.0) > timeout_s)
    return sum(h.rows for h in held), late


def held_s(held: HeldSample, writers: Sequence[WriterSample]) -> float | None:
    """Seconds since the transaction that holds the rows began.

    The id of a savepoint does not tell whose it is: then the youngest transaction it can belong to, a lower bound.
    """
    same = [w.transaction_s for w in writers if w.xid == held.xid]
    older = [w.transaction_s for w in writers if int(w.xid) <= int(held.xid)]
    return min((s for s in same or older if s is not None), default=None)


def in_progress(q: QueueSamples, held: tuple[int, int] | None) -> Figure:
    """Messages popped and neither completed nor failed; for designs that delete on pop those of open transactions."""
    if q.ring is not None:
        return Figure(float(q.ring.pop_held))
    if pops_in_transaction(q.layout):
        return Figure(float(held[0])) if held is not None else _unknown(q, "in_progress")
    if q.progress is not None:
        if q.progress.in_progress <= COUNT_LIMIT:
            return Figure(float(q.progress.in_progress))
        if q.anchor is not None and q.anchor.in_progress is not None:
            return Figure(float(max(q.anchor.in_progress, COUNT_LIMIT)), estimated=True)
        return Figure(float(COUNT_LIMIT), at_least=True, reason="more than are counted each poll")
    if q.anchor is not None and q.anchor.in_progress is not None and "in_progress" in q.unknown:
        return Figure(float(q.anchor.in_progress), estimated=True)
    return _unknown(q, "in_progress")


def stuck(q: QueueSamples, held: tuple[int, int] | None, watched: WatchedProgress, at: float) -> Figure:
    """Messages in progress for longer than the queue's timeout."""
    if pops_in_transaction(q.layout):
        return Figure(float(held[1])) if held is not None else _unknown(q, "stuck")
    if q.layout.state is None or q.layout.state.in_progress is None:
        return _unknown(q, "stuck")
    if q.progress is not None and q.progress.stuck is not None and q.layout.started_at is not None:
        capped = q.progress.stuck > COUNT_LIMIT or (
            q.progress.in_progress > COUNT_LIMIT and not q.longest_first and q.progress.stuck > 0
        )
        return Figure(float(min(q.progress.stuck, COUNT_LIMIT)), at_least=capped)
    if q.in_progress_ids is not None:
        return Figure(float(watched.beyond(q.layout.timeout_s, at)), at_least=True, reason="watched: no start time")
    return _unknown(q, "stuck")


def oldest(q: QueueSamples, ids: WatchedIds, at: float) -> Figure:
    """Age in seconds of the oldest ready message."""
    if q.ring is not None:
        if q.ring.oldest_s is not None:
            return Figure(max(0.0, q.ring.oldest_s))
        return Figure.unknown(
            "no message is ready" if ring_ready(q.ring) == 0 else "the next numbers have no message yet"
        )
    if q.head is None:
        return _unknown(q, "oldest")
    if q.head.counted == 0:
        return Figure.unknown("no message is ready")
    if q.head.oldest_s is not None:
        return Figure(max(0.0, q.head.oldest_s))
    number = whole(q.head.head_id)
    aged = ids.age(number, at) if number is not None else None
    if aged is not None:
        return Figure(aged[0], at_least=aged[1], estimated=not aged[1], reason="watched: no push time")
    return _unknown(q, "oldest")


def gap(q: QueueSamples) -> tuple[Figure, str]:
    """Push position less pop position of a ring; else the span of ids from the head to the last issued."""
    if q.ring is not None:
        return Figure(float(q.ring.span)), "gap"
    if q.last_id is None or q.head is None or q.layout.traits.order != "fifo":
        return _unknown(q, "gap"), ""
    if q.head.counted == 0:
        return Figure(0.0), "id span"
    number = whole(q.head.head_id)
    if number is None:
        return Figure.unknown("ids are not numbers"), ""
    return Figure(float(max(0, q.last_id - number + 1))), "id span"


def fill(q: QueueSamples) -> Figure:
    """Share of a ring's slots that hold a message, 0 to 1."""
    if q.ring is None or q.layout.ring is None:
        return Figure.unknown(q.unknown.get("fill", "only a ring has slots to fill"))
    used = pushed_up_to(q.ring) - popped_up_to(q.ring)
    return Figure(min(1.0, max(0.0, used / q.layout.ring.size)))


def counted(q: QueueSamples, value: int | None, figure: str, anchored: int | None) -> Figure:
    """A count that is exact up to the limit, then a lower bound or the anchor's number."""
    if value is None:
        if anchored is not None:
            return Figure(float(anchored), estimated=True)
        return _unknown(q, figure)
    if value <= COUNT_LIMIT:
        return Figure(float(value))
    if anchored is not None:
        return Figure(float(max(anchored, COUNT_LIMIT)), estimated=True)
    return Figure(float(COUNT_LIMIT), at_least=True)


def done(q: QueueSamples, ready: Figure, in_progress: Figure) -> Figure:
    """Messages that are done and not archived: what lies in the table and is in no other state, by its counters."""
    state, counters = q.layout.state, q.counters
    if state is None or state.done is None:
        return Figure.unknown("done messages do not stay in the table")
    if counters is None or ready.value is None or ready.at_least or in_progress.at_least:
        return Figure.unknown("not known before the others are counted")
    others = ready.value + (in_progress.value or 0) + (q.scheduled or 0) + (q.dead or 0)
    return Figure(max(0.0, counters.live - others), estimated=True)


def size(use: QueueUse | None) -> dict[str, Figure]:
    """Bytes of the tables and their indexes, and by how many they grow a second, by their names in ``QueueView``."""
    parts = use.parts if use is not None else ()
    bytes_ = [part.bytes for part in parts if part.bytes is not None]
    growth = [part.growth for part in parts if part.growth is not None]
    unread = Figure.unknown("the tables are measured every minute")
    return {
        "bytes": Figure(float(sum(bytes_))) if bytes_ else unread,
        "growth": Figure(sum(growth)) if growth else unread,
    }


def clients(readings: QueueReadings) -> dict[str, Figure]:
    """Pushers and poppers that are connected, by their names in ``QueueView``."""
    pushers, poppers = readings.pushers, readings.poppers
    unseen = Figure.unknown("sessions, or what they run, cannot be seen")
    return {
        "pushers": unseen if pushers is None else Figure(float(pushers.connected), at_least=not pushers.whole),
        "poppers": unseen if poppers is None else Figure(float(poppers.connected), at_least=not poppers.whole),
        "poppers_waiting": unseen if poppers is None else Figure(float(poppers.waiting), at_least=not poppers.whole),
    }


def whole(text: str | None) -> int | None:
    """The id as a whole number, or ``None`` where it is not one."""
    try:
        return int(text) if text is not None else None
    except ValueError:
        return None


def _unknown(q: QueueSamples, figure: str) -> Figure:
    return Figure.unknown(q.unknown.get(figure, "not read in this poll"))
