"""Collect one snapshot: choose the statements, run them, and file the results by queue."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from functools import partial
from typing import Final

from qmon import log
from qmon.engines.base import Connection, Engine
from qmon.errors import QueryFailed
from qmon.model.budget import Budget
from qmon.model.first_list import first_list
from qmon.model.guard import Guard
from qmon.model.queue_figures import QUEUE_FIGURES
from qmon.model.rates.flow import pops_in_transaction
from qmon.model.samples.counters import ServerCounters, with_counters, with_threadless
from qmon.model.samples.polled import (
    BlockingSample,
    CostSample,
    OperatedSample,
    PartialSample,
    PauseSample,
    PausesKnown,
    ServerSample,
)
from qmon.model.snapshot import ProbeFailure, QueueSamples, Snapshot
from qmon.monitor.background.exact_counts import ExactCounts
from qmon.monitor.background.wait_sampler import WaitSampler
from qmon.monitor.catalog.resolve import Resolved
from qmon.monitor.poll.budget import ProbeBudget, Sharing
from qmon.monitor.poll.locked import LockedTables
from qmon.monitor.poll.permissions import PermissionRecheck
from qmon.monitor.poll.quarantine import InFlightProbe
from qmon.monitor.poll.queue_samples import QueueFiling
from qmon.monitor.poll.replaced import Replaced
from qmon.monitor.poll.runner import Runner
from qmon.monitor.poll.server import ClientsAsked, ServerProbes
from qmon.monitor.poll.standby import replica, seen_from_standby
from qmon.monitor.poll.turns import AT_ONCE, Turns
from qmon.monitor.poll.withheld import withhold_partial
from qmon.monitor.probes import table_counters
from qmon.monitor.probes.broker import BrokerProbes
from qmon.monitor.probes.groups import Groups
from qmon.monitor.probes.listing import closer, page_statement
from qmon.monitor.probes.locks import Locks
from qmon.monitor.probes.messages import MessageProbes
from qmon.monitor.probes.procedures import Procedures
from qmon.monitor.probes.queue import QueueProbes, Spec
from qmon.monitor.probes.server_state import ServerStateProbes
from qmon.monitor.probes.statements import Found, ProbeStatement, Results, StatementCache, first, found_in
from qmon.monitor.source import ROW_LIMIT, Focus
from qmon.redact import hide_passwords

# Keys of `QueueSamples.unknown`. `rates` stands for every rate that is derived from counters.
_FIGURES: Final = (*(figure.field for figure in QUEUE_FIGURES), "rates")
_MOVED: Final = "its table has another name now, or is gone, or our role may not read it any more"
_STATEMENT: Final = 1000


class Collector:
    """Poll one target over one connection. Use it only in the thread that owns the connection."""

    def __init__(
        self,
        target: str,
        engine: Engine,
        connection: Connection,
        slow: ExactCounts,
        clock: Callable[[], float] = time.monotonic,
        sampler: WaitSampler | None = None,
        budget: Budget | None = None,
        commits: Callable[[], int] = int,
        suspicion: InFlightProbe | None = None,
        at_once: int = AT_ONCE,
    ) -> None:
        self._target = target
        self._engine = engine
        self._connection = connection
        self._slow = slow
        self._clock = clock
        self._statements = StatementCache(engine, connection.version)
        self._messages = MessageProbes(self._statements)
        self._runner = Runner(connection, suspicion, by_text=engine.plans_by_text)
        self._turns = Turns(at_once)
        # The queues that this poll reads.
        self._read: Collection[str] = ()
        # Those of them that had no message lately. This poll only checks whether they have one.
        self._brief: frozenset[str] = frozenset()
        self._unread: dict[str, QueueSamples] = {}
        self._permissions = PermissionRecheck(self._statements, self._runner)
        self._replaced = Replaced(self._statements)
        self._locked = LockedTables(self._statements, self._runner.wake)
        self._standby = False
        self._anew: frozenset[str] = frozenset()
        # The last poll found a different table behind a queue's name: resolve, call `watch_queues`, and collect again.
        self.stale = False
        self.observer = ProbeBudget(budget)
        self._commits = commits if engine.counts_reads else int
        self._server = ServerProbes(self._statements, sampler, slow.own)
        self._queues: dict[str, QueueProbes] = {}
        self._problems: tuple[ProbeFailure, ...] = ()
        self._lost: tuple[QueueSamples, ...] = ()
        self._sessions = 0
        self._pauses = self._operations = False
        self._paused: tuple[PauseSample, ...] = ()
        self._cost: CostSample | None = None
        self._sharing = Sharing()
        self._background = (slow,) if sampler is None else (slow, sampler)
        self._locks = Locks(self._statements)
        self._filing = QueueFiling(engine, slow, self.observer, self._locks, self._messages, self._server)
        self._clients = ClientsAsked()
        self._procedures = Procedures(self._statements)
        self._broker = BrokerProbes(self._statements)
        self._state = ServerStateProbes(self._statements)
        self._groups = Groups(self._statements, self.observer.cost_s)
        self._first = True

    def use(self, resolved: Resolved) -> tuple[Spec, ...]:
        """Watch the resolved queues from the next poll on, and return them with their facts.

        State of unchanged queues is kept. A lost queue stays on the screen, with the reason.
        """
        specs = tuple(Spec(layout, resolved.facts[layout.queue]) for layout in resolved.layouts)
        wanted = {spec.layout.queue: spec for spec in specs}
        same = {n: p for n, p in self._queues.items() if p.spec == wanted.get(n) and n not in self._anew}
        for name in self._anew:
            self._slow.forget(name)
        kept = [table for probes in same.values() for table in probes.facts.tables]
        self._statements.keep(same, kept)
        self._server.keep(kept)
        self._queues = {name: same.get(name) or QueueProbes(self._statements, spec) for name, spec in wanted.items()}
        self._unread = {name: QueueSamples(spec.layout, unread=True) for name, spec in wanted.items()}
        self._turns.keep(same)
        self._messages.keep(self._queues)
        for name in wanted.keys() - same.keys():
            self._runner.wake(name)
        self._problems = resolved.problems
        reasons = {problem.queue: dict.fromkeys(_FIGURES, problem.reason) for problem in resolved.problems}
        lost = (*resolved.lost, *resolved.unread)
        self._lost = tuple(QueueSamples(layout, unknown=reasons[layout.queue]) for layout in lost)
        self._replaced.use(self._queues, [layout.table for layout in resolved.lost])
        self._anew = frozenset()
        groups = self._groups.use(resolved.groups)
        self._runner.keep({*self._queues, *groups}, [table for spec in specs for table in spec.facts.tables])
        return specs

    def collect(self, sequence: int, interval_s: float, focus: Focus) -> Snapshot:
        """Run one poll. Raises ``ConnectionLost``, or ``QueryFailed`` if not even the server's clock can be read."""
        started, focus = self._clock(), self._listing(focus)
        self._slow.apply(self._queues, self.observer.cost_s)
        self._read = self._turns.choose(self._queues, focus, started, interval_s)
        self._brief = frozenset(name for name in self._turns.others if self._queues[name].memo.idle)
        statements = self.observer.choose(
            self._wanted(started, focus),
            interval_s,
            focus.watched | self._groups.of(focus.watched),
            self._turns.every_s,
            self._turns.looked_at,
        )
        commits = self._commits()
        results, failures = self._runner.run(statements, self.observer.timed())
        self.observer.missed(self._runner.missed)
        table_counters.spread(results)
        self._locked.see(results, failures)
        self._permissions.see(results)
        counters: ServerCounters | None = first(results, "server_counters")
        server = with_counters(_server_of(results, failures), counters)
        self._share(server)
        clock = first(results, "clock")
        one_trip = self._runner.one_trip and clock is not None
        server_ms = (clock.now_at - server.now_at) * 1000 if one_trip else None
        self.observer.learn(self._runner.times, self._runner.alone, server_ms, server.now_at)
        blocking, extra_ms = self._blocking(results, failures, shown=focus.blocking, sees_waits=server.sees_sessions)
        self._come_closer(results, failures, focus)
        self._locks.learn(results, self._queues, lambda more: self._ask(more, failures))
        self._sessions = server.sessions or 0
        self._messages.learn(results, self._clock())
        known = first(results, "pauses_known")
        self._pauses = self._pauses if known is None else known.readable
        self._see_operations(known, results, failures)
        self._paused = results.get(("", "pauses"), self._paused if self._pauses else ())
        more = self._server.found(results, server, one_trip=one_trip)
        procedures, unread = self._procedures.learn(results, failures)
        state, state_unread = self._state.learn(results, failures, server.now_at)
        found = found_in(results)
        read = self._seen(results, started)
        queues = tuple(
            self._filed(probes, results, found, server.now_at, focus, failures) if name in read else self._unread[name]
            for name, probes in self._queues.items()
        )
        self._standby = server.in_recovery
        uncounted = self._standby or not server.counts
        queues = self._filing.counting(queues, self._queues, server.now_at, uncounted=uncounted)
        for group, of_group in self._groups.samples(results, started, server.now_at, found.counters):
            queues += self._filing.of_group(of_group, group, found)
        failures = self._locked.named(failures, self._queues, lambda more: self._ask(more, failures))
        failures = self._groups.failures(failures)
        spent = self._spent(results)
        replaced = self._replaced.see(self._queues, results)
        self._anew, self.stale = replaced or frozenset(), replaced is not None
        failures += [ProbeFailure("table", _MOVED, queue, gone=True) for queue in sorted(self._replaced.gone)]
        reported = () if self.stale else self._slow.deadlocks(server.deadlocks, server.now_at)
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
            interval_s=self.observer.interval_s,
            server=server,
            queues=(*queues, *self._lost),
            waits=with_threadless(results.get(("", "waits")), counters),
            blocking=blocking,
            writers=results.get(("", "writers")),
            cost=first(results, "cost"),
            pauses=tuple(each for each in self._paused if each.until_at > server.now_at),
            operated=results.get(("", "operated")),
            clients=results.get(("", "clients")),
            failures=(
                *failures,
                *unread,
                *state_unread,
                *self._problems,
                *self._slow.failures(),
                *more.failures,
            ),
            uses=more.uses,
            statistics=more.statistics,
            horizon=more.horizon,
            waits_total=more.waits,
            procedures=procedures,
            fragments=self._slow.fragments(),
            plans=self._slow.plan_reader.read_since(),
            jobs=self._slow.job_reader.known(),
            blocked=self._slow.blocked.known(),
            circles=(*more.circles, *reported),
            latches=more.latches,
            version_store=more.version_store,
            server_counters=counters,
            broker=self._broker.learn(results, server.now_at),
            observing=self.observer.observing(commits),
            first=self._first,
            every_s=self._turns.every_s,
            server_state=state,
        )
        self._first = self._first and self.stale
        snapshot = withhold_partial(snapshot, self._engine.grant_to_see(server.role, self._connection.version))
        return seen_from_standby(snapshot, results) if self._standby else snapshot

    def _share(self, server: ServerSample) -> None:
        """Divide the cost budget among all qmon instances that poll this database."""
        qmons = self._sharing.see(server.now_at, server.pollers)
        self.observer.share(qmons, sum(reader.share for reader in self._background))
        for reader in self._background:
            reader.qmons = qmons or 1

    def _blocking(
        self, results: Results, failures: list[ProbeFailure], *, shown: bool, sees_waits: bool
    ) -> tuple[tuple[BlockingSample, ...] | None, float]:
        """Return the waiting and blocking sessions, and the milliseconds it took to read them on this machine.

        ``shown``: the screen shows statements, so read long statement texts, also those of waiting sessions.
        ``sees_waits``: ``waits`` covers every session, so nothing needs to be read if no session waits for a lock.
        """
        waits = results.get(("", "waits"))
        if waits is None or not self._statements.has("blocking"):
            return None, 0.0
        # Without permission to see other sessions, their waits are missing here. The lock table still has them.
        if sees_waits and not any(wait.kind == "Lock" for wait in waits):
            return (), 0.0
        began = self._clock()
        statement = self._statements.of_target("blocking", {"chars": _STATEMENT, "waiters": 1} if shown else None)
        if not self.observer.due(statement.key):
            return None, 0.0
        rows = self._ask([statement], failures).get(("", "blocking"))
        if rows is not None:
            rows = tuple(replace(row, statement=hide_passwords(row.statement)) for row in rows)
        return rows, (self._clock() - began) * 1000

    def _see_operations(self, known: PausesKnown | None, results: Results, failures: list[ProbeFailure]) -> None:
        """Read the operations in the same poll that finds their table, which is created by the first operation."""
        if known is not None:
            if known.operations and not self._operations:
                results.update(self._ask([self._statements.of("operated", OperatedSample)], failures))
            self._operations = known.operations

    def count_again(self, queue: str) -> None:
        """Make the next poll count all messages of this queue, including dead and scheduled ones."""
        if (probes := self._queues.get(queue)) is not None:
            probes.memo.counted_at = float("-inf")

    def _listing(self, focus: Focus) -> Focus:
        """Request a page of messages if no index supports the default list."""
        probes = self._queues.get(focus.rows_of or "")
        if probes is None or focus.listing is not None or probes.lists_rows:
            return focus
        return replace(focus, listing=first_list(probes.layout))

    def _come_closer(self, results: Results, failures: list[ProbeFailure], focus: Focus) -> None:
        """Read the requested page again if more rows share one value than were scanned."""
        probes = self._queues.get(focus.rows_of or "")
        if probes is None or focus.listing is None:
            return
        probes.page_read = closer(probes, focus.listing, results)
        if probes.page_read is not None:
            asked = page_statement(self._statements, probes, probes.page_read)
            for each in asked:
                results.pop(each.key, None)
            results.update(self._ask(asked, failures))

    def _ask(self, statements: list[ProbeStatement], failures: list[ProbeFailure]) -> Results:
        """Run more statements in this poll, because of what it has found."""
        of_poll = self._runner.one_trip, self._runner.missed
        clock = self._statements.of_target("clock")
        found, failed = self._runner.run([*statements, clock], [each.key for each in statements], later=True)
        self._runner.one_trip, self._runner.missed = of_poll
        self.observer.learn(self._runner.times, self._runner.alone, None)
        failures += failed
        return found

    def _wanted(self, now: float, focus: Focus) -> list[ProbeStatement]:
        statements = [self._statements.of_target("server")]
        queues = {name: self._queues[name] for name in self._read}
        facts = [probes.facts for probes in queues.values()]
        tables = [table for each in facts for table in each.tables] + self._groups.counted
        if tables:
            named = {probes.facts.table_id: probes.names for probes in queues.values()}
            statements += table_counters.wanted(self._statements, tables, named)
        sequences = [f.sequence_id for f in facts if f.sequence_id is not None]
        if sequences:
            statements.append(self._locked.sequences(sequences))
        for name, probes in queues.items():
            rows = ROW_LIMIT if focus.rows_of == name and focus.listing is None else None
            statements += probes.wanted(now, self._sessions, rows, brief=name in self._brief)
            if focus.rows_of == name and focus.listing is not None:
                statements += page_statement(self._statements, probes, focus.listing)
            statements += probes.newest_id() if self._standby else []
        statements += self._groups.wanted(now, focus.rows_of, ROW_LIMIT, focus.listing)
        statements += replica(self._statements) if self._standby else []
        if any(pops_in_transaction(probes.layout) or probes.held_probe for probes in self._queues.values()):
            statements.append(self._statements.of_target("writers"))
        statements += self._procedures.wanted(now, self._queues)
        statements += self._broker.wanted(now) + self._state.wanted(now, self._tables())
        statements += self._statements.optional("server_counters")
        statements += self._locks.wanted(now, self._queues, focus)
        statements += self._messages.wanted(now, queues, self._brief)
        statements.append(self._statements.of("pauses_known", PausesKnown))
        if self._pauses:  # the first pause creates the table
            statements.append(self._statements.of("pauses", PauseSample))
        if self._operations:  # read after the counters, so the counters include no operation that is missing here
            statements.append(self._statements.of("operated", OperatedSample))
        statements.append(self._statements.of_target("waits"))
        statements.append(self._statements.of_target("clients", self._clients.asked(now)))
        statements += self._server.wanted(now, tables, focus, every_s=self._turns.every_s)
        statements += self._statements.of_tables("partial", PartialSample, [*tables, *self._groups.tables])
        statements += self._replaced.wanted()
        statements += self._permissions.wanted({name: probes.facts for name, probes in self._queues.items()})
        statements.append(self._statements.of_target("cost"))
        statements.append(self._statements.of_target("clock"))
        return statements

    def _tables(self) -> list[int]:
        """Return the table ids of all queues, including queues that this poll does not read."""
        return [table for probes in self._queues.values() for table in probes.facts.tables] + self._groups.counted

    def _seen(self, results: Results, started: float) -> Collection[str]:
        """Return the queues that this poll has read completely.

        A queue that was only checked for messages and has some again is read completely in the next poll.
        """
        if not self._turns.every_s:
            return self._read
        read = set(self._read) - {queue for queue, _ in self._runner.missed}
        for name in tuple(read):
            probes = self._queues[name]
            probes.memo.idle = probes.idle(results)
            if name in self._brief and not probes.memo.idle:
                read.discard(name)
                self._turns.again(name)
        self._turns.read(read, started)
        return read

    def _filed(
        self,
        probes: QueueProbes,
        results: Results,
        found: Found,
        now_at: float,
        focus: Focus,
        failures: list[ProbeFailure],
    ) -> QueueSamples:
        """Return the samples of one queue. If filing raises, the exception becomes the reason of all its figures."""
        guard = Guard(partial(log.report, once=True))
        queue = guard.attempt(
            "samples",
            lambda: self._filing.of(probes, results, found, now_at, focus),
            lambda reason: QueueSamples(probes.layout, unknown=dict.fromkeys(_FIGURES, reason)),
        )
        failures += guard.failures(probes.layout.queue)
        return queue

    def _spent(self, results: Results) -> CostSample:
        """Return what our own session has cost since the previous poll."""
        cost = first(results, "cost")
        before = self._cost
        if cost is None:
            return CostSample(None)
        self._cost = cost
        if before is None:
            return CostSample(None)
        return CostSample(_more(before.buffers, cost.buffers), _more(before.cpu_ms, cost.cpu_ms))


def _more(before: int | None, now: int | None) -> int | None:
    return now - before if before is not None and now is not None and now >= before else None


def _server_of(results: Results, failures: Sequence[ProbeFailure]) -> ServerSample:
    """Return the server's own state. Raises ``QueryFailed`` if it could not be read, because then there is no clock."""
    server: ServerSample | None = first(results, "server")
    if server is None:
        reason = next((f.reason for f in failures if f.probe == "server"), "no answer")
        raise QueryFailed(f"the server's own state cannot be read: {reason}", query="probe/server")
    return server
