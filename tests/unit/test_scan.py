"""Scans of tables keep to their budget; on SQL Server they follow the clustered key."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from qmon.engines.sql import queries
from qmon.engines.sqlserver.sqlserver_engine import SqlServer
from qmon.model.cost_budget import UNLIMITED, Budget
from qmon.model.counts import PartSample
from qmon.model.layout.layout import Layout, ObjectName, StateColumn
from qmon.model.layout.table_facts import Column, TableFacts
from qmon.monitor.background.table_scan import AT_ONCE_PAGES, Scan, Throttle, scan_allowance
from qmon.monitor.catalog.proposed_indexes import propose_indexes
from qmon.monitor.probes.own_reads import OwnUses
from qmon.monitor.probes.probe_names import probe_names_for
from qmon.monitor.probes.probe_statements import StatementCache
from qmon.monitor.probes.queue_probes import QueueSpec
from tests.replayed import Driver, connection
from tests.tsql_types import Type

JOBS = Layout(
    "jobs",
    "status",
    ObjectName("dbo", "Jobs"),
    id="Id",
    started_at="At",
    state=StateColumn("Status", "ready", "working", "done", "dead"),
)
FACTS = TableFacts(
    11,
    columns=(Column("Id", "bigint", True), Column("Status", "varchar", True)),
    slow=dict.fromkeys(("ready", "oldest", "in_progress", "stuck", "dead"), "no index"),
)
ROWS = 1000


def test_ranges_are_short_and_their_cost_stays_within_half_the_budget() -> None:
    throttle, allowed = Throttle(), scan_allowance(Budget(share=0.01), None, 10**6)
    assert allowed.share == 0.005
    spent = rested = 0.0
    for _ in range(50):
        pages = throttle.pages
        spent += pages * 50e-6
        rested += throttle.record_range(pages, pages * 50e-6, allowed)
        assert pages * 50e-6 < 0.01
    assert spent / (spent + rested) == pytest.approx(0.005, rel=0.01)


def test_what_others_make_a_range_wait_is_none_of_its_cost() -> None:
    throttle, allowed = Throttle(), scan_allowance(Budget(), None, 10**6)
    throttle.record_range(100, 0.005, allowed)
    assert throttle.record_range(100, 2.0, allowed) == 0.0
    assert throttle.pages == 100


def test_cheap_pages_are_read_no_faster_than_the_disk_may_be_used() -> None:
    throttle, allowed = Throttle(), scan_allowance(UNLIMITED, None, 10**6)
    assert throttle.record_range(1000, 0.0001, allowed) == pytest.approx(0.5, rel=0.01)


def test_a_look_takes_more_for_a_small_table_than_for_a_large_one() -> None:
    small, large = (scan_allowance(UNLIMITED, 8.0, pages) for pages in (AT_ONCE_PAGES, AT_ONCE_PAGES + 1))
    assert small.seconds(AT_ONCE_PAGES) < 1.0
    assert large.seconds(AT_ONCE_PAGES + 1) > 4.0
    assert large.share < small.share


class _Table(Driver):
    """A clustered table with keys 1 to ``ROWS``. It answers a range as the statement requests it."""

    def __init__(self) -> None:
        super().__init__(self.range)
        query = queries.load_query("sqlserver", "probe/scan_state", (16, 0))
        names = probe_names_for(JOBS, FACTS) | {"part": ("dbo", "Jobs"), "place": Column("Id", "int")}
        self.names = queries.render(query, {name: names.get(name) for name in query.names}, SqlServer()).parameters
        self.limits: list[int] = []

    def range(self, name: str, columns: tuple[tuple[str, Type], ...], poll: int) -> Sequence[tuple[object, ...]]:
        asked = dict(zip(self.names, self.values, strict=True))
        limit = int(str(asked["limit"]))
        first = int(str(asked["after"] or 0)) + 1
        seen = range(first, min(first + limit, ROWS + 1))
        self.limits.append(limit)
        row = {
            "counted_at": 1000.0 + first,
            "rows_seen": len(seen),
            "ready": len(seen),
            "in_progress": 0,
            "timed": 0,
            "stuck": 0,
            "scheduled": 0,
            "dead": 0,
            "oldest_at": None,
            "longest_at": None,
            "next_place": str(seen[-1]) if seen else None,
            "strange": 0,
            "strange_first": None,
            "strange_last": None,
        }
        return [tuple(row[column] for column, _ in columns)]


def test_sql_server_is_read_along_the_clustered_key_each_row_once() -> None:
    table = _Table()
    part = PartSample(11, "dbo", "Jobs", 100, ROWS, "Id")
    scan = Scan(StatementCache(SqlServer(), (16, 0)), QueueSpec(JOBS, FACTS), [part])
    at, shares = connection(table, (16, 0)), []
    while not scan.is_done:
        scan.read_next_range(at, OwnUses(), 16)
        shares.append(scan.share_done)
    count = scan.to_count(5.0)
    assert (count.ready, count.counted_at, count.took_s, count.every_s) == (ROWS, 1481.0, 960.0, 965.0)
    assert set(table.limits) == {160}
    assert shares == sorted(shares)
    assert shares[-1] == 1.0


def test_a_heap_is_one_statement() -> None:
    part = PartSample(11, "dbo", "Jobs", 100, ROWS, None)
    assert not Scan(StatementCache(SqlServer(), (16, 0)), QueueSpec(JOBS, FACTS), [part]).by_range


def test_no_index_is_proposed_that_the_partitions_of_the_table_would_divide() -> None:
    facts = replace(FACTS, divided_by=frozenset({"At"}))
    assert [each.figures[0] for each in propose_indexes(JOBS, facts, SqlServer())] == ["in_progress"]
    assert propose_indexes(replace(JOBS, state=None), facts, SqlServer()) == []


def test_the_indexes_for_sql_server_compare_the_state_without_converting_it() -> None:
    told = [each.statement for each in propose_indexes(JOBS, FACTS, SqlServer())]
    on = "SET QUOTED_IDENTIFIER ON; "  # off in sqlcmd
    assert told[1] == on + "CREATE INDEX [IX_Jobs_in_progress] ON [dbo].[Jobs] ([At]) WHERE [Status] = 'working'"
    (plain,) = propose_indexes(replace(JOBS, state=None), FACTS, SqlServer())
    assert plain.statement == "CREATE INDEX [IX_Jobs_ready] ON [dbo].[Jobs] ([Id])"
    numbers = replace(JOBS, state=StateColumn("Status", 1, 2))
    facts = replace(FACTS, columns=(Column("Id", "bigint", True), Column("Status", "tinyint", True)))
    assert propose_indexes(numbers, facts, SqlServer())[1].statement.endswith("WHERE [Status] = 2")
