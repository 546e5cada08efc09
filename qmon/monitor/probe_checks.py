"""Run each probe once on its own, and report its time, or the problem and the missing permission."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from qmon.engines.base import Bound, Connection, Engine, Session
from qmon.engines.result_records import to_records
from qmon.engines.sql import queries
from qmon.errors import NoConnectionLeft, PermissionMissing, QueryFailed
from qmon.model.counts import PartSample
from qmon.model.defect_guard import DEFECT_PREFIX
from qmon.model.groups.configured_queue import ConfiguredQueue
from qmon.model.probe_table import TARGET_PROBES
from qmon.model.samples.polled_samples import (
    PartialSample,
    ReplicaSample,
    ServerSample,
)
from qmon.model.samples.server_state_samples import SettingSample
from qmon.model.standby import standby_for
from qmon.monitor.background.fragmentation_reader import FragmentationReader
from qmon.monitor.background.plan_reader import PlanReader
from qmon.monitor.background.slow_reads import SlowReads
from qmon.monitor.background.table_scan import Scan, read_parts
from qmon.monitor.catalog.catalog import Catalog
from qmon.monitor.catalog.newest_times import compare_unknown_zones_with_clock
from qmon.monitor.catalog.proposed_indexes import propose_indexes
from qmon.monitor.catalog.resolve import Resolved, resolve_queues
from qmon.monitor.poll.collector import Collector
from qmon.monitor.poll.standby_snapshot import statements_for_replica, with_replica
from qmon.monitor.probes import table_counters
from qmon.monitor.probes.group_probes import GroupProbes
from qmon.monitor.probes.own_reads import OwnUses
from qmon.monitor.probes.probe_statements import ProbeStatement, StatementCache
from qmon.monitor.probes.queue_probes import QueueProbes, QueueSpec
from qmon.monitor.probes.row_locks import RowLocks
from qmon.monitor.source import ReadScope
from qmon.monitor.state.target_history import TargetHistory
from qmon.texts import Text


class CheckupText(Text):
    """The purposes of qmon's connections, and things that qmon cannot read."""

    POLLS = "the polls"
    SLOW_READS = (
        "exact counts of deep queues, the full search for the oldest message, and reading the catalog again during"
        " polls"
    )
    WAITS = "waits over time, on servers that do not count waits"
    ACTIONS = "actions while the dashboard is open"
    NO_BACKGROUND = "one poll needs no background reader"
    ROWS_HIDDEN = "{why}: all figures from rows are lower bounds; {helps}"
    COLUMN_HIDDEN = "{why}: figures that need this column are unknown; {helps}"
    UP_TO_DATE = "up to date"
    STANDBY = (
        "a standby, {delay}: the primary's counters, sequences and sessions are not available, and actions are not"
        " possible"
    )
    NO_INDEX = "an index is missing"


# What `qmon connect` uses each connection for, in the order of opening.
CONNECTION_USES: Final = (
    CheckupText.POLLS,
    CheckupText.SLOW_READS,
    CheckupText.WAITS,
    CheckupText.ACTIONS,
)


def count_connections(connect: Callable[[], Connection]) -> int:
    """Return how many of the connections in ``CONNECTION_USES`` are available, including the connection already open.

    Opens the other connections and closes them again.

    Raises the errors of connecting, except ``NoConnectionLeft``.
    """
    made: list[Connection] = []
    try:
        while len(made) + 1 < len(CONNECTION_USES):
            made.append(connect())
    except NoConnectionLeft:
        pass
    finally:
        for connection in made:
            connection.close()
    return len(made) + 1


@dataclass(frozen=True, slots=True)
class Right:
    """One permission. ``grant``: the statement that grants it. qmon never runs this statement."""

    name: str
    held: bool
    gives: str
    grant: str


def check_rights(connection: Connection, engine: Engine) -> tuple[Right, ...]:
    """Return the permissions for this engine and version, the most useful first.

    Raises the errors of ``Connection.fetch``.
    """
    query = queries.load_query(engine.name, "catalog/rights", connection.version)
    statement = queries.render(query, {}, engine)
    return tuple(to_records(Right, connection.fetch(Bound(statement))))


_FEW_PAGES: Final = 16
_INTERVAL_S: Final = 2.0


@dataclass(frozen=True, slots=True)
class Check:
    """One line of a checkup.

    ``queue``: empty for the whole target. ``ms``: the duration of the probe, measured on this machine; ``None`` if the
    probe did not run. ``problem``: the problem; empty if the probe works. ``grant``: the statement that would help, or
    empty. ``expected``: the problem follows from the layout or the setup and is not an error. ``index``: the statement
    that creates an index for figures that need table scans now, or empty.
    """

    probe: str
    queue: str = ""
    ms: float | None = None
    problem: str = ""
    grant: str = ""
    expected: bool = False
    index: str = ""


def read_pollers(connection: Connection, engine: Engine) -> int | None:
    """Return how many qmon instances poll the database now; ``None``: our role cannot see them.

    Raises the errors of ``Connection.fetch``.
    """
    statement = StatementCache(engine, connection.version).statement_for_target("server")
    return to_records(ServerSample, connection.fetch(statement.bound))[0].pollers


@dataclass(frozen=True, slots=True)
class Checkup:
    """The results of a checkup. ``settings``: settings of server, database and tables; empty if they were not read."""

    checks: list[Check]
    settings: tuple[SettingSample, ...]


def run_checkup(connection: Connection, engine: Engine, configured: Sequence[ConfiguredQueue]) -> Checkup:
    """Run every probe of the target and of each of its queues once.

    Raises ``ConnectionLost``, and the errors of reading the catalog.
    """
    statements = StatementCache(engine, connection.version)
    named = [name for name, probe in TARGET_PROBES.items() if not probe.only_if]
    checks = [_check_statement(connection, each) for name in named for each in statements.optional_statements_for(name)]
    checks += _check_standby(connection, statements)
    began = time.perf_counter()
    resolved = resolve_queues(connection, engine, configured)
    checks.append(Check("catalog", ms=(time.perf_counter() - began) * 1000))
    checks += [Check(p.probe, p.queue, problem=p.reason, grant=p.grant) for p in resolved.problems]
    for layout in resolved.layouts:
        spec = QueueSpec(layout, resolved.facts[layout.queue])
        checks += _check_queue(connection, engine, statements, spec)
    for found in resolved.groups:
        probes = GroupProbes(statements, found)
        checks += [
            _check_statement(connection, each)
            for each in probes.statements_for_poll(time.monotonic(), found.group.name, 10)
        ]
        checks += _check_visibility(connection, statements, found.group.name, [table for _, table in found.tables])
    checks += _check_folding(connection, engine, resolved)
    checks += _check_times(connection, engine, resolved)
    return Checkup(checks, _read_settings(connection, engine, statements, resolved))


def _read_settings(
    connection: Connection, engine: Engine, statements: StatementCache, resolved: Resolved
) -> tuple[SettingSample, ...]:
    """Return the settings that affect queues, including settings of their tables; empty if they cannot be read."""
    tables = [table for facts in resolved.facts.values() for table in facts.tables]
    tables += [found.table_id for found in resolved.groups]
    try:
        asked = statements.statement_for_target("settings", {"tables": engine.ids_value(tables or (0,))})
        return tuple(to_records(SettingSample, connection.fetch(asked.bound)))
    except QueryFailed:
        return ()  # the check of this probe reports the reason


def _check_times(connection: Connection, engine: Engine, resolved: Resolved) -> Iterator[Check]:
    """Compare the newest rows with the clock, for time columns whose time zone is unknown."""
    lines = compare_unknown_zones_with_clock(Catalog(connection, engine), resolved.layouts)
    for layout in resolved.layouts:
        for line in lines.get(layout.table, ()):
            yield Check("(times)", layout.queue, problem=line, expected=True)


def _check_folding(connection: Connection, engine: Engine, resolved: Resolved) -> Iterator[Check]:
    """Run and evaluate one poll, and return the figures and rules that raise an exception."""

    def refuse(_: Session) -> Connection:
        raise NoConnectionLeft(CheckupText.NO_BACKGROUND)

    collector = Collector("doctor", engine, connection, SlowReads(engine, refuse))
    collector.watch_queues(resolved)
    try:
        snapshot = collector.collect(1, _INTERVAL_S, ReadScope())
    except QueryFailed:
        return  # the checks of the probes report the reason
    for queue in TargetHistory().record_snapshot(snapshot).queues:
        for failure in queue.failures:
            if failure.probe.startswith(DEFECT_PREFIX):
                yield Check(failure.probe, failure.queue, problem=failure.reason)


def _check_queue(
    connection: Connection, engine: Engine, statements: StatementCache, spec: QueueSpec
) -> Iterator[Check]:
    queue, facts = spec.layout.queue, spec.facts
    probes = QueueProbes(statements, spec)
    if not spec.layout.routines and statements.has_probe("routines_of_tables"):
        tables = {"tables": engine.ids_value(facts.tables)}
        found = _check_statement(connection, statements.statement_for("routines_of_tables", tables))
        # by default, only a database owner has this permission, and only one figure needs it
        yield replace(found, queue=queue, expected=bool(found.grant))
    asked = table_counters.statements_for_counters(statements, facts.tables) + statements.statements_for_tables(
        "uses", facts.tables
    )
    asked += statements.statements_for_tables("sizes", facts.tables)
    for each in asked:
        yield _check_statement(connection, replace(each, queue=queue))
    yield from _check_visibility(connection, statements, queue, facts.tables)
    for each in (
        *probes.statements_for_poll(time.monotonic(), 1, 10),
        *RowLocks(statements).statements_for_checks(queue, probes),
    ):
        yield _check_statement(connection, replace(each, queue=queue))
    yield from _check_fragmentation(connection, engine, statements, spec)
    yield from _check_plans(connection, engine, statements, spec)
    yield from _check_scans(connection, engine, statements, spec)
    for figure, reason in (*facts.slow.items(), *facts.unknown.items()):
        yield Check(f"({figure})", queue, problem=reason, expected=True)


def _check_visibility(
    connection: Connection, statements: StatementCache, queue: str, tables: Sequence[int]
) -> Iterator[Check]:
    """Return the tables and columns whose rows or values the server hides, or may hide, from our role."""
    for statement in statements.statements_for_tables("partial", tables):
        for found in to_records(PartialSample, connection.fetch(statement.bound)):
            if found.column_name is None:
                problem = CheckupText.ROWS_HIDDEN.render(why=found.why, helps=found.helps)
                yield Check("(rows)", queue, problem=problem)
            else:
                problem = CheckupText.COLUMN_HIDDEN.render(why=found.why, helps=found.helps)
                yield Check(f"({found.column_name})", queue, problem=problem)


def _check_standby(connection: Connection, statements: StatementCache) -> Iterator[Check]:
    """Return the figures that are unknown on a standby, and the delay of the other figures."""
    try:
        server = to_records(ServerSample, connection.fetch(statements.statement_for_target("server").bound))[0]
    except QueryFailed:
        return
    if server.in_recovery and (asked := statements_for_replica(statements)):
        found: list[ReplicaSample] = []
        yield _check_timed(
            "replica", "", lambda: found.extend(to_records(ReplicaSample, connection.fetch(asked[0].bound)))
        )
        server = with_replica(server, found)
    if (standby := standby_for(server)) is not None:
        delay = standby.delay_text or CheckupText.UP_TO_DATE
        problem = CheckupText.STANDBY.render(delay=delay)
        yield Check("(standby)", problem=problem, expected=not standby.delay_text)


def _check_scans(
    connection: Connection, engine: Engine, statements: StatementCache, spec: QueueSpec
) -> Iterator[Check]:
    """Run the first range of a scan, if figures come from scans, and propose indexes that would replace scans."""
    if not spec.facts.has_scanned_figures:
        return
    parts: list[PartSample] = []
    yield _check_timed("scan_parts", spec.layout.queue, lambda: parts.extend(read_parts(connection, statements, spec)))
    scan = Scan(statements, spec, parts)
    if scan.by_range:
        yield _check_timed("scan", spec.layout.queue, lambda: scan.read_next_range(connection, OwnUses(), _FEW_PAGES))
    partitioned = bool(parts) and all(part.part_id != spec.facts.table_id for part in parts)
    for each in propose_indexes(spec.layout, spec.facts, engine, partitioned=partitioned):
        figures = ", ".join(each.figures)
        yield Check(
            f"({figures})", spec.layout.queue, problem=CheckupText.NO_INDEX, expected=True, index=each.statement
        )


def _check_fragmentation(
    connection: Connection, engine: Engine, statements: StatementCache, spec: QueueSpec
) -> Iterator[Check]:
    """Read the fragmentation of one index, if the engine has such a probe."""
    fragments = FragmentationReader(engine)
    if fragments.is_supported:
        yield _check_timed(
            "fragmentation", spec.layout.queue, lambda: fragments.read_next_index(connection, statements, spec)
        )


def _check_plans(
    connection: Connection, engine: Engine, statements: StatementCache, spec: QueueSpec
) -> Iterator[Check]:
    """Read the plans of the queue's pops, if the engine records them."""
    plans = PlanReader(engine)
    if plans.is_supported:
        yield _check_timed("plans", spec.layout.queue, lambda: plans.read_plans(connection, statements, spec))
        for each in plans.take_new_plans():
            if each.unread:
                yield Check("(plans)", each.queue, problem=each.unread, expected=True)


def _check_statement(connection: Connection, statement: ProbeStatement) -> Check:
    return _check_timed(
        statement.probe, statement.queue, lambda: to_records(statement.record, connection.fetch(statement.bound))
    )


def _check_timed(probe: str, queue: str, read: Callable[[], object]) -> Check:
    began = time.perf_counter()
    try:
        read()
    except QueryFailed as problem:
        if isinstance(problem, PermissionMissing):
            return Check(probe, queue, problem=problem.reason, grant=problem.grant)
        return Check(probe, queue, problem=str(problem))
    return Check(probe, queue, ms=(time.perf_counter() - began) * 1000)
