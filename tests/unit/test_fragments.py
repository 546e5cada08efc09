"""Fragmentation: one index at a time, no large ones, no heaps, and never all at once (SQL Server)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import pytest

from qmon.engines.base import Connection, Session
from qmon.engines.postgres.postgres_engine import Postgres
from qmon.engines.sql import queries
from qmon.engines.sqlserver.sqlserver_engine import SqlServer
from qmon.model.layout.layout import Layout, ObjectName
from qmon.model.layout.table_facts import TableFacts
from qmon.model.rates.flow import Flow
from qmon.model.reasons import Reason
from qmon.model.samples.usage_samples import Fragmentation, UseSample
from qmon.monitor.background.fragmentation_reader import EVERY_S, FIRST_S, FragmentationReader, FragmentationText
from qmon.monitor.background.slow_reads import SlowReads
from qmon.monitor.probes.probe_statements import StatementCache
from qmon.monitor.probes.queue_probes import QueueSpec
from qmon.monitor.state.usage_track import UseTrack, group_uses
from qmon.tui.waits import usage_panel as panel
from qmon.tui.waits.usage_panel import UsageText
from tests.replayed import BIG, Driver, connection
from tests.tsql_types import Type
from tests.tui.scripted import view
from tests.unit.polls import COUNTERS, fifo, poll
from tests.wordings import has

LAYOUT: Final = Layout("mails", "fifo", ObjectName("dbo", "Mails"))
SPEC: Final = QueueSpec(LAYOUT, TableFacts(11))
SIZES: Final[dict[int, int]] = {1: 500, 3: 160_000, 5: 200}


class Tables:
    """Rows of the two probes: the indexes above, each with its own fragmentation."""

    def __init__(self) -> None:
        self.sizes = dict(SIZES)
        self.reads = 0

    def __call__(self, name: str, columns: tuple[tuple[str, Type], ...], poll: int) -> Sequence[tuple[object, ...]]:
        assert name in ("probe/trees", "probe/fragmentation")
        if name == "probe/trees":
            return list(self.sizes.items())
        self.reads += 1
        return [(1000.0 + self.reads, BIG, 0.25 * self.reads)]


def at_driver(tables: Tables, refused: frozenset[str] = frozenset()) -> tuple[Driver, Connection, StatementCache]:
    driver = Driver(tables, refused)
    at = connection(driver, (16, 0))
    return driver, at, StatementCache(SqlServer(), at.version)


def test_one_index_at_a_time_and_why_the_others_are_not_read() -> None:
    driver, at, statements = at_driver(Tables())
    fragments = FragmentationReader(SqlServer())
    assert fragments.is_supported
    fragments.read_next_index(at, statements, SPEC)
    assert driver.asked == ["probe/trees", "probe/fragmentation"]
    known = {each.index_id: each for each in fragments.latest_fragmentation()}
    assert known[0] == Fragmentation(11, 0, 1001.0, 0.25)
    assert known[3].unread == FragmentationText.TOO_LARGE.render(most="781 MB", size="1.2 GB")
    assert known[5] == Fragmentation(11, 5)
    fragments.read_next_index(at, statements, SPEC)
    assert driver.asked[2:] == ["probe/fragmentation"]
    known = {each.index_id: each for each in fragments.latest_fragmentation()}
    assert known[5] == Fragmentation(11, 5, 1002.0, 0.5)
    fragments.read_next_index(at, statements, SPEC)
    assert driver.asked[3:] == ["probe/trees", "probe/fragmentation"], "the next round begins with the current indexes"
    known = {each.index_id: each for each in fragments.latest_fragmentation()}
    assert (known[0].fragmented, known[5].fragmented) == (0.75, 0.5)


def test_a_heap_is_never_read_and_a_queue_that_is_gone_is_forgotten() -> None:
    tables = Tables()
    tables.sizes = {0: 10}
    driver, at, statements = at_driver(tables)
    fragments = FragmentationReader(SqlServer())
    fragments.read_next_index(at, statements, SPEC)
    fragments.read_next_index(at, statements, SPEC)
    assert "probe/fragmentation" not in driver.asked
    assert [each.unread for each in fragments.latest_fragmentation()] == [FragmentationText.HEAP]
    fragments.retain_only(frozenset())
    assert fragments.latest_fragmentation() == ()


def test_a_readable_secondary_has_nothing_to_read() -> None:
    tables = Tables()
    tables.sizes = {}
    driver, at, statements = at_driver(tables)
    fragments = FragmentationReader(SqlServer())
    fragments.read_next_index(at, statements, SPEC)
    assert driver.asked == ["probe/trees"]
    assert fragments.latest_fragmentation() == ()


def test_the_statement_names_one_table_and_one_index_and_reads_no_leaf() -> None:
    text = queries.load_query("sqlserver", "probe/fragmentation", (11, 0)).text
    found = re.search(r"sys\.dm_db_index_physical_stats\((.*?)\) AS f", " ".join(text.split()))
    assert found is not None
    assert found[1].strip() == (
        "DB_ID(), COALESCE(CAST(:table_id AS int), -1), COALESCE(NULLIF(CAST(:index_id AS int), 0), 2147483647),"
        " NULL, N'LIMITED'"
    )
    named = [file for file in queries.all_files() if "dm_db_index_physical_stats" in file.file.read_text("utf-8")]
    assert [file.name for file in named if file.kind == "probe"] == ["probe/fragmentation"]


class Watched(SlowReads):
    """The slow readings, one step at a time and on a clock that the test sets; no thread is started."""

    def __init__(self, tables: Tables, refused: frozenset[str] = frozenset()) -> None:
        self.now = 0.0
        self.driver, self.at, _ = at_driver(tables, refused)
        super().__init__(SqlServer(), self.given, lambda: self.now)
        self.watch_queues([SPEC])

    def given(self, session: Session) -> Connection:
        return self.at

    def due(self) -> set[str]:
        """Return the probes of the readings that are due."""
        return {task.probe for task in self._tasks if task.wait_s(self.now) == 0.0}

    def step(self) -> None:
        """Run the reading of fragmentation."""
        (task,) = [task for task in self._tasks if task.probe == "fragmentation"]
        self._run_task(task)


def test_the_slow_readings_take_it_up_after_a_minute_and_then_once_a_minute() -> None:
    slow = Watched(Tables())
    assert slow.due() == {"exact head"}
    slow.now = FIRST_S
    assert slow.due() == {"exact head", "fragmentation", "plans", "jobs", "blocked_reports"}
    slow.step()
    assert [each.fragmented for each in slow.latest_fragmentation() if each.index_id == 0] == [0.25]
    assert slow.due() == {"exact head", "plans", "jobs", "blocked_reports"}
    slow.now += EVERY_S
    assert "fragmentation" in slow.due()
    slow.watch_queues([])
    assert slow.latest_fragmentation() == ()


def test_a_missing_right_is_said_with_the_probe() -> None:
    slow = Watched(Tables(), frozenset({"probe/fragmentation"}))
    slow.step()
    (failure,) = slow.failures()
    assert (failure.probe, failure.queue) == ("fragmentation", "mails")
    assert "permission was denied" in failure.reason


def test_another_engine_is_not_asked() -> None:
    def never(session: Session) -> Connection:
        raise AssertionError(session)

    slow = SlowReads(Postgres(), never)
    slow.watch_queues([SPEC])
    assert {task.probe for task in slow._tasks} == {"exact head", "exact count", "plans"}
    assert slow.latest_fragmentation() == ()


TABLE: Final = UseSample(COUNTERS.table_id, 0, "Mails", "table", 1, None, None, None, None, 8192)
INDEX: Final = replace(TABLE, index_id=5, name="IX_] \U0001f600", role="index")
HEAVY: Final = replace(TABLE, index_id=7, name="IX_heavy", role="index")


@pytest.mark.parametrize("known", [True, False], ids=["read", Reason.NOT_READ_YET])
def test_it_is_shown_beside_the_other_readings_of_an_index(known: bool) -> None:
    found = (
        Fragmentation(COUNTERS.table_id, 0, 995.0, 0.031),
        Fragmentation(COUNTERS.table_id, 5, 940.0, None),
        Fragmentation(COUNTERS.table_id, 7, unread=FragmentationText.TOO_LARGE.render(most="781 MB", size="1.2 GB")),
        Fragmentation(99, 5, 990.0, 0.9),
    )
    snapshot = replace(poll(1, 1000.0), uses=(TABLE, INDEX, HEAVY), fragments=found if known else ())
    shown = UseTrack().record_poll(snapshot, fifo(COUNTERS), group_uses(snapshot), Flow(0, 0, 0, 0))
    assert shown is not None
    assert [part.fragmented for part in shown.parts] == ([0.031, None, None] if known else [None] * 3)
    queue = replace(view().queues[0], use=shown)
    told = "\n".join("".join(text for text, _ in line) for line in panel.usage_lines(queue, 120, 12))
    assert ("FRAG" in told) is known
    assert ("3 %" in told) is known
    assert has(told, UsageText.FRAGMENTATION_AGE, age="1 m 00 s") is known
    assert has(told, FragmentationText.TOO_LARGE, most="781 MB") is known
    assert "90 %" not in told, "of another table"
