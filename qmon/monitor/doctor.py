"""Run every probe once by itself, and report which work, how long they take, and what is missing for the others."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from qmon.engines.base import Bound, Connection, Engine, Session
from qmon.engines.rows import records
from qmon.engines.sql import queries
from qmon.errors import NoConnectionLeft, PermissionMissing, QueryFailed
from qmon.model.counts import PartSample
from qmon.model.groups.configured import ConfiguredQueue
from qmon.model.guard import DEFECT
from qmon.model.samples.polled import (
    PartialSample,
    ReplicaSample,
    ServerSample,
)
from qmon.model.samples.server_state import SettingSample
from qmon.model.samples.usage import NamingSample, SizeSample, UseSample
from qmon.model.standby import standby_of
from qmon.monitor.background.exact_counts import ExactCounts
from qmon.monitor.background.fragmentation import FragmentationReader
from qmon.monitor.background.plans import PlanReader
from qmon.monitor.background.scan import Scan, parts_of
from qmon.monitor.catalog.catalog import Catalog
from qmon.monitor.catalog.newest_times import compared_tables
from qmon.monitor.catalog.resolve import Resolved, resolve
from qmon.monitor.catalog.wanted_indexes import proposals
from qmon.monitor.poll.collector import Collector
from qmon.monitor.poll.standby import replica, with_replica
from qmon.monitor.probes import table_counters
from qmon.monitor.probes.groups import GroupProbes
from qmon.monitor.probes.locks import Locks
from qmon.monitor.probes.own_reads import OwnUses
from qmon.monitor.probes.queue import QueueProbes, Spec
from qmon.monitor.probes.statements import ProbeStatement, StatementCache
from qmon.monitor.probes.target_probes import SETTINGS, TARGET_PROBES
from qmon.monitor.source import Focus
from qmon.monitor.state.target import TargetHistory

# The use of each connection of `qmon connect`, in the order in which they are opened.
GIVES: Final = (
    "all that a poll reads",
    "exact counts of deep queues, the full search for the oldest message, and the catalog read anew beside the polls",
    "what sessions wait for over time, where the server counts no waits",
    "acting while the dashboard is open",
)


def room(connect: Callable[[], Connection]) -> int:
    """Return how many of these connections are available, including the one already open.

    Each is opened and closed again.

    Raises whatever connecting raises, except ``NoConnectionLeft``.
    """
    made: list[Connection] = []
    try:
        while len(made) + 1 < len(GIVES):
            made.append(connect())
    except NoConnectionLeft:
        pass
    finally:
        for connection in made:
            connection.close()
    return len(made) + 1


@dataclass(frozen=True, slots=True)
class Right:
    """One permission. ``grant``: the statement that grants it. qmon never runs it."""

    name: str
    held: bool
    gives: str
    grant: str


def rights(connection: Connection, engine: Engine) -> tuple[Right, ...]:
    """Return the permissions for this engine and version, the most useful first. Raises as ``Connection.fetch``."""
    query = queries.load(engine.name, "catalog/rights", connection.version)
    statement = queries.render(query, {}, engine)
    return tuple(records(Right, connection.fetch(Bound(statement))))


_FEW_PAGES: Final = 16
_INTERVAL_S: Final = 2.0


@dataclass(frozen=True, slots=True)
class Check:
    """One line of a checkup.

    ``queue`` is empty for the whole target. ``ms``: how long the probe took, measured on this machine; ``None`` if it
    did not run. ``problem``: what is wrong, empty if it works. ``grant``: the statement that would help, or empty.
    ``expected``: the layout rules the figure out, which is not an error. ``index``: the statement that creates an index
    for the figures that scans of the table must count, or empty.
    """

    probe: str
    queue: str = ""
    ms: float | None = None
    problem: str = ""
    grant: str = ""
    expected: bool = False
    index: str = ""


def pollers(connection: Connection, engine: Engine) -> int | None:
    """Return how many qmon instances poll the database now; ``None``: our role cannot see them. Raises as ``fetch``."""
    statement = StatementCache(engine, connection.version).of_target("server")
    return records(ServerSample, connection.fetch(statement.bound))[0].pollers


@dataclass(frozen=True, slots=True)
class Checkup:
    """The results of a checkup. ``settings``: of the server, the database and the queues' tables; empty: not read."""

    checks: list[Check]
    settings: tuple[SettingSample, ...]


def checkup(connection: Connection, engine: Engine, configured: Sequence[ConfiguredQueue]) -> Checkup:
    """Run every probe of the target and of each of its queues once.

    Raises ``ConnectionLost``, and whatever reading the catalog raises.
    """
    statements = StatementCache(engine, connection.version)
    named = [name for name, probe in TARGET_PROBES.items() if not probe.in_pool]
    checks = [_run(connection, each) for name in named for each in statements.optional(name)]
    checks += _standby(connection, statements)
    began = time.perf_counter()
    resolved = resolve(connection, engine, configured)
    checks.append(Check("catalogue", ms=(time.perf_counter() - began) * 1000))
    checks += [Check(p.probe, p.queue, problem=p.reason, grant=p.grant) for p in resolved.problems]
    for layout in resolved.layouts:
        spec = Spec(layout, resolved.facts[layout.queue])
        checks += _of_queue(connection, engine, statements, spec)
    for found in resolved.groups:
        probes = GroupProbes(statements, found)
        checks += [_run(connection, each) for each in probes.wanted(time.monotonic(), found.group.name, 10)]
        checks += _seen_in_part(connection, statements, found.group.name, [table for _, table in found.tables])
    checks += _folded(connection, engine, resolved)
    checks += _times(connection, engine, resolved)
    return Checkup(checks, _settings(connection, engine, statements, resolved))


def _settings(
    connection: Connection, engine: Engine, statements: StatementCache, resolved: Resolved
) -> tuple[SettingSample, ...]:
    """Return the settings that affect a queue, including those of all tables; empty if they cannot be read."""
    tables = [table for facts in resolved.facts.values() for table in facts.tables]
    tables += [found.table_id for found in resolved.groups]
    try:
        asked = statements.of_target(SETTINGS, {"tables": engine.ids(tables or (0,))})
        return tuple(records(SettingSample, connection.fetch(asked.bound)))
    except QueryFailed:
        return ()  # the check of the probe gives the reason


def _times(connection: Connection, engine: Engine, resolved: Resolved) -> Iterator[Check]:
    """Compare the newest rows with the clock, for columns of times whose zone is unknown."""
    lines = compared_tables(Catalog(connection, engine), resolved.layouts)
    for layout in resolved.layouts:
        for line in lines.get(layout.table, ()):
            yield Check("(times)", layout.queue, problem=line, expected=True)


def _folded(connection: Connection, engine: Engine, resolved: Resolved) -> Iterator[Check]:
    """Return the figures and rules that raise an exception when one poll is read and evaluated."""

    def refuse(_: Session) -> Connection:
        raise NoConnectionLeft("one poll needs no background reader")

    collector = Collector("doctor", engine, connection, ExactCounts(engine, refuse))
    collector.use(resolved)
    try:
        snapshot = collector.collect(1, _INTERVAL_S, Focus())
    except QueryFailed:
        return  # the checks of the probes give the reason
    for queue in TargetHistory().add(snapshot).queues:
        for failure in queue.failures:
            if failure.probe.startswith(DEFECT):
                yield Check(failure.probe, failure.queue, problem=failure.reason)


def _of_queue(connection: Connection, engine: Engine, statements: StatementCache, spec: Spec) -> Iterator[Check]:
    queue, facts = spec.layout.queue, spec.facts
    probes = QueueProbes(statements, spec)
    if not spec.layout.routines and statements.has("routines_of_tables"):
        tables = {"tables": engine.ids(facts.tables)}
        found = _run(connection, statements.of("routines_of_tables", NamingSample, tables))
        # only a database owner has that permission by default, and only one figure of one screen needs it
        yield replace(found, queue=queue, expected=bool(found.grant))
    asked = table_counters.wanted(statements, facts.tables) + statements.of_tables("uses", UseSample, facts.tables)
    asked += statements.of_tables("sizes", SizeSample, facts.tables)
    for each in asked:
        yield _run(connection, replace(each, queue=queue))
    yield from _seen_in_part(connection, statements, queue, facts.tables)
    for each in (*probes.wanted(time.monotonic(), 1, 10), *Locks(statements).checks(queue, probes)):
        yield _run(connection, replace(each, queue=queue))
    yield from _fragmentation(connection, engine, statements, spec)
    yield from _plans(connection, engine, statements, spec)
    yield from _scans(connection, engine, statements, spec)
    for figure, reason in (*facts.slow.items(), *facts.unknown.items()):
        yield Check(f"({figure})", queue, problem=reason, expected=True)


def _seen_in_part(
    connection: Connection, statements: StatementCache, queue: str, tables: Sequence[int]
) -> Iterator[Check]:
    """Return the tables and columns of which the server hides rows or values from our role, or may."""
    for statement in statements.of_tables("partial", PartialSample, tables):
        for found in records(PartialSample, connection.fetch(statement.bound)):
            if found.column_name is None:
                problem = f"{found.why}: each figure from rows is at least so much; {found.helps}"
                yield Check("(rows)", queue, problem=problem)
            else:
                problem = f"{found.why}: figures made of it are unknown; {found.helps}"
                yield Check(f"({found.column_name})", queue, problem=problem)


def _standby(connection: Connection, statements: StatementCache) -> Iterator[Check]:
    """Return what is unknown on a standby, and how old the rest is."""
    try:
        server = records(ServerSample, connection.fetch(statements.of_target("server").bound))[0]
    except QueryFailed:
        return
    if server.in_recovery and (asked := replica(statements)):
        found: list[ReplicaSample] = []
        yield _timed("replica", "", lambda: found.extend(records(ReplicaSample, connection.fetch(asked[0].bound))))
        server = with_replica(server, found)
    if (standby := standby_of(server)) is not None:
        how = standby.words or "up to date"
        problem = f"a standby, {how}: counters, sequences and sessions are its primary's, and nothing can be changed"
        yield Check("(standby)", problem=problem, expected=not standby.words)


def _scans(connection: Connection, engine: Engine, statements: StatementCache, spec: Spec) -> Iterator[Check]:
    """Run the first range of a scan, if figures come from scans, and propose indexes that would replace scans."""
    if not spec.facts.scanned:
        return
    parts: list[PartSample] = []
    yield _timed("scan_parts", spec.layout.queue, lambda: parts.extend(parts_of(connection, statements, spec)))
    scan = Scan(statements, spec, parts)
    if scan.by_range:
        yield _timed("scan", spec.layout.queue, lambda: scan.step(connection, OwnUses(), _FEW_PAGES))
    partitioned = bool(parts) and all(part.part_id != spec.facts.table_id for part in parts)
    for each in proposals(spec.layout, spec.facts, engine, partitioned=partitioned):
        figures = ", ".join(each.figures)
        yield Check(
            f"({figures})", spec.layout.queue, problem="an index is missing", expected=True, index=each.statement
        )


def _fragmentation(connection: Connection, engine: Engine, statements: StatementCache, spec: Spec) -> Iterator[Check]:
    """Read the fragmentation of one index, if the engine has such a probe."""
    fragments = FragmentationReader(engine)
    if fragments.able:
        yield _timed("fragmentation", spec.layout.queue, lambda: fragments.read(connection, statements, spec))


def _plans(connection: Connection, engine: Engine, statements: StatementCache, spec: Spec) -> Iterator[Check]:
    """Read the plans of the queue's pops, if the engine records them."""
    plans = PlanReader(engine)
    if plans.able:
        yield _timed("plans", spec.layout.queue, lambda: plans.read(connection, statements, spec))
        for each in plans.read_since():
            if each.unread:
                yield Check("(plans)", each.queue, problem=each.unread, expected=True)


def _run(connection: Connection, statement: ProbeStatement) -> Check:
    return _timed(
        statement.probe, statement.queue, lambda: records(statement.record, connection.fetch(statement.bound))
    )


def _timed(probe: str, queue: str, read: Callable[[], object]) -> Check:
    began = time.perf_counter()
    try:
        read()
    except QueryFailed as problem:
        grant = problem.grant if isinstance(problem, PermissionMissing) else ""
        return Check(probe, queue, problem=str(problem), grant=grant)
    return Check(probe, queue, ms=(time.perf_counter() - began) * 1000)
