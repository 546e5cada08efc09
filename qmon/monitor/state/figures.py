"""Compute figures from the samples of one queue. All functions are pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from qmon.model.counts import TableCount
from qmon.model.evidence import QueueEvidence
from qmon.model.figure import Figure
from qmon.model.queue_figures import QUEUE_FIGURES
from qmon.model.rates.flow import popped_up_to, pops_in_transaction, pushed_up_to, ring_ready
from qmon.model.rates.usage import QueueUse
from qmon.model.reasons import Reason
from qmon.model.samples.polled import WriterSample
from qmon.model.sessions.owners import Owners
from qmon.model.snapshot import QueueSamples
from qmon.model.text import duration
from qmon.model.view import QueueView
from qmon.monitor.probes.locks import EVERY_S
from qmon.monitor.probes.memo import COUNT_LIMIT
from qmon.monitor.state.first_seen import WatchedIds, WatchedProgress
from qmon.monitor.state.held import HeldRows


def exact_ready(q: QueueSamples, held: int) -> float | None:
    """Return the number of ready messages, or ``None`` if it was not counted exactly.

    In a ring, the count is exact if every number between the two positions was read, because a number may have no
    message.
    """
    if q.ring is not None:
        return float(ring_ready(q.ring)) if q.ring.span <= q.head_limit else None
    if q.head is None or q.head_limit <= COUNT_LIMIT or q.head.counted >= q.head_limit:
        return None
    return float(max(0, q.head.counted - held))


def rows_counted(q: QueueSamples) -> float | None:
    """Return the row count of a table that has exactly one row per ready message.

    Returns ``None`` if it was not counted exactly. The count includes rows that a consumer has deleted but not
    committed.
    """
    if not q.layout.deletes_on_pop or q.layout.state is not None or q.layout.due_at is not None or q.partial:
        return None
    return exact_ready(q, 0)


OF_ROWS: Final = frozenset(figure.field for figure in QUEUE_FIGURES if figure.of_rows)


def ready(q: QueueSamples, exact: float | None, carried: tuple[float, float] | None) -> Figure:
    """Return the ready messages: exact, extrapolated from a count (``~``), or a lower bound."""
    if exact is not None:
        return Figure(exact)
    if carried is not None:
        value, age = carried
        every_s = q.count.every_s if q.count is not None and q.depth is None else 0.0
        return Figure(round(value), estimated=True, age_s=age, every_s=every_s)
    if q.head is not None and q.head.counted:
        return Figure(float(q.head.counted), at_least=True, reason=Reason.COUNT_UNDER_WAY)
    return _unknown(q, "ready")


def in_progress(q: QueueSamples, held: HeldRows | None, at: float) -> Figure:
    """Return the messages popped but neither completed nor failed.

    For designs that delete on pop, these are the messages of open transactions.
    """
    if q.ring is not None:
        return Figure(float(q.ring.pop_held))
    if pops_in_transaction(q.layout):
        if held is None:
            return _unknown(q, "in_progress")
        return _of_held(q, _at_least(q, Figure(float(held.rows)), "in_progress"), at)
    scanned = q.count.in_progress if q.count is not None else None
    if q.progress is not None:
        return counted(q, q.progress.in_progress, "in_progress", scanned, at)
    return counted(q, None, "in_progress", scanned if "in_progress" in q.unknown else None, at)


def _at_least(q: QueueSamples, figure: Figure, name: str) -> Figure:
    """Return a lower bound if ``unknown`` gives a reason: the server may hide locked rows."""
    return replace(figure, at_least=True, reason=q.unknown[name]) if name in q.unknown else figure


def _of_held(q: QueueSamples, figure: Figure, at: float) -> Figure:
    """Add the age if this poll did not read the locks. Rows of transactions that have ended do not count."""
    if q.held_at is None or figure.value is None:
        return figure
    return replace(figure, age_s=max(0.0, at - q.held_at), every_s=EVERY_S)


def stuck(
    q: QueueSamples,
    held: HeldRows | None,
    writers: Sequence[WriterSample] | None,
    watched: WatchedProgress,
    at: float,
) -> Figure:
    """Return the messages in progress for longer than the queue's timeout."""
    if pops_in_transaction(q.layout):
        return _of_held(q, _held_too_long(q, held, writers), at)
    if q.progress is not None and q.progress.in_progress == 0 and q.layout.has("stuck"):
        return Figure(0.0)
    if q.progress is not None and q.layout.part is not None:
        return _unknown(q, "stuck") if q.progress.stuck is None else Figure(float(q.progress.stuck))
    if q.progress is not None and q.progress.stuck is not None and q.layout.tells(q.layout.started_at):
        capped = q.progress.stuck > COUNT_LIMIT or (q.progress.in_progress > COUNT_LIMIT and not q.longest_first)
        return Figure(
            float(min(q.progress.stuck, COUNT_LIMIT)),
            at_least=capped,
            reason=Reason.MORE_THAN_COUNTED if capped else "",
        )
    if q.in_progress_ids is not None:
        return _watched(q, watched, at)
    if q.count is not None and q.progress is None and q.layout.has("stuck"):
        return _stuck_by_scan(q.count, q.layout.timeout_s, at)
    return _unknown(q, "stuck")


def with_lost(view: QueueView, owners: Owners | None) -> QueueView:
    """Add messages whose owner is dead to the stuck ones, also before their timeout."""
    stuck, in_progress, part = view.stuck, view.in_progress, view.layout.part
    if owners is None or stuck.value is None or pops_in_transaction(view.layout):
        return view
    # Qmon does not know here which messages are past their own timeout.
    own_timeout = part is not None and part.own_timeout
    if owners.lost and not own_timeout:
        value = stuck.value + owners.lost
        if in_progress.value is not None and not in_progress.at_least:
            value = max(stuck.value, min(value, in_progress.value))
        reason = stuck.reason or f"{owners.lost:,} with a dead owner are in progress for less than the timeout"
        stuck = replace(stuck, value=value, at_least=stuck.at_least or owners.at_least, reason=reason)
    return replace(view, stuck=stuck, ownerless=owners.dead_ids)


def _stuck_by_scan(count: TableCount, timeout_s: float, at: float) -> Figure:
    """Return the stuck messages of a scan.

    A scan that found none stays valid only until a message can have become stuck since: one that was in progress during
    the scan, or one that was popped right after its range was scanned.
    """
    found = by_scan(count, count.stuck, at, Reason.NO_START_TIME)
    since = count.holds_since
    if count.longest_at is not None:
        since = min(since, count.longest_at)
    if found.value == 0 and at - since > timeout_s:
        return replace(found, at_least=True, reason=f"none was when the table was scanned {duration(found.age_s)} ago")
    return found


def _held_too_long(q: QueueSamples, held: HeldRows | None, writers: Sequence[WriterSample] | None) -> Figure:
    """Return the messages whose popping transaction is open for too long; 0 if no transaction is that old."""
    if writers is not None and all(w.transaction_s is not None for w in writers):
        late = any((w.transaction_s or 0.0) > q.layout.timeout_s for w in writers)
        if not late and (held is None or not held.unseen):
            return Figure(0.0)
    if held is None:
        return _unknown(q, "stuck")
    if held.unseen:
        return Figure(float(held.late), at_least=True, reason=Reason.HOLDERS_AGE_UNSEEN)
    return _at_least(
        q,
        Figure(float(held.late), at_least=not held.whole, reason="" if held.whole else Reason.MORE_THAN_COUNTED),
        "stuck",
    )


def _watched(q: QueueSamples, watched: WatchedProgress, at: float) -> Figure:
    """Return the messages seen in progress for longer than the timeout, for tables without a start time."""
    seen_s, timeout_s = watched.seen_s(at), q.layout.timeout_s
    value = float(watched.beyond(timeout_s, at))
    if q.progress is not None and q.progress.in_progress > COUNT_LIMIT:
        return Figure(
            value, at_least=True, reason=Reason.WATCHED.format(reason=f"no start time, and {Reason.MORE_THAN_COUNTED}")
        )
    if seen_s <= timeout_s:
        watching = f"{duration(seen_s)} of {duration(timeout_s)}"
        return Figure(value, at_least=True, reason=f"watched for {watching}: no start time")
    if watched.perhaps_beyond(timeout_s, at) > value:
        return Figure(value, at_least=True, reason="read less often than the timeout lasts: no start time")
    return Figure(value, at_least=value > 0, reason="watched: no start time")


# A push time this far ahead is not clock drift: the program that wrote it uses another time zone.
_AHEAD_S: Final = 60.0


def has_push_time(q: QueueSamples) -> bool:
    """Return whether a column gives the ages, as far as this poll shows."""
    ahead = q.head is not None and q.head.oldest_s is not None and q.head.oldest_s < -_AHEAD_S
    return q.layout.tells(q.layout.enqueued_at) and not ahead


def oldest(q: QueueSamples, ids: WatchedIds, at: float) -> Figure:
    """Return the age in seconds of the oldest ready message: from its push time, or else since its id was issued."""
    if q.ring is not None:
        if q.ring.oldest_s is not None:
            return _age(q, q.ring.oldest_s)
        if q.layout.enqueued_at is not None and not q.layout.tells(q.layout.enqueued_at):
            return _unknown(q, "oldest")
        return Figure.unknown(Reason.NOTHING_READY if ring_ready(q.ring) == 0 else Reason.NOT_PUSHED_YET)
    if q.head is None:
        if q.count is None or "oldest" not in q.unknown:
            return _unknown(q, "oldest")
        pushed = q.count.oldest_at
        if pushed is not None and pushed - at > _AHEAD_S:
            return _age(q, at - pushed)
        missing = Reason.NO_PUSH_TIME if q.count.ready else Reason.NOTHING_READY
        return by_scan(q.count, None if pushed is None else max(0.0, at - pushed), at, missing)
    if q.head.counted == 0:
        return Figure.unknown(Reason.NOTHING_READY)
    by_time = _unknown(q, "oldest") if q.head.oldest_s is None else _age(q, q.head.oldest_s)
    number = whole(q.head.head_id)
    aged = ids.age(number, at) if number is not None and by_time.value is None else None
    if aged is None:
        return by_time
    why = "no push time" if q.layout.enqueued_at is None else f"no usable time in `{q.layout.enqueued_at}`"
    return Figure(aged[0], at_least=aged[1], estimated=not aged[1], reason=Reason.WATCHED.format(reason=why))


def _age(q: QueueSamples, seconds: float) -> Figure:
    """Return the age from a push time; unknown if the time is ahead of the clock."""
    if seconds >= -_AHEAD_S:
        return Figure(max(0.0, seconds))
    column = "the push time" if q.layout.enqueued_at is None else f"`{q.layout.enqueued_at}`"
    return Figure.unknown(Reason.CLOCK_AHEAD.format(column=column, lead=duration(-seconds)))


def gap(q: QueueSamples) -> tuple[Figure, str]:
    """Return the gap and its kind.

    The gap is the push position minus the pop position of a ring, or else the id span from the head to the last issued
    id.
    """
    if q.ring is not None:
        return Figure(float(q.ring.span)), "gap"
    if q.last_id is None or q.head is None or q.layout.traits.order != "fifo":
        return _unknown(q, "gap"), ""
    if q.head.counted == 0:
        return Figure(0.0), "id span"
    number = whole(q.head.head_id)
    if number is None:
        return Figure.unknown(Reason.HEAD_BY_TIME), ""
    return Figure(float(max(0, q.last_id - number + 1))), "id span"


def fill(q: QueueSamples) -> Figure:
    """Return the share of a ring's slots that hold a message, 0 to 1."""
    if q.ring is None or q.layout.ring is None:
        return _unknown(q, "fill") if q.layout.ring is not None else Figure.unknown(Reason.NO_SLOTS)
    used = pushed_up_to(q.ring) - popped_up_to(q.ring)
    return Figure(min(1.0, max(0.0, used / q.layout.ring.size)))


def counted(
    q: QueueSamples, value: int | None, figure: str, scanned: int | None, at: float, counted_at: float | None = None
) -> Figure:
    """Return a count: exact up to the limit, above it the ``scanned`` value of a table scan, or else a lower bound.

    ``at``: now. ``counted_at``: when it was counted, if not in this poll. Both are server clock, seconds.
    """
    age_s = max(0.0, at - counted_at) if counted_at is not None else 0.0
    if value is not None and (value <= COUNT_LIMIT or q.layout.part is not None):
        return Figure(float(value), age_s=age_s)
    if scanned is not None and q.count is not None:
        return by_scan(q.count, scanned if value is None else max(scanned, COUNT_LIMIT), at, "")
    if value is None:
        return _unknown(q, figure)
    return Figure(float(COUNT_LIMIT), at_least=True, reason=Reason.MORE_THAN_COUNTED, age_s=age_s)


def blocked_messages(q: QueueSamples, at: float) -> dict[str, Figure]:
    """Return the number of blocked messages and the age in seconds of the oldest.

    A blocked message waits for another message, a lock or a manual release.
    """
    return {"blocked": _blocked(q, at), "blocked_oldest": _blocked_oldest(q, at)}


def _blocked(q: QueueSamples, at: float) -> Figure:
    if not q.layout.has("blocked"):
        return Figure.unknown(Reason.NO_BLOCKED_STATE)
    count = None if q.blocked is None else q.blocked.counted
    found = counted(q, count, "blocked", None, at, q.blocked_at)
    return found if q.blocked is None else replace(found, every_s=q.blocked.every_s)


def _blocked_oldest(q: QueueSamples, at: float) -> Figure:
    if not q.layout.has("blocked") or q.blocked is None:
        return _blocked(q, at)
    if not q.blocked.counted:
        return Figure.unknown(Reason.NOTHING_BLOCKED)
    if q.blocked.oldest_s is None:
        return Figure.unknown(q.unknown.get("blocked_oldest") or Reason.NO_BLOCKED_TIME)
    age_s = max(0.0, at - q.blocked_at) if q.blocked_at is not None else 0.0
    return Figure(max(0.0, q.blocked.oldest_s), age_s=age_s, every_s=q.blocked.every_s)


def by_scan(count: TableCount, value: float | None, at: float, missing: str) -> Figure:
    """Return a figure from a scan of the whole table. ``missing``: the reason if there is no value."""
    if value is None:
        return Figure.unknown(missing)
    took = Reason.SCANNED_IN.format(time=duration(count.took_s)) if count.took_s >= 1 else Reason.SCANNED
    age_s = max(0.0, at - count.counted_at)
    return Figure(float(value), estimated=True, reason=took, age_s=age_s, every_s=count.every_s)


def done(q: QueueSamples, ready: Figure, in_progress: Figure) -> Figure:
    """Return the done messages that are not archived: the live rows by the counters, minus all other states."""
    counters = q.counters
    if not q.layout.has("done"):
        return Figure.unknown(Reason.DONE_NOT_KEPT)
    if q.elsewhere:
        return Figure.unknown(q.elsewhere)
    if q.layout.part is not None:
        return _unknown(q, "done") if q.done is None else Figure(float(q.done))
    uncounted = in_progress.value is None and not pops_in_transaction(q.layout)
    uncounted = uncounted or (q.layout.has("blocked") and q.blocked is None)
    partly = ready.at_least or in_progress.at_least or (q.strange is not None and q.strange.at_least)
    if counters is None or ready.value is None or uncounted or partly:
        return Figure.unknown(Reason.OTHERS_UNCOUNTED)
    others = ready.value + (in_progress.value or 0) + (q.scheduled or 0) + (q.dead or 0)
    others += (q.blocked.counted if q.blocked is not None else 0) + (q.strange.counted if q.strange is not None else 0)
    return Figure(max(0.0, counters.live - others), estimated=True)


def size(use: QueueUse | None, at: float) -> dict[str, Figure]:
    """Return the bytes of the tables and indexes and their growth in bytes per second.

    The keys are the names in ``QueueView``. ``at``: now, server clock, seconds.
    """
    parts = use.parts if use is not None else ()
    age_s = max(0.0, at - use.sized_at) if use is not None else 0.0
    bytes_ = [part.bytes for part in parts if part.bytes is not None]
    growth = [part.growth for part in parts if part.growth is not None]
    unread = Figure.unknown(Reason.NOT_READ_IN_THIS_POLL)
    return {
        "bytes": Figure(float(sum(bytes_)), age_s=age_s) if bytes_ else unread,
        "growth": Figure(sum(growth), age_s=age_s) if growth else unread,
    }


def pops(q: QueueSamples, rate: Figure) -> Figure:
    """Return the pop rate.

    If no table records pops, the rate is a lower bound: finished messages plus messages that stopped being ready,
    without retries.
    """
    if rate.value is None or q.totals is None or q.totals.popped is not None:
        return rate
    return replace(rate, at_least=True, reason=Reason.RETRIES_UNSEEN)


def clients(known: QueueEvidence, why: str) -> dict[str, Figure]:
    """Return the connected producers and consumers by their names in ``QueueView``. ``why``: the reason if unknown."""
    pushers, poppers = known.pushers, known.poppers
    unseen = Figure.unknown(why)
    return {
        "pushers": unseen if pushers is None else Figure(float(pushers.connected), at_least=not pushers.whole),
        "poppers": unseen if poppers is None else Figure(float(poppers.connected), at_least=not poppers.whole),
        "poppers_waiting": unseen
        if poppers is None or poppers.waiting is None
        else Figure(float(poppers.waiting), at_least=not poppers.whole),
    }


def whole(text: str | None) -> int | None:
    """Return the id as a whole number, or ``None`` if it is not one."""
    try:
        return int(text) if text is not None else None
    except ValueError:
        return None


def _unknown(q: QueueSamples, figure: str) -> Figure:
    return Figure.unknown(q.unknown.get(figure, Reason.NOT_READ_IN_THIS_POLL))
