"""Plans on SQL Server, through the driver's seam: which columns, tables and triggers they refuse or name."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest

from qmon.engines.sql import queries
from qmon.errors import BadInput, PermissionMissing
from qmon.model.layout.layout import Layout, ObjectName, OwnerColumn, Ring, StateColumn
from qmon.model.operation_records import Choice, Nothing, OwnerState, RedriveLimits
from qmon.operate.actions.archiver import ArchiveText, check_can_archive
from qmon.operate.actions.purge import PurgeText
from qmon.operate.actions.requeue import RequeueText
from qmon.operate.actions.undo import UndoText
from qmon.operate.message import MessageColumn, MessageText
from qmon.operate.plan.preview import PreviewText, payload_shower
from qmon.operate.plan.required_rights import RightsText
from qmon.operate.table_structure import StructureText
from tests.replayed import connection
from tests.unit.acting_sqlserver import COLUMNS, ENGINE, Rows, Server, operator

LAYOUT = Layout(
    "orders",
    "status",
    ObjectName("dbo", "Orders"),
    id="Id",
    state=StateColumn("Status", 1, 2, 3, 4),
    started_at="StartedAt",
    attempts="Tries",
    payload="Body",
    times="utc",
)
WORKING = Choice(state="in_progress", owner_states=frozenset(OwnerState))
GRANT = "GRANT UNMASK ON OBJECT::[dbo].[Orders] ([Body]) TO [anna]"
MASKED = ("Body", True, "it is masked for this login", GRANT)


def unkept(helps: str, **why: str) -> str:
    """Return why qmon cannot keep these columns."""
    columns = [RightsText.COLUMN.render(column=column, why=each) for column, each in why.items()]
    return RightsText.NOT_KEEPABLE.render(table="dbo.Orders", why="; ".join(columns), helps=helps)


REFUSED = unkept(GRANT, Body="it is masked for this login")


def recorded(server: Server) -> Server:
    """The same server with a purge that has moved five rows into a trash."""
    frozen = json.dumps({"columns": {"called": ["Id"], "payload": "Body"}})
    stored = json.dumps([[name, f"{kind}(8,19,0)"] for name, kind in COLUMNS])
    server.rows["operations"] = [
        (
            "261121-071402-k7qd",
            "purge",
            "orders",
            "dbo.Orders",
            "anna@app-7",
            "SHOP\\anna",
            "why",
            "all",
            frozen,
            5,
            5,
            0,
            0,
            0,
            1714564800.5,
            1714564801.5,
            "done",
            "[]",
            None,
            True,
            0,
            0,
        )
    ]
    server.rows["stores"] = [(1, "trash", "dbo.Orders", stored, "qmon_store")]
    return server


@pytest.mark.parametrize("column", ["Body", "Id"])
def test_a_column_that_is_masked_for_the_login_is_refused_before_any_row_is_read(column: str) -> None:
    server = Server(unkept=[(column, True, "it is masked for this login", GRANT)])
    assert operator(server).purge(LAYOUT, Choice(state="ready")).plan.refused == unkept(
        GRANT, **{column: "it is masked for this login"}
    )
    assert "action/operate/choose" not in server.asked


def test_a_requeue_and_a_redrive_are_refused_for_columns_that_they_keep_and_for_no_others() -> None:
    server = Server(unkept=[MASKED])
    acts = operator(server)
    assert acts.requeue(LAYOUT, WORKING).plan.refused == Nothing.NO_MESSAGE
    server.rows["unkept"] = [("Tries", True, "it is masked for this login", "GRANT UNMASK TO [anna]")]
    for prepared in (acts.requeue(LAYOUT, WORKING), acts.redrive(LAYOUT, Choice(), RedriveLimits())):
        assert prepared.plan.refused == unkept("GRANT UNMASK TO [anna]", Tries="it is masked for this login")


@pytest.mark.parametrize(
    ("column", "owner", "choice"),
    [
        ("StartedAt", None, WORKING),
        ("PushedAt", None, Choice(state="dead")),
        ("Until", OwnerColumn("Until", "lease"), WORKING),
        ("Beat", OwnerColumn("Beat", "heartbeat"), WORKING),
        ("Body", None, replace(WORKING, payload="xx")),
    ],
)
def test_columns_that_decide_what_is_requeued_must_not_be_masked(
    column: str, owner: OwnerColumn | None, choice: Choice
) -> None:
    layout = replace(LAYOUT, owner=owner, enqueued_at="PushedAt", error="Why")
    server = Server(unkept=[(column, True, "it is masked for this login", GRANT)])
    acts = operator(server)
    plans = [acts.requeue(layout, choice).plan] if choice.state == "in_progress" else []
    if column in ("PushedAt", "Body"):
        plans.append(acts.redrive(layout, replace(choice, state="dead"), RedriveLimits()).plan)
    assert plans
    assert {plan.refused for plan in plans} == {unkept(GRANT, **{column: "it is masked for this login"})}
    assert "action/operate/choose" not in server.asked


def test_a_masked_value_of_a_message_is_not_shown_as_if_it_were_there() -> None:
    listed: Rows = [(7, name, kind, kind, True, "[anna]") for name, kind in COLUMNS]
    values: Rows = [(1, 8, "7"), (2, 4, "3"), (3, 8, "2024-05-01"), (4, 4, "2")]
    server = Server(columns=listed, row=values, times=[(None, None)], unkept=[MASKED])
    message = operator(server).read_message(LAYOUT, "7")
    assert message is not None
    assert message.payload == MessageColumn("Body", "nvarchar", grant=GRANT)
    assert "[Body]" not in server.texts["action/message/row"]
    server.rows["unkept"] = [("StartedAt", True, "it is masked for this login", GRANT)]
    operator(server).read_message(LAYOUT, "7")
    assert "StartedAt" not in server.texts["action/message/times"]
    server.rows["unkept"] = [("Id", True, "it is masked for this login", GRANT)]
    with pytest.raises(PermissionMissing) as caught:
        operator(server).read_message(LAYOUT, "7")
    assert caught.value.reason == MessageText.KEY_UNREADABLE.render(table="dbo.Orders")
    assert caught.value.grant == GRANT


def test_a_masked_payload_of_a_plan_is_not_shown_as_if_it_were_there() -> None:
    context = operator(Server(unkept=[MASKED])).context
    with context.open_sql("plan") as sql:
        show = payload_shower(context, sql, LAYOUT.table, "Body")
        assert (show("xxxx"), show(None)) == (PreviewText.MASKED, None)
        assert payload_shower(context, sql, LAYOUT.table, "Note")("xxxx") == "xxxx"


def test_a_plan_names_masked_columns_that_every_operator_can_read_in_the_trash() -> None:
    chosen: Rows = [("chosen", 1, "7", "v")]
    both, tries = (
        RightsText.MASKED_COPIES.render(table="dbo.Orders", columns=each) for each in ("Body, Tries", "Tries")
    )
    server = Server(masked=[("Body",), ("Tries",)], choose=chosen)
    acts = operator(server)
    assert both in acts.purge(LAYOUT, Choice(state="ready")).plan.risks
    assert tries in acts.requeue(LAYOUT, WORKING).plan.risks
    assert tries in acts.redrive(LAYOUT, Choice(), RedriveLimits()).plan.risks
    server.rows["masked"] = []
    assert acts.purge(LAYOUT, Choice(state="ready")).plan.risks == ()


def test_a_ring_is_not_repaired_by_masked_numbers_or_times() -> None:
    routines = tuple((verb, ObjectName("dbo", verb)) for verb in ("fill_hole", "requeue_orphan"))
    ring = Ring(8, ObjectName("dbo", "pushed"), ObjectName("dbo", "popped"))
    layout = Layout("orders", "ring", ObjectName("dbo", "Orders"), enqueued_at="At", ring=ring, routines=routines)
    for column in ("At", ring.message_id):
        server = Server(unkept=[(column, True, "it is masked for this login", GRANT)])
        refused = operator(server).repair(layout).plan.refused
        assert refused == unkept(GRANT, **{column: "it is masked for this login"})
        assert "action/repair/find_hole" not in server.asked


def test_each_column_and_each_remedy_is_named_once() -> None:
    clients = "its clients encrypt it (Always Encrypted)"
    server = Server(
        unkept=[
            ("StartedAt", False, clients, "a client that has its keys"),
            ("Body", False, clients, "a client that has its keys"),
            ("Gone", True, "it is masked for this login", "GRANT UNMASK TO [anna]"),
        ]
    )
    assert operator(server).purge(LAYOUT, Choice(state="ready")).plan.refused == unkept(
        "a client that has its keys", StartedAt=clients, Body=clients
    )


def test_an_undo_of_a_purge_is_planned_without_ids() -> None:
    server = recorded(Server())
    assert operator(server).undo("261121-071402-k7qd").plan.refused == UndoText.NOTHING
    assert "action/operate/choose_trash" in server.asked


def test_an_undo_of_a_purge_is_refused_by_a_login_that_sees_masks() -> None:
    server = recorded(Server(unkept=[MASKED]))
    assert operator(server).undo("261121-071402-k7qd").plan.refused == REFUSED
    assert "action/operate/choose_trash" not in server.asked


def test_an_archive_is_refused_for_masks_and_for_nothing_else_that_its_procedure_may_read() -> None:
    layout = Layout(
        "orders", "flag", ObjectName("dbo", "Orders"), id="Id", routines=(("archive", ObjectName("dbo", "a")),)
    )
    server = Server(unkept=[("Body", False, "this login may not read it", "GRANT")])
    check_can_archive(connection(server, (16, 0)), ENGINE, layout)
    server.rows["unkept"].append(MASKED)
    with pytest.raises(BadInput) as caught:
        check_can_archive(connection(server, (16, 0)), ENGINE, layout)
    assert str(caught.value) == ArchiveText.CANNOT_ARCHIVE.render(queue="orders", why=REFUSED)


def test_a_table_too_wide_for_the_trash_is_refused() -> None:
    why = "its 1022 columns and 3 of the trash are more than the 1024 that a table can have"
    refused = operator(Server(obstacles=[("too wide", why)])).purge(LAYOUT, Choice(state="ready")).plan.refused
    assert refused == PurgeText.TOO_WIDE.render(table="dbo.Orders", why=why)


def test_triggers_on_deletes_that_may_insert_under_other_keys_are_named() -> None:
    plan = (
        operator(Server(obstacles=[("on delete", "copies"), ("trigger", "copies")]))
        .purge(LAYOUT, Choice(state="ready"))
        .plan
    )
    assert PurgeText.UNWATCHED.render(triggers="copies") in plan.consequences


def test_a_requeue_that_changes_its_key_has_no_undo() -> None:
    server = Server(keys=[("pk", True, 1, "Status"), ("pk", True, 2, "Id")])
    undo = operator(server).requeue(LAYOUT, WORKING).plan.undo
    assert (undo.possible, undo.notes) == (False, (RequeueText.KEY_CHANGES.render(columns="Id"),))


@pytest.mark.parametrize(
    ("version", "masks", "scope"), [((12, 0), False, ""), ((13, 0), True, "DATABASE"), ((16, 0), True, "COLUMN")]
)
def test_the_right_to_see_through_masks_is_asked_for_where_the_version_has_it(
    version: tuple[int, int], masks: bool, scope: str
) -> None:
    text = queries.load_query("sqlserver", "action/operate/unkept", version).text
    assert ("m.is_masked = 1" in text, "c.encryption_type IS NOT NULL" in text) == (masks, masks)
    if masks:
        (line,) = (each for each in text.splitlines() if "N'UNMASK'" in each)
        assert f"N'{scope}'" in line


@pytest.mark.parametrize("name", ["action/operate/unkept", "probe/partial"])
@pytest.mark.parametrize("version", [(13, 0), (16, 0), (100, 0)])
def test_a_computed_column_is_masked_if_one_that_it_is_made_of_is(name: str, version: tuple[int, int]) -> None:
    text = queries.load_query("sqlserver", name, version).text
    assert "d.definition IS NULL OR CHARINDEX(QUOTENAME(m.name), d.definition) > 0" in text
    assert text.index("m.is_masked = 1") < text.index("sys.computed_columns") < text.index("N'UNMASK'")


def test_types_of_2025_that_cannot_be_compared_are_named_where_they_may_be() -> None:
    texts = {each: queries.load_query("sqlserver", "action/operate/unkept", (each, 0)).text for each in (13, 17, 100)}
    assert ["(N'json', N'vector')" in text for text in texts.values()] == [False, True, True]


def keyed(kind: str, length: int, *keys: str) -> Server:
    """A server with a table whose key has this type, and these values."""
    columns = [(name, f"{each}(8,19,0)", False, False, False) for name, each in COLUMNS[1:]]
    chosen: Rows = [("chosen", 1, key, "4|||") for key in keys]
    return Server(structure=[("Id", f"{kind}({length},0,0)", False, False, True), *columns], choose=chosen)


@pytest.mark.parametrize(("kind", "length"), [("varchar", 900), ("nvarchar", 1700)])
def test_a_key_that_the_server_may_have_cut_is_refused_and_shorter_ones_are_not(kind: str, length: int) -> None:
    dead = Choice(state="dead")
    cut = StructureText.CUT_VALUE.render(column="Id", table="dbo.Orders", limit=450)
    with pytest.raises(BadInput, match=f"^{re.escape(cut)}$"):
        operator(keyed(kind, length, "a", "x" * 450)).purge(LAYOUT, dead)
    with pytest.raises(BadInput, match=f"^{re.escape(cut)}$"):
        operator(keyed(kind, length, "a")).purge(LAYOUT, Choice(state="dead", ids=("x" * 451,)))
    assert operator(keyed(kind, length, "a", "x" * 449)).purge(LAYOUT, dead).plan.count == 2


def test_a_key_of_450_characters_is_whole_if_its_column_has_no_more() -> None:
    assert operator(keyed("nvarchar", 900, "x" * 450)).purge(LAYOUT, Choice(state="dead")).plan.count == 1
