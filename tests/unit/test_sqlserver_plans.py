"""From SQL Server's catalog to the statement: values have the column's type; filtered indexes get a new plan."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from qmon.engines.sql import queries
from qmon.engines.sql.queries import Name, QueryText
from qmon.engines.sqlserver.sqlserver_engine import SqlServer
from qmon.errors import BadInput
from qmon.model.counts import PartSample
from qmon.model.layout.layout import Layout, ObjectName, Ring, StateColumn
from qmon.model.layout.list_states import FAILED
from qmon.model.layout.table_facts import Column, IndexName, TableFacts
from qmon.model.reasons import Reason
from qmon.model.samples.listing_samples import FAILED_PAGE_SIZE, MAX_ROWS_READ, PagePosition, PageRequest
from qmon.monitor.background.slow_reads import SlowReads
from qmon.monitor.background.table_scan import Scan
from qmon.monitor.catalog.access_paths import table_facts
from qmon.monitor.catalog.catalog import ColumnRow, Index, SequenceRow, SequenceRows, TableDetails, TableRow
from qmon.monitor.catalog.predicate import parse_index_condition
from qmon.monitor.probes.message_pages import statements_for_page
from qmon.monitor.probes.probe_statements import ProbeStatement, StatementCache
from qmon.monitor.probes.queue_probes import QueueProbes, QueueSpec
from tests.replayed import Driver, connection
from tests.wordings import has, pattern

ENGINE = SqlServer()
VERSION = (16, 0)
TABLE = TableRow(11, "dbo", "Jobs", True, True, 1000, 10)
JOBS = Layout(
    "jobs", "status", TABLE.name, id="Id", state=StateColumn("Status", "готово", "идёт", None, "нет"), started_at="At"
)
DATED = Layout("dated", "batch_split", TABLE.name, id="Id", enqueued_at="At", state=StateColumn("Status", 0, 1, 2))
# The indexes of the table: the state of their rows, and their order.
ROWS = {"head": ("готово", ("Id",)), "work": ("идёт", ("At",)), "dead": ("нет", ("Id",))}


def details(kind: str, indexes: tuple[Index, ...]) -> TableDetails:
    columns = {"Id": "nvarchar", "Status": kind, "At": "datetime2"}
    rows = tuple(ColumnRow(11, name, each, True, None, None, None, False) for name, each in columns.items())
    return TableDetails(TABLE, rows, indexes)


def facts(kind: str, *, filtered: bool) -> TableFacts:
    indexes = tuple(
        Index(name, False, False, keys, parse_index_condition(f"([Status]=N'{state}')", brackets=True))
        if filtered
        else Index(name, False, False, ("Status", *keys))
        for name, (state, keys) in ROWS.items()
    )
    return table_facts(JOBS, details(kind, indexes), None, SequenceRows())


def jobs(kind: str, *, filtered: bool) -> list[ProbeStatement]:
    probes = QueueProbes(StatementCache(ENGINE, VERSION), QueueSpec(JOBS, facts(kind, filtered=filtered)))
    return [job for job in probes.statements_for_poll(100.0, 0, 20) if job.probe != "depth"]  # reads only the catalog


@pytest.mark.parametrize(
    ("kind", "family"),
    [
        ("varchar", "varchar"),
        ("char", "varchar"),
        ("text", "varchar"),
        ("nvarchar", "nvarchar"),
        ("nchar", "nvarchar"),
        ("tinyint", "nvarchar"),
        ("sysname", "nvarchar"),
    ],
)
def test_a_state_is_compared_as_the_text_that_its_column_is(kind: str, family: str) -> None:
    asked = jobs(kind, filtered=True)
    assert {job.probe for job in asked} == {"head_state", "progress_oldest", "in_state", "messages_state"}
    for job in asked:
        found = re.findall(r"\[Status\] = CAST\(\? AS (\w+)\(100\)\)", job.bound.statement.text)
        assert set(found) == {family}, job.probe
    (head,) = (job for job in asked if job.probe == "head_state")
    assert "CAST(? AS nvarchar(450))" in head.bound.statement.text, "the id is Unicode, whatever the state is"


@pytest.mark.parametrize("filtered", [True, False])
def test_what_a_filtered_index_serves_is_planned_anew_and_nothing_else(filtered: bool) -> None:
    for job in jobs("varchar", filtered=filtered):
        assert ("RECOMPILE" in job.bound.statement.text) is filtered, job.probe


@pytest.mark.parametrize("filtered", [True, False])
@pytest.mark.parametrize("state", ["ready", "in_progress", "stuck", "dead"])
def test_a_page_is_read_along_the_index_of_its_state_and_planned_as_that_asks(state: str, filtered: bool) -> None:
    statements = StatementCache(ENGINE, VERSION)
    probes = QueueProbes(statements, QueueSpec(JOBS, facts("varchar", filtered=filtered)))
    index = {"ready": "head", "dead": "dead" if filtered else "head"}.get(state, "work")
    (first,) = statements_for_page(statements, probes, PageRequest(state))
    (later,) = statements_for_page(
        statements, probes, PageRequest(state, PagePosition("2026-01-01T00:00:00", "7"), descending=True)
    )
    for text in (first.bound.statement.text, later.bound.statement.text):
        assert text.count(f"WITH (INDEX ([{index}]))") == 2
        assert text.count("[Status] = CAST(? AS varchar(450))") == 2
        assert ("RECOMPILE" in text) is filtered
    column = "Id" if index != "work" else "At"
    assert f"ORDER BY q.[{column}] DESC" in later.bound.statement.text
    assert f"AND q.[{column}] <= CAST(? AS nvarchar(450))" in later.bound.statement.text
    assert first.bound.values["walk"] == (2_000 if index == "work" else 102)


@pytest.mark.parametrize("filtered", [False, True])
def test_failed_and_retried_messages_are_read_along_the_index_of_each_state(filtered: bool) -> None:
    statements = StatementCache(ENGINE, VERSION)
    failing = replace(JOBS, error="Failure")
    probes = QueueProbes(statements, QueueSpec(failing, facts("varchar", filtered=filtered)))
    found = {each.part: each for each in statements_for_page(statements, probes, PageRequest(FAILED, None, True))}
    assert found.keys() == {"dead", "in_progress", "ready"}
    for state, each in found.items():
        text = each.bound.statement.text
        index = {"ready": "head", "dead": "dead" if filtered else "head"}.get(state, "work")
        assert text.count(f"WITH (INDEX ([{index}]))") == 2
        assert ("q.[Failure] IS NOT NULL" in text) is (state != "dead")
        assert each.bound.values["walk"] in (MAX_ROWS_READ, FAILED_PAGE_SIZE + 2)
        assert each.bound.values["limit"] == FAILED_PAGE_SIZE + 1


def test_a_filtered_index_is_not_named_in_a_statement_that_is_planned_once() -> None:
    query = queries.load_query("sqlserver", "probe/head", VERSION)
    names: dict[str, Name] = {name: "x" for name in query.names} | {"id": Column("Id", "int")}
    for index in ("IX", IndexName("IX")):
        assert "RECOMPILE" not in queries.render(query, names | {"head_index": index}, ENGINE).text
    with pytest.raises(BadInput, match=pattern(QueryText.FILTERED_INDEX, index="IX")):
        queries.render(query, names | {"head_index": IndexName("IX", filtered=True)}, ENGINE)


def test_who_gives_no_type_and_no_index_is_told() -> None:
    query = queries.load_query("sqlserver", "probe/in_state", VERSION)
    names: dict[str, Name] = {"table": "t", "state": Column("s", "int"), "dead_index": IndexName("IX")}
    with pytest.raises(
        BadInput,
        match=pattern(
            QueryText.NEEDS_OTHER, query="probe/in_state", wanted=QueryText.COLUMN_WITH_TYPE, name="state", value="s"
        ),
    ):
        queries.render(query, names | {"state": "s"}, ENGINE)
    with pytest.raises(
        BadInput,
        match=pattern(
            QueryText.NEEDS_OTHER, query="probe/in_state", wanted=QueryText.INDEX, name="dead_index", value="IX"
        ),
    ):
        queries.render(query, names | {"dead_index": "IX"}, ENGINE)


def test_a_range_of_a_scan_is_compared_as_its_key_is() -> None:
    part = PartSample(11, "dbo", "Jobs", pages=100, rows_there=1000, place="Id")
    scan = Scan(StatementCache(ENGINE, VERSION), QueueSpec(JOBS, facts("varchar", filtered=True)), [part])
    text = scan._render_statement(part).text
    assert re.findall(r"COALESCE\(\s+CAST\(\? AS (\w+)\(450\)\)", text) == ["nvarchar"]
    assert set(re.findall(r"qmon_state = CAST\(\? AS (\w+)\(100\)\)", text)) == {"varchar"}


def test_a_head_among_finished_rows_is_sought_along_the_index_that_is_walked() -> None:
    known = table_facts(DATED, details("int", (Index("IX_At", False, False, ("At", "Status")),)), None, SequenceRows())
    assert "walk" in known.indexes
    driver = Driver()
    at = connection(driver, VERSION)
    slow = SlowReads(ENGINE, lambda session: at, lambda: 0.0)
    probes = QueueProbes(StatementCache(ENGINE, VERSION), QueueSpec(DATED, known))
    slow.watch_queues([probes.spec])
    slow._run_task(slow._queue_tasks["dated"].head)
    assert "probe/head_state" in driver.asked
    assert slow.failures() == ()
    slow.apply_heads({"dated": probes}, lambda _: 0.0)
    assert probes.memo.bounded


def test_slots_of_a_ring_that_no_index_leads_to_are_not_sought() -> None:
    ring = Ring(64, ObjectName("dbo", "Push"), ObjectName("dbo", "Pop"), slot="Slot", turn="Turn")
    layout = Layout("ring", "ring", TABLE.name, id="Id", ring=ring)
    sequences = SequenceRows(SequenceRow(n, "dbo", name, True, False) for n, name in ((1, "Push"), (2, "Pop")))
    for indexes, asked in (((), set()), ((Index("PK", True, True, ("Slot",)),), {"ring", "messages_ring"})):
        known = table_facts(layout, details("int", indexes), None, sequences)
        probes = QueueProbes(StatementCache(ENGINE, VERSION), QueueSpec(layout, known))
        assert {job.probe for job in probes.statements_for_poll(100.0, 0, 20)} == asked
        reasons = {figure for figure, reason in known.slow.items() if has(reason, Reason.NO_INDEX_FOR_SLOT)}
        assert reasons == (set() if asked else {"ready", "in_progress", "oldest", "rates", "fill"})


@pytest.mark.parametrize("version", [(11, 0), (14, 0)])
@pytest.mark.parametrize("split", [False, True])
def test_a_page_of_a_ring_seeks_its_slots_in_the_order_of_the_list(version: tuple[int, int], split: bool) -> None:
    ring = Ring(64, ObjectName("dbo", "Push"), ObjectName("dbo", "Pop"), slot="Slot", turn="Turn", message_id="Number")
    data = (ObjectName("dbo", "Data"), "Number") if split else (None, None)
    layout = Layout("ring", "ring", TABLE.name, ring=ring, payload="Body", data_table=data[0], data_id=data[1])
    sequences = SequenceRows(SequenceRow(n, "dbo", name, True, False) for n, name in ((1, "Push"), (2, "Pop")))
    known = table_facts(layout, details("int", (Index("PK", True, True, ("Slot",)),)), None, sequences)
    statements = StatementCache(ENGINE, version)
    probes = QueueProbes(statements, QueueSpec(layout, known))
    for descending, bounds in ((False, (40, 2**63 - 1)), (True, (-1, 40))):
        (asked,) = statements_for_page(statements, probes, PageRequest("ready", PagePosition("40"), descending))
        text, values = asked.bound.statement.text, asked.bound.values
        assert "FROM [dbo].[Jobs] AS q WITH (FORCESEEK)" in text
        assert ("ORDER BY q.[Slot] DESC\n" if descending else "ORDER BY q.[Slot]\n") in text
        assert ("FROM [dbo].[Data]" in text) is split
        assert ("last_used_value" in text) is (version >= (14, 0))
        assert (values["above"], values["below"], values["down"]) == (*bounds, int(descending))
        assert (values["walk"], values["limit"], values["pop_sequences"]) == (64, 101, "2")
    for state in ("scheduled", "stuck", "dead", "done"):
        assert statements_for_page(statements, probes, PageRequest(state)) == []
