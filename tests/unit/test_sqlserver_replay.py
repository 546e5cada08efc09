"""Rows of SQL Server's own types pass through the driver's seam into records, and on to the figures on screen."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, Final

import pytest

from qmon.engines.base import Bound
from qmon.engines.result_records import ResultText, to_records
from qmon.engines.sql import queries
from qmon.engines.sql.queries import SqlFile
from qmon.engines.sqlserver.sqlserver_engine import AZURE, SqlServer
from qmon.errors import QueryFailed
from qmon.model.probe_table import PROBES as TABLE
from qmon.model.samples import polled_samples
from qmon.model.status_report import status_object
from qmon.model.view import View
from qmon.monitor.catalog.resolve import Resolved
from qmon.monitor.poll.collector import Collector
from qmon.monitor.source import ReadScope
from qmon.monitor.state.target_history import TargetHistory
from tests.replayed import BIG, ROOM, Driver, Idle, columns_of, connection, emptied, full, value
from tests.tsql_rendered import PROBES, names_for, rendered
from tests.tsql_types import Type
from tests.unit.sqlserver_queues import FACTS, LAYOUTS
from tests.wordings import pattern

# Reads qmon's own table: its types are documented in `control/` only.
OWN_TABLES: Final = frozenset({"probe/pauses", "probe/operated"})
TYPED: Final = tuple(file for file in PROBES if file.name not in OWN_TABLES)


@pytest.mark.parametrize("file", TYPED, ids=lambda file: file.path)
@pytest.mark.parametrize("row", [full, emptied])
def test_the_documented_types_fit_the_record(file: SqlFile, row: Any) -> None:
    query = queries.read_query(file)
    at = connection(Driver(row), (max(file.since, 11), 0))
    statement = queries.render(query, names_for(query, size=1000), SqlServer())
    record: type[Any] = TABLE[query.name.removeprefix("probe/")].record
    (found,) = to_records(record, at.fetch(Bound(statement, dict.fromkeys(query.parameters))))
    assert tuple(field.name for field in fields(found)) == query.columns or set(query.columns) == {
        field.name for field in fields(found)
    }
    for name, kind in columns_of(statement.text):
        if kind.name == "bigint" and getattr(found, name) is not None:
            assert getattr(found, name) in (BIG, float(BIG), ROOM)


def test_a_type_that_does_not_fit_is_found() -> None:
    file = next(f for f in PROBES if f.name == "probe/cost")
    text = rendered(file).replace("CAST(s.logical_reads AS bigint)", "CONVERT(nvarchar(20), s.logical_reads)")
    columns = columns_of(text)
    assert columns == (("buffers", Type("nvarchar", digits=True)), ("cpu_ms", Type("bigint")))
    with pytest.raises(
        QueryFailed,
        match=pattern(ResultText.WRONG_TYPE, column="buffers", given="str '9007199254740993'", wanted="int"),
    ):
        to_records(polled_samples.CostSample, rows_of(columns))
    unknown = columns_of(
        rendered(file).replace("s.logical_reads", "s.program_name").replace("AS bigint", "AS nvarchar")
    )
    with pytest.raises(QueryFailed, match=pattern(ResultText.WRONG_TYPE, column="buffers")):
        to_records(polled_samples.CostSample, rows_of(unknown))
    missing = columns_of(text.replace("CONVERT(nvarchar(20), s.logical_reads)", "s.client_version"))
    assert missing[0][1].name == "int"


def rows_of(columns: tuple[tuple[str, Type], ...]) -> Any:
    from qmon.engines.base import Rows

    return Rows(tuple(name for name, _ in columns), (tuple(value(kind, 0) for _, kind in columns),))


def watched(driver: Driver, version: tuple[int, int], polls: int = 6) -> list[View]:
    """Return this number of polls of every layout, folded as the dashboard folds them."""
    collector = Collector("shop", SqlServer(), connection(driver, version), Idle())
    collector.watch_queues(Resolved(LAYOUTS, FACTS))
    history, views = TargetHistory(), []
    for poll in range(1, polls + 1):
        driver.poll = poll
        focus = ReadScope(rows_of=LAYOUTS[poll % len(LAYOUTS)].queue, blocking=True)
        views.append(history.record_snapshot(collector.collect(poll, 1.0, focus)))
    return views


@pytest.mark.parametrize("version", [(11, 0), (13, 0), (15, 0), (16, 0), (17, 0), (AZURE, 0)])
@pytest.mark.parametrize("row", [full, emptied])
def test_typed_rows_reach_the_figures(version: tuple[int, int], row: Any) -> None:
    driver = Driver(row)
    views = watched(driver, version)
    assert [f for view in views for f in view.failures] == []
    assert [f for view in views for queue in view.queues for f in queue.failures] == []
    last = status_object(views[-1])
    assert [queue["name"] for queue in last["queues"]] == [layout.queue for layout in LAYOUTS]
    assert {
        "probe/table_counters",
        "probe/depth",
        "probe/sequences",
        "probe/server_counters",
    } <= set(driver.asked)
    assert not [name for name in driver.asked if "deadlock" in name], "these are read beside the poll"
    fifo = views[-1].queue("fifo")
    assert fifo is not None
    assert fifo.ready.estimated
    assert fifo.ready.value == float(BIG + 6)


def test_without_rights_the_rest_is_shown_and_the_missing_said() -> None:
    needs = frozenset(
        f"probe/{name}"
        for name in ("waits", "wait_totals", "writers", "server_counters", "horizon", "table_counters", "clients")
    )
    driver = Driver(refused=needs)
    views = watched(driver, (15, 0))
    failed = {f"probe/{failure.probe}" for view in views for failure in view.failures}
    asked = needs & set(driver.asked)
    assert {"probe/waits", "probe/table_counters", "probe/server_counters"} <= asked
    assert failed >= asked
    status = views[-1].queue("status")
    assert status is not None
    assert status.in_progress.value is not None
    assert status.push_rate.value is None
    assert status.push_rate.reason
