"""NServiceBus and Rebus: queues that are tables of any name, from their columns to the figures."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import pytest

from qmon.engines.sqlserver.sqlserver_engine import SqlServer
from qmon.libraries.library_catalog import all_libraries
from qmon.libraries.recognition import Columns, find_table_queues
from qmon.model.groups.group import Group
from qmon.model.layout.layout import Layout, ObjectName
from qmon.model.layout.table_facts import TableFacts
from qmon.model.layout.time_zones import UTC_ZONE, Zone
from qmon.model.operation_records import OperationKind, Side
from qmon.model.reasons import Reason
from qmon.monitor.catalog.access_paths import IndexText, table_facts
from qmon.monitor.catalog.catalog import ColumnRow, Index, SequenceRows, TableDetails, TableRow
from qmon.monitor.catalog.column_zones import require_due_zone, with_zones
from qmon.monitor.catalog.predicate import parse_index_condition
from qmon.monitor.catalog.resolve import Resolved
from qmon.monitor.poll.collector import Collector
from qmon.monitor.source import ReadScope
from qmon.monitor.state.target_history import TargetHistory
from qmon.operate.plan.allowed_actions import NotAllowed, why_not_allowed
from tests.replayed import Driver, Idle, connection, emptied, full
from tests.wordings import has

KNOWN: Final = all_libraries(Path("/nowhere"))
NSERVICEBUS: Final[dict[str, str]] = {
    "Id": "uniqueidentifier",
    "CorrelationId": "varchar",
    "ReplyToAddress": "varchar",
    "Recoverable": "bit",
    "Expires": "datetime",
    "Headers": "nvarchar",
    "Body": "varbinary",
    "RowVersion": "bigint",
}
DELAYED: Final[dict[str, str]] = {"Headers": "nvarchar", "Body": "varbinary", "Due": "datetime", "RowVersion": "bigint"}
REBUS: Final[dict[str, str]] = {
    "id": "bigint",
    "priority": "int",
    "expiration": "datetimeoffset",
    "visible": "datetimeoffset",
    "headers": "varbinary",
    "body": "varbinary",
}
LEASE: Final[dict[str, str]] = {"leaseduntil": "datetimeoffset", "leasedby": "nvarchar", "leasedat": "datetimeoffset"}
TABLES: Final[dict[str, Columns]] = {"Sales": NSERVICEBUS, "Sales.Delayed": DELAYED, "orders": REBUS}
INDEXES: Final = {
    "Sales": (
        Index("Index_RowVersion", False, False, ("RowVersion",)),
        Index(
            "Index_Expires", False, False, ("Expires",), parse_index_condition("([Expires] IS NOT NULL)", brackets=True)
        ),
    ),
    "Sales.Delayed": (Index("Index_Due", False, False, ("Due",)),),
    "orders": (
        Index("PK_dbo_orders", True, True, ("priority", "id"), None, True),
        Index("IDX_RECEIVE_dbo_orders", False, False, ("priority", "visible", "id", "expiration")),
    ),
}
NULLABLE: Final = ("CorrelationId", "ReplyToAddress", "Expires", "Body")


def found(**tables: Columns) -> list[Layout | Group]:
    return list(find_table_queues(KNOWN, "sqlserver", {"dbo": tables}))


def layouts() -> dict[str, Layout]:
    """Return the queues of ``TABLES``, by table, with the meaning of their times; none uses the server's local time."""

    def local() -> Zone:
        raise AssertionError

    known = {each.table.name: each for each in found(**TABLES) if isinstance(each, Layout)}
    return {name: with_zones(each, details(name, 1), local)[0] for name, each in known.items()}


def details(name: str, number: int) -> TableDetails:
    """Return one of ``TABLES`` as the catalog has it."""
    columns = [
        ColumnRow(number, column, kind, column not in NULLABLE, None, None, None, column in ("RowVersion", "id"))
        for column, kind in TABLES[name].items()
    ]
    return TableDetails(TableRow(number, "dbo", name, True, True, 100, 1), tuple(columns), INDEXES[name])


def facts(layout: Layout, number: int) -> TableFacts:
    return table_facts(layout, details(layout.table.name, number), None, SequenceRows())


def test_due_times_without_a_zone_are_utc() -> None:
    known = layouts()
    assert known["Sales.Delayed"].zones == (("Due", UTC_ZONE),)
    for layout in known.values():
        require_due_zone(layout)


def test_each_is_known_by_its_columns_and_their_types() -> None:
    assert {name: (each.queue, each.design, each.library) for name, each in layouts().items()} == {
        "Sales": ("nservicebus/Sales", "fifo", "nservicebus"),
        "Sales.Delayed": ("nservicebus/Sales.Delayed", "pending", "nservicebus"),
        "orders": ("rebus/orders", "pending", "rebus"),
    }
    bare = {
        name: kind for name, kind in NSERVICEBUS.items() if name in ("Id", "Expires", "Headers", "Body", "RowVersion")
    }
    old = NSERVICEBUS | {"Headers": "varchar", "BodyString": "nvarchar"}
    assert len(found(a=bare, b=old)) == 2


@pytest.mark.parametrize(
    "other",
    [
        {name: kind for name, kind in NSERVICEBUS.items() if name != "Id"},
        NSERVICEBUS | {"RowVersion": "timestamp"},
        {name: kind for name, kind in REBUS.items() if name != "visible"},
        REBUS | {"visible": "datetime2"},
        DELAYED | {"Due": "date"},
    ],
)
def test_a_table_that_lacks_a_column_or_has_another_type_is_none(other: Columns) -> None:
    assert found(other=other) == []


def test_tables_of_one_name_are_called_after_their_schema_too() -> None:
    both = find_table_queues(
        KNOWN, "sqlserver", {"a": {"error": NSERVICEBUS}, "b": {"error": NSERVICEBUS, "audit": NSERVICEBUS}}
    )
    assert [each.queue for each in both if isinstance(each, Layout)] == [
        "nservicebus/a.error",
        "nservicebus/audit",
        "nservicebus/b.error",
    ]


def test_a_table_may_be_called_anything() -> None:
    (queue,) = found(**{"[a]]b].[c d]": NSERVICEBUS})
    assert queue.table == ObjectName("dbo", "[a]]b].[c d]")


def test_the_lease_transport_of_rebus_keeps_what_is_worked_on() -> None:
    (queue,) = found(orders=REBUS | LEASE)
    assert isinstance(queue, Group)
    assert (queue.name, queue.library) == ("rebus/orders", "rebus")
    assert [state.name for state in queue.states] == ["ready", "scheduled", "in_progress"]
    layout = queue.queue_layout(None)
    for kind, verb in (
        (OperationKind.REQUEUE, "requeue messages of"),
        (OperationKind.INSTALL_GATE, "install a gate on"),
    ):
        assert why_not_allowed(layout, kind) == NotAllowed.LIBRARY.render(verb=verb, library="rebus", file="")


def test_their_indexes_lead_to_what_they_are_asked_and_what_none_leads_to_is_said() -> None:
    known = {name: facts(layout, n) for n, (name, layout) in enumerate(layouts().items(), 1)}
    assert known["Sales"].indexes["head"] == "Index_RowVersion"
    assert not known["Sales"].unknown.keys() & {"in_progress", "stuck", "gap", "rates"}
    assert known["Sales.Delayed"].indexes["due"] == "Index_Due"
    assert IndexText.INDEX_WOULD_HELP.render(column="visible", where="") in known["orders"].slow["scheduled"]
    assert has(known["orders"].unknown["in_progress"], Reason.POP_DELETES)


@pytest.mark.parametrize("row", [full, emptied])
def test_typed_rows_reach_the_figures(row: Any) -> None:
    queues = tuple(layouts().values())
    driver = Driver(row)
    collector = Collector("shop", SqlServer(), connection(driver, (15, 0)), Idle())
    collector.watch_queues(Resolved(queues, {each.queue: facts(each, n) for n, each in enumerate(queues, 1)}))
    history, views = TargetHistory(), []
    for poll in range(1, 7):
        driver.poll = poll
        views.append(history.record_snapshot(collector.collect(poll, 1.0, ReadScope(rows_of=queues[poll % 3].queue))))
    assert [f for view in views for f in view.failures] == []
    assert [f for view in views for queue in view.queues for f in queue.failures] == []
    assert {"probe/head", "probe/head_due", "probe/depth", "probe/locks"} <= set(driver.asked)
    sales, later, orders = (views[-1].queue(each.queue) for each in queues)
    assert sales is not None
    assert sales.ready.value is not None
    assert later is not None
    assert later.scheduled.value is not None
    assert orders is not None
    assert orders.in_progress.value is None
    assert has(orders.in_progress.reason, Reason.POP_DELETES)


def test_they_are_acted_on_as_tables_of_their_design_but_for_what_would_break_them() -> None:
    known = layouts()
    for layout in known.values():
        assert why_not_allowed(layout, OperationKind.REQUEUE) is None
        assert why_not_allowed(layout, OperationKind.PURGE) is None
    assert why_not_allowed(known["orders"], OperationKind.INSTALL_GATE) is None
    for kind in (OperationKind.INSTALL_GATE, OperationKind.PAUSE):
        assert "OUTPUT … INTO" in str(why_not_allowed(known["Sales"], kind, Side.PRODUCERS))
