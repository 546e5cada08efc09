"""Fold the samples of one queue, poll by poll, into figures, verdicts and a forecast."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Final

from qmon import log
from qmon.model.evidence import NO_QUEUE_EVIDENCE, QueueEvidence, TargetEvidence
from qmon.model.figure import Figure, PastVerdict, Severity, Verdict
from qmon.model.guard import VIEW, Guard
from qmon.model.operations import pauses_of
from qmon.model.rates.flow import Flow, pops_in_transaction, ring_flow, ring_ready, steps_flow, table_flow
from qmon.model.rates.forecast import Forecast, Trend, forecast
from qmon.model.rates.forgotten import Uses, forgotten
from qmon.model.rates.series import Point, SeriesRecorder
from qmon.model.reasons import Reason
from qmon.model.sessions.clients import Sessions
from qmon.model.snapshot import QueueSamples, Snapshot
from qmon.model.standby import standby_of
from qmon.model.text import duration
from qmon.model.verdicts import RuleInput, judge
from qmon.model.verdicts.judge import CANNOT_TELL, EvidenceSpan, undecided
from qmon.model.view import QueueView
from qmon.monitor.probes.memo import COUNT_LIMIT
from qmon.monitor.probes.queue import ring_probe
from qmon.monitor.probes.table_counters import PROBE
from qmon.monitor.state import figures, stale_figures
from qmon.monitor.state.diagnosis import QueueDiagnosis
from qmon.monitor.state.first_seen import WatchedIds, WatchedProgress
from qmon.monitor.state.held import HeldRows, Holders
from qmon.monitor.state.rates.committed import CommittedTrack
from qmon.monitor.state.rates.id_rates import IdRates
from qmon.monitor.state.rates.own_changes import OwnChanges
from qmon.monitor.state.rates.rate_window import RATE_WINDOW_S, Rates, RateWindow, Tick
from qmon.monitor.state.rates.standing_counters import StandingCounters
from qmon.monitor.state.ring import LedgerTrack
from qmon.monitor.state.stale_figures import StaleFigures, failure_of, flow_unread, of_before, of_locks
from qmon.monitor.state.trends import DueTrack, SilenceTrack, TrendTrack
from qmon.monitor.state.usage import TableUses, UseTrack, own_uses
from qmon.monitor.state.verdict_log import VerdictLog

_SMOOTH_S: Final = 4.0
MOST_POINTS: Final = 1200

# Reasons for unknown rates that disappear with the next polls.
RATES_FOLLOW: Final = frozenset(
    {Reason.RATES_FOLLOW, Reason.COUNTERS_BROKEN, Reason.OWN_OPERATION, Reason.COUNTERS_RESET}
)


class QueueTrack:
    """The memory of one queue. Not thread-safe: one thread folds.

    Args:
        window_s: seconds over which rates are taken.
    """

    def __init__(self, window_s: float = RATE_WINDOW_S) -> None:
        self._window_s = window_s
        self._points = SeriesRecorder(MOST_POINTS)
        self._verdict_log = VerdictLog()
        self._files: dict[int, tuple[int, int | None]] = {}
        self._forget()

    def _forget(self) -> None:
        """Reset everything except past verdicts and plotted points, which were true of the earlier table."""
        self._window = RateWindow(self._window_s)
        self._committed = CommittedTrack()
        self._standing = StandingCounters()
        self._broken = False
        self._own = OwnChanges()
        self._prev: QueueSamples | None = None
        self._prev_uses: Uses = {}
        self._began_anew = False
        self._prev_at: float | None = None
        self._progress = WatchedProgress()
        self._holders = Holders()
        self._ids = WatchedIds()
        self._needs_ids = False
        self._spans: dict[str, EvidenceSpan] = {}
        self._diagnosis = QueueDiagnosis()
        self._trend = TrendTrack()
        self._silence = SilenceTrack()
        self._due = DueTrack()
        self._use = UseTrack()
        self._stale = StaleFigures()
        self._bound = stale_figures.OldestBound()
        self._ledger = LedgerTrack()
        self._by_ids = IdRates(self._window_s)
        self._flow_now: Flow | None = None
        self._span_s: float | None = None
        self._last: tuple[float, QueueView] | None = None
        self._was_gone = False
        self._idle_since: float | None = None

    def gone(self, snapshot: Snapshot, q: QueueSamples) -> QueueView:
        """Record a poll without the queue: return its last figures and the reason. The next poll starts over."""
        at = snapshot.sampled_at
        self._was_gone = True
        failures = tuple(f for f in snapshot.failures if f.queue == q.layout.queue)
        reason = next((f.reason for f in failures if f.gone), "")
        seen_at, last = self._last or (None, stale_figures.unseen(q.layout, reason))
        view = last if seen_at is None else stale_figures.as_old(last, at - seen_at, reason)
        pauses = pauses_of(q.layout, snapshot.pauses)
        rule_input = RuleInput(
            timeout_s=q.layout.timeout_s,
            failures=failures,
            pauses=pauses,
            last_seen_at=seen_at,
            layout=q.layout,
            samples=q,
            snapshot=snapshot,
        )
        verdicts, past = self._judge(rule_input, at)
        unknown = Figure.unknown(reason)
        self._remember(at, unknown, unknown, unknown, rates=False)
        return replace(
            view,
            verdict=verdicts[0],
            verdicts=verdicts,
            past=past,
            failures=failures,
            pauses=pauses,
            history=self._points.series(),
        )

    def unread(self, snapshot: Snapshot, q: QueueSamples, *, unbroken: bool) -> QueueView:
        """Record a poll that skipped this queue: return the last figures with their age, without verdicts on them."""
        at = snapshot.sampled_at
        self._was_gone = self._was_gone or not unbroken
        if self._last is None:
            view = stale_figures.unseen(q.layout, Reason.READ_IN_TURNS)
            unjudged = Verdict(CANNOT_TELL, Reason.READ_IN_TURNS)
            return replace(view, verdict=unjudged, verdicts=(unjudged,))
        seen_at, view = self._last
        pauses = pauses_of(q.layout, snapshot.pauses)
        if view.read_at is None or view.pauses != pauses:
            view = stale_figures.unread(view, seen_at, pauses)
            self._last = seen_at, view
        age_s = at - seen_at
        if age_s <= stale_figures.FRESH_POLLS * max(snapshot.every_s, snapshot.interval_s):
            return view  # the same object from poll to poll
        unjudged = Verdict(CANNOT_TELL, f"last read {duration(age_s)} ago", Severity.NOTICE, at)
        return replace(stale_figures.as_old(view, age_s, unjudged.proof), verdict=unjudged, verdicts=(unjudged,))

    def add(
        self,
        snapshot: Snapshot,
        q: QueueSamples,
        *,
        unbroken: bool,
        target: TargetEvidence,
        sessions: Sessions | None = None,
        uses: TableUses | None = None,
    ) -> QueueView:
        """Record one poll and return the queue's view.

        ``unbroken``: the poll follows the previous one without a gap or a restart. ``target``: evidence about the whole
        target from this and earlier polls. ``sessions`` and ``uses``: those of the snapshot, if it has them. If a
        figure or a rule raises, the exception becomes its reason and is listed in the failures of the view.
        """
        guard = Guard(partial(log.report, once=True))
        fold = partial(self._fold, snapshot, q, guard, unbroken, target, sessions, uses)
        view = guard.attempt(VIEW, fold, partial(self._unfolded, snapshot, q))
        return replace(view, failures=(*view.failures, *guard.failures(q.layout.queue))) if guard.reasons else view

    def _unfolded(self, snapshot: Snapshot, q: QueueSamples, reason: str) -> QueueView:
        """Return the view of a poll that raised, and reset the memory, which may be half updated."""
        self._forget()
        at = snapshot.sampled_at
        unjudged = Verdict(CANNOT_TELL, reason, Severity.NOTICE, at)
        return replace(
            stale_figures.unseen(q.layout, reason),
            verdict=unjudged,
            verdicts=(unjudged,),
            failures=tuple(f for f in snapshot.failures if f.queue == q.layout.queue),
            pauses=pauses_of(q.layout, snapshot.pauses),
            history=self._points.series(),
            past=self._verdict_log.add((unjudged,), at),
        )

    def _fold(
        self,
        snapshot: Snapshot,
        q: QueueSamples,
        guard: Guard,
        unbroken: bool,
        target: TargetEvidence,
        sessions: Sessions | None,
        uses: TableUses | None,
    ) -> QueueView:
        at = snapshot.sampled_at
        if q.counters is not None:
            self._idle_since = None if q.counters.counted else at if self._idle_since is None else self._idle_since
        files = self._files | {n: (c.table_id, c.files) for n, c in enumerate((q.counters, q.data_counters)) if c}
        if any(self._files[n] != files[n] for n in self._files):
            self._forget()
        self._files = files
        unbroken, self._was_gone = unbroken and not self._was_gone, False
        if not unbroken:
            self._progress.broken()
        unbroken = not self._own.add(snapshot.operated, q.layout, at) and unbroken
        self._broken = not unbroken
        own = own_uses(uses, q)
        moved = self._advance(q, own, at, unbroken)
        self._standing.add(q, at)
        if q.in_progress_ids is not None:
            self._progress.see(q.in_progress_ids, at)
        # Set for good: resetting it after a gap would make ages too low.
        self._needs_ids = self._needs_ids or not figures.has_push_time(q)
        if q.last_id is not None and self._needs_ids:
            self._ids.see(q.last_id, at)
        held = self._holders.see(q, snapshot.writers)
        among = held.rows if held and q.held_counted else 0
        # The server shows rows that consumers have popped and not committed as ready. Without the locks of this poll
        # their number is a guess.
        guessed = pops_in_transaction(q.layout) and (q.elsewhere or (q.held_counted and (held is None or q.held_at)))
        exact = figures.exact_ready(q, among)
        self._count(q, at, None if guessed else exact, among)
        carried = self._window.carried()
        if q.elsewhere:
            self._by_ids.add(q, at, exact)
            if q.count is not None:
                carried = q.count.ready, max(0.0, at - q.count.counted_at)
        ready = guard.attempt("ready", lambda: figures.ready(q, exact, carried), Figure.unknown)
        if guessed:
            ready = replace(ready, estimated=not ready.at_least)
        if not moved and exact is None and ready.estimated and self._prev_at is not None:
            ready = replace(ready, age_s=ready.age_s + at - self._prev_at)
        if q.head is None and "ready" not in q.unknown and _blind(snapshot, q):
            ready = Figure.unknown(Reason.NOT_READ_IN_THIS_POLL)
        done = figures.done(q, ready, figures.in_progress(q, held, at))
        known = guard.attempt(
            "diagnosis", lambda: self._diagnosis.add(snapshot, q, done, sessions), lambda _: NO_QUEUE_EVIDENCE
        )
        use = guard.attempt(
            "use", lambda: self._use.add(snapshot, q, uses, self._flow_now, moved=moved), lambda _: None
        )
        known = replace(known, use=use)
        behind_s = at - self._prev_at if not moved and self._prev_at is not None else 0.0
        view = self._view(snapshot, q, ready, held, target, known, behind_s, guard)
        orphans = known.ring_loss.orphans if known.ring_loss is not None else 0
        seen = held.rows if held is not None and q.held_at is None else None if pops_in_transaction(q.layout) else 0
        ledger = self._ledger.add(q, view.ready, seen, view.gap, orphans, unbroken=unbroken)
        view = figures.with_lost(replace(view, ledger=None if q.elsewhere else ledger), known.owners)
        if moved:
            self._prev, self._prev_uses, self._prev_at = q, own, at
        self._last = at, view
        return view

    def _advance(self, q: QueueSamples, uses: Uses, at: float, unbroken: bool) -> bool:
        """Record what has moved. Return false if this poll did not read it; the next poll then covers both."""
        if not unbroken:
            self._stale.forget()
            self._committed.forget()
        elif self._prev is not None and flow_unread(q, self._prev):
            self._flow_now, self._span_s = None, None
            return False
        self._began_anew = False
        flow = self._flow(q, uses) if unbroken and self._prev is not None and self._prev_at is not None else None
        self._flow_now = flow
        self._span_s = at - self._prev_at if unbroken and self._prev_at is not None else None
        if flow is None or self._prev_at is None:
            self._window.start(at)
        else:
            self._window.add(Tick(at, at - self._prev_at, flow))
        return True

    def _flow(self, q: QueueSamples, uses: Uses) -> Flow | None:
        before = self._prev
        if before is None:
            return None
        if q.ring is not None:
            return ring_flow(before.ring, q.ring) if before.ring is not None else None
        if q.totals is not None and before.totals is not None:
            return steps_flow(before.totals, q.totals, self._in_progress_change(q), (before.waiting, q.waiting))
        if q.counters is None or before.counters is None or "rates" in q.unknown or q.elsewhere:
            return None
        if not (q.counters.counted and before.counters.counted):
            return None
        drawn = None if q.last_id is None or before.last_id is None else q.last_id - before.last_id
        if q.counters.modified_since_analyze is None and forgotten(
            before.counters, q.counters, drawn, (self._prev_uses, uses)
        ):
            self._began_anew = True
            self._committed.forget()
            return None
        work = self._committed.add(before.counters, q.counters, q.layout, figures.rows_counted(q))
        if work is None:
            return None
        change = self._in_progress_change(q)
        table = None
        if (
            work.exact
            and q.counters.vacuums == before.counters.vacuums
            and q.counters.analyzes == before.counters.analyzes
        ):
            table = q.counters.live - before.counters.live
        return table_flow(work, q.layout, change, table)

    def _in_progress_change(self, q: QueueSamples) -> int | None:
        """Return the change in messages in progress since the previous poll; ``None`` if a count is missing."""
        before = self._prev
        if before is None or q.progress is None or before.progress is None:
            return None
        counts = (before.progress.in_progress, q.progress.in_progress)
        return counts[1] - counts[0] if max(counts) <= COUNT_LIMIT or q.layout.part is not None else None

    def _count(self, q: QueueSamples, at: float, exact: float | None, held: int) -> None:
        if exact is not None:
            self._window.rebase(at, exact)
        elif q.ring is not None:
            self._window.rebase(at, ring_ready(q.ring))
        elif (known := q.depth or q.count) is not None:
            less = held if pops_in_transaction(q.layout) else 0
            self._window.rebase(known.counted_at, max(0, known.ready - less))

    def _view(
        self,
        snapshot: Snapshot,
        q: QueueSamples,
        ready: Figure,
        held: HeldRows | None,
        target: TargetEvidence,
        known: QueueEvidence,
        behind_s: float,
        guard: Guard,
    ) -> QueueView:
        at = snapshot.sampled_at
        rates = self._window.rates()
        missing = Figure.unknown(q.unknown.get("rates") or self._no_rates(snapshot, q))
        gap, gap_kind = figures.gap(q)
        throttled = snapshot.observing.of_queue(q.layout.asked_as) if snapshot.observing is not None else ()
        cadence_s = max(snapshot.interval_s, snapshot.every_s)
        standby = standby_of(snapshot.server)

        def aged(name: str, figure: Figure) -> Figure:
            figure = figure if standby is None else standby.aged(figure)
            if not figure.old and figure.age_s <= stale_figures.FRESH_POLLS * snapshot.interval_s:
                return figure  # fresh, however rarely its probes run
            figure = figure.aged(stale_figures.fresh_s(name, snapshot, q.layout))
            return stale_figures.not_read(figure, at, cadence_s)

        def now(name: str, figure: Figure) -> Figure:
            shown = self._stale.see(name, figure, at, failure_of(name, snapshot, q.layout.queue))
            return aged(name, shown.of_a_part(q.partial) if q.partial and name in figures.OF_ROWS else shown)

        def made(name: str, make: Callable[[], Figure]) -> Figure:
            return guard.attempt(name, lambda: now(name, make()), Figure.unknown)

        makers = self._makers(snapshot, q, ready, held, gap)
        ready, in_progress, stuck, scheduled, dead, oldest, gap, fill = (made(*each) for each in makers.items())
        oldest = _bounded(oldest, self._bound.see(q, at, snapshot.client_ms / 1000))

        def rate(value: float | None, moved: bool = self._standing.pops) -> Figure:
            if value == 0 and moved:
                return Figure.unknown(Reason.COUNTERS_STAND_STILL)
            why = failure_of("rates", snapshot, q.layout.queue)
            return missing if value is None else aged("rates", of_before(Figure(value), behind_s, why))

        push = rate(rates.pushed if rates else None, self._standing.pushes)
        pop = _pops(q, rates, rate)
        if q.elsewhere:
            push, pop = (aged("rates", each or missing) for each in (self._by_ids.push, self._by_ids.pop))
        uncounted = Reason.COUNTERS_STAND_STILL in (push.reason, pop.reason)
        plotted = not (push.old or uncounted)
        apart = figures.size(known.use, at) | figures.blocked_messages(q, at)
        more = {name: now(name, figure) for name, figure in apart.items()}
        failures = tuple(f for f in snapshot.failures if f.queue == q.layout.queue)
        pauses, recent = pauses_of(q.layout, snapshot.pauses), self._window.rates(_SMOOTH_S)
        rule_input = RuleInput(
            ready=ready.evidence,
            in_progress=in_progress.evidence,
            stuck=stuck.evidence,
            oldest=oldest.evidence,
            push_rate=push.evidence,
            pop_rate=pop.evidence,
            timeout_s=q.layout.timeout_s,
            failures=failures,
            recent_pop_rate=rate(recent.popped if recent else None, self._standing.pops_lately).evidence,
            queue=known,
            completes=rate(recent.completed if recent else None).evidence.value,
            target=target,
            net_rate=None if uncounted else rate(rates.net if rates else None, moved=False).evidence.value,
            fill=fill.evidence,
            blocked=more["blocked"].evidence,
            blocked_oldest=more["blocked_oldest"].evidence,
            locked=self._diagnosis.locked(snapshot, q),
            pauses=pauses,
            layout=q.layout,
            samples=q,
            snapshot=snapshot,
            pops_unseen=self._standing.pops_lately or self._broken,
            rates_follow=any(each.value is None and each.reason in RATES_FOLLOW for each in (push, pop)),
        )
        rule_input = replace(rule_input, queue=self._trends(at, rule_input, pop.evidence, scheduled))
        verdicts, past = self._judge(rule_input, at, guard)
        self._remember(at, ready.evidence, in_progress.evidence, oldest.evidence, rates=plotted)
        return QueueView(
            layout=q.layout,
            ready=ready,
            in_progress=in_progress,
            scheduled=scheduled,
            dead=dead,
            oldest=oldest,
            push_rate=push,
            pop_rate=figures.pops(q, pop),
            complete_rate=_completes(q, rates, rate),
            blockers=q.blocked.blockers if q.blocked is not None else (),
            gap=gap,
            fill=fill,
            verdict=verdicts[0],
            stuck=stuck,
            ownerless=frozenset(),
            forecast=self._forecast(rule_input, verdicts, plotted=plotted),
            history=self._points.series(),
            messages=q.messages,
            page=q.page,
            failures=failures,
            gap_kind=gap_kind,
            window_s=rates.seconds if rates else None,
            pauses=pauses,
            verdicts=verdicts,
            throttled=throttled,
            undecided=undecided(rule_input, verdicts, self._spans),
            ledger=None,
            past=past,
            **more,
            done=figures.done(q, ready, in_progress),
            counting=q.counting,
            **figures.clients(
                known,
                Reason.STANDBY_SESSIONS
                if q.elsewhere
                else Reason.LIBRARY_WORKERS
                if q.layout.part
                else Reason.SESSIONS_UNSEEN,
            ),
            flow=None if uncounted else self._flow_now,
            span_s=self._span_s,
            use=known.use,
            read_at=None,
        )

    def _makers(
        self, snapshot: Snapshot, q: QueueSamples, ready: Figure, held: HeldRows | None, gap: Figure
    ) -> dict[str, Callable[[], Figure]]:
        """Return a function for each row figure, in the order that ``_build_view`` unpacks them."""
        at = snapshot.sampled_at
        return {
            "ready": lambda: ready,
            "in_progress": lambda: figures.in_progress(q, held, at),
            "stuck": lambda: figures.stuck(q, held, snapshot.writers, self._progress, at),
            "scheduled": lambda: self._extra(q, "scheduled", at),
            "dead": lambda: self._extra(q, "dead", at),
            "oldest": lambda: figures.oldest(q, self._ids, at),
            "gap": lambda: gap,
            "fill": lambda: figures.fill(q),
        }

    def _no_rates(self, snapshot: Snapshot, q: QueueSamples) -> str:
        """Return why there are no rates, for reasons that lie outside the table."""
        if q.ring is None and q.counters is None and all(map(of_locks, q.left_out)):
            return _uncounted(snapshot)
        if self._idle_since is not None:
            return _nothing_counted(snapshot.sampled_at - self._idle_since)
        if self._own.under_way:
            return Reason.OWN_OPERATION
        return (
            Reason.RATES_FOLLOW
            if self._prev is None
            else Reason.COUNTERS_RESET
            if self._began_anew
            else Reason.COUNTERS_BROKEN
        )

    def _extra(self, q: QueueSamples, figure: str, at: float) -> Figure:
        state, count = q.layout.state, q.count
        if figure == "scheduled":
            scanned = count.scheduled if count is not None and q.layout.due_at is not None else None
            return figures.counted(q, q.scheduled, figure, scanned, at, q.scheduled_at)
        dead = count.dead if count is not None and state is not None and state.dead is not None else None
        return figures.counted(q, q.dead, figure, dead, at, q.dead_at)

    def _judge(
        self, given: RuleInput, at: float, guard: Guard | None = None
    ) -> tuple[tuple[Verdict, ...], tuple[PastVerdict, ...]]:
        """Return the verdicts that hold and those that are over."""
        verdicts, self._spans = judge(given, at, self._spans, guard)
        return verdicts, self._verdict_log.add(verdicts, at, undecided(given, verdicts, self._spans))

    def _forecast(self, given: RuleInput, verdicts: Sequence[Verdict], *, plotted: bool) -> Forecast:
        """Return the forecast. It suggests more consumers only if all are busy and none is slower than before."""
        if given.ready.at_least:
            return Forecast(Trend.UNKNOWN)
        ready = given.ready.value if plotted else None
        poppers, known = given.queue.poppers, given.queue
        helps = not given.pauses and known.slower is None and verdicts[0].severity < Severity.CRITICAL
        busy = poppers is not None and (not poppers.waiting or (given.in_progress.value or 0.0) >= poppers.connected)
        connected = poppers.connected if poppers is not None and helps and busy else None
        found = forecast(ready, self._window.ticks, connected)
        return found if known.rise is None else found.of_hour(known.rise)

    def _trends(self, at: float, given: RuleInput, popped: Figure, scheduled: Figure) -> QueueEvidence:
        """Return the evidence about the queue, extended by the trends of the last hour."""
        flow = self._flow_now
        known = replace(
            given.queue,
            silence=self._silence.add(at, flow.pushed if flow else None),
            due_later=self._due.add(at, flow, given.ready, scheduled),
        )
        if given.ready.value is None or given.ready.at_least:
            return known
        rise, slower = self._trend.add(
            at,
            given.ready.value,
            given.oldest.value,
            working=given.in_progress.value,
            finished_per_s=given.completes,
            popped_per_s=popped.value,
        )
        return replace(known, rise=rise, slower=slower)

    def _remember(self, at: float, ready: Figure, in_progress: Figure, oldest: Figure, *, rates: bool = True) -> None:
        now = self._window.rates(_SMOOTH_S) if rates else None
        self._points.add(
            Point(
                at,
                None if ready.at_least else ready.value,
                now.pushed if now else None,
                now.popped if now else None,
                now.completed if now else None,
                in_progress.value,
                oldest.value,
            )
        )


def _bounded(oldest: Figure, bound: Figure | None) -> Figure:
    """Return the bound, if there is one, instead of an age that was read before this poll."""
    return bound if bound is not None and oldest.age_s > 0 and oldest.value is not None else oldest


def _blind(snapshot: Snapshot, q: QueueSamples) -> str:
    """Return why the queue's depth could not be read in this poll; empty if nothing failed."""
    failed = (
        f
        for f in snapshot.failures
        if f.queue == q.layout.queue and (f.probe.startswith("head") or f.probe == ring_probe(q.layout))
    )
    return next((f.reason for f in failed), "")


def _uncounted(snapshot: Snapshot) -> str:
    """Return why this poll has no counters."""
    failed = (f.reason for f in snapshot.failures if f.probe in ("counters", PROBE) and not f.queue)
    return next(failed, Reason.COUNTERS_UNREAD)


def _nothing_counted(seconds: float) -> str:
    """Return why there are no rates when the server has counted nothing of the table for ``seconds``."""
    if seconds < 1:
        return Reason.NOTHING_COUNTED
    return Reason.NOTHING_COUNTED_SINCE.format(age=duration(seconds))


def _pops(q: QueueSamples, rates: Rates | None, rate: Callable[[float | None], Figure]) -> Figure:
    if rates is not None and rates.popped is None:
        return Figure.unknown(q.unknown.get("pop_rate", Reason.POPS_AS_COMPLETIONS))
    return rate(rates.popped if rates else None)


def _completes(q: QueueSamples, rates: Rates | None, rate: Callable[[float | None], Figure]) -> Figure:
    if not q.layout.has("complete_rate"):
        return Figure.unknown(q.unknown.get("complete_rate", Reason.POPS_ARE_COMPLETIONS))
    if rates is not None and rates.completed is None:
        return Figure.unknown(Reason.COMPLETIONS_AS_POPS)
    return rate(rates.completed if rates else None)
