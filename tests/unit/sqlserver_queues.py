"""Queues on SQL Server: their layouts, the facts of their tables, and polls of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from qmon.engines.sqlserver.sqlserver_engine import SqlServer
from qmon.model.layout.layout import Layout, ObjectName, OwnerColumn, Ring, StateColumn
from qmon.model.layout.table_facts import Column, TableFacts
from qmon.model.view import View
from qmon.monitor.catalog.resolve import Resolved
from qmon.monitor.poll.collector import Collector
from qmon.monitor.source import ReadScope
from qmon.monitor.state.target_history import TargetHistory
from tests.replayed import Driver, Idle, Rows, answering, connection

T = ObjectName("dbo", "Orders")
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
        ring=Ring(1000, ObjectName("dbo", "Push"), ObjectName("dbo", "Pop"), slot="Slot", turn="Turn"),
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
        14, push_sequence_id=22, pop_sequence_id=23, indexes=SEEKS, spare_id=15, spare=ObjectName("dbo", "Orders_spare")
    ),
}
FIFO = Layout("fifo", "fifo", T, id="Id", enqueued_at="Pushed")
TABLE = TableFacts(12, sequence_id=21, order_by="Id", indexes=SEEKS)


def watched(layout: Layout, facts: TableFacts, rows: Mapping[str, Rows], polls: int) -> list[View]:
    """Return this number of polls, a second apart on the server's clock."""
    driver = Driver(answering(rows))
    collector = Collector("shop", SqlServer(), connection(driver, (16, 0)), Idle())
    collector.watch_queues(Resolved((layout,), {layout.queue: facts}))
    history, views = TargetHistory(), []
    for poll in range(1, polls + 1):
        driver.poll = poll
        views.append(history.record_snapshot(collector.collect(poll, 1.0, ReadScope(blocking=True))))
        assert [f for f in views[-1].failures] == []
    return views
