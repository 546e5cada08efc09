"""Collect one snapshot: choose the statements, run them, and sort the results by queue."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from functools import partial
from typing import Final

from qmon import log
from qmon.engines.base import Connection, Engine
from qmon.errors import QueryFailed
from qmon.model.cost_budget import Budget
from qmon.model.default_list import default_listing
from qmon.model.defect_guard import DefectGuard
from qmon.model.queue_figures import QUEUE_FIGURES
from qmon.model.rates.flow import pops_in_transaction
from qmon.model.samples.counter_samples import ServerCounters, add_threadless_waits, merge_counters
from qmon.model.samples.polled_samples import (
    BlockingSample,
    CostSample,
    PauseSample,
    PausesKnown,
    ServerSample,
)
from qmon.model.snapshot import ProbeFailure, QueueSamples, Snapshot
from qmon.monitor.background.slow_reads import SlowReads
from qmon.monitor.background.wait_sampler import WaitSampler
from qmon.monitor.catalog.resolve import Resolved
from qmon.monitor.poll.locked_tables import LockedTables
from qmon.monitor.poll.permission_recheck import PermissionRecheck
from qmon.monitor.poll.probe_budget import InstanceCount, ProbeBudget
from qmon.monitor.poll.quarantine import InFlightProbe
from qmon.monitor.poll.queue_samples import QueueFiling
from qmon.monitor.poll.replaced_tables import ReplacedTables
from qmon.monitor.poll.runner import Runner
from qmon.monitor.poll.server_probes import ClientLimits, ServerProbes
from qmon.monitor.poll.standby_snapshot import statements_for_replica, without_primary_data
from qmon.monitor.poll.turns import AT_ONCE, Turns
from qmon.monitor.poll.withheld_samples import withhold_partial
from qmon.monitor.probes import table_counters
from qmon.monitor.probes.broker_probes import BrokerReadings
from qmon.monitor.probes.group_probes import TargetGroups
from qmon.monitor.probes.message_diagnostics import MessageProbes
from qmon.monitor.probes.message_pages import closer_listing, statements_for_page
from qmon.monitor.probes.probe_statements import (
    IndexedResults,
    ProbeStatement,
    Results,
    StatementCache,
    first_record,
    index_results,
)
from qmon.monitor.probes.procedure_probes import ProcedureProbes
from qmon.monitor.probes.queue_probes import QueueProbes, QueueSpec
from qmon.monitor.probes.row_locks import RowLocks
from qmon.monitor.probes.target_probes import TargetProbes
from qmon.monitor.source import ROW_LIMIT, ReadScope
from qmon.redact import hide_passwords
from qmon.texts import Text


class CollectorText(Text):
    """Why a poll could not read the server or a queue."""

    TABLE_MOVED = "its table was renamed or dropped, or your role may no longer read it"
    NO_ANSWER = "no answer"
    SERVER_UNREAD = "the state of the server cannot be read: {reason}"


# Keys of `QueueSamples.unknown`. `rates` means every rate that is derived from counters.
_FIGURES: Final = (*(figure.field for figure in QUEUE_FIGURES), "rates")
_STATEMENT_CHARS: Final = 1000


class Collector:
    """Poll one target over one connection. Use it only in the thread that owns the connection."""

    def __init__(
        self,
        target: str,
        engine: Engine,
        connection: Connection,
        slow_reads: SlowReads,
        clock: Callable[[], float] = time.monotonic,
        sampler: WaitSampler | None = None,
        budget: Budget | None = None,
        commits: Callable[[], int] = int,
        in_flight: InFlightProbe | None = None,
        at_once: int = AT_ONCE,
    ) -> None:
        self._target = target
        self._engine = engine
        self._connection = connection
        self._slow_reads = slow_reads
        self._clock = clock
        self._statements = StatementCache(engine, connection.version)
        self._message_probes = MessageProbes(self._statements)
        self._runner = Runner(
            connection, in_flight, by_text=engine.caches_plans_by_text, find_locked=self._find_locked_queues
        )
        self._turns = Turns(at_once)
        # The queues that this poll reads.
        self._queues_read: Collection[str] = ()
        # The queues in `_queues_read` without recent messages. For these queues, the poll only checks for new messages.
        self._checked_briefly: frozenset[str] = frozenset()
        self._unread: dict[str, QueueSamples] = {}
        self._permissions = PermissionRecheck(self._statements, self._runner)
        self._replaced_tables = ReplacedTables(self._statements)
        self._locked_tables = LockedTables(self._statements, self._runner.wake_queue)
        self._standby = False
        self._recreated: frozenset[str] = frozenset()
        # True if the last poll found a different table behind a queue's name. The caller must then resolve the queues,
        # call `watch_queues`, and collect again.
        self.is_stale = False
        self.probe_budget = ProbeBudget(budget)
        self._commits = commits if engine.counts_reads else int
        self._target_probes = TargetProbes(self._statements)
        self._server_probes = ServerProbes(self._statements, self._target_probes, sampler, slow_reads.own_uses)
        self._queues: dict[str, QueueProbes] = {}
        self._problems: tuple[ProbeFailure, ...] = ()
        self._lost_samples: tuple[QueueSamples, ...] = ()
        self._sessions = 0
        self._pauses = self._operations = False
        self._paused: tuple[PauseSample, ...] = ()
        self._cost: CostSample | None = None
        self._instance_count = InstanceCount()
        self._background = (slow_reads,) if sampler is None else (slow_reads, sampler)
        self._row_locks = RowLocks(self._statements)
        self._filing = QueueFiling(
            engine, slow_reads, self.probe_budget, self._row_locks, self._message_probes, self._server_probes
        )
        self._clients = ClientLimits()
        self._procedure_probes = ProcedureProbes(self._statements)
        self._broker = BrokerReadings()
        self._groups = TargetGroups(self._statements, self.probe_budget.cost_s)
        self._is_first = True

    def watch_queues(self, resolved: Resolved) -> tuple[QueueSpec, ...]:
        """Watch the resolved queues from the next poll on, and return them with their facts.

        Unchanged queues keep their state. A lost queue stays on the screen with the reason.
        """
        specs = tuple(QueueSpec(layout, resolved.facts[layout.queue]) for layout in resolved.layouts)
        wanted = {spec.layout.queue: spec for spec in specs}
        same = {n: p for n, p in self._queues.items() if p.spec == wanted.get(n) and n not in self._recreated}
        for name in self._recreated:
            self._slow_reads.forget_queue(name)
        kept = [table for probes in same.values() for table in probes.facts.tables]
        self._statements.retain_only(same, kept)
        self._server_probes.retain_only(kept)
        self._queues = {name: same.get(name) or QueueProbes(self._statements, spec) for name, spec in wanted.items()}
        self._unread = {name: QueueSamples(spec.layout, unread=True) for name, spec in wanted.items()}
        self._turns.retain_only(same)
        self._message_probes.retain_only(self._queues)
        for name in wanted.keys() - same.keys():
            self._runner.wake_queue(name)
        self._problems = resolved.problems
        reasons = {problem.queue: dict.fromkeys(_FIGURES, problem.reason) for problem in resolved.problems}
        lost = (*resolved.lost, *resolved.unread)
        self._lost_samples = tuple(QueueSamples(layout, unknown=reasons[layout.queue]) for layout in lost)
        self._replaced_tables.record_catalog(self._queues, [layout.table for layout in resolved.lost])
        self._recreated = frozenset()
        groups = self._groups.watch_groups(resolved.groups)
        self._runner.retain_only({*self._queues, *groups}, [table for spec in specs for table in spec.facts.tables])
        return specs

    def collect(self, sequence: int, interval_s: float, focus: ReadScope) -> Snapshot:
        """Run one poll. Raises ``ConnectionLost``, or ``QueryFailed`` if the server's clock cannot be read."""
        started, focus = self._clock(), self._with_default_listing(focus)
        self._slow_reads.apply_heads(self._queues, self.probe_budget.cost_s)
        self._queues_read = self._turns.choose_queues(self._queues, focus, started, interval_s)
        self._checked_briefly = frozenset(name for name in self._turns.in_turn if self._queues[name].memo.idle)
        statements = self.probe_budget.choose_statements(
            self._statements_for_poll(started, focus),
            interval_s,
            focus.priority_queues | self._groups.groups_for(focus.priority_queues),
            self._turns.every_s,
            self._turns.read_each_poll,
        )
        commits = self._commits()
        results, failures = self._runner.run_statements(statements, self.probe_budget.choose_probes_to_time())
        self.probe_budget.record_unreached(self._runner.missed)
        for queue, probe in self._runner.missed:
            if queue in self._queues:
                self._queues[queue].record_unreached(probe)
        table_counters.split_results(results)
        self._locked_tables.record_results(results, failures)
        self._permissions.record_results(results)
        counters: ServerCounters | None = first_record(results, "server_counters")
        server = merge_counters(_server_sample(results, failures), counters)
        self._divide_budget(server)
        clock = first_record(results, "clock")
        one_trip = self._runner.one_trip and clock is not None
        server_ms = (clock.now_at - server.now_at) * 1000 if one_trip else None
        self.probe_budget.record_times(self._runner.times, self._runner.times_alone, server_ms, server.now_at)
        blocking, extra_ms = self._read_blocking(
            results, failures, shown=focus.blocking, sees_waits=server.sees_sessions
        )
        self._reread_page(results, failures, focus)
        self._row_locks.record_results(results, self._queues, lambda more: self._run_additional(more, failures))
        self._sessions = server.sessions or 0
        self._message_probes.record_owner_facts(results, self._clock())
        known = first_record(results, "pauses_known")
        self._pauses = self._pauses if known is None else known.readable
        self._read_new_operations(known, results, failures)
        self._paused = results.get(("", "pauses"), self._paused if self._pauses else ())
        target_unread = self._target_probes.record_results(results, failures, server.now_at)
        more = self._server_probes.record_results(results, server, one_trip=one_trip)
        procedures, unread = self._procedure_probes.record_results(results, failures)
        found = index_results(results)
        read = self._completely_read(results, started)
        queues = tuple(
            self._queue_samples(probes, results, found, server.now_at, focus, failures)
            if name in read
            else self._unread[name]
            for name, probes in self._queues.items()
        )
        self._standby = server.in_recovery
        uncounted = self._standby or not server.counts
        queues = self._filing.record_count_needs(queues, self._queues, server.now_at, uncounted=uncounted)
        for group, of_group in self._groups.queue_samples(results, started, server.now_at, found.counters):
            queues += self._filing.without_hidden_values(of_group, group, found)
        failures = self._locked_tables.name_holders(
            failures, self._queues, lambda more: self._run_additional(more, failures)
        )
        failures = self._groups.failures_by_queue(failures)
        spent = self._own_cost(results)
        replaced = self._replaced_tables.find_replaced(self._queues, results)
        self._recreated, self.is_stale = replaced or frozenset(), replaced is not None
        failures += [
            ProbeFailure("table", CollectorText.TABLE_MOVED, queue, gone=True)
            for queue in sorted(self._replaced_tables.gone_queues)
        ]
        reported = () if self.is_stale else self._slow_reads.record_deadlocks(server.deadlocks, server.now_at)
        ended = self._clock()
        snapshot = Snapshot(
            target=self._target,
            engine=self._engine.name,
            server_version=".".join(map(str, self._connection.version)),
            sequence=sequence,
            sampled_at=server.now_at,
            taken_at=ended,
            client_ms=round((ended - started) * 1000, 3),
            server_ms=None if server_ms is None else server_ms + extra_ms,
            buffers=spent.buffers,
            cpu_ms=spent.cpu_ms,
            interval_s=self.probe_budget.interval_s,
            server=server,
            queues=(*queues, *self._lost_samples),
            waits=add_threadless_waits(results.get(("", "waits")), counters),
            blocking=blocking,
            writers=results.get(("", "writers")),
            pauses=tuple(each for each in self._paused if each.until_at > server.now_at),
            operated=results.get(("", "operated")),
            clients=results.get(("", "clients")),
            failures=(
                *failures,
                *unread,
                *target_unread,
                *self._problems,
                *self._slow_reads.failures(),
                *more.failures,
            ),
            uses=more.uses,
            statistics=more.statistics,
            horizon=more.horizon,
            waits_total=more.waits,
            procedures=procedures,
            fragments=self._slow_reads.latest_fragmentation(),
            plans=self._slow_reads.plan_reader.take_new_plans(),
            jobs=self._slow_reads.job_reader.latest_jobs(),
            blocked=self._slow_reads.blocked_reports.latest_reports(),
            circles=(*more.circles, *reported),
            latches=more.latches,
            version_store=more.version_store,
            server_counters=counters,
            broker=self._broker.record_results(results, server.now_at),
            observing=self.probe_budget.to_polling_cost(commits),
            first=self._is_first,
            every_s=self._turns.every_s,
            server_state=self._target_probes.server_state(),
        )
        self._is_first = self._is_first and self.is_stale
        snapshot = withhold_partial(snapshot, self._engine.grant_to_see(server.role, self._connection.version))
        return without_primary_data(snapshot, results) if self._standby else snapshot

    def _find_locked_queues(self, queues: Collection[str]) -> Collection[str]:
        """Return which of these queues have locked tables. Does not wait for locks."""
        asked = {name: self._queues[name] for name in queues if name in self._queues}
        return self._locked_tables.find_locked(self._connection, asked)

    def _divide_budget(self, server: ServerSample) -> None:
        """Divide the cost budget among all qmon instances that poll this database."""
        instances = self._instance_count.record_pollers(server.now_at, server.pollers)
        self.probe_budget.set_share(instances, sum(reader.share for reader in self._background))
        for reader in self._background:
            reader.instances = instances or 1

    def _read_blocking(
        self, results: Results, failures: list[ProbeFailure], *, shown: bool, sees_waits: bool
    ) -> tuple[tuple[BlockingSample, ...] | None, float]:
        """Return the waiting and blocking sessions, and how long reading them took, in milliseconds on this machine.

        ``shown``: the screen shows statements, so that long statement texts are also read for waiting sessions.
        ``sees_waits``: the result of ``waits`` covers every session. If so, and if no session waits for a lock, nothing
        more is read.
        """
        waits = results.get(("", "waits"))
        if waits is None or not self._statements.has_probe("blocking"):
            return None, 0.0
        # Without permission to see other sessions, `waits` lacks their waits. The lock table still contains their
        # waits.
        if sees_waits and not any(wait.kind == "Lock" for wait in waits):
            return (), 0.0
        began = self._clock()
        statement = self._statements.statement_for_target(
            "blocking", {"chars": _STATEMENT_CHARS, "waiters": 1} if shown else None
        )
        if not self.probe_budget.admit_follow_up(statement.key):
            return None, 0.0
        rows = self._run_additional([statement], failures).get(("", "blocking"))
        if rows is not None:
            rows = tuple(replace(row, statement=hide_passwords(row.statement)) for row in rows)
        return rows, (self._clock() - began) * 1000

    def _read_new_operations(
        self, known_pauses: PausesKnown | None, results: Results, failures: list[ProbeFailure]
    ) -> None:
        """Read the operations in the poll that first finds their table. The first operation creates this table."""
        if known_pauses is not None:
            if known_pauses.operations and not self._operations:
                results.update(self._run_additional([self._statements.statement_for("operated")], failures))
            self._operations = known_pauses.operations

    def count_again(self, queue: str) -> None:
        """Make the next poll count all messages of this queue, including dead and scheduled messages."""
        if (probes := self._queues.get(queue)) is not None:
            probes.memo.asked_at.clear()

    def _with_default_listing(self, focus: ReadScope) -> ReadScope:
        """Set ``listing`` to a page of messages if no index supports the default list."""
        probes = self._queues.get(focus.rows_of or "")
        if probes is None or focus.listing is not None or probes.can_list_rows:
            return focus
        return replace(focus, listing=default_listing(probes.layout))

    def _reread_page(self, results: Results, failures: list[ProbeFailure], focus: ReadScope) -> None:
        """Read the requested page in another order if more rows have the same sort value than were scanned."""
        probes = self._queues.get(focus.rows_of or "")
        if probes is None or focus.listing is None:
            return
        probes.page_read = closer_listing(probes, focus.listing, results)
        if probes.page_read is not None:
            asked = statements_for_page(self._statements, probes, probes.page_read)
            for each in asked:
                results.pop(each.key, None)
            results.update(self._run_additional(asked, failures))

    def _run_additional(self, statements: list[ProbeStatement], failures: list[ProbeFailure]) -> Results:
        """Run the additional statements that results of this poll have made necessary."""
        of_poll = self._runner.one_trip, self._runner.missed
        clock = self._statements.statement_for_target("clock")
        found, failed = self._runner.run_statements([*statements, clock], [each.key for each in statements], later=True)
        self._runner.one_trip, self._runner.missed = of_poll
        self.probe_budget.record_times(self._runner.times, self._runner.times_alone, None)
        failures += failed
        return found

    def _statements_for_poll(self, now: float, focus: ReadScope) -> list[ProbeStatement]:
        statements = [self._statements.statement_for_target("server")]
        queues = {name: self._queues[name] for name in self._queues_read}
        facts = [probes.facts for probes in queues.values()]
        tables = [table for each in facts for table in each.tables] + self._groups.counter_tables
        if tables:
            named = {probes.facts.table_id: probes.names for probes in queues.values()}
            statements += table_counters.statements_for_counters(self._statements, tables, named)
        sequences = [f.sequence_id for f in facts if f.sequence_id is not None]
        if sequences:
            statements.append(self._locked_tables.statement_for_sequences(sequences))
        for name, probes in queues.items():
            rows = ROW_LIMIT if focus.rows_of == name and focus.listing is None else None
            statements += probes.statements_for_poll(
                now, self._sessions, rows, only_presence=name in self._checked_briefly
            )
            if focus.rows_of == name and focus.listing is not None:
                statements += statements_for_page(self._statements, probes, focus.listing)
            statements += probes.statements_for_newest_id() if self._standby else []
        statements += self._groups.statements_for_poll(
            now, focus.rows_of, ROW_LIMIT, focus.listing, workers=focus.consumers
        )
        statements += statements_for_replica(self._statements) if self._standby else []
        if any(pops_in_transaction(probes.layout) or probes.locked_rows_probe_name for probes in self._queues.values()):
            statements.append(self._statements.statement_for_target("writers"))
        statements += self._procedure_probes.statements_for_poll(now, self._queues)
        statements += self._target_probes.statements_for_poll(now, self._table_ids())
        statements += self._statements.optional_statements_for("server_counters")
        statements += self._row_locks.statements_for_poll(now, self._queues, focus)
        statements += self._message_probes.statements_for_poll(now, queues, self._checked_briefly)
        statements.append(self._statements.statement_for("pauses_known"))
        if self._pauses:  # the first pause creates the table
            statements.append(self._statements.statement_for("pauses"))
        if self._operations:  # read after the counters, so that these rows include every operation in the counters
            statements.append(self._statements.statement_for("operated"))
        statements.append(self._statements.statement_for_target("waits"))
        statements.append(self._statements.statement_for_target("clients", self._clients.values_for_poll(now)))
        statements += self._server_probes.statements_for_poll(now, tables, focus, every_s=self._turns.every_s)
        statements += self._statements.statements_for_tables("partial", [*tables, *self._groups.tables])
        statements += self._replaced_tables.statements_for_poll()
        statements += self._permissions.statements_for_poll(
            {name: probes.facts for name, probes in self._queues.items()}
        )
        statements.append(self._statements.statement_for_target("cost"))
        statements.append(self._statements.statement_for_target("clock"))
        return statements

    def _table_ids(self) -> list[int]:
        """Return the table ids of all queues, including queues that this poll does not read."""
        return [
            table for probes in self._queues.values() for table in probes.facts.tables
        ] + self._groups.counter_tables

    def _completely_read(self, results: Results, started: float) -> Collection[str]:
        """Return the queues that this poll has read completely.

        If the check for messages finds messages in a queue, the next poll reads that queue completely.
        """
        if not self._turns.every_s:
            return self._queues_read
        read = set(self._queues_read) - {queue for queue, _ in self._runner.missed}
        for name in tuple(read):
            probes = self._queues[name]
            probes.memo.idle = probes.is_idle(results)
            if name in self._checked_briefly and not probes.memo.idle:
                read.discard(name)
                self._turns.read_again_soon(name)
        self._turns.record_read(read, started)
        return read

    def _queue_samples(
        self,
        probes: QueueProbes,
        results: Results,
        indexed: IndexedResults,
        now_at: float,
        focus: ReadScope,
        failures: list[ProbeFailure],
    ) -> QueueSamples:
        """Return the samples of one queue. If this raises, all figures are unknown for that reason."""
        guard = DefectGuard(partial(log.report_defect, once=True))
        queue = guard.attempt(
            "samples",
            lambda: self._filing.samples_for(probes, results, indexed, now_at, focus),
            lambda reason: QueueSamples(probes.layout, unknown=dict.fromkeys(_FIGURES, reason)),
        )
        failures += guard.failures(probes.layout.queue)
        return queue

    def _own_cost(self, results: Results) -> CostSample:
        """Return the cost of our own session since the previous poll."""
        cost = first_record(results, "cost")
        before = self._cost
        if cost is None:
            return CostSample(None)
        self._cost = cost
        if before is None:
            return CostSample(None)
        return CostSample(_increase(before.buffers, cost.buffers), _increase(before.cpu_ms, cost.cpu_ms))


def _increase(before: int | None, now: int | None) -> int | None:
    return now - before if before is not None and now is not None and now >= before else None


def _server_sample(results: Results, failures: Sequence[ProbeFailure]) -> ServerSample:
    """Return the server's own state. Raises ``QueryFailed`` if it was not read, because every poll needs its clock."""
    server: ServerSample | None = first_record(results, "server")
    if server is None:
        reason = next((f.reason for f in failures if f.probe == "server"), CollectorText.NO_ANSWER)
        raise QueryFailed(CollectorText.SERVER_UNREAD.render(reason=reason), query="probe/server")
    return server
