"""Figures from columns that the server masks for our login are unknown, with that reason."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from qmon.engines.sqlserver.sqlserver_engine import SqlServer
from qmon.libraries.library_catalog import all_libraries
from qmon.libraries.recognition import recognize_libraries
from qmon.model.groups.conditions import ColumnRef, IsNull, Lookup, OneOf
from qmon.model.groups.group import Blocker, Group, ResolvedGroup, State, StepTable, Workers
from qmon.model.layout.layout import Layout, ObjectName, OwnerColumn, StateColumn
from qmon.model.reasons import Reason
from qmon.model.view import QueueView, View
from qmon.monitor.catalog.resolve import Resolved
from qmon.monitor.poll.collector import Collector
from qmon.monitor.source import ReadScope
from qmon.monitor.state.target_history import TargetHistory
from tests.library_tables import tables
from tests.replayed import Driver, Idle, Row, answering, connection
from tests.unit.sqlserver_queues import TABLE

pytestmark = pytest.mark.unit

STATUS = Layout(
    "mails",
    "status",
    ObjectName("dbo", "Mails"),
    id="Id",
    state=StateColumn("Status", 0, 1, 2, 3),
    started_at="Started",
    enqueued_at="Pushed",
    due_at="Due",
    owner=OwnerColumn("Worker", "session"),
    payload="Body",
    error="Error",
)
WHY = Reason.MASKED.render(column="{0}", grant="GRANT UNMASK TO [anna]")
OF_ROWS = ("ready", "in_progress", "stuck", "scheduled", "dead", "oldest")


def served(*columns: str) -> Row:
    """Return the rows of a server that masks these columns of the table."""
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
            "probe/progress": lambda _: ({"in_progress": 2, "timed": 2, "stuck": 1, "longest_s": 900.0},),
            "probe/progress_oldest": lambda _: ({"in_progress": 2, "timed": 2, "stuck": 1, "longest_s": 900.0},),
        }
    )


def watched(*columns: str) -> QueueView:
    driver = Driver(served(*columns))
    collector = Collector("shop", SqlServer(), connection(driver, (16, 0)), Idle())
    collector.watch_queues(Resolved((STATUS,), {"mails": replace(TABLE, order_by="Due")}))
    history = TargetHistory()
    views = []
    for driver.poll in range(1, 4):
        views.append(history.record_snapshot(collector.collect(driver.poll, 1.0, ReadScope(rows_of="mails"))))
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
    assert hidden(watched("Worker")) == (True, False, False)


@pytest.mark.parametrize(("column", "field"), [("Body", "payload"), ("Error", "error")])
def test_a_masked_payload_or_error_is_not_shown(column: str, field: str) -> None:
    assert {getattr(each, field) for each in watched(column).messages or ()} == {None}
    assert {getattr(each, field) for each in watched("Another").messages or ()} != {None}


@pytest.mark.parametrize("column", ["Started", "Pushed"])
def test_a_masked_time_is_no_age_of_a_message(column: str) -> None:
    assert hidden(watched(column)) == (False, False, True)


# ------------------------------------------------------------------------------------------------- groups

KEY = ColumnRef("Customer")
GROUP = Group(
    "mails",
    ObjectName("dbo", "Mails"),
    "Id",
    (
        State("ready", "ready", OneOf(ColumnRef("Status"), (0,)), ColumnRef("Pushed")),
        State("busy", "in_progress", OneOf(ColumnRef("Status"), (1,)), ColumnRef("Started")),
        State(
            "held",
            "blocked",
            OneOf(ColumnRef("Status"), (2,)),
            ColumnRef("Held"),
            Blocker(ColumnRef("Key", lookup=Lookup("Locks", "Mail", "Id"))),
        ),
        State("failed", "dead", OneOf(ColumnRef("Status"), (3,))),
    ),
    KEY,
    owner=ColumnRef("Worker"),
    attempts=ColumnRef("Tries"),
    payload=ColumnRef("Body"),
    steps=(StepTable("Log", "Number", None, KEY, (("pushed", OneOf(ColumnRef("Event"), (1,))),)),),
    workers=Workers("Workers", IsNull(ColumnRef("Ended")), KEY),
)
TABLES = (("Mails", 12), ("Locks", 13), ("Log", 14), ("Workers", 15))
FOUND = ResolvedGroup(GROUP, 12, 10, tables=TABLES)
OF_GROUP = ("ready", "in_progress", "stuck", "dead", "blocked", "oldest", "blocked_oldest", "push_rate")


def of_group(*columns: str, found: ResolvedGroup = FOUND) -> View:
    """Return polls of a group on a server that masks these columns: of the group's table, or of the table before the
    dot."""
    ids = dict(found.tables)
    named = [each.rpartition(".") for each in columns]
    masked = tuple(
        {
            "table_id": ids[table or found.group.table.name],
            "column_name": name,
            "why": "",
            "helps": "GRANT UNMASK TO [anna]",
        }
        for table, _, name in named
    )
    driver = Driver(
        answering(
            {
                "probe/server": lambda _: ({"started_at": 1.7e9, "stats_reset_at": None},),
                "probe/server_counters": lambda _: ({"deadlocks": 0},),
                "probe/partial": lambda _: masked,
                "probe/group_states": lambda _: ({"queue": "a", "counted": 3, "oldest_s": 9.0, "late": 1},),
                "probe/group_states_by": lambda _: ({"queue": "a", "counted": 3, "oldest_s": 9.0, "late": 1},),
                "probe/group_owners": lambda _: (
                    {"id": "7", "owner": "w", "owner_state": "", "attempts": 1, "age_s": 9.0, "queue": "a"},
                ),
                "probe/group_strange": lambda _: (),
                "probe/group_last": lambda poll: ({"last_id": poll},),
                "probe/group_steps": lambda poll: ({"step": "pushed", "queue": "a", "counted": poll, "settled": 0},),
                "probe/group_workers": lambda _: ({"queue": "a", "counted": 2},),
                "probe/group_blockers": lambda _: (
                    {"queue": "a", "blocker": "lock", "holder": None, "held_s": 1.0, "seen": 3},
                ),
            }
        )
    )
    collector = Collector("shop", SqlServer(), connection(driver, (16, 0)), Idle())
    collector.watch_queues(Resolved(groups=(found,)))
    history = TargetHistory()
    views = []
    for driver.poll in range(1, 6):
        views.append(history.record_snapshot(collector.collect(driver.poll, 1.0, ReadScope(rows_of="mails/a"))))
    return views[-1]


def unknown_of_group(view: View) -> dict[str, str]:
    """The reasons of unknown figures, by figure."""
    (queue,) = view.queues
    found = {name: getattr(queue, name) for name in OF_GROUP}
    return {name: figure.reason for name, figure in found.items() if figure.value is None}


def test_without_a_mask_that_a_group_needs_everything_is_known() -> None:
    for columns in ((), ("Body",), ("Another",), ("Log.Another",)):
        view = of_group(*columns)
        assert unknown_of_group(view) == {}
        assert hidden(view.queues[0]) == (False, False, False)
        assert view.queues[0].blockers


@pytest.mark.parametrize("column", ["Customer", "Id", "Status"])
def test_a_masked_key_id_or_state_of_a_group_makes_every_figure_of_rows_unknown(column: str) -> None:
    view = of_group(column)
    found = unknown_of_group(view)
    assert found == dict.fromkeys(OF_GROUP, WHY.format(column))
    assert view.queues[0].verdict.code == "cannot tell"
    assert view.queues[0].messages is None


@pytest.mark.parametrize(
    ("column", "figure"),
    [
        ("Pushed", "oldest"),
        ("Started", "stuck"),
        ("Held", "blocked_oldest"),
        ("Log.Number", "push_rate"),
        ("Log.Event", "push_rate"),
    ],
)
def test_a_masked_column_of_a_group_makes_the_figure_that_is_made_of_it_unknown(column: str, figure: str) -> None:
    view = of_group(column)
    assert unknown_of_group(view) == {figure: WHY.format(column)}
    assert hidden(view.queues[0])[2] == (column in ("Pushed", "Started"))


def test_a_masked_owner_of_a_group_is_not_shown_and_its_attempts_neither() -> None:
    assert hidden(of_group("Worker").queues[0]) == (True, False, False)
    assert hidden(of_group("Tries").queues[0]) == (False, True, False)


@pytest.mark.parametrize("column", ["Locks.Key", "Locks.Mail"])
def test_a_masked_blocker_is_not_named(column: str) -> None:
    view = of_group(column)
    assert view.queues[0].blockers == ()
    assert unknown_of_group(view) == {}


def test_queues_of_a_library_are_unknown_where_their_columns_are_masked() -> None:
    known_ones = all_libraries(Path("/nowhere"))
    (library,) = (each for each in known_ones if (each.name, each.engine) == ("hangfire", "sqlserver"))
    (known,) = recognize_libraries([library], "sqlserver", {"HangFire": tables(library, "")})
    (group,) = known.groups
    found = ResolvedGroup(group, 12, 10, tables=(("JobQueue", 12), ("Job", 13)))
    assert {table for table, _ in group.columns_read.columns} == {"JobQueue", "Job"}
    assert "oldest" in unknown_of_group(of_group("Job.CreatedAt", found=found))
    assert "Job.CreatedAt" in unknown_of_group(of_group("Job.CreatedAt", found=found))["oldest"]
    every = unknown_of_group(of_group("FetchedAt", found=found))
    assert every["ready"] == every["in_progress"] == every["stuck"] == WHY.format("FetchedAt")


def hidden(view: QueueView) -> tuple[bool, bool, bool]:
    """Return whether no listed message has an owner, attempts, and an age."""
    assert view.messages
    listed = [(each.owner, each.attempts, each.age_s) for each in view.messages]
    owners, attempts, ages = zip(*listed, strict=True)
    return set(owners) == {None}, set(attempts) == {None}, set(ages) == {None}
