"""The statements of acting: the same ones on both engines, with the columns of their records."""

from __future__ import annotations

import re
from dataclasses import fields

import pytest

from qmon.engines.base import EngineName, Rows
from qmon.engines.result_records import to_records
from qmon.engines.sql import queries
from qmon.engines.sql.condition_sql import RowCondition
from qmon.engines.sqlserver.sqlserver_engine import SqlServer
from qmon.model.groups.conditions import ColumnRef, Contains, Lookup
from qmon.model.groups.group import Group
from qmon.model.layout.layout import ObjectName
from qmon.model.layout.table_facts import Column
from qmon.model.sessions import owners
from qmon.operate import sql, table_structure
from qmon.operate.actions import empty_trash, undo, undo_tables
from qmon.operate.plan import preview, required_rights, selection
from qmon.operate.row_set import marks_for, pack_rows, parse_marks, texts_for
from qmon.operate.run import batches, failure_watch, operation_history, running_operation, table_identity, verification
from tests.tsql_rendered import LISTED, forms_of

VERSION = (99, 0)
RECORDS = {
    "action/operate/structure": table_structure.TableColumn,
    "action/operate/obstacles": table_structure.Obstacle,
    "action/operate/hidden": table_structure.Obstacle,
    "action/operate/facts": owners.OwnerFacts,
    "action/operate/choose": selection.Matches,
    "action/operate/choose_trash": selection.Matches,
    "action/operate/choose_kept": selection.Matches,
    "action/operate/first": preview.PreviewMessage,
    "action/operate/outcomes": failure_watch.Outcome,
    "action/operate/first_data": preview._Data,
    "action/operate/rate": preview._Rate,
    "action/operate/rights": required_rights._MissingRight,
    "action/operate/lock": batches._Locked,
    "action/operate/lock_trash": batches._Locked,
    "action/operate/lock_kept": batches._Locked,
    "action/operate/stores": undo_tables.Store,
    "action/operate/make_store": undo_tables._AddedStore,
    "action/operate/put_back": undo._PutBack,
    "action/operate/keys": table_structure._KeyColumn,
    "action/operate/place": table_identity._Part,
    "action/operate/first_kept": preview.PreviewRow,
    "action/operate/several": sql.Count,
    "action/operate/row_counts": verification.RowCounts,
    "action/operate/data_left": sql.Count,
    "action/operate/came_back": undo._PutBack,
    "action/operate/alike": sql.Count,
    "action/operate/masked": required_rights._MaskedColumn,
    "action/operate/unkept": required_rights._UnkeptColumn,
    "action/operate/held": sql.Count,
    "action/operate/other_halves": undo._OtherHalf,
    "action/operate/choose_old": empty_trash._OldRows,
    "control/operations_access": running_operation.AuditAccess,
    "control/operations": operation_history.OperationRow,
}
# PostgreSQL finds rows by their position, can disable triggers, counts the writes of a session and has a search path.
# SQL Server looks rows up by their key again.
ALONE = {
    "action/operate/take_out_bulk",
    "action/operate/fire",
    "action/operate/still_at",
    "action/operate/row_counts",
    "action/operate/came_back",
    "action/operate/alike",
    "action/operate/trigger_path",
    "action/operate/report_counters",
}
FILES = {
    engine: {file.name for file in queries.all_files() if file.engine == engine and "/operate/" in file.name}
    for engine in queries.ENGINES
}


def test_both_engines_have_the_same_statements() -> None:
    assert FILES["postgres"] - FILES["sqlserver"] == ALONE
    assert FILES["sqlserver"] - FILES["postgres"] == {"action/operate/still_there"}
    assert set(RECORDS) - FILES["postgres"] == {"control/operations_access", "control/operations"}


@pytest.mark.parametrize(
    ("engine", "name"),
    [(engine, name) for engine in queries.ENGINES for name in RECORDS if engine == "postgres" or name not in ALONE],
)
def test_columns_are_fields(engine: EngineName, name: str) -> None:
    query = queries.load_query(engine, name, VERSION)
    assert set(query.columns) == {field.name for field in fields(RECORDS[name])}


# Rows as SQL Server's driver gives them.
TYPED: dict[str, tuple[object, ...]] = {
    "action/operate/structure": ("id", "bigint(8,19,0)", False, False, True),
    "action/operate/facts": ("2024-05-01 12:00:00.123", 1714564800.123, True, 1714000000.0, False),
    "action/operate/choose": ("chosen", 1, "17", "2|2024-05-01T12:00:00|61/2024|3"),
    "action/operate/choose_kept": ("changed", 4, None, None),
    "action/operate/first": ("17", "17", "2", 12.0, "61/2024-05-01T12:00:00.123", 3, "text", None),
    "action/operate/outcomes": ("17", "failed"),
    "action/operate/lock": ("17", True),
    "action/operate/stores": (3, "trash", "dbo.Orders", "[]", "qmon_store"),
    "action/operate/held": (1,),
    "action/operate/choose_old": ("261121-071402-k7qd", 12),
    "action/operate/rate": (812.5,),
    "action/operate/rights": ("GRANT UPDATE ON OBJECT::[dbo].[Orders] TO [anna]",),
    "control/operations_access": (True, True, False),
    "control/operations": (
        "261121-071402-k7qd",
        "purge",
        "orders",
        "dbo.Orders",
        "anna@app-7",
        "SHOP\\anna",
        "why",
        "all",
        "{}",
        5,
        5,
        0,
        0,
        0,
        1714564800.5,
        None,
        "running",
        "[]",
        None,
        True,
        0,
        0,
    ),
}


def test_the_procedure_that_makes_a_store_gives_its_number() -> None:
    query = queries.load_query("sqlserver", "action/operate/make_store", VERSION)
    assert set(query.columns) == {field.name for field in fields(undo_tables._AddedStore)}


@pytest.mark.parametrize("name", TYPED)
def test_typed_rows_of_sql_server_become_records(name: str) -> None:
    rows = Rows(queries.load_query("sqlserver", name, VERSION).columns, (TYPED[name],))
    record: object = to_records(RECORDS[name], rows)[0]
    assert tuple(getattr(record, column) for column in rows.columns) == TYPED[name]


@pytest.mark.parametrize("name", sorted(FILES["sqlserver"]))
def test_statements_of_sql_server_render_under_any_name(name: str) -> None:
    query = queries.load_query("sqlserver", name, VERSION)
    hostile = "[a]]b].[c d]; DROP TABLE x --'"
    names: dict[str, queries.Name] = {
        slot: (hostile, "b") if forms & LISTED else Column(hostile, "varchar") if "type" in forms else hostile
        for slot, forms in forms_of(query).items()
    }
    if "holds" in names:
        found = Contains(ColumnRef(hostile, lookup=Lookup(hostile, hostile, hostile)), hostile, binary=True)
        names["holds"] = RowCondition(found, Group("q", ObjectName(hostile, "t"), "id", ()), "t")
    statement = queries.render(query, names, SqlServer())
    text = statement.text
    assert "{" not in text
    bare = re.sub(r"\[(?:[^\]]|\]\])*\]|N?'(?:[^']|'')*'", "", text)
    assert "DROP TABLE" not in bare
    assert text.count("?") == len(statement.parameters)


@pytest.mark.parametrize("engine", queries.ENGINES)
def test_marks_travel_to_each_engine_and_back(engine: EngineName) -> None:
    marks = [("7(0,1)", "16/7/a\"b\\'"), ("(<&>\u1234", "x"), ("(\U0001f418", "")]
    sent = marks_for(engine, marks, ("id",))
    if engine == "sqlserver":
        assert sent["keys"].count("<r ") == 3
        assert "&lt;&amp;&gt;" in texts_for(engine, [key for key, _ in marks])
        assert parse_marks(engine, *marks[0]) == [marks[0]]
    else:
        assert sent["tids"].startswith('{"(0,1)",')
        assert sent["keys"].startswith('{"7(0,1)",')
        assert sent["versions"].startswith('{"16/7/a\\"b\\\\\'"')
        assert parse_marks(engine, '["a", "b"]', '["1", "2"]') == [("a", "1"), ("b", "2")]
    assert list(pack_rows(marks)) == marks
