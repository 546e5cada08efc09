"""Rows of SQL Server's own types go through the driver's seam into records, and on to the screens' figures."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, Final

import pytest

from qmon.engines.base import Bound
from qmon.engines.rows import to_records
from qmon.engines.sql import queries
from qmon.engines.sql.queries import SqlFile
from qmon.engines.sqlserver.engine import AZURE, SqlServer
from qmon.errors import QueryFailed
from qmon.model.counts import PartSample, ScanSample
from qmon.model.layout.layout import Layout, OwnerColumn, Ring, StateColumn, TableName
from qmon.model.layout.table_facts import Column, TableFacts
from qmon.model.report import status_object
from qmon.model.samples import polled
from qmon.model.samples.broker import BrokerMonitorSample, BrokerQueueSample, ConversationsSample, TransmissionSample
from qmon.model.samples.clients import ClientSample
from qmon.model.samples.counters import ServerCounters
from qmon.model.samples.deadlocks import BlockedSample, GraphSample, ReportFile, ReportSample
from qmon.model.samples.groups import (
    GroupBlockerSample,
    GroupLastSample,
    GroupOwnerSample,
    GroupStateSample,
    GroupStepsAtSample,
    GroupStepsSample,
    GroupStrangeSample,
    GroupWorkersSample,
)
from qmon.model.samples.horizon import HorizonSample, VersionStoreSample
from qmon.model.samples.jobs import JobStepSample
from qmon.model.samples.listing import ListedSample
from qmon.model.samples.messages import OwnerSample, PrioritySample, SweepSample, TriedSample
from qmon.model.samples.plans import PlanHistorySample, PlanSample
from qmon.model.samples.server_state import (
    LimitsSample,
    LogSample,
    ReplicationSample,
    ServiceSample,
    SettingSample,
    TempSessionSample,
    TempSpaceSample,
)
from qmon.model.samples.usage import (
    FragmentSample,
    NamingSample,
    ReadsSample,
    RoutineSample,
    StatisticsSample,
    TableCounterSample,
    TreeSample,
)
from qmon.model.samples.waits import LatchSample, PageOwnerSample, WaitTotal
from qmon.model.view import View
from qmon.monitor.background.exact_counts import SlowReads
from qmon.monitor.catalog.lock_holders import LockHolderSample
from qmon.monitor.catalog.resolve import Resolved
from qmon.monitor.poll.collector import Collector
from qmon.monitor.poll.replaced import LostSample
from qmon.monitor.probes.locks import LockSample, UnseenSample
from qmon.monitor.source import Focus
from qmon.monitor.state.target import TargetHistory
from tests.replayed import BIG, ROOM, Driver, columns_of, connection, emptied, full, value
from tests.tsql_rendered import names_for, rendered
from tests.tsql_types import Type
from tests.unit.test_sqlserver_views import PROBES

RECORDS: Final[dict[str, type[Any]]] = {
    "blocking": polled.BlockingSample,
    "lock_holders": LockHolderSample,
    "clients": ClientSample,
    "clock": polled.ClockSample,
    "cost": polled.CostSample,
    "deadlock_file": ReportFile,
    "deadlock_graphs": GraphSample,
    "deadlock_reports": ReportSample,
    "priorities": PrioritySample,
    "priorities_state": PrioritySample,
    "depth": polled.DepthSample,
    "empty": polled.EmptySample,
    "empty_state": polled.EmptySample,
    "head": polled.HeadSample,
    "head_any": polled.WalkSample,
    "head_due": polled.HeadSample,
    "head_state": polled.HeadSample,
    "head_state_due": polled.HeadSample,
    "head_walk": polled.WalkSample,
    "locks": LockSample,
    "unseen": UnseenSample,
    "unseen_any": UnseenSample,
    "unseen_due": UnseenSample,
    "unseen_state": UnseenSample,
    "states": polled.StateValueSample,
    "horizon": HorizonSample,
    "in_state": polled.CountSample,
    "latches": LatchSample,
    "page_owner": PageOwnerSample,
    "messages": polled.MessageSample,
    "messages_due": polled.MessageSample,
    "messages_newest": polled.MessageSample,
    "messages_ready": polled.MessageSample,
    "messages_page": ListedSample,
    "messages_page_split": ListedSample,
    "group_page": ListedSample,
    "messages_page_ring": ListedSample,
    "messages_page_ring_split": ListedSample,
    "messages_ring": polled.MessageSample,
    "messages_ring_split": polled.MessageSample,
    "messages_split": polled.MessageSample,
    "messages_state": polled.MessageSample,
    "owners": OwnerSample,
    "pauses_known": polled.PausesKnown,
    "progress": polled.ProgressSample,
    "progress_ids": polled.ProgressIdSample,
    "progress_oldest": polled.ProgressSample,
    "ring": polled.RingSample,
    "ring_classic": polled.RingSample,
    "ring_subscribers": polled.RingSample,
    "scheduled": polled.CountSample,
    "scheduled_state": polled.CountSample,
    "sequences": polled.SequenceSample,
    "server": polled.ServerSample,
    "server_counters": ServerCounters,
    "statistics": StatisticsSample,
    "trees": TreeSample,
    "fragmentation": FragmentSample,
    "version_store": VersionStoreSample,
    "procedures": ReadsSample,
    "routines": RoutineSample,
    "routines_of_tables": NamingSample,
    "broker_monitors": BrokerMonitorSample,
    "broker_queues": BrokerQueueSample,
    "broker_transmission": TransmissionSample,
    "broker_conversations": ConversationsSample,
    "scan": ScanSample,
    "scan_parts": PartSample,
    "scan_state": ScanSample,
    "scan_whole": ScanSample,
    "scan_whole_state": ScanSample,
    "slot_sweep": SweepSample,
    "tried": TriedSample,
    "tried_state": TriedSample,
    "tried_attempts": TriedSample,
    "table_counters": TableCounterSample,
    "wait_totals": WaitTotal,
    "waits": polled.WaitSample,
    "writers": polled.WriterSample,
    "lost": LostSample,
    "partial": polled.PartialSample,
    "readable": polled.ReadableSample,
    "replica": polled.ReplicaSample,
    "temp_space": TempSpaceSample,
    "temp_sessions": TempSessionSample,
    "service": ServiceSample,
    "settings": SettingSample,
    "limits": LimitsSample,
    "pool_limits": LimitsSample,
    "jobs": JobStepSample,
    "blocked_file": ReportFile,
    "blocked_reports": BlockedSample,
    "plan_history": PlanHistorySample,
    "plans": PlanSample,
    "log": LogSample,
    "replication": ReplicationSample,
    "group_last": GroupLastSample,
    "group_messages": polled.MessageSample,
    "group_owners": GroupOwnerSample,
    "group_blockers": GroupBlockerSample,
    "group_strange": GroupStrangeSample,
    "group_states": GroupStateSample,
    "group_states_by": GroupStateSample,
    "group_workers": GroupWorkersSample,
    "group_steps": GroupStepsSample,
    "group_steps_at": GroupStepsAtSample,
}
# Reads qmon's own table: nothing documents its types but `control/`.
OWN_TABLES: Final = frozenset({"probe/pauses", "probe/operated"})
TYPED: Final = tuple(file for file in PROBES if file.name not in OWN_TABLES)
T = TableName("dbo", "Orders")
STATE = StateColumn("Status", "READY", "IN PROGRESS", None, "DEAD")
LAYOUTS: Final = (
    Layout(
        "status",
        "status",
        T,
        id="Id",
        state=STATE,
        started_at="At",
        owner=OwnerColumn("Owner", "session"),
        attempts="Tries",
        payload="Body",
        enqueued_at="Pushed",
    ),
    Layout("fifo", "fifo", T, id="Id", payload="Body", enqueued_at="Pushed"),
    Layout("pending", "pending", T, id="Id", due_at="Due"),
    Layout(
        "ring",
        "ring",
        T,
        enqueued_at="At",
        ring=Ring(1000, TableName("dbo", "Push"), TableName("dbo", "Pop"), slot="Slot", turn="Turn"),
    ),
)
SEEKS = dict.fromkeys(("head", "ready", "progress", "stuck", "dead", "due"), "IX")
FACTS: Final = {
    "status": TableFacts(
        11, sequence_id=11, order_by="Id", columns=(Column("Body", "varbinary", True),), indexes=SEEKS
    ),
    "fifo": TableFacts(12, sequence_id=21, order_by="Id", indexes=SEEKS),
    "pending": TableFacts(13, order_by="Id", indexes=SEEKS),
    "ring": TableFacts(
        14, push_sequence_id=22, pop_sequence_id=23, indexes=SEEKS, spare_id=15, spare=TableName("dbo", "Orders_spare")
    ),
}


def test_each_probe_has_its_record_here() -> None:
    assert {file.name.removeprefix("probe/") for file in TYPED} == RECORDS.keys()


@pytest.mark.parametrize("file", TYPED, ids=lambda file: file.path)
@pytest.mark.parametrize("row", [full, emptied])
def test_the_documented_types_fit_the_record(file: SqlFile, row: Any) -> None:
    query = queries.read_query(file)
    at = connection(Driver(row), (max(file.since, 11), 0))
    statement = queries.render(query, names_for(query, size=1000), SqlServer())
    (found,) = to_records(
        RECORDS[query.name.removeprefix("probe/")], at.fetch(Bound(statement, dict.fromkeys(query.parameters)))
    )
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
    with pytest.raises(QueryFailed, match="buffers is str '9007199254740993', not int"):
        to_records(polled.CostSample, rows_of(columns))
    unknown = columns_of(
        rendered(file).replace("s.logical_reads", "s.program_name").replace("AS bigint", "AS nvarchar")
    )
    with pytest.raises(QueryFailed, match="buffers is str"):
        to_records(polled.CostSample, rows_of(unknown))
    missing = columns_of(text.replace("CONVERT(nvarchar(20), s.logical_reads)", "s.client_version"))
    assert missing[0][1].name == "int"


def rows_of(columns: tuple[tuple[str, Type], ...]) -> Any:
    from qmon.engines.base import Rows

    return Rows(tuple(name for name, _ in columns), (tuple(value(kind, 0) for _, kind in columns),))


class Idle(SlowReads):
    """Slow readings that nobody starts."""

    def __init__(self) -> None:
        super().__init__(SqlServer(), lambda session: connection(Driver(), (16, 0)))


def watched(driver: Driver, version: tuple[int, int], polls: int = 6) -> list[View]:
    """So many polls of every layout, folded as the dashboard folds them."""
    collector = Collector("shop", SqlServer(), connection(driver, version), Idle())
    collector.watch_queues(Resolved(LAYOUTS, FACTS))
    history, views = TargetHistory(), []
    for poll in range(1, polls + 1):
        driver.poll = poll
        focus = Focus(rows_of=LAYOUTS[poll % len(LAYOUTS)].queue, blocking=True)
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
