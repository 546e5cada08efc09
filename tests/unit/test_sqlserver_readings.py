"""Typed rows of version store, counters, procedures, fragmentation and qmon's own cost, from the driver to the text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

import pytest

from qmon.engines.driver_faults import DriverFault
from qmon.engines.sql import queries
from qmon.engines.sqlserver.sqlserver_engine import SqlServer
from qmon.engines.sqlserver.sqlserver_errors import statement_error
from qmon.errors import PermissionMissing
from qmon.model.layout.layout import ClientPatterns, Layout, ObjectName
from qmon.model.layout.table_facts import TableFacts
from qmon.model.reasons import Reason
from qmon.model.snapshot import Snapshot
from qmon.model.standby import Standby, StandbyText
from qmon.model.status_report import status_object
from qmon.model.view import View
from qmon.monitor.background.slow_reads import SlowReads
from qmon.monitor.catalog.resolve import Resolved
from qmon.monitor.poll.collector import Collector
from qmon.monitor.probes.probe_statements import StatementCache
from qmon.monitor.probes.queue_probes import QueueSpec
from qmon.monitor.source import ReadScope
from qmon.monitor.state.target_history import TargetHistory
from qmon.recording.format.codec import decode, encode
from qmon.tui.spans import Line
from qmon.tui.waits import horizon_panel, usage_panel, waits_panel
from qmon.tui.waits.horizon_panel import VersionStoreText
from qmon.tui.waits.usage_panel import UsageText
from qmon.tui.waits.waits_panel import WaitsText
from tests.replayed import FILTERED, VERSIONS, Driver, connection, emptied, steady
from tests.tsql_types import Type
from tests.wordings import has

MAILS: Final = Layout("mails", "fifo", ObjectName("dbo", "Mails"), consumers=ClientPatterns(procedure="*"))
INSTALLED: Final = Layout("jobs", "heap", ObjectName("q", "jobs"), routines=(("pop", ObjectName("q", "jobs_pop")),))
FACTS: Final = {"mails": TableFacts(11), "jobs": TableFacts(12)}
OURS: Final = frozenset(
    f"probe/{name}"
    for name in ("horizon", "version_store", "server_counters", "procedures", "routines_of_tables", "fragmentation")
)


def bare(name: str, columns: tuple[tuple[str, Type], ...], poll: int) -> Sequence[tuple[object, ...]]:
    """The same, with NULL in every column in which the documentation allows it."""
    return steady(name, columns, poll, emptied)


class Watch:
    """Return polls eleven seconds apart on our clock, so that no rare probe is left out; slow readings run step by
    step."""

    def __init__(self, row: Any, version: tuple[int, int], refused: frozenset[str] = frozenset()) -> None:
        self.driver, self.now = Driver(row, refused), 0.0
        self.at = connection(self.driver, version)
        self.slow = SlowReads(SqlServer(), lambda session: self.at, self.clock)
        self.specs = [QueueSpec(layout, FACTS[layout.queue]) for layout in (MAILS, INSTALLED)]
        self.slow.watch_queues(self.specs)
        self.collector = Collector("shop", SqlServer(), self.at, self.slow, self.clock)
        self.collector.watch_queues(Resolved((MAILS, INSTALLED), FACTS))
        self.history = TargetHistory()
        self.snapshots: list[Snapshot] = []

    def clock(self) -> float:
        return self.now

    def polls(self, count: int) -> View:
        views = []
        for _ in range(count):
            self.now += 11.0
            self.driver.poll += 1
            self.snapshots.append(self.collector.collect(self.driver.poll, 1.0, ReadScope(closely=True)))
            views.append(self.history.record_snapshot(self.snapshots[-1]))
        return views[-1]

    def fragments(self) -> None:
        self.slow._fragmentation_reader.read_next_index(
            self.at, StatementCache(SqlServer(), self.at.version), self.specs[0]
        )


def words(lines: Sequence[Line]) -> str:
    return "\n".join("".join(text for text, _ in line) for line in lines)


@pytest.mark.parametrize("version", VERSIONS, ids=lambda version: str(version[0]))
def test_typed_rows_reach_the_words(version: tuple[int, int]) -> None:
    watch = Watch(steady, version)
    watch.fragments()
    view = watch.polls(4)
    assert [f for s in watch.snapshots for f in s.failures] == []
    assert {"probe/version_store", "probe/procedures", "probe/routines", "probe/fragmentation"} <= set(
        watch.driver.asked
    )
    told = words(waits_panel.counter_lines(view, 160))
    counters = (WaitsText.BATCHES, WaitsText.TRANSACTIONS, WaitsText.PAGE_SPLITS, WaitsText.LOCK_TIMEOUTS)
    assert "   ".join(f"{counter} 1.0" for counter in counters) in told
    assert f"{WaitsText.LOG_FLUSH_WAITS} 1.0" in told
    kept = VersionStoreText.IN_DATABASE if version[0] >= 15 else VersionStoreText.IN_TEMPDB
    kept = VersionStoreText.IN_TEMPDB_FOR_ALL if version[0] < 14 else kept
    told = words(horizon_panel.horizon_lines(view, 160, 7))
    assert has(told, kept)
    assert "row versions 8,192 TB" in told
    mails = view.queue("mails")
    assert mails is not None
    assert mails.use is not None
    assert mails.use.touched_per_pop.value == 1.0
    assert has(usage_panel.usage_summary(mails), UsageText.PER_POP, unit="logical reads")
    assert view.server.cpu_ms == 1
    assert view.server.buffers == 1
    said = status_object(view)
    assert said["probe"]["cpu_ms"] == 1
    assert said["counters"]["page_splits"] == 1.0
    assert said["version_store_bytes"] >= 2**53 + 5
    assert said["queues"][0]["reads_per_pop"] == 1.0
    store = watch.snapshots[-1].version_store
    assert store is not None
    assert store.bytes == 2**53 + 5
    torn = watch.snapshots[-1].fragments
    assert [(each.table_id, each.index_id, each.fragmented is not None) for each in torn] == [
        (11, 0, True),
        (11, 5, False),
    ]


@pytest.mark.parametrize("version", VERSIONS, ids=lambda version: str(version[0]))
def test_nothing_where_the_documentation_allows_it(version: tuple[int, int]) -> None:
    watch = Watch(bare, version)
    watch.fragments()
    view = watch.polls(4)
    assert [f for s in watch.snapshots for f in s.failures] == []
    assert f"{WaitsText.BATCHES} –" in words(waits_panel.counter_lines(view, 160))
    assert "row versions none" in words(horizon_panel.horizon_lines(view, 160, 7))
    assert status_object(view)["engine"] == "sqlserver"


def test_without_rights_each_missing_reading_is_one_line_and_the_rest_is_shown() -> None:
    watch = Watch(steady, (15, 0), OURS)
    view = watch.polls(3)
    said = [f.probe for f in watch.snapshots[-1].failures]
    assert sorted(said) == sorted({"horizon", "version_store", "server_counters", "routines_of_tables", "procedures"})
    assert all("permission was denied" in f.reason for f in watch.snapshots[-1].failures)
    assert "VIEW SERVER STATE permission was denied" in words(horizon_panel.horizon_lines(view, 160, 7))
    assert waits_panel.counter_lines(view, 160) == []
    mails = view.queue("mails")
    assert mails is not None
    assert mails.use is not None
    assert mails.use.reads_per_pop is None
    assert mails.push_rate.value is not None


def secondary(*replicas: tuple[bool, float | None]) -> Any:
    """Return rows of a readable secondary that reports this about its copy of the database."""

    def row(name: str, columns: tuple[tuple[str, Type], ...], poll: int) -> Sequence[tuple[object, ...]]:
        if name == "probe/replica":
            assert [column for column, _ in columns] == ["replay_paused", "behind_s"]
            return replicas
        said = {"in_recovery": True, "behind_s": None} if name == "probe/server" else {}
        return [
            tuple(said.get(column, value) for (column, _), value in zip(columns, found, strict=True))
            for found in steady(name, columns, poll)
        ]

    return row


def test_a_readable_secondary_tells_nothing_that_only_its_primary_counts() -> None:
    view = Watch(secondary(), (16, 0)).polls(3)
    mails = view.queue("mails")
    assert mails is not None
    assert (mails.push_rate.value, mails.push_rate.reason) == (None, Reason.STANDBY_COUNTERS)
    assert (mails.consumers.value, mails.consumers.reason) == (None, Reason.STANDBY_SESSIONS)
    assert mails.gap.value is None
    assert mails.verdict.code not in ("healthy", "empty")
    assert view.server.standby is not None


@pytest.mark.parametrize(
    ("version", "replicas", "behind_s", "paused", "words"),
    [
        ((16, 0), [(False, 0.0)], 0.0, False, ""),
        ((12, 0), [(False, 42.0)], 42.0, False, StandbyText.BEHIND.render(age="42 s")),
        ((13, 0), [(True, 42.0)], 42.0, True, StandbyText.REPLAY_PAUSED),
        ((15, 0), [(False, None)], None, False, StandbyText.DELAY_UNKNOWN),
        ((15, 0), [], None, False, StandbyText.DELAY_UNKNOWN),
        ((15, 0), [(False, 0.0), (False, 0.0)], None, False, StandbyText.DELAY_UNKNOWN),
        ((11, 0), [(False, 0.0)], None, False, StandbyText.DELAY_UNKNOWN),
    ],
    ids=["up to date", "behind", "suspended", "of no group", "not in a group", "in two groups", "2012"],
)
def test_a_readable_secondary_says_how_old_its_rows_are(
    version: tuple[int, int],
    replicas: list[tuple[bool, float | None]],
    behind_s: float | None,
    paused: bool,
    words: str,
) -> None:
    view = Watch(secondary(*replicas), version).polls(3)
    assert view.server.standby == Standby(behind_s, paused)
    assert view.server.standby.delay_text == words
    mails = view.queue("mails")
    assert mails is not None
    assert mails.ready.value is not None
    assert mails.ready.old == (paused or behind_s is None or behind_s > 33)
    assert mails.ready.age_s >= (behind_s or 0.0)


def test_without_the_right_to_see_it_a_secondary_does_not_know_how_old_its_rows_are() -> None:
    watch = Watch(secondary((False, 0.0)), (16, 0), frozenset({"probe/replica"}))
    view = watch.polls(3)
    assert view.server.standby == Standby(None, paused=False)
    assert [f.reason for f in view.failures if f.probe == "replica"] == [
        "probe/replica: VIEW SERVER STATE permission was denied on object 'server'"
    ]


@pytest.mark.parametrize("version", VERSIONS, ids=lambda version: str(version[0]))
def test_a_table_that_a_security_policy_filters_is_seen_in_part(version: tuple[int, int]) -> None:
    watch = Watch(steady, version)
    view = watch.polls(3)
    mails, jobs = view.queue("mails"), view.queue("jobs")
    assert mails is not None
    assert jobs is not None
    known = version[0] >= 13
    assert ("probe/partial" in watch.driver.asked) == known
    assert (mails.ready.partial, mails.ready.at_least, jobs.ready.partial) == (known, known, False)
    if known:
        assert mails.ready.reason == FILTERED
        assert mails.verdict.code not in ("healthy", "empty")


def test_all_of_it_is_in_a_recording() -> None:
    watch = Watch(steady, (15, 0))
    watch.fragments()
    watch.polls(2)
    for snapshot in watch.snapshots:
        assert decode(Snapshot, encode(snapshot)) == snapshot
    assert watch.snapshots[-1].procedures
    assert watch.snapshots[-1].server_counters is not None
    assert replace(watch.snapshots[-1], fragments=()) != watch.snapshots[-1]


@pytest.mark.parametrize("version", VERSIONS, ids=lambda version: str(version[0]))
def test_the_map_of_rights_says_what_each_gives(version: tuple[int, int]) -> None:
    text = queries.load_query("sqlserver", "catalog/rights", version).text
    for word in ("reads per pop", "fragmentation", "SELECT ON sys.sql_expression_dependencies", "VIEW DEFINITION"):
        assert word in text
    assert "version store" in text or "row versions" in text


@pytest.mark.parametrize(
    ("text", "number", "grant"),
    [
        (
            "The SELECT permission was denied on the object 'sql_expression_dependencies', database"
            " 'mssqlsystemresource', schema 'sys'.",
            229,
            "GRANT SELECT ON [sys].[sql_expression_dependencies] TO [mon]]itor]",
        ),
        (
            "VIEW SERVER PERFORMANCE STATE permission was denied on object 'server', database 'master'.",
            300,
            "GRANT VIEW SERVER PERFORMANCE STATE TO [mon]]itor]",
        ),
        (
            "VIEW DATABASE PERFORMANCE STATE permission denied in database 'Shop'.",
            262,
            "GRANT VIEW DATABASE PERFORMANCE STATE TO [mon]]itor]",
        ),
    ],
    ids=["dependencies", "server", "database"],
)
def test_a_refusal_names_the_grant_that_helps(text: str, number: int, grant: str) -> None:
    problem = statement_error(DriverFault("42000", (number,), text), "probe/x", "mon]itor")
    assert isinstance(problem, PermissionMissing)
    assert problem.grant == grant
