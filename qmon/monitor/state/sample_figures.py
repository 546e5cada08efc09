"""Compute figures from the samples of one queue. All functions are pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Final

from qmon.model.counts import TableCount
from qmon.model.evidence import QueueEvidence
from qmon.model.figure import Figure
from qmon.model.formatting import duration
from qmon.model.layout.layout import Layout
from qmon.model.probe_constants import COUNT_LIMIT, LOCKS_S
from qmon.model.queue_figures import QUEUE_FIGURES
from qmon.model.rates.flow import popped_total, pops_in_transaction, pushed_total, ring_ready
from qmon.model.rates.queue_use import QueueUse
from qmon.model.reasons import Reason
from qmon.model.samples.polled_samples import ProgressSample, WriterSample
from qmon.model.sessions.clients import ClientsSeen
from qmon.model.sessions.owners import Owners
from qmon.model.snapshot import QueueSamples
from qmon.monitor.state.first_seen import WatchedIds, WatchedProgress
from qmon.monitor.state.held_rows import HeldRows
from qmon.monitor.state.newest_messages import ClockTrack
from qmon.texts import Text


class FigureText(Text):
    """Parts of reasons of figures from samples."""

    INCLUDES_LOST = "includes {count:,} with a dead owner, in progress for less than the timeout"
    NOT_STUCK_AT_SCAN = "no message was stuck when the table was scanned {age} ago"
    SHARE_WATCHED = "{seen} of {timeout}"
    WATCHED_WITHOUT_START = "watched for {watched}: no start time"
    READ_TOO_RARELY = "no start time, and the interval between reads is longer than the timeout"
    NO_START_AND = "no start time, and {reason}"
    WATCHED_NO_START = "watched: no start time"
    NO_PUSH_TIME = "no push time"
    NO_USABLE_TIME = "no usable time in `{column}`"
    PUSH_TIME = "the push time"


def exact_ready(samples: QueueSamples, held: int) -> float | None:
    """Return the number of ready messages, or ``None`` if it was not counted exactly.

    In a ring, a number may have no message, so the count is exact only if every number between the positions was read.
    """
    if samples.ring is not None:
        return float(ring_ready(samples.ring)) if samples.ring.span <= samples.head_limit else None
    if samples.head is None or samples.head_limit <= COUNT_LIMIT or samples.head.counted >= samples.head_limit:
        return None
    return float(max(0, samples.head.counted - held))


def rows_counted(samples: QueueSamples) -> float | None:
    """Return the row count of a table that has exactly one row per ready message.

    Returns ``None`` if the rows were not counted exactly. The count includes rows whose deletion is not committed yet.
    """
    if (
        not samples.layout.deletes_on_pop
        or samples.layout.state is not None
        or samples.layout.due_at is not None
        or samples.partial
    ):
        return None
    return exact_ready(samples, 0)


ROW_FIGURES: Final = frozenset(figure.field for figure in QUEUE_FIGURES if figure.of_rows)


def ready_figure(samples: QueueSamples, exact: float | None, carried: tuple[float, float] | None) -> Figure:
    """Return the ready messages: exact, extrapolated from a count (``~``), or a lower bound."""
    if exact is not None:
        return Figure.exact(exact)
    if carried is not None:
        value, age = carried
        every_s = samples.count.every_s if samples.count is not None and samples.depth is None else 0.0
        return Figure(round(value), estimated=True, age_s=age, every_s=every_s)
    if samples.head is not None and samples.head.counted:
        return Figure(float(samples.head.counted), at_least=True, reason=Reason.COUNT_UNDER_WAY)
    return _unknown_figure(samples, "ready")


def in_progress_figure(samples: QueueSamples, held: HeldRows | None, at: float) -> Figure:
    """Return the messages popped but neither completed nor failed.

    For designs that delete on pop, these are the messages of open transactions.
    """
    if samples.ring is not None:
        return Figure(float(samples.ring.pop_held))
    if pops_in_transaction(samples.layout):
        if held is None:
            return _unknown_figure(samples, "in_progress")
        return _with_lock_age(samples, _as_lower_bound(samples, Figure(float(held.rows)), "in_progress"), at)
    scanned = samples.count.in_progress if samples.count is not None else None
    if samples.progress is not None:
        return counted_figure(samples, samples.progress.in_progress, "in_progress", scanned, at)
    return counted_figure(samples, None, "in_progress", scanned if "in_progress" in samples.unknown else None, at)


def messages_in_progress(samples: QueueSamples) -> dict[str, int] | None:
    """Return the ids of messages in progress, or the transactions that hold messages, with the number of messages.

    The longest-running ones are included. ``None`` if they were not read.
    """
    if pops_in_transaction(samples.layout):
        return None if samples.held is None else {held.xid: held.rows for held in samples.held if held.running}
    if samples.diagnostics.owners is not None:
        return dict.fromkeys((owner.id for owner in samples.diagnostics.owners), 1)
    return None if samples.in_progress_ids is None else dict.fromkeys(samples.in_progress_ids, 1)


def _as_lower_bound(samples: QueueSamples, figure: Figure, name: str) -> Figure:
    """Return a lower bound if ``unknown`` gives a reason: the server may hide locked rows."""
    return replace(figure, at_least=True, reason=samples.unknown[name]) if name in samples.unknown else figure


def _with_lock_age(samples: QueueSamples, figure: Figure, at: float) -> Figure:
    """Add the age of the locks if this poll did not read them. Rows of ended transactions are already left out."""
    if samples.held_at is None or figure.value is None:
        return figure
    return replace(figure, age_s=max(0.0, at - samples.held_at), every_s=LOCKS_S)


def stuck_figure(
    samples: QueueSamples,
    held: HeldRows | None,
    writers: Sequence[WriterSample] | None,
    watched: WatchedProgress,
    at: float,
) -> Figure:
    """Return the messages in progress for longer than the queue's timeout."""
    if pops_in_transaction(samples.layout):
        return _with_lock_age(samples, _stuck_in_transaction(samples, held, writers), at)
    if samples.progress is not None and samples.progress.in_progress == 0 and samples.layout.has_figure("stuck"):
        return Figure.exact(0.0)
    if samples.progress is not None and samples.layout.part is not None:
        return _stuck_in_group(samples, samples.progress)
    if (
        samples.progress is not None
        and samples.progress.stuck is not None
        and samples.layout.has_known_time(samples.layout.started_at)
    ):
        capped = samples.progress.stuck > COUNT_LIMIT or (
            samples.progress.in_progress > COUNT_LIMIT and not samples.longest_first
        )
        reason = Reason.MORE_THAN_COUNTED if capped else _untimed_reason(samples, samples.progress)
        return Figure(float(min(samples.progress.stuck, COUNT_LIMIT)), at_least=bool(reason), reason=reason)
    if samples.in_progress_ids is not None:
        return _stuck_by_watching(samples, watched, at)
    if samples.count is not None and samples.progress is None and samples.layout.has_figure("stuck"):
        reason = _untimed_reason(samples, samples.count)
        found = _stuck_by_scan(samples.count, samples.layout.timeout_s, at, reason or Reason.NO_START_TIME)
        return found if found.value is None or not reason else replace(found, at_least=True, reason=reason)
    return _unknown_figure(samples, "stuck")


def _stuck_in_group(samples: QueueSamples, progress: ProgressSample) -> Figure:
    if progress.stuck is None or (progress.in_progress and not progress.timed):
        return _unknown_figure(samples, "stuck")
    untimed = progress.timed < progress.in_progress
    return Figure(float(progress.stuck), at_least=untimed, reason=samples.unknown["stuck"] if untimed else "")


def _untimed_reason(samples: QueueSamples, counts: ProgressSample | TableCount) -> str:
    """Return why rows in progress without a start time may be stuck; empty if all have a start time."""
    untimed = (counts.in_progress or 0) - (counts.timed or 0)
    if untimed <= 0 or counts.timed is None or samples.layout.started_at is None:
        return ""
    return Reason.UNTIMED.render(untimed=untimed, count=counts.in_progress, column=samples.layout.started_at)


def stuck_and_ownerless(
    layout: Layout, stuck: Figure, in_progress: Figure, owners: Owners | None
) -> tuple[Figure, frozenset[str]]:
    """Count messages as stuck if their owner is dead, even before their timeout. Also return their ids."""
    if owners is None or pops_in_transaction(layout):
        return stuck, frozenset()
    counted, part = stuck.value, layout.part
    if counted is None:
        if not owners.lost:
            return stuck, frozenset()
        counted, stuck = 0.0, Figure(0.0, at_least=True, reason=stuck.reason)
    # If each message has its own timeout, it is not known here which messages have exceeded their timeouts.
    own_timeout = part is not None and part.own_timeout
    if owners.lost and not own_timeout:
        value = counted + owners.lost
        if in_progress.value is not None and not in_progress.at_least:
            value = max(counted, min(value, in_progress.value))
        reason = stuck.reason or FigureText.INCLUDES_LOST.render(count=owners.lost)
        stuck = replace(stuck, value=value, at_least=stuck.at_least or owners.at_least, reason=reason)
    return stuck, owners.dead_ids


def _stuck_by_scan(count: TableCount, timeout_s: float, at: float, missing: str) -> Figure:
    """Return the stuck messages that a scan found.

    If it found no stuck message, the result is exact only until a message may have become stuck. This may be a message
    that was in progress during the scan, or a message popped right after its range was scanned.
    """
    found = scanned_figure(count, count.stuck, at, missing)
    since = count.complete_until_at
    if count.longest_at is not None:
        since = min(since, count.longest_at)
    if found.value == 0 and at - since > timeout_s:
        return replace(found, at_least=True, reason=FigureText.NOT_STUCK_AT_SCAN.render(age=duration(found.age_s)))
    return found


def _stuck_in_transaction(
    samples: QueueSamples, held: HeldRows | None, writers: Sequence[WriterSample] | None
) -> Figure:
    """Return the messages whose popping transaction is older than the timeout; 0 if no transaction is that old."""
    if writers is not None and all(w.transaction_s is not None for w in writers):
        late = any((w.transaction_s or 0.0) > samples.layout.timeout_s for w in writers)
        if not late and (held is None or not held.unseen):
            return Figure.exact(0.0)
    if held is None:
        return _unknown_figure(samples, "stuck")
    if held.unseen:
        return Figure(float(held.late), at_least=True, reason=Reason.HOLDERS_AGE_UNSEEN)
    return _as_lower_bound(
        samples,
        Figure(float(held.late), at_least=not held.whole, reason="" if held.whole else Reason.MORE_THAN_COUNTED),
        "stuck",
    )


def _stuck_by_watching(samples: QueueSamples, watched: WatchedProgress, at: float) -> Figure:
    """Return the messages seen in progress for longer than the timeout, for tables without a start time."""
    seen_s, timeout_s = watched.watched_s(at), samples.layout.timeout_s
    value = float(watched.count_beyond(timeout_s, at))
    if samples.progress is not None and samples.progress.in_progress > COUNT_LIMIT:
        return Figure(
            value,
            at_least=True,
            reason=Reason.WATCHED.render(reason=FigureText.NO_START_AND.render(reason=Reason.MORE_THAN_COUNTED)),
        )
    if seen_s <= timeout_s:
        watching = FigureText.SHARE_WATCHED.render(seen=duration(seen_s), timeout=duration(timeout_s))
        return Figure(value, at_least=True, reason=FigureText.WATCHED_WITHOUT_START.render(watched=watching))
    if watched.count_perhaps_beyond(timeout_s, at) > value:
        return Figure(value, at_least=True, reason=FigureText.READ_TOO_RARELY)
    return Figure(value, at_least=value > 0, reason=FigureText.WATCHED_NO_START)


# A push time that is more than this many seconds ahead is not explained by clock drift. The program that wrote it uses
# another time zone.
_AHEAD_S: Final = 60.0


def has_push_time(samples: QueueSamples) -> bool:
    """Return whether a column gives usable push times. A push time of this poll must not be ahead of the clock."""
    ahead = samples.head is not None and samples.head.oldest_s is not None and samples.head.oldest_s < -_AHEAD_S
    return samples.layout.has_known_time(samples.layout.enqueued_at) and not ahead


def oldest_figure(samples: QueueSamples, ids: WatchedIds, at: float, clock: ClockTrack | None = None) -> Figure:
    """Return the age in seconds of the oldest ready message: since its push time, or else since its id was issued.

    ``clock``: shows whether the push time may come from a wrong clock.
    """
    if samples.ring is not None:
        if samples.ring.oldest_s is not None:
            return _age_figure(samples, samples.ring.oldest_s)
        if samples.layout.enqueued_at is not None and not samples.layout.has_known_time(samples.layout.enqueued_at):
            return _unknown_figure(samples, "oldest")
        return Figure.unknown(Reason.NOTHING_READY if ring_ready(samples.ring) == 0 else Reason.NOT_PUSHED_YET)
    if samples.head is None:
        if samples.count is None or "oldest" not in samples.unknown:
            return _unknown_figure(samples, "oldest")
        pushed = samples.count.oldest_at
        if pushed is not None and pushed - at > _AHEAD_S:
            return _age_figure(samples, at - pushed)
        missing = Reason.NO_PUSH_TIME if samples.count.ready else Reason.NOTHING_READY
        return scanned_figure(samples.count, None if pushed is None else max(0.0, at - pushed), at, missing)
    if samples.head.counted == 0:
        return Figure.unknown(Reason.NOTHING_READY)
    pushed_s, wrong = samples.head.oldest_s, False
    by_time = _unknown_figure(samples, "oldest") if pushed_s is None else _age_figure(samples, pushed_s)
    if pushed_s is not None and clock is not None and clock.may_be_wrong(pushed_s):
        wrong, by_time = True, Figure.unknown(Reason.CLOCK_BEHIND.render(age=duration(pushed_s)))
    number = whole_number(samples.head.head_id)
    aged = ids.age(number, at) if number is not None and by_time.value is None else None
    if aged is None:
        return by_time
    why = (
        by_time.reason
        if wrong
        else FigureText.NO_PUSH_TIME
        if samples.layout.enqueued_at is None
        else FigureText.NO_USABLE_TIME.render(column=samples.layout.enqueued_at)
    )
    return Figure(aged[0], at_least=aged[1], estimated=not aged[1], reason=Reason.WATCHED.render(reason=why))


def _age_figure(samples: QueueSamples, seconds: float) -> Figure:
    """Return the age from a push time; unknown if the time is ahead of the clock."""
    if seconds >= -_AHEAD_S:
        return Figure(max(0.0, seconds))
    column = FigureText.PUSH_TIME if samples.layout.enqueued_at is None else f"`{samples.layout.enqueued_at}`"
    return Figure.unknown(Reason.CLOCK_AHEAD.render(column=column, lead=duration(-seconds)))


def _gap_figure(samples: QueueSamples, _: float) -> Figure:
    """Return the gap: the push position minus the pop position of a ring, or else the id span.

    The id span is the last issued id minus the id of the head.
    """
    if samples.ring is not None:
        return Figure(float(samples.ring.span))
    if samples.last_id is None or samples.head is None or samples.layout.traits.order != "fifo":
        return _unknown_figure(samples, "gap")
    if samples.head.counted == 0:
        return Figure.exact(0.0)
    number = whole_number(samples.head.head_id)
    return (
        Figure.unknown(Reason.HEAD_BY_TIME) if number is None else Figure(float(max(0, samples.last_id - number + 1)))
    )


def fill_figure(samples: QueueSamples, _: float) -> Figure:
    """Return the share of a ring's slots that hold a message, 0 to 1."""
    if samples.ring is None or samples.layout.ring is None:
        return _unknown_figure(samples, "fill") if samples.layout.ring is not None else Figure.unknown(Reason.NO_SLOTS)
    used = pushed_total(samples.ring) - popped_total(samples.ring)
    return Figure(min(1.0, max(0.0, used / samples.layout.ring.size)))


def counted_figure(
    samples: QueueSamples,
    value: int | None,
    figure: str,
    scanned: int | None,
    at: float,
    counted_at: float | None = None,
) -> Figure:
    """Return a count: exact up to the limit; above the limit, ``scanned`` from a table scan, or else a lower bound.

    ``at``: the current time. ``counted_at``: the time of the count, if not in this poll. Both are server clock,
    seconds.
    """
    age_s = max(0.0, at - counted_at) if counted_at is not None else 0.0
    if value is not None and (value <= COUNT_LIMIT or samples.layout.part is not None):
        return Figure(float(value), age_s=age_s) if age_s else Figure.exact(float(value))
    if scanned is not None and samples.count is not None:
        return scanned_figure(samples.count, scanned if value is None else max(scanned, COUNT_LIMIT), at, "")
    if value is None:
        return _unknown_figure(samples, figure)
    return Figure(float(COUNT_LIMIT), at_least=True, reason=Reason.MORE_THAN_COUNTED, age_s=age_s)


def unknown_states_figure(samples: QueueSamples, at: float) -> Figure:
    """Return the number of messages in unknown states, with the age of the reading."""
    count = 0 if samples.strange is None else samples.strange.counted
    found = counted_figure(samples, count, "in_unknown_states", None, at, samples.strange_at)
    return replace(found, every_s=samples.strange_every_s) if samples.strange_every_s else found


def scheduled_figure(samples: QueueSamples, at: float) -> Figure:
    """Return the messages that are due later. ``at``: now, server clock, seconds."""
    count = samples.count
    scanned = count.scheduled if count is not None and samples.layout.due_at is not None else None
    return counted_figure(samples, samples.scheduled, "scheduled", scanned, at, samples.scheduled_at)


def dead_figure(samples: QueueSamples, at: float) -> Figure:
    """Return the messages that were given up. ``at``: now, server clock, seconds."""
    state, count = samples.layout.state, samples.count
    scanned = count.dead if count is not None and state is not None and state.dead is not None else None
    return counted_figure(samples, samples.dead, "dead", scanned, at, samples.dead_at)


def _blocked_figure(samples: QueueSamples, at: float) -> Figure:
    """Return the messages that wait for another message, a lock or a manual release."""
    if not samples.layout.has_figure("blocked"):
        return Figure.unknown(Reason.NO_BLOCKED_STATE)
    count = None if samples.blocked is None else samples.blocked.counted
    found = counted_figure(samples, count, "blocked", None, at, samples.blocked_at)
    return found if samples.blocked is None else replace(found, every_s=samples.blocked.every_s)


def _oldest_blocked_figure(samples: QueueSamples, at: float) -> Figure:
    if not samples.layout.has_figure("blocked") or samples.blocked is None:
        return _blocked_figure(samples, at)
    if not samples.blocked.counted:
        return Figure.unknown(Reason.NOTHING_BLOCKED)
    if samples.blocked.oldest_s is None:
        return Figure.unknown(samples.unknown.get("blocked_oldest") or Reason.NO_BLOCKED_TIME)
    age_s = max(0.0, at - samples.blocked_at) if samples.blocked_at is not None else 0.0
    return Figure(max(0.0, samples.blocked.oldest_s), age_s=age_s, every_s=samples.blocked.every_s)


def probed_figure(samples: QueueSamples, at: float, name: str) -> Figure:
    """Return a figure that a probe reads directly. ``at``: now, server clock, seconds."""
    if name in samples.unknown:
        return Figure.unknown(samples.unknown[name])
    if samples.layout.part is not None:
        return Figure.unknown(Reason.NOT_IN_TABLE)
    found = samples.values.get(name)
    if found is None:
        return Figure.unknown(Reason.NOT_READ_IN_THIS_POLL)
    age_s = max(0.0, at - found.read_at)
    return Figure.unknown(Reason.NO_VALUE) if found.value is None else Figure(found.value, age_s=age_s)


def scanned_figure(count: TableCount, value: float | None, at: float, missing: str) -> Figure:
    """Return a figure from a scan of the whole table. ``missing``: the reason if there is no value."""
    if value is None:
        return Figure.unknown(missing)
    took = Reason.SCANNED_IN.render(time=duration(count.took_s)) if count.took_s >= 1 else Reason.SCANNED
    age_s = max(0.0, at - count.counted_at)
    return Figure(float(value), estimated=True, reason=took, age_s=age_s, every_s=count.every_s)


def done_figure(samples: QueueSamples, ready: Figure, in_progress: Figure, at: float) -> Figure:
    """Return the done messages that are not archived: live rows (from the counters) minus messages in other states.

    ``at``: now, server clock, seconds.
    """
    counters, layout = samples.counters, samples.layout
    if not samples.layout.has_figure("done"):
        return Figure.unknown(Reason.DONE_NOT_KEPT)
    if samples.elsewhere:
        return Figure.unknown(samples.elsewhere)
    if "done" in samples.unknown:
        return _unknown_figure(samples, "done")
    if samples.layout.part is not None:
        return _unknown_figure(samples, "done") if samples.done is None else Figure(float(samples.done))
    uncounted = in_progress.value is None and not pops_in_transaction(samples.layout)
    uncounted = uncounted or (layout.has_figure("blocked") and samples.blocked is None)
    waits = scheduled_figure(samples, at) if layout.has_figure("scheduled") else Figure(0.0)
    dead = dead_figure(samples, at) if layout.has_figure("dead") else Figure(0.0)
    uncounted = uncounted or waits.value is None or dead.value is None
    partly = ready.at_least or in_progress.at_least or (samples.strange is not None and samples.strange.at_least)
    if counters is None or ready.value is None or uncounted or partly:
        return Figure.unknown(Reason.OTHERS_UNCOUNTED)
    others = ready.value + (in_progress.value or 0) + (waits.value or 0) + (dead.value or 0)
    others += (samples.blocked.counted if samples.blocked is not None else 0) + (
        samples.strange.counted if samples.strange is not None else 0
    )
    return Figure(max(0.0, counters.live - others), estimated=True)


def size_figures(use: QueueUse | None, at: float) -> dict[str, Figure]:
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


def pop_figure(samples: QueueSamples, rate: Figure) -> Figure:
    """Return the pop rate.

    If no table records pops, the rate is computed from other steps and from the change in messages that wait or are in
    progress. This rate is a lower bound, because it does not include retries.
    """
    if rate.value is None or samples.totals is None or samples.totals.popped is not None:
        return rate
    return replace(rate, at_least=True, reason=Reason.RETRIES_UNSEEN)


def client_figures(evidence: QueueEvidence, why: str) -> dict[str, Figure]:
    """Return the connected producers and consumers by their names in ``QueueView``. ``why``: the reason if unknown."""
    consumers = evidence.consumers
    unseen = Figure.unknown(why)
    return {
        "producers": _connected_figure(evidence.producers, unseen),
        "consumers": _connected_figure(consumers, unseen),
        "consumers_waiting": unseen
        if consumers is None or consumers.waiting is None
        else Figure(float(consumers.waiting), at_least=not consumers.has_all_sessions),
    }


def _connected_figure(clients: ClientsSeen | None, unseen: Figure) -> Figure:
    if clients is None:
        return unseen
    if not clients.connected and not clients.is_complete:
        return Figure.unknown(Reason.CLIENTS_UNSEEN)
    connected = float(clients.connected)
    return Figure.exact(connected) if clients.has_all_sessions else Figure(connected, at_least=True)


def whole_number(text: str | None) -> int | None:
    """Return the id as a whole number, or ``None`` if it is not a whole number."""
    try:
        return int(text) if text is not None else None
    except ValueError:
        return None


def _unknown_figure(samples: QueueSamples, figure: str) -> Figure:
    return Figure.unknown(samples.unknown.get(figure, Reason.NOT_READ_IN_THIS_POLL))


# The figures that follow from the samples of one poll, made from the samples and the time of the poll (server clock,
# seconds). A figure without a field in `QueueView` is here, or has a probe that reads it.
FROM_SAMPLES: Final[dict[str, Callable[[QueueSamples, float], Figure]]] = {
    "scheduled": scheduled_figure,
    "dead": dead_figure,
    "blocked": _blocked_figure,
    "blocked_oldest": _oldest_blocked_figure,
    "gap": _gap_figure,
    "fill": fill_figure,
    **{figure.field: partial(probed_figure, name=figure.field) for figure in QUEUE_FIGURES if figure.probe is not None},
}
