"""Fold the snapshots of one target into views, with bounded memory. Live targets and replays use the same code."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from operator import attrgetter
from typing import Final, Generic, TypeVar

from qmon import log
from qmon.model.baseline_bands import NO_BASELINES, Baselines
from qmon.model.defect_guard import DefectGuard
from qmon.model.evidence import Ghosts, TargetEvidence
from qmon.model.figure import Figure
from qmon.model.layout.layout import Layout
from qmon.model.layout.layout_io import table_to_text
from qmon.model.operation_records import pause_subject
from qmon.model.rates.counter_rates import CounterRates
from qmon.model.reasons import Reason
from qmon.model.samples.polled_samples import ServerSample
from qmon.model.server_start import is_same_start
from qmon.model.sessions.clients import SessionIndex
from qmon.model.snapshot import Snapshot
from qmon.model.standby import standby_for
from qmon.model.verdicts import RuleInput
from qmon.model.verdicts.judge import EvidenceSpan, judge_target
from qmon.model.verdicts.server_warnings import server_warnings
from qmon.model.view import ServerView, View
from qmon.model.waits.lock_chains import HeldQueueRows, build_lock_chains
from qmon.monitor.state.broker_track import BrokerTrack
from qmon.monitor.state.failover_and_plans import FailoverTrack, PlanTrack
from qmon.monitor.state.queue_track import QueueTrack
from qmon.monitor.state.rates.counter_windows import (
    RECENT_S,
    SHOWN_S,
    CounterTrack,
    CounterWindow,
    DeadlockTrack,
    WaitTrack,
)
from qmon.monitor.state.rates.rate_window import RATE_WINDOW_S
from qmon.monitor.state.stale_figures import gone_queues
from qmon.monitor.state.usage_track import group_uses

# Default share of one processor that polling may use on the server.
BUDGET_SHARE: Final = 0.01

# On one connection, a poll more than this many seconds after the last one does not continue its counters.
_LATE_S: Final = 30.0


class TargetHistory:
    """The data from earlier polls that the views of one target need. Not thread-safe.

    Args:
        budget: share of one processor that polling may cost the server (0.01 is one percent).
        window_s: seconds over which rates are measured.
        baselines: returns the current baselines without waiting.
    """

    def __init__(
        self,
        budget: float = BUDGET_SHARE,
        window_s: float = RATE_WINDOW_S,
        baselines: Callable[[], Baselines] = lambda: NO_BASELINES,
    ) -> None:
        self._baselines = baselines
        self._window_s = window_s
        self._budget = budget
        self._tracks: dict[str, QueueTrack] = {}
        self._prev: Snapshot | None = None
        # Samples, each with the number of qmon's own transactions that it includes.
        self._servers = CounterWindow[tuple[ServerSample, int]](
            window_s * 0.95, reset=lambda before, now: now[1] < before[1]
        )
        self._waits = WaitTrack()
        self._deadlocks = DeadlockTrack()
        self._counters = CounterTrack(window_s)
        self._broker = BrokerTrack()
        self._failover = FailoverTrack()
        self._plans = PlanTrack()
        # The evidence of the verdicts about the whole target.
        self._spans: dict[str, EvidenceSpan] = {}
        # How many rows and index entries of all queues became ghosts per second, as of the last poll.
        self._ghosted: float | None = None

    def record_snapshot(self, snapshot: Snapshot) -> View:
        """Record one poll and return all current figures."""
        unbroken = self._is_unbroken(snapshot)
        self._waits.record_poll(snapshot, unbroken=unbroken)
        plans = self._plans.record_poll(snapshot)
        deadlocks = self._deadlocks.record_poll(snapshot, unbroken=unbroken)
        server = self._server_view(snapshot, unbroken)
        readings = TargetEvidence(
            waiting=self._waits.waits_over(RECENT_S),
            commits=self._recent_commits(),
            rollbacks=server.rollbacks.value,
            deadlocks=deadlocks,
            failed_over=self._failover.record_poll(snapshot),
            plans={each.queue: each for each in plans},
            ghosts=self._ghosts(server.counters) if unbroken else None,
            baselines=self._baselines(),
        )
        guard = DefectGuard(partial(log.report_defect, once=True))
        own = QueueSnapshots(snapshot)
        given = RuleInput(timeout_s=0.0, snapshot=own.of_target, target=readings)
        judged, self._spans = judge_target(given, snapshot.sampled_at, self._spans, guard)
        readings = replace(readings, judged=judged)
        server = replace(
            server,
            plans=plans,
            outside=server_warnings(snapshot, deadlocks),
            verdicts=tuple(sorted(judged.holding.values(), key=lambda verdict: -verdict.severity)),
            undecided=judged.undecided,
        )
        queues, gone = [], gone_queues(snapshot)
        sessions = None if snapshot.clients is None else SessionIndex(snapshot.clients)
        uses = group_uses(snapshot)
        for samples in snapshot.queues:
            track = self._tracks.get(samples.layout.queue)
            if track is None:
                track = self._tracks[samples.layout.queue] = QueueTrack(self._window_s)
            if samples.unread:
                queues.append(track.record_unread(own.snapshot_for(samples.layout), samples, unbroken=unbroken))
            elif samples.layout.queue in gone:
                queues.append(track.record_gone(own.snapshot_for(samples.layout), samples))
            else:
                queues.append(
                    track.record_poll(
                        own.snapshot_for(samples.layout),
                        samples,
                        unbroken=unbroken,
                        target=readings,
                        sessions=sessions,
                        uses=uses,
                    )
                )
        names = {samples.layout.queue for samples in snapshot.queues}
        for name in self._tracks.keys() - names:
            del self._tracks[name]
        span_s = snapshot.sampled_at - self._prev.sampled_at if unbroken and self._prev is not None else None
        self._prev = snapshot
        # Used by the next poll. Rates cover ten seconds, so the rates of the previous poll are accurate enough.
        made = [
            queue.use.ghosts_per_s for queue in queues if queue.use is not None and queue.use.ghosts_per_s is not None
        ]
        self._ghosted = sum(made) if made else None
        return View(
            target=snapshot.target,
            engine=snapshot.engine,
            server_version=snapshot.server_version,
            sequence=snapshot.sequence,
            sampled_at=snapshot.sampled_at,
            taken_at=snapshot.taken_at,
            interval_s=snapshot.interval_s,
            server=server,
            queues=tuple(queues),
            failures=(*(f for f in snapshot.failures if f.queue not in names), *guard.failures("")),
            span_s=span_s,
        )

    def _ghosts(self, counters: CounterRates | None) -> Ghosts | None:
        if counters is None or counters.ghosts_skipped is None or self._ghosted is None:
            return None
        return Ghosts(counters.ghosts_skipped, self._ghosted)

    def _recent_commits(self) -> float | None:
        """Return the transactions committed per second over the last few seconds, without qmon's own transactions."""
        now, own = self._servers.last
        span, (before, own_before) = self._servers.totals_before(RECENT_S)
        if now.commits is None or before.commits is None:
            return None
        done = now.commits - before.commits
        return max(0, done - (own - own_before)) / span if span > 0 and done >= 0 else None

    def _is_unbroken(self, now: Snapshot) -> bool:
        prev = self._prev
        if prev is None:
            return False
        span = now.sampled_at - prev.sampled_at
        limit = max(5.0, 2.5 * max(prev.interval_s, now.interval_s))
        if not now.first and now.sequence == prev.sequence + 1:  # the same connection: the poll was only late
            limit = max(limit, _LATE_S)
        same = is_same_start(prev.server.started_at, now.server.started_at)
        same = same and prev.server.in_recovery == now.server.in_recovery
        # If the server does not report its start time, a new connection may have reached a different server.
        same = same and not (now.first and now.server.started_at == 0.0)
        return same and prev.server.stats_reset_at == now.server.stats_reset_at and 0 < span <= limit

    def _server_view(self, now: Snapshot, unbroken: bool) -> ServerView:
        own = now.observing.commits if now.observing is not None else 0
        if not unbroken:
            self._servers.clear()
        self._servers.record_totals(now.server.now_at, (now.server, own))
        (first, own_before), span = self._servers.first, self._servers.seconds

        def rate(before: int | None, after: int | None) -> Figure:
            if before is None or after is None:
                return Figure.unknown(Reason.SERVER_DOES_NOT_COUNT)
            if span <= 0 or after < before:
                return Figure.unknown(Reason.RATES_FOLLOW)
            return Figure((after - before) / span)

        share = None
        if now.observing is not None and now.observing.allowed_ms > 0:
            share = now.observing.expected_ms / now.observing.allowed_ms
        elif now.server_ms is not None and now.interval_s > 0:
            share = now.server_ms / (self._budget * 1000 * now.interval_s)
        return ServerView(
            commits=_without_own(rate(first.commits, now.server.commits), own - own_before, span),
            rollbacks=rate(first.rollbacks, now.server.rollbacks),
            deadlocks=rate(first.deadlocks, now.server.deadlocks),
            sessions=now.server.sessions,
            waits=now.waits,
            sessions_used=now.server.sessions_used,
            sessions_limit=now.server.sessions_limit,
            client_ms=now.client_ms,
            server_ms=now.server_ms,
            buffers=now.buffers,
            cpu_ms=now.cpu_ms,
            budget_share=share,
            in_recovery=now.server.in_recovery,
            standby=standby_for(now.server),
            blocking=None if now.blocking is None else build_lock_chains(now.blocking, _held_by_session(now)),
            horizon=now.horizon,
            version_store=now.version_store,
            waiting=self._waits.waits_over(SHOWN_S),
            counters=self._counters.record_poll(now, unbroken=unbroken),
            broker=self._broker.record_poll(now),
            observing=now.observing,
            state=now.server_state,
            jobs=now.jobs,
            blocked=now.blocked,
        )


def _without_own(rate: Figure, own: int, span: float) -> Figure:
    """Subtract our own ``own`` transactions in ``span`` seconds from a rate."""
    return rate if rate.value is None or span <= 0 else replace(rate, value=max(0.0, rate.value - own / span))


def _held_by_session(snapshot: Snapshot) -> dict[int, tuple[HeldQueueRows, ...]]:
    """Return, for each session, how many rows near the heads of queues it has locked or changed, most rows first.

    Rows locked under the id of a savepoint are left out, because the id does not identify the session.
    """
    whose = {writer.xid: writer.session for writer in snapshot.writers or ()}
    rows: dict[tuple[int, str], int] = {}
    more: set[str] = set()
    for queue in snapshot.queues:
        name = queue.layout.queue
        if queue.head is not None and queue.head.counted >= queue.head_limit:
            more.add(name)
        for held in queue.held or ():
            if held.running and held.xid in whose:
                key = (whose[held.xid], name)
                rows[key] = rows.get(key, 0) + held.rows
    found: dict[int, tuple[HeldQueueRows, ...]] = {}
    for (session, name), count in sorted(rows.items(), key=lambda item: (-item[1], item[0])):
        found[session] = (*found.get(session, ()), HeldQueueRows(name, count, at_least=name in more))
    return found


_T = TypeVar("_T")


class _ByQueue(Generic[_T]):
    """Records grouped by queue or table, in their order.

    ``name_of``: returns the name of the queue or table; empty if a record is about the whole target.
    """

    def __init__(self, records: Iterable[_T] | None, name_of: Callable[[_T], str]) -> None:
        # Whether this poll read the records.
        self._is_read = records is not None
        self._of_target: list[tuple[int, _T]] = []
        self._of_queues: defaultdict[str, list[tuple[int, _T]]] = defaultdict(list)
        for place, record in enumerate(records or ()):
            name = name_of(record)
            (self._of_queues[name] if name else self._of_target).append((place, record))

    def __contains__(self, name: str) -> bool:
        return name in self._of_queues

    def records_for(self, name: str) -> tuple[_T, ...]:
        """Return the records about a queue or table, and about the whole target."""
        own = self._of_queues.get(name, ())
        found = sorted([*self._of_target, *own], key=lambda each: each[0]) if own else self._of_target
        return tuple(record for _, record in found)

    def read_records_for(self, name: str) -> tuple[_T, ...] | None:
        """Return the same; ``None`` if this poll did not read the records."""
        return self.records_for(name) if self._is_read else None


class QueueSnapshots:
    """A snapshot as each of its queues sees it.

    It is without failures, procedures, throttled probes, pauses and operations of other queues.
    """

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        queue, about = attrgetter("queue"), attrgetter("about")
        self._failures = _ByQueue(snapshot.failures, queue)
        self._procedures = _ByQueue(snapshot.procedures, queue)
        self._throttled = _ByQueue(snapshot.observing.throttled if snapshot.observing is not None else (), queue)
        self._pauses = _ByQueue(snapshot.pauses, about)
        self._operated = _ByQueue(snapshot.operated, about)
        # Only with the records about the whole target. Shared by all queues without records of their own.
        self.of_target = self._copy_for("", "", "", "")

    def snapshot_for(self, layout: Layout) -> Snapshot:
        """Return the snapshot as the queue of this layout sees it."""
        queue, name_in_probe_keys = layout.queue, layout.name_in_probe_keys
        paused, table = pause_subject(layout), table_to_text(layout.table)
        if (
            queue in self._failures
            or queue in self._procedures
            or name_in_probe_keys in self._throttled
            or paused in self._pauses
            or table in self._operated
        ):
            return self._copy_for(queue, name_in_probe_keys, paused, table)
        return self.of_target

    def _copy_for(self, queue: str, name_in_probe_keys: str, paused: str, table: str) -> Snapshot:
        snapshot, observing = self._snapshot, self._snapshot.observing
        return replace(
            snapshot,
            failures=self._failures.records_for(queue),
            procedures=self._procedures.read_records_for(queue),
            observing=observing and replace(observing, throttled=self._throttled.records_for(name_in_probe_keys)),
            pauses=self._pauses.records_for(paused),
            operated=self._operated.read_records_for(table),
        )
