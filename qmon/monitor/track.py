"""One queue over time: folds its samples, poll by poll, into figures, verdict and forecast."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from qmon.model.clients import ClientsSeen
from qmon.model.committed import Shares, committed, shares_of
from qmon.model.flow import Flow, pops_in_transaction, ring_flow, ring_ready, table_flow
from qmon.model.forecast import forecast
from qmon.model.locked import everything_locked
from qmon.model.pauses import pauses_of
from qmon.model.readings import NO_TARGET_READINGS, QueueReadings, TargetReadings
from qmon.model.series import Recorder
from qmon.model.snapshot import QueueSamples, Snapshot
from qmon.model.verdicts import Signs, judge
from qmon.model.view import Figure, Forecast, Point, QueueView, Trend
from qmon.monitor import figures
from qmon.monitor.chronicle import Chronicle
from qmon.monitor.evidence import Evidence
from qmon.monitor.kept import Kept, flow_left_out
from qmon.monitor.ledger_track import LedgerTrack
from qmon.monitor.positions import ring_probe
from qmon.monitor.use_track import UseTrack
from qmon.monitor.watched import WatchedIds, WatchedProgress
from qmon.monitor.window import Rates, Tick, Window

_SMOOTH_S: Final = 4.0
KEPT_POINTS: Final = 1200
_FIRST = "rates follow with the second poll"
_BROKEN = "counters were not read without a break"


class QueueTrack:
    """The memory of one queue. Not thread-safe: one thread folds."""

    def __init__(self) -> None:
        self._window = Window()
        self._shares = Shares()
        self._prev: QueueSamples | None = None
        self._prev_at: float | None = None
        self._progress = WatchedProgress()
        self._ids = WatchedIds()
        self._signs: dict[str, float] = {}
        self._evidence = Evidence()
        self._chronicle = Chronicle()
        self._use = UseTrack()
        self._points = Recorder(KEPT_POINTS)
        self._kept = Kept()
        self._ledger = LedgerTrack()
        self._flow_now: Flow | None = None
        self._span_s: float | None = None

    def add(
        self, snapshot: Snapshot, q: QueueSamples, *, unbroken: bool, target: TargetReadings = NO_TARGET_READINGS
    ) -> QueueView:
        """Take in one poll. ``unbroken``: it follows the one before without a gap or a restart.

        ``target``: what this poll and those before it tell about the target as a whole.
        """
        at = snapshot.sampled_at
        moved = self._advance(q, at, unbroken)
        if q.in_progress_ids is not None:
            self._progress.see(q.in_progress_ids, at)
        if q.last_id is not None and q.layout.enqueued_at is None:
            self._ids.see(q.last_id, at)
        held = figures.held_rows(q, snapshot.writers, q.layout.timeout_s)
        among = held[0] if held and q.held_counted else 0
        exact = figures.exact_ready(q, among)
        self._count(q, at, exact, among)
        ready = figures.ready(q, exact, self._window.carried())
        if not moved and exact is None and ready.estimated and self._prev_at is not None:
            ready = replace(ready, age_s=ready.age_s + at - self._prev_at)
        if q.head is None and "ready" not in q.unknown and (blind := _blind(snapshot, q)):
            ready = Figure.unknown(blind)
        done = figures.done(q, ready, figures.in_progress(q, held))
        learnt = replace(self._evidence.add(snapshot, q, done), use=self._use.add(snapshot, q, self._flow_now))
        view = self._view(snapshot, q, ready, held, (target, learnt))
        orphans = learnt.ring_loss.orphans if learnt.ring_loss is not None else 0
        seen = held[0] if held is not None else None if pops_in_transaction(q.layout) else 0
        ledger = self._ledger.add(q, view.ready, seen, view.gap, orphans, unbroken=unbroken)
        view = replace(view, ledger=ledger)
        if moved:
            self._prev, self._prev_at = q, at
        return view

    def _advance(self, q: QueueSamples, at: float, unbroken: bool) -> bool:
        """Take in what has moved; false where that was left out of this poll, and the next one tells of both."""
        if not unbroken:
            self._kept.forget()
        elif flow_left_out(q) and self._prev is not None:
            self._flow_now, self._span_s = None, None
            return False
        flow = self._flow(q) if unbroken and self._prev is not None and self._prev_at is not None else None
        self._flow_now = flow
        self._span_s = at - self._prev_at if unbroken and self._prev_at is not None else None
        if flow is None or self._prev_at is None:
            self._window.start(at)
        else:
            self._window.add(Tick(at, at - self._prev_at, flow))
        return True

    def _flow(self, q: QueueSamples) -> Flow | None:
        before = self._prev
        if before is None:
            return None
        if q.ring is not None:
            return ring_flow(before.ring, q.ring) if before.ring is not None else None
        if q.counters is None or before.counters is None:
            return None
        work = committed(before.counters, q.counters, q.layout, self._shares)
        if work is None:
            self._shares = Shares()
            return None
        self._shares = shares_of(before.counters, q.counters, work, self._shares)
        change = None
        if q.progress is not None and before.progress is not None:
            counts = (before.progress.in_progress, q.progress.in_progress)
            change = counts[1] - counts[0] if max(counts) <= figures.COUNT_LIMIT else None
        table = None
        if (
            work.exact
            and q.counters.vacuums == before.counters.vacuums
            and q.counters.analyzes == before.counters.analyzes
        ):
            table = q.counters.live - before.counters.live
        return table_flow(work, q.layout, change, table)

    def _count(self, q: QueueSamples, at: float, exact: float | None, held: int) -> None:
        if exact is not None:
            self._window.rebase(at, exact)
        elif q.ring is not None:
            self._window.rebase(at, ring_ready(q.ring))
        elif q.anchor is not None:
            less = held if pops_in_transaction(q.layout) else 0
            self._window.rebase(q.anchor.counted_at, max(0, q.anchor.ready - less))

    def _view(
        self,
        snapshot: Snapshot,
        q: QueueSamples,
        ready: Figure,
        held: tuple[int, int] | None,
        readings: tuple[TargetReadings, QueueReadings],
    ) -> QueueView:
        at = snapshot.sampled_at
        rates = self._window.rates()
        missing = Figure.unknown(_FIRST if self._prev is None else _BROKEN)
        if q.ring is None and q.counters is None and not q.left_out:
            missing = Figure.unknown(q.unknown.get("rates") or _uncounted(snapshot))
        gap, gap_kind = figures.gap(q)
        ready, in_progress, stuck, oldest, gap, fill = (
            self._kept.see(name, figure, q, at)
            for name, figure in (
                ("ready", ready), ("in_progress", figures.in_progress(q, held)),
                ("stuck", figures.stuck(q, held, self._progress, at)), ("oldest", figures.oldest(q, self._ids, at)),
                ("gap", gap), ("fill", figures.fill(q)),
            )
        )  # fmt: skip
        push = Figure(rates.pushed) if rates else missing
        pop = Figure(rates.popped) if rates else missing
        failures = tuple(f for f in snapshot.failures if f.queue == q.layout.queue)
        pauses = pauses_of(q.layout, snapshot.pauses)
        shed = snapshot.observing.of_queue(q.layout.queue) if snapshot.observing is not None else ()
        recent = self._window.rates(_SMOOTH_S)
        signs = Signs(
            ready=ready, in_progress=in_progress, stuck=stuck, oldest=oldest, push_rate=push, pop_rate=pop,
            recent_pop_rate=Figure(recent.popped) if recent else missing, net_rate=rates.net if rates else None,
            fill=fill, timeout_s=q.layout.timeout_s, failures=failures, pauses=pauses,
            locked=everything_locked(q, snapshot, in_transaction=pops_in_transaction(q.layout)),
            layout=q.layout, samples=q, snapshot=snapshot, target=readings[0], queue=readings[1],
        )  # fmt: skip
        verdicts, self._signs = judge(signs, at, self._signs)
        self._remember(at, ready, in_progress, oldest)
        return QueueView(
            layout=q.layout, ready=ready, in_progress=in_progress, stuck=stuck,
            scheduled=self._extra(q, "scheduled"), dead=self._extra(q, "dead"), oldest=oldest,
            push_rate=push, pop_rate=pop, complete_rate=_completes(q, rates, missing),
            gap=gap, fill=fill, verdict=verdicts[0], forecast=self._forecast(ready, readings[1].poppers),
            history=self._points.series(), messages=q.messages, failures=failures, gap_kind=gap_kind,
            window_s=rates.seconds if rates else None, pauses=pauses, verdicts=verdicts, shed=shed, ledger=None,
            past=self._chronicle.add(verdicts, at), **figures.clients(readings[1]), **figures.size(readings[1].use),
            done=figures.done(q, ready, in_progress),
            flow=self._flow_now, span_s=self._span_s, use=readings[1].use,
        )  # fmt: skip

    def _extra(self, q: QueueSamples, figure: str) -> Figure:
        state, anchor = q.layout.state, q.anchor
        if figure == "scheduled":
            counted = anchor.scheduled if anchor is not None and q.layout.due_at is not None else None
            return figures.counted(q, q.scheduled, figure, counted)
        dead = anchor.dead if anchor is not None and state is not None and state.dead is not None else None
        return figures.counted(q, q.dead, figure, dead)

    def _forecast(self, ready: Figure, poppers: ClientsSeen | None) -> Forecast:
        if ready.at_least:
            return Forecast(Trend.UNKNOWN)
        return forecast(ready.value, self._window.ticks, poppers.connected if poppers is not None else None)

    def _remember(self, at: float, ready: Figure, in_progress: Figure, oldest: Figure) -> None:
        now = self._window.rates(_SMOOTH_S)
        self._points.add(
            Point(
                at, None if ready.at_least else ready.value, now.pushed if now else None, now.popped if now else None,
                now.completed if now else None, in_progress.value, oldest.value,
            )
        )  # fmt: skip


def _blind(snapshot: Snapshot, q: QueueSamples) -> str:
    """Why the queue's depth could not be read in this poll, empty where nothing failed."""
    failed = (
        f
        for f in snapshot.failures
        if f.queue == q.layout.queue and (f.probe.startswith("head") or f.probe == ring_probe(q.layout))
    )
    return next((f.reason for f in failed), "")


def _uncounted(snapshot: Snapshot) -> str:
    """Why there are no counters in this poll."""
    failed = (f.reason for f in snapshot.failures if f.probe == "counters" and not f.queue)
    return next(failed, "counters were not read in this poll")


def _completes(q: QueueSamples, rates: Rates | None, missing: Figure) -> Figure:
    if not q.layout.traits.completes or q.layout.state is None or q.layout.state.in_progress is None:
        return Figure.unknown(q.unknown.get("complete_rate", "a pop of this design completes its message"))
    if rates is None:
        return missing
    return Figure(rates.completed) if rates.completed is not None else Figure.unknown("cannot be told from pops")
