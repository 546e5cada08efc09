"""SQL Server's counters for a table vanish at times: then rates are unknown, and never made up."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from qmon.engines.sql import queries
from qmon.engines.sqlserver.sqlserver_engine import AZURE, SqlServer
from qmon.model.counts import TableCount
from qmon.model.layout.layout import Layout, ObjectName
from qmon.model.layout.table_facts import TableFacts
from qmon.model.reasons import Reason
from qmon.model.samples.polled_samples import DepthSample, HeadSample
from qmon.monitor.catalog.resolve import Resolved
from qmon.monitor.poll.collector import Collector
from qmon.monitor.probes.probe_statements import StatementCache
from qmon.monitor.probes.queue_probes import QueueProbes, QueueSpec
from qmon.monitor.source import ReadScope
from tests.polled import Counting
from tests.replayed import Idle, connection
from tests.unit.sqlserver_queues import FIFO, watched
from tests.unit.sqlserver_queues import TABLE as FACTS

BINARY = " COLLATE Latin1_General_BIN2"
NOTHING: dict[str, object] = dict.fromkeys(
    (
        "scans",
        "latch_waits",
        "latch_wait_s",
        "lock_waits",
        "lock_wait_s",
        "splits",
        "forwarded",
        "io_waits",
        "ghosted",
        "escalations_tried",
        "escalations",
        "inserted",
        "updated",
        "deleted",
    )
)
SAME: dict[str, object] = {
    "table_id": FACTS.table_id,
    "index_id": 0,
    "files": 7,
    "partitions": 4,
    "altered": 5,
    "called": "dbo.Orders",
    "readable": True,
    "started_at": 1.7e9,
    "stats_reset_at": None,
}


def counted(inserted: int | None) -> dict[str, object]:
    return SAME | NOTHING if inserted is None else SAME | {"inserted": inserted, "updated": 0, "deleted": 0}


def pushes(totals: list[int | None]) -> list[Any]:
    """Return the push rate of each poll, a second apart, if the server reports these totals."""

    def rows(poll: int) -> tuple[Mapping[str, object], ...]:
        return (counted(totals[poll - 1]) | {"live": 500 + 5 * poll},)

    server = {"probe/table_counters": rows, "probe/server": lambda poll: (SAME | {"now_at": 1.75e9 + poll},)}
    return [view.queues[0].push_rate for view in watched(FIFO, FACTS, server, len(totals))]


def test_a_table_is_asked_about_once_a_poll() -> None:
    driver = Counting()
    collector = Collector("shop", SqlServer(), connection(driver, (16, 0)), Idle())
    collector.watch_queues(Resolved((FIFO,), {FIFO.queue: FACTS}))
    collector.collect(1, 1.0, ReadScope())
    assert sum(each.text.count("dm_db_index_operational_stats(") for each in driver.sent) == 1


def test_where_the_server_has_counted_nothing_it_is_said_so() -> None:
    seen = pushes([None, None, None, None])
    assert [rate.value for rate in seen] == [None] * 4
    assert seen[0].reason == Reason.NOTHING_COUNTED
    assert seen[3].reason == Reason.NOTHING_COUNTED_SINCE.render(age="3.0 s")


@pytest.mark.parametrize("forgotten", [None, 0, 3], ids=["no row", "from 0 on", "from 3 on"])
def test_counters_that_begin_anew_give_no_rate_below_0_and_none_too_large(forgotten: int | None) -> None:
    seen = [rate.value for rate in pushes([10**9, 10**9 + 5, forgotten, 8, 13, 18])]
    assert seen[1] == 5.0
    assert seen[2] is None
    assert all(value is None or value == 5.0 for value in seen)
    assert seen[5] == 5.0


# Signs of a reset, in addition to the inserted rows.
LATER: dict[str, dict[str, object]] = {
    "scans": {"scans": 700},
    "waits for latches": {"latch_waits": 0},
    "page allocations": {"splits": 3},
    "an index": {"index scans": 700},
    "partitions": {"partitions": 3},
    "altered": {"altered": 6},
    "numbers drawn": {"drawn": 1_600},
}
SEEN: dict[str, object] = {
    "scans": 5000,
    "latch_waits": 9,
    "splits": 40,
    "partitions": 4,
    "altered": 5,
    "index scans": 4000,
    "drawn": 0,
}


def grown(told: Mapping[str, object]) -> list[Any]:
    """Return the push rates when 500 rows seem to be inserted before poll 4. ``told``: other values from then on.

    ``drawn``: drawn numbers in addition to these rows.
    """
    totals = (1000, 1005, 1010, 1510, 1515, 1520)

    def seen(poll: int) -> dict[str, object]:
        return {**SEEN, **(told if poll >= 4 else {})}

    def rows(poll: int) -> tuple[Mapping[str, object], ...]:
        own = {name: total for name, total in seen(poll).items() if name not in ("index scans", "drawn")}
        table = counted(totals[poll - 1]) | {"live": totals[poll - 1]} | own
        return table, table | {"index_id": 2, "scans": seen(poll)["index scans"]}

    def numbers(poll: int) -> tuple[Mapping[str, object], ...]:
        drawn = 10**6 + totals[poll - 1] + int(str(seen(poll)["drawn"]))
        return ({"sequence_id": FACTS.sequence_id, "last_value": drawn},)

    server: dict[str, Any] = {
        "probe/table_counters": rows,
        "probe/sequences": numbers,
        "probe/server": lambda poll: (SAME | {"now_at": 1.75e9 + poll},),
    }
    return [view.queues[0].push_rate for view in watched(FIFO, FACTS, server, len(totals))]


@pytest.mark.parametrize("told", LATER.values(), ids=LATER)
def test_counters_that_have_grown_past_what_was_forgotten_give_no_rate(told: Mapping[str, object]) -> None:
    seen = grown(told)
    assert [rate.value for rate in seen] == [None, 5.0, 5.0, None, 5.0, 5.0]
    assert seen[3].reason == Reason.COUNTERS_RESET


def test_counters_that_grow_by_much_at_once_are_believed_where_nothing_speaks_against_it() -> None:
    assert grown({})[3].value == pytest.approx(510 / 3)


def asked(facts: TableFacts) -> QueueProbes:
    layout = Layout("q", "fifo", ObjectName("dbo", "Orders"), id="Id")
    return QueueProbes(StatementCache(SqlServer(), (16, 0)), QueueSpec(layout, facts))


def test_no_rows_where_some_are_seen_is_not_believed() -> None:
    probes = asked(FACTS)
    assert probes.discard_wrong_depth(DepthSample(1.0, 0), HeadSample("7", 1.0, 18)) is None
    assert probes.discard_wrong_depth(DepthSample(2.0, 0), HeadSample(None, None, 0)) == DepthSample(2.0, 0)


def test_no_rows_after_an_exact_count_of_some_is_doubted_until_they_are_counted_again() -> None:
    probes = asked(TableFacts(12))
    assert probes.discard_wrong_depth(DepthSample(1.0, 18), None, TableCount(0.5, 0.0, 10.0, 1, 18)) == DepthSample(
        1.0, 18
    )
    for at in range(2, 9):
        assert probes.discard_wrong_depth(DepthSample(at, 0), None, TableCount(0.5, 0.0, 10.0, 1, 18)) is None
    assert probes.statements_for_poll(0.0, 1, None), "the server is asked again"
    assert probes.discard_wrong_depth(DepthSample(9.0, 0), None, TableCount(8.5, 0.0, 10.0, 1, 0)) == DepthSample(
        9.0, 0
    )


@pytest.mark.parametrize(
    ("version", "names"),
    [(11, "= DB_NAME()"), (16, "IN (d.name, d.physical_database_name)"), (AZURE, "= d.physical_database_name")],
)
def test_the_counters_of_a_database_are_found_by_the_name_that_the_server_gives_them(version: int, names: str) -> None:
    text = queries.load_query("sqlserver", "probe/server_counters", (version, 0)).text.replace(BINARY, "")
    assert text.count(f"p.instance_name {names}") == 1
    assert text.count(f"RTRIM(p.instance_name) {names}") == 1
    assert "SQLServer:" not in text


@pytest.mark.parametrize("waiting", [0, 7, None])
def test_tasks_without_a_thread_are_among_the_waits(waiting: int | None) -> None:
    rows: dict[str, Any] = {
        "probe/server_counters": lambda _: ({"threadless": waiting},),
        "probe/waits": lambda _: ({"kind": "Lock", "event": "LCK_M_U", "sessions": 2},),
    }
    shown = watched(FIFO, FACTS, rows, 2)[-1].server.waits
    assert shown is not None
    assert [(each.event, each.sessions) for each in shown] == [
        ("LCK_M_U", 2),
        *([("THREADPOOL", 7)] if waiting else []),
    ]
