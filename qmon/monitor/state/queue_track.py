"""Fold the samples of one queue, poll by poll, into figures, verdicts and a forecast."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Final

from qmon import log
from qmon.model.defect_guard import WHOLE_VIEW, DefectGuard
from qmon.model.evidence import NO_QUEUE_EVIDENCE, QueueEvidence, TargetEvidence
from qmon.model.figure import Figure, PastVerdict, Severity, Verdict
from qmon.model.forecast import UNMOVED, Forecast, Trend, forecast_drain
from qmon.model.formatting import duration
from qmon.model.operation_records import pauses_for
from qmon.model.probe_constants import COUNT_LIMIT, TABLE_COUNTERS_PROBE, ring_probe
from qmon.model.probe_table import is_probe_of
from qmon.model.rates.counter_resets import UsesByIndex, may_be_reset
from qmon.model.rates.flow import Flow, MovedMessages, ReadSkew, pops_in_transaction, ring_flow, ring_ready, steps_flow
from qmon.model.rates.queue_use import QueueUse
from qmon.model.reasons import Reason
from qmon.model.series import Point, SeriesRecorder
from qmon.model.sessions.clients import SessionIndex
from qmon.model.snapshot import QueueSamples, Snapshot
from qmon.model.standby import standby_for
from qmon.model.verdicts import RuleInput, judge_queue
from qmon.model.verdicts.judge import CANNOT_TELL, STANDSTILL_CODES, EvidenceSpan, undecided_codes
from qmon.model.verdicts.rule import count_active
from qmon.model.view import QueueView
from qmon.monitor.state import sample_figures, stale_figures
from qmon.monitor.state.diagnosis import QueueDiagnosis
from qmon.monitor.state.failed_pushes import FailedPushTrack
from qmon.monitor.state.first_seen import WatchedIds, WatchedProgress
from qmon.monitor.state.held_rows import HeldRows, HeldRowsTrack
from qmon.monitor.state.rates.id_rates import IdRates
from qmon.monitor.state.rates.own_changes import OwnChanges
from qmon.monitor.state.rates.rate_window import RATE_WINDOW_S, Rates, RateWindow, Tick
from qmon.monitor.state.rates.standing_counters import LATELY_S, StandingCounters
from qmon.monitor.state.rates.table_flow_track import TableFlowTrack
from qmon.monitor.state.ring_tracks import LedgerTrack
from qmon.monitor.state.stale_figures import (
    StaleFigures,
    failure_for,
    is_flow_unread,
    is_locked_rows_probe,
    older_figure,
)
from qmon.monitor.state.trends import DueTrack, SilenceTrack, TrendTrack
from qmon.monitor.state.usage_track import TableUses, UseTrack, uses_of_queue
from qmon.monitor.state.verdict_log import VerdictLog

_SMOOTH_S: Final = 4.0
MOST_POINTS: Final = 1200

# Reasons why rates are unknown only for the next few polls.
RATES_FOLLOW: Final = frozenset(
    {Reason.RATES_FOLLOW, Reason.COUNTERS_BROKEN, Reason.OWN_OPERATION, Reason.COUNTERS_RESET}
)

# Reasons why the number of updates gives wrong pops and completions.
_UPDATES_MISREAD: Final = frozenset({Reason.UPDATES_UNCLEAR, Reason.UPDATES_ARE_NO_POPS})


class QueueTrack:
    """The data from earlier polls that the figures of one queue need. Not thread-safe.

    Args:
        window_s: seconds over which rates are measured.
    """

    def __init__(self, window_s: float = RATE_WINDOW_S) -> None:
        self._window_s = window_s
        self._points = SeriesRecorder(MOST_POINTS)
        self._verdict_log = VerdictLog()
        self._files: dict[int, tuple[int, int | None]] = {}
        self._start_over()

    def _start_over(self) -> None:
        """Reset everything except past verdicts and plotted points, which remain true for the earlier table."""
        self._window = RateWindow(self._window_s)
        self._flows = TableFlowTrack()
        self._skew = ReadSkew()
        self._standing = StandingCounters()
        self._broken = False
        self._own = OwnChanges()
        self._prev: QueueSamples | None = None
        self._prev_uses: UsesByIndex = {}
        self._began_anew = self._proof_follows = False
        self._prev_at: float | None = None
        self._progress = WatchedProgress()
        self._holders = HeldRowsTrack()
        self._ids = WatchedIds()
        self._needs_ids = False
        self._spans: dict[str, EvidenceSpan] = {}
        self._diagnosis = QueueDiagnosis()
        self._trend = TrendTrack()
        self._silence = SilenceTrack()
        self._pushes = FailedPushTrack()
        self._due = DueTrack()
        self._use = UseTrack()
        self._stale = StaleFigures()
        self._bound = stale_figures.OldestAgeLowerBound()
        self._ledger = LedgerTrack()
        self._by_ids = IdRates(self._window_s)
        self._flow_now: Flow | None = None
        self._span_s: float | None = None
        self._last: tuple[float, QueueView] | None = None
        self._was_gone = False
        self._idle_since: float | None = None

    def record_gone(self, snapshot: Snapshot, samples: QueueSamples) -> QueueView:
        """Record a poll in which the queue is gone; return its last figures with the reason."""
        at = snapshot.sampled_at
        self._was_gone = True
        failures = tuple(f for f in snapshot.failures if f.queue == samples.layout.queue)
        reason = next((f.text for f in failures if f.gone), "")
        seen_at, last = self._last or (None, stale_figures.unread_view(samples.layout, reason))
        view = last if seen_at is None else stale_figures.outdated_view(last, at - seen_at, reason)
        pauses = pauses_for(samples.layout, snapshot.pauses)
        rule_input = RuleInput(
            timeout_s=samples.layout.timeout_s,
            failures=failures,
            pauses=pauses,
            last_seen_at=seen_at,
            layout=samples.layout,
            samples=samples,
            snapshot=snapshot,
        )
        verdicts, past, _ = self._judge_rules(rule_input, at)
        unknown = Figure.unknown(reason)
        self._record_point(at, unknown, unknown, unknown, None)
        return replace(
            view,
            verdict=verdicts[0],
            verdicts=verdicts,
            past=past,
            failures=failures,
            pauses=pauses,
            history=self._points.series(),
        )

    def record_unread(self, snapshot: Snapshot, samples: QueueSamples, *, unbroken: bool) -> QueueView:
        """Record a poll that skipped this queue; return the last view, without verdicts if the view is too old."""
        at = snapshot.sampled_at
        self._was_gone = self._was_gone or not unbroken
        if self._last is None:
            view = stale_figures.unread_view(samples.layout, Reason.READ_IN_TURNS)
            unjudged = Verdict(CANNOT_TELL, Reason.READ_IN_TURNS)
            return replace(view, verdict=unjudged, verdicts=(unjudged,))
        seen_at, view = self._last
        pauses = pauses_for(samples.layout, snapshot.pauses)
        if view.read_at is None or view.pauses != pauses:
            view = stale_figures.view_of_skipped_queue(view, seen_at, pauses)
            self._last = seen_at, view
        age_s = at - seen_at
        if age_s <= stale_figures.FRESH_POLLS * max(snapshot.every_s, snapshot.interval_s):
            return view  # the same object from poll to poll
        unjudged = Verdict(CANNOT_TELL, Reason.LAST_READ.render(age=duration(age_s)), Severity.NOTICE, at)
        return replace(stale_figures.outdated_view(view, age_s, unjudged.proof), verdict=unjudged, verdicts=(unjudged,))

    def record_poll(
        self,
        snapshot: Snapshot,
        samples: QueueSamples,
        *,
        unbroken: bool,
        target: TargetEvidence,
        sessions: SessionIndex | None = None,
        uses: TableUses | None = None,
    ) -> QueueView:
        """Record one poll and return the queue's view.

        ``unbroken``: the poll follows the previous one without a gap or a restart. ``target``: evidence about the whole
        target from this and earlier polls. ``sessions`` and ``uses``: from the snapshot, if it contains any. If a
        figure or a rule raises an exception, the exception becomes its reason and is listed among the failures of the
        view.
        """
        guard = DefectGuard(partial(log.report_defect, once=True))
        fold = partial(self._fold_poll, snapshot, samples, guard, unbroken, target, sessions, uses)
        view = guard.attempt(WHOLE_VIEW, fold, partial(self._view_after_failure, snapshot, samples))
        return (
            replace(view, failures=(*view.failures, *guard.failures(samples.layout.queue))) if guard.reasons else view
        )

    def _view_after_failure(self, snapshot: Snapshot, samples: QueueSamples, reason: str) -> QueueView:
        """Return the view of a poll that raised an exception. Start over, because the state may be half updated."""
        self._start_over()
        at = snapshot.sampled_at
        unjudged = Verdict(CANNOT_TELL, reason, Severity.NOTICE, at)
        return replace(
            stale_figures.unread_view(samples.layout, reason),
            verdict=unjudged,
            verdicts=(unjudged,),
            failures=tuple(f for f in snapshot.failures if f.queue == samples.layout.queue),
            pauses=pauses_for(samples.layout, snapshot.pauses),
            history=self._points.series(),
            past=self._verdict_log.record_verdicts((unjudged,), at),
        )

    def _fold_poll(
        self,
        snapshot: Snapshot,
        samples: QueueSamples,
        guard: DefectGuard,
        unbroken: bool,
        target: TargetEvidence,
        sessions: SessionIndex | None,
        uses: TableUses | None,
    ) -> QueueView:
        at = snapshot.sampled_at
        if samples.counters is not None:
            self._idle_since = (
                None if samples.counters.counted else at if self._idle_since is None else self._idle_since
            )
        files = self._files | {
            n: (c.table_id, c.files) for n, c in enumerate((samples.counters, samples.data_counters)) if c
        }
        if any(self._files[n] != files[n] for n in self._files) or self._has_other_rules(samples):
            self._start_over()
        self._files = files
        unbroken, self._was_gone = unbroken and not self._was_gone, False
        if not unbroken:
            self._progress.record_gap()
            self._diagnosis.record_gap()
        self._broken = not unbroken
        unbroken = not self._own.record_operations(snapshot.operated, samples.layout, at) and unbroken
        own = uses_of_queue(uses, samples)
        moved = self._record_flow(samples, own, at, unbroken)
        if samples.in_progress_ids is not None:
            self._progress.record_ids(samples.in_progress_ids, at)
        # Never reset, because a reset after a gap would make ages too low.
        self._needs_ids = self._needs_ids or not sample_figures.has_push_time(samples)
        if samples.last_id is not None and self._needs_ids:
            self._ids.record_last_id(samples.last_id, at)
        held = self._holders.record_poll(samples, snapshot.writers)
        among = held.rows if held and samples.held_counted else 0
        # The server still shows popped rows as ready until the pop is committed. Without the locks of this poll, the
        # number of ready messages is a guess.
        guessed = pops_in_transaction(samples.layout) and (
            samples.elsewhere or (samples.held_counted and (held is None or samples.held_at is not None))
        )
        exact = sample_figures.exact_ready(samples, among)
        self._rebase_ready(samples, at, None if guessed else exact, among)
        carried = None if samples.depends_on_strange("ready") else self._window.extrapolated_ready()
        if samples.elsewhere:
            self._by_ids.record_poll(samples, at, exact)
            if samples.count is not None:
                carried = samples.count.ready, max(0.0, at - samples.count.counted_at)
        ready = guard.attempt("ready", lambda: sample_figures.ready_figure(samples, exact, carried), Figure.unknown)
        if guessed:
            ready = replace(ready, estimated=not ready.at_least)
        if not moved and exact is None and ready.estimated and self._prev_at is not None:
            ready = replace(ready, age_s=ready.age_s + at - self._prev_at)
        if samples.head is None and "ready" not in samples.unknown and _why_depth_unread(snapshot, samples):
            ready = Figure.unknown(Reason.NOT_READ_IN_THIS_POLL)
        done = sample_figures.done_figure(samples, ready, sample_figures.in_progress_figure(samples, held, at), at)
        known = guard.attempt(
            "diagnosis",
            lambda: self._diagnosis.record_poll(snapshot, samples, done, sessions),
            lambda _: NO_QUEUE_EVIDENCE,
        )
        # A push time from a wrong clock gives no age. The time since the id was issued is right.
        self._needs_ids = self._needs_ids or self._diagnosis.clock.has_found
        use = guard.attempt(
            "use", lambda: self._use.record_poll(snapshot, samples, uses, self._flow_now, moved=moved), lambda _: None
        )
        behind_s = at - self._prev_at if not moved and self._prev_at is not None else 0.0
        view = self._build_view(snapshot, samples, ready, held, target, known, use, behind_s, guard, unbroken=unbroken)
        if moved:
            self._prev, self._prev_uses, self._prev_at = samples, own, at
        self._last = at, view
        return view

    def _has_other_rules(self, samples: QueueSamples) -> bool:
        """Return whether the previous poll read the states of this queue in another way: by a column or by a list."""
        return self._prev is not None and (self._prev.layout.part is None) != (samples.layout.part is None)

    def _record_flow(self, samples: QueueSamples, uses: UsesByIndex, at: float, unbroken: bool) -> bool:
        """Record the moved messages. Return false if this poll did not read them; the next poll covers both polls."""
        if not unbroken:
            self._stale.start_over()
            self._flows.start_over()
            self._skew.start_over()
        elif self._prev is not None and is_flow_unread(samples, self._prev):
            self._flow_now, self._span_s = None, None
            return False
        self._began_anew = False
        flow = (
            self._flow_since_last(samples, uses, at)
            if unbroken and self._prev is not None and self._prev_at is not None
            else None
        )
        # Rates of 0 begin with the first poll that shows the rows.
        self._proof_follows = flow is not None and not flow.has_movement and self._standing.is_proof_missing(samples)
        flow = None if self._proof_follows else flow
        self._flow_now = flow
        self._span_s = at - self._prev_at if unbroken and self._prev_at is not None else None
        if flow is None or self._prev_at is None:
            self._window.start_over(at)
        else:
            self._window.record_tick(Tick(at, at - self._prev_at, flow))
        self._standing.record_poll(samples, at, flow)
        return True

    def _flow_since_last(self, samples: QueueSamples, uses: UsesByIndex, at: float) -> Flow | None:
        before = self._prev
        if before is None:
            return None
        if samples.ring is not None:
            return ring_flow(before.ring, samples.ring) if before.ring is not None else None
        pops_unknown = "pop_rate" in samples.unknown
        if samples.totals is not None and before.totals is not None:
            change, waiting = self._in_progress_change(samples), (before.waiting_count, samples.waiting_count)
            return steps_flow(
                before.totals, samples.totals, change, waiting, pops_unknown=pops_unknown, skew=self._skew, at=at
            )
        if samples.counters is None or before.counters is None or "rates" in samples.unknown or samples.elsewhere:
            return None
        if not (samples.counters.counted and before.counters.counted):
            return None
        drawn = None if samples.last_id is None or before.last_id is None else samples.last_id - before.last_id
        if samples.counters.modified_since_analyze is None and may_be_reset(
            before.counters, samples.counters, drawn, (self._prev_uses, uses)
        ):
            self._began_anew = True
            self._flows.start_over()
            return None
        flow = self._flows.record_poll(before, samples, self._in_progress_change(samples), at)
        return replace(flow, popped=None, completed=None, net=None) if flow is not None and pops_unknown else flow

    def _in_progress_change(self, samples: QueueSamples) -> int | None:
        """Return the change in messages in progress since the previous poll; ``None`` if a count is missing."""
        before = self._prev
        if before is None or samples.progress is None or before.progress is None:
            return None
        counts = (before.progress.in_progress, samples.progress.in_progress)
        return counts[1] - counts[0] if max(counts) <= COUNT_LIMIT or samples.layout.part is not None else None

    def _rebase_ready(self, samples: QueueSamples, at: float, exact: float | None, held: int) -> None:
        if exact is not None:
            self._window.rebase_ready(at, exact)
        elif samples.ring is not None:
            self._window.rebase_ready(at, ring_ready(samples.ring))
        elif (known := samples.depth or samples.count) is not None:
            less = held if pops_in_transaction(samples.layout) else 0
            self._window.rebase_ready(known.counted_at, max(0, known.ready - less))

    def _build_view(
        self,
        snapshot: Snapshot,
        samples: QueueSamples,
        ready: Figure,
        held: HeldRows | None,
        target: TargetEvidence,
        evidence: QueueEvidence,
        use: QueueUse | None,
        behind_s: float,
        guard: DefectGuard,
        *,
        unbroken: bool,
    ) -> QueueView:
        at = snapshot.sampled_at
        rates = self._window.rates_over()
        missing = Figure.unknown(samples.unknown.get("rates") or self._why_no_rates(snapshot, samples))
        throttled = (
            snapshot.observing.throttled_for(samples.layout.name_in_probe_keys)
            if snapshot.observing is not None
            else ()
        )
        cadence_s = max(snapshot.interval_s, snapshot.every_s)
        standby = standby_for(snapshot.server)

        def mark_age(name: str, figure: Figure) -> Figure:
            figure = figure if standby is None else standby.add_delay(figure)
            if not figure.old and figure.age_s <= stale_figures.FRESH_POLLS * snapshot.interval_s:
                return figure  # counts as fresh, however rarely its probes run
            figure = figure.mark_old(stale_figures.max_fresh_age_s(name, snapshot, samples.layout))
            return stale_figures.explain_long_throttling(figure, at, cadence_s)

        def current_figure(name: str, figure: Figure) -> Figure:
            shown = self._stale.record_figure(name, figure, at, failure_for(name, snapshot, samples.layout.queue))
            return mark_age(
                name,
                shown.as_lower_bound(samples.partial)
                if samples.partial and name in sample_figures.ROW_FIGURES
                else shown,
            )

        def make_figure(name: str, make: Callable[..., Figure], *arguments: object) -> Figure:
            try:
                return current_figure(name, make(*arguments))
            # as in `DefectGuard.attempt`, whose call would take longer than most figures
            except Exception as problem:
                return Figure.unknown(guard.record(name, problem))

        ready = make_figure("ready", lambda: ready)
        in_progress = make_figure("in_progress", sample_figures.in_progress_figure, samples, held, at)
        stuck = make_figure("stuck", sample_figures.stuck_figure, samples, held, snapshot.writers, self._progress, at)
        oldest = make_figure("oldest", sample_figures.oldest_figure, samples, self._ids, at, self._diagnosis.clock)
        oldest = _with_bound(oldest, self._bound.record_poll(samples, at, snapshot.client_ms / 1000))

        def rate(value: float | None, doubt: Reason | None) -> Figure:
            if value is not None and doubt is not None and _is_doubtful(value, doubt):
                return Figure.unknown(doubt)
            if value is None:
                return missing
            # Work that the counters miss shows only in the rows.
            unchecked_s = 0.0 if value else self._standing.unchecked_s
            why = failure_for("ready" if unchecked_s else "rates", snapshot, samples.layout.queue)
            return mark_age("rates", older_figure(Figure.exact(value), behind_s + unchecked_s, why))

        still = Reason.COUNTERS_STAND_STILL
        no_push = still if self._standing.pushes else None
        push = rate(rates.pushed if rates else None, no_push)
        moved_s = None if evidence.motion is None else evidence.motion.moved_s
        unclear = self._flows.why_unclear(at)
        no_pop = unclear or (still if self._standing.pops else self._flows.why_no_pop(at, moved_s))
        no_pop_lately = unclear or (
            still if self._standing.pops_lately else self._flows.why_no_pop(at, moved_s, LATELY_S)
        )
        no_completion = unclear or (still if self._standing.pops else self._flows.why_no_completion(at))
        pop = _pop_rate(samples, rates, partial(rate, doubt=no_pop))
        if samples.elsewhere:
            push, pop = (mark_age("rates", each or missing) for each in (self._by_ids.push_rate, self._by_ids.pop_rate))
        uncounted = not {still, Reason.DELETES_UNCLEAR, *_UPDATES_MISREAD}.isdisjoint((push.reason, pop.reason))
        plotted = not (push.old or uncounted)
        more = {name: make_figure(name, make, samples, at) for name, make in sample_figures.FROM_SAMPLES.items()}
        more |= {name: current_figure(name, figure) for name, figure in sample_figures.size_figures(use, at).items()}
        more |= sample_figures.client_figures(
            evidence,
            Reason.STANDBY_SESSIONS
            if samples.elsewhere
            else Reason.LIBRARY_WORKERS
            if samples.layout.part
            else Reason.SESSIONS_UNSEEN,
        )
        failures = tuple(f for f in snapshot.failures if f.queue == samples.layout.queue)
        pauses, recent = pauses_for(samples.layout, snapshot.pauses), self._window.rates_over(_SMOOTH_S)
        completes = rate(recent.completed if recent else None, no_completion).evidence.value
        by_name = {
            name: figure.evidence
            for name, figure in (
                ("ready", ready),
                ("in_progress", in_progress),
                ("stuck", stuck),
                ("oldest", oldest),
                ("push_rate", push),
                ("pop_rate", pop),
                ("fill", more["fill"]),
                ("blocked", more["blocked"]),
                ("blocked_oldest", more["blocked_oldest"]),
            )
        }
        evidence = self._with_trends(
            at, samples, evidence, use, by_name, completes, more["scheduled"], target.rollbacks
        )
        rule_input = RuleInput(
            ready=by_name["ready"],
            in_progress=by_name["in_progress"],
            stuck=by_name["stuck"],
            oldest=by_name["oldest"],
            push_rate=by_name["push_rate"],
            pop_rate=by_name["pop_rate"],
            fill=by_name["fill"],
            blocked=by_name["blocked"],
            blocked_oldest=by_name["blocked_oldest"],
            timeout_s=samples.layout.timeout_s,
            failures=failures,
            recent_pop_rate=rate(recent.popped if recent else None, no_pop_lately).evidence,
            queue=evidence,
            completes=completes,
            target=target,
            net_rate=None if uncounted else rate(rates.net if rates else None, None).evidence.value,
            in_unknown_states=current_figure(
                "in_unknown_states", sample_figures.unknown_states_figure(samples, at)
            ).evidence,
            locked=self._diagnosis.locking_session(snapshot, samples),
            pauses=pauses,
            layout=samples.layout,
            samples=samples,
            snapshot=snapshot,
            pops_unseen=no_pop_lately is not None or self._broken,
            rates_follow=any(each.value is None and each.reason in RATES_FOLLOW for each in (push, pop)),
        )
        verdicts, past, undecided = self._judge_rules(rule_input, at, guard)
        self._record_point(at, by_name["ready"], by_name["in_progress"], by_name["oldest"], recent if plotted else None)
        orphans = evidence.ring_loss.orphans if evidence.ring_loss is not None else 0
        seen = (
            held.rows
            if held is not None and samples.held_at is None
            else None
            if pops_in_transaction(samples.layout)
            else 0
        )
        ledger = self._ledger.record_poll(samples, ready, seen, more["gap"], orphans, unbroken=unbroken)
        stuck, ownerless = sample_figures.stuck_and_ownerless(samples.layout, stuck, in_progress, evidence.owners)
        return QueueView(
            layout=samples.layout,
            ready=ready,
            in_progress=in_progress,
            oldest=oldest,
            push_rate=push,
            pop_rate=sample_figures.pop_figure(samples, pop),
            complete_rate=_complete_rate(samples, rates, partial(rate, doubt=no_completion)),
            blockers=samples.blocked.blockers if samples.blocked is not None else (),
            verdict=verdicts[0],
            stuck=stuck,
            ownerless=ownerless,
            forecast=self._make_forecast(rule_input, verdicts, plotted=plotted),
            history=self._points.series(),
            messages=samples.messages,
            page=samples.page,
            consumers_seen=None if samples.layout.part is not None else evidence.consumers,
            workers=samples.worker_list,
            failures=failures,
            window_s=rates.seconds if rates else None,
            pauses=pauses,
            verdicts=verdicts,
            throttled=throttled,
            undecided=undecided,
            ledger=None if samples.elsewhere else ledger,
            past=past,
            **stale_figures.view_fields_for({}, more),
            done=sample_figures.done_figure(samples, ready, in_progress, at),
            counting=samples.counting,
            moved=_moved_messages(self._flow_now, no_push, no_pop, no_completion),
            span_s=self._span_s,
            use=use,
            read_at=None,
        )

    def _why_no_rates(self, snapshot: Snapshot, samples: QueueSamples) -> str:
        """Return why there are no rates, for reasons that do not concern the table itself."""
        if samples.ring is None and samples.counters is None and all(map(is_locked_rows_probe, samples.left_out)):
            return _why_no_counters(snapshot)
        if self._idle_since is not None:
            return _why_nothing_counted(snapshot.sampled_at - self._idle_since)
        if self._own.is_under_way:
            return Reason.OWN_OPERATION
        return (
            Reason.RATES_FOLLOW
            if self._prev is None or self._proof_follows
            else Reason.COUNTERS_RESET
            if self._began_anew
            else Reason.COUNTERS_BROKEN
        )

    def _judge_rules(
        self, rule_input: RuleInput, at: float, guard: DefectGuard | None = None
    ) -> tuple[tuple[Verdict, ...], tuple[PastVerdict, ...], frozenset[str]]:
        """Return the verdicts that hold, the verdicts that are over, and the codes of undecided verdicts."""
        verdicts, self._spans = judge_queue(rule_input, at, self._spans, guard)
        undecided = undecided_codes(rule_input, verdicts, self._spans)
        return verdicts, self._verdict_log.record_verdicts(verdicts, at, undecided), undecided

    def _make_forecast(self, rule_input: RuleInput, verdicts: Sequence[Verdict], *, plotted: bool) -> Forecast:
        """Return the forecast. It suggests more consumers only if all are busy and messages do not take longer now."""
        if rule_input.ready.at_least:
            return Forecast(Trend.UNKNOWN)
        ready = rule_input.ready.value if plotted else None
        consumers, known = rule_input.queue.consumers, rule_input.queue
        helps = not rule_input.pauses and known.slower is None and verdicts[0].severity < Severity.CRITICAL
        busy = consumers is not None and (
            not consumers.waiting or (rule_input.in_progress.value or 0.0) >= consumers.connected
        )
        connected = consumers.connected if consumers is not None and helps and busy else None
        found = forecast_drain(ready, self._window.ticks, connected)
        if found.trend is Trend.DRAINING and not STANDSTILL_CODES.isdisjoint(verdict.code for verdict in verdicts):
            found = UNMOVED  # the window still covers the time before the standstill
        return found if known.rise is None else found.or_growth_of_last_hour(known.rise)

    def _with_trends(
        self,
        at: float,
        samples: QueueSamples,
        evidence: QueueEvidence,
        use: QueueUse | None,
        figures: Mapping[str, Figure],
        completes: float | None,
        scheduled: Figure,
        rollbacks: float | None,
    ) -> QueueEvidence:
        """Return the evidence about the queue with its use and the trends of the last hour."""
        flow, rise, slower = self._flow_now, evidence.rise, evidence.slower
        ready, in_progress = figures["ready"], figures["in_progress"]
        if ready.value is not None and not ready.at_least:
            active = count_active(in_progress, figures["stuck"], evidence.owners)
            rise, slower = self._trend.record_poll(
                at,
                ready.value,
                figures["oldest"].value,
                working=None if in_progress.value is None else active,
                finished_per_s=completes,
                popped_per_s=figures["pop_rate"].value,
                ids=sample_figures.messages_in_progress(samples),
            )
        return replace(
            evidence,
            use=use,
            silence=self._silence.record_poll(at, flow.pushed if flow else None),
            failed_pushes=self._pushes.record_poll(at, self._prev, samples, flow, rollbacks),
            due_later=self._due.record_poll(at, flow, ready, scheduled),
            rise=rise,
            slower=slower,
        )

    def _record_point(self, at: float, ready: Figure, in_progress: Figure, oldest: Figure, now: Rates | None) -> None:
        self._points.record_point(
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


def _with_bound(oldest: Figure, bound: Figure | None) -> Figure:
    """Return ``bound``, if it is known, instead of an age that was read before this poll."""
    return bound if bound is not None and oldest.age_s > 0 and oldest.value is not None else oldest


def _why_depth_unread(snapshot: Snapshot, samples: QueueSamples) -> str:
    """Return why the queue's depth could not be read in this poll; empty if nothing failed."""
    read_by = ("head", ring_probe(samples.layout))
    failed = (f for f in snapshot.failures if f.queue == samples.layout.queue and is_probe_of(f.probe, read_by))
    return next((f.text for f in failed), "")


def _why_no_counters(snapshot: Snapshot) -> str:
    """Return why this poll has no counters."""
    failed = (f.text for f in snapshot.failures if f.probe in ("counters", TABLE_COUNTERS_PROBE) and not f.queue)
    return next(failed, Reason.COUNTERS_UNREAD)


def _why_nothing_counted(seconds: float) -> str:
    """Return why there are no rates if the server has counted no work on the table for ``seconds``."""
    if seconds < 1:
        return Reason.NOTHING_COUNTED
    return Reason.NOTHING_COUNTED_SINCE.render(age=duration(seconds))


def _is_doubtful(moved: float, doubt: Reason) -> bool:
    """Return whether the doubt concerns this number. Most doubts say that work is not counted: only 0 may be wrong."""
    if doubt is Reason.UPDATES_UNCLEAR:
        return True
    return moved > 0 if doubt is Reason.UPDATES_ARE_NO_POPS else moved == 0


def _moved_messages(flow: Flow | None, *doubts: Reason | None) -> MovedMessages | None:
    """Return the flow without doubtful steps. ``doubts``: about pushes, pops and completions.

    A late counter makes one poll's number 0, and the next poll's number covers both polls. So a number above 0 stays,
    although the rate is unknown: totals would miss it for ever.
    """
    if flow is None:
        return None
    steps = zip((flow.pushed, flow.popped, flow.completed), doubts, strict=True)
    return MovedMessages(
        *(None if moved is None or (doubt and _is_doubtful(moved, doubt)) else moved for moved, doubt in steps)
    )


def _pop_rate(samples: QueueSamples, rates: Rates | None, rate: Callable[[float | None], Figure]) -> Figure:
    if rates is not None and rates.popped is None:
        return Figure.unknown(samples.unknown.get("pop_rate", Reason.POPS_AS_COMPLETIONS))
    return rate(rates.popped if rates else None)


def _complete_rate(samples: QueueSamples, rates: Rates | None, rate: Callable[[float | None], Figure]) -> Figure:
    if not samples.layout.has_figure("complete_rate"):
        return Figure.unknown(samples.unknown.get("complete_rate", Reason.POPS_ARE_COMPLETIONS))
    if rates is not None and rates.completed is None:
        return Figure.unknown(samples.unknown.get("complete_rate", Reason.COMPLETIONS_AS_POPS))
    return rate(rates.completed if rates else None)
