"""Figures that are made of columns that the server masks for our login are unknown, with that reason."""

from __future__ import annotations

from dataclasses import replace

import pytest

from qmon.engines.sqlserver.engine import SqlServer
from qmon.model.layout.layout import Layout, OwnerColumn, StateColumn, TableName
from qmon.model.reasons import Reason
from qmon.model.view import QueueView
from qmon.monitor.catalog.resolve import Resolved
from qmon.monitor.poll.collector import Collector
from qmon.monitor.source import Focus
from qmon.monitor.state.target import TargetHistory
from tests.replayed import Driver, Row, connection
from tests.unit.test_sqlserver_clues import TABLE, answering
from tests.unit.test_sqlserver_replay import Idle

pytestmark = pytest.mark.unit

STATUS = Layout(
    "mails",
    "status",
    TableName("dbo", "Mails"),
    id="Id",
    state=StateColumn("Status", 0, 1, 2, 3),
    started_at="Started",
    enqueued_at="Pushed",
    due_at="Due",
    owner=OwnerColumn("Worker", "session"),
    payload="Body",
    error="Error",
)
WHY = Reason.MASKED.format(column="{0}", grant="GRANT UNMASK TO [anna]")
OF_ROWS = ("ready", "in_progress", "stuck", "scheduled", "dead", "oldest")


def served(*columns: str) -> Row:
    """The rows of a server that masks these columns of the table."""
    masked = tuple(
        {
            "table_id": 12,
            "column_name": each,
            "why": f"column {each} is masked for this login",
            "helps": "GRANT UNMASK TO [anna]",
        }
        for each in columns
    )
    return answering(
        {
            "probe/partial": lambda _: masked,
            "probe/head_state_due": lambda _: ({"head_id": "7", "oldest_s": 5.0, "counted": 3},),
            "probe/progress": lambda _: ({"in_progress": 2, "stuck": 1, "longest_s": 900.0},),
            "probe/progress_oldest": lambda _: ({"in_progress": 2, "stuck": 1, "longest_s": 900.0},),
        }
    )


def watched(*columns: str) -> QueueView:
    driver = Driver(served(*columns))
    collector = Collector("shop", SqlServer(), connection(driver, (16, 0)), Idle())
    collector.use(Resolved((STATUS,), {"mails": replace(TABLE, order_by="Due")}))
    history = TargetHistory()
    views = []
    for driver.poll in range(1, 4):
        views.append(history.add(collector.collect(driver.poll, 1.0, Focus(rows_of="mails"))))
    (queue,) = views[-1].queues
    return queue


def unknown(view: QueueView, *but: str) -> dict[str, str]:
    """The reasons of unknown figures, by figure."""
    found = {name: getattr(view, name) for name in OF_ROWS if name not in but}
    return {name: figure.reason for name, figure in found.items() if figure.value is None}


def test_without_a_mask_that_the_queue_needs_everything_is_known() -> None:
    for columns in ((), ("Body",), ("Another",)):
        assert unknown(watched(*columns)) == {}


@pytest.mark.parametrize("column", ["Status", "Id", "Due"])
def test_a_masked_state_id_or_due_time_makes_every_figure_of_rows_unknown(column: str) -> None:
    view = watched(column)
    assert unknown(view) == dict.fromkeys(OF_ROWS, WHY.format(column))
    assert view.verdict.code == "cannot tell"
    assert WHY.format(column) in view.verdict.proof
    assert view.messages is None


@pytest.mark.parametrize(("column", "figure"), [("Started", "stuck"), ("Pushed", "oldest")])
def test_a_masked_time_makes_the_figure_of_that_time_unknown(column: str, figure: str) -> None:
    assert unknown(watched(column)) == {figure: WHY.format(column)}


def test_a_masked_owner_is_not_shown() -> None:
    messages = watched("Worker").messages
    assert messages
    assert {each.owner for each in messages} == {None}
    assert {each.owner for each in watched().messages or ()} != {None}


@pytest.mark.parametrize(("column", "field"), [("Body", "payload"), ("Error", "error")])
def test_a_masked_payload_or_error_is_not_shown(column: str, field: str) -> None:
    assert {getattr(each, field) for each in watched(column).messages or ()} == {None}
    assert {getattr(each, field) for each in watched("Another").messages or ()} != {None}
