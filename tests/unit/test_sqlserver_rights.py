"""The rights for acting on SQL Server exist in each version, and allow nothing else."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Callable, Iterator
from typing import cast

import pyodbc
import pytest

from qmon.engines import odbc
from qmon.engines.base import Bound, Connection, Rows, Session, Statement, Target
from qmon.engines.sql import queries
from qmon.engines.sqlserver.sqlserver_engine import RESTRICTED, SqlServer
from qmon.errors import PermissionMissing
from qmon.model.layout.layout import ObjectName
from qmon.operate.actions import undo_tables
from qmon.operate.sql import Sql
from qmon.operate.table_structure import TableColumn, TableStructure
from tests.tsql import FACTS
from tests.unit.raw_driver import Cursor, Raw, Result

# The rights to see and end other sessions: before 2022, from 2022 on, and in Azure SQL Database.
ASKED = {
    15: {"VIEW SERVER STATE", "ALTER ANY CONNECTION"},
    16: {"VIEW SERVER PERFORMANCE STATE", "ALTER ANY CONNECTION"},
    100: {"VIEW DATABASE STATE", "KILL DATABASE CONNECTION"},
    101: {"VIEW DATABASE STATE", "KILL DATABASE CONNECTION"},
}


def text(name: str, version: int) -> str:
    return queries.load_query("sqlserver", name, (version, 0)).text


def rights(name: str, version: int) -> set[str]:
    found = re.findall(r"\b(?:VIEW|ALTER ANY|KILL) [A-Z ]*(?:STATE|CONNECTION)\b", text(name, version))
    return set(found)


@pytest.mark.parametrize("version", ASKED)
@pytest.mark.parametrize(
    "name",
    [
        "action/sessions/rights",
        "action/sessions/session",
        "action/operate/facts",
        "control/operator_signal",
        "control/operations",
    ],
)
def test_acting_asks_for_the_rights_that_the_version_has(name: str, version: int) -> None:
    assert rights(name, version) <= ASKED[version]
    assert rights(name, version)


def test_azure_has_no_roles_of_the_server() -> None:
    assert "SERVER ROLE" in text("control/operator_signal", 16)
    assert "SERVER" not in text("control/operator_signal", 100)
    assert "SUSER_ID" not in text("catalog/setup", 100)


# Views that need the server role on Basic, S0, S1 and in pools: unknown or refused without it, and the role is named.
NEED_ROLE = {
    "action/bench/readings",
    "action/sessions/held_locks",
    "action/sessions/holders",
    "action/sessions/kill",
    "action/sessions/prepared",
    "action/sessions/session",
    "catalog/archive_writers",
    "probe/blocking",
    "probe/clients",
    "probe/horizon",
    "probe/latches",
    "probe/lock_holders",
    "probe/locks",
    "probe/procedures",
    "probe/server_counters",
    "probe/writers",
}


def test_where_the_right_is_not_enough_depth_rates_and_every_other_plan_do_without_the_role() -> None:
    facts = json.loads(FACTS.read_text("utf-8"))
    guarded = [name for name, fact in facts.items() if "Basic" in fact["right"]]
    assert len(guarded) > 10
    names = {file.name for file in queries.all_files() if file.engine == "sqlserver"}
    there = [name for name in names if queries.has_query("sqlserver", name, (RESTRICTED, 0))]
    reading = {
        name for name in there for view in guarded if re.search(rf"{view}\b", uncommented(text(name, RESTRICTED)))
    }
    # Sessions try to read one of these views. A failure shows that the role is needed.
    tried = {"catalog/session_watch", "catalog/session_act"}
    assert reading == NEED_ROLE | tried
    for name in tried:
        found = text(name, RESTRICTED)
        assert found.index("BEGIN TRY") < found.index("sys.dm_exec_connections AS c") < found.index("END TRY")


def uncommented(sql: str) -> str:
    return re.sub(r"--.*", "", sql)


def test_what_each_right_gives_fits_into_its_column() -> None:
    for version in (11, 16, 100, RESTRICTED):
        found = re.findall(r"N'([^']+)'\)", text("catalog/rights", version))
        assert found
        assert [each for each in found if len(each) > 200] == []


def test_the_role_is_named_instead_of_a_right_that_is_held_already(monkeypatch: pytest.MonkeyPatch) -> None:
    said = "VIEW DATABASE STATE permission was denied on object 'server', database 'shop'."
    for version, grant in (
        ("100.0", "GRANT VIEW DATABASE STATE TO [me]"),
        ("101.0", "ALTER SERVER ROLE ##MS_ServerStateReader## ADD MEMBER [me]"),
    ):
        row: Result = (("version", "session_id", "login", "standby"), -1, [(version, 61, "me", False)])
        raw = Raw(row)
        monkeypatch.setattr(odbc, "connect", lambda *_, raw=raw: raw)
        connection = SqlServer().connect(Target("shop", "sqlserver", {"Server": "db1", "Driver": "x"}), Session("poll"))
        monkeypatch.setattr(Cursor, "execute", refusing(said))
        with pytest.raises(PermissionMissing) as caught:
            connection.fetch(Bound(Statement("probe/clients", "SELECT 1", (), ("n",))))
        monkeypatch.undo()
        assert caught.value.grant == grant


def refusing(said: str) -> Callable[..., None]:
    """Return the method of a cursor whose server refuses the statement with these words."""

    def execute(*_: object) -> None:
        raise pyodbc.ProgrammingError("42000", f"[42000] [Microsoft][SQL Server]{said} (262) (SQLExecDirectW)")

    return execute


def test_an_operator_alters_no_schema_and_makes_no_table() -> None:
    made = [
        file.name for file in queries.all_files() if file.engine == "sqlserver" and "control/operator_" in file.name
    ]
    for version in (11, 16, 100):
        for name in made:
            if not queries.has_query("sqlserver", name, (version, 0)):
                continue
            for given, schema in re.findall(r"GRANT ([A-Z, ]+) ON SCHEMA::(\w+)", text(name, version)):
                rows = "SELECT, INSERT, UPDATE, DELETE" if schema == "qmon_store" else "SELECT"
                assert given == rows, name
            assert not re.search(r"\b(?:ALTER|CONTROL)\b[A-Z, ]* ON (?:OBJECT|DATABASE)::", text(name, version)), name
            assert "GRANT CREATE" not in text(name, version), name
    assert "CREATE SCHEMA qmon_store AUTHORIZATION qmon_store" in text("control/05_store", 11)
    assert "sys.triggers" in text("action/operate/stores", 11), "a trigger would run with the rights of who acts next"


# The procedures that run as the owner of qmon's schema, and the rights that the caller needs.
PROCEDURES = {"control/06_make_store": {"DELETE", "UPDATE", "SELECT"}, "control/07_put_back": {"INSERT", "SELECT"}}


@pytest.mark.parametrize("name", PROCEDURES)
def test_what_runs_as_the_owner_asks_first_what_its_caller_may(name: str) -> None:
    body = text(name, 11)
    caller = re.search(r"\bEXECUTE AS CALLER;(.*?)\bREVERT;", body, re.S)
    assert caller is not None
    assert "IS_ROLEMEMBER(N'qmon_operator') = 1" in caller[1]
    assert set(re.findall(r"N'(SELECT|INSERT|UPDATE|DELETE)'", caller[1])) == PROCEDURES[name]
    refused, first = body.index("RETURN 1"), body.index("EXEC sys.sp_executesql @text")
    assert caller.start() < refused < first
    assert body.index("@may = 0") < refused
    assert body.count("EXECUTE AS CALLER;") == body.count("REVERT;") == 1


@pytest.mark.parametrize("name", PROCEDURES)
def test_no_text_that_the_owner_runs_holds_what_the_caller_wrote(name: str) -> None:
    body = re.sub(r"--.*", "", text(name, 11))
    given = set(re.findall(r"@\w+", body[: body.index("WITH EXECUTE AS OWNER")]))
    pieces: dict[str, list[str]] = {}
    for variable, value in re.findall(r"\bSET (@\w+) = (.*?);", body, re.S):
        pieces.setdefault(variable, []).append(value)

    def joined(value: str) -> set[str]:
        """Return the variables that are concatenated into a text, outside its quotes."""
        return set(re.findall(r"@\w+", re.sub(r"N?'(?:[^']|'')*'", "", value)))

    waiting, used = ["@text"], set[str]()
    while waiting:
        used |= (more := set[str]().union(*(joined(value) for value in pieces[waiting.pop()])) - used)
        waiting += more & {"@rows", "@name"} & set(pieces)
    for variable in used & {"@from", "@into", "@list", "@name"}:
        assert any("QUOTENAME(" in value for value in pieces[variable]), variable
    kind = {"@kind"} if "@kind, '') NOT IN ('trash', 'kept')" in body else set()
    quoted = {"@found_by"} if body.count("@found_by)") == body.count("QUOTENAME(@found_by)") else set()
    assert used & given <= kind | quoted


def test_what_puts_rows_back_as_the_owner_starts_no_code_of_others() -> None:
    body = text("control/07_put_back", 11)
    first = body.index("SET IDENTITY_INSERT ' ")
    for guard in ("ExecIsInsertTrigger", "sys.security_predicates"):
        assert body.index(guard) < first


def test_who_may_not_write_an_identity_has_it_written_by_the_procedure() -> None:
    assert "EXEC qmon.put_back" in text("action/operate/put_back", 11)
    assert "qmon.put_back" in text("action/operate/rights", 11)
    granted = set(re.findall(r"GRANT EXECUTE ON OBJECT::(\S+) TO qmon_operator", text("control/operator_stores", 11)))
    assert granted == {"qmon.make_store", "qmon.put_back"}


def test_operators_write_operations_and_pauses_through_procedures_alone() -> None:
    for name, tables in (("operator_operations", ("operations",)), ("operator_pauses", ("pauses",))):
        granted = text(f"control/{name}", 11)
        for table in tables:
            assert not re.search(rf"GRANT [^;]*(INSERT|UPDATE|DELETE)[^;]*qmon\.{table}\b", granted)
    assert not queries.has_query("sqlserver", "control/operator_registry", (11, 0))
    bodies = text("control/03_operations", 11)
    own = re.findall(r"CREATE PROCEDURE qmon\.(operation_\w+)(.*?)\nEND'\)", bodies, re.S)
    assert {name for name, _ in own} == {f"operation_{each}" for each in ("begin", "count", "end", "undone", "emptied")}
    for name, body in own:
        assert "ORIGINAL_LOGIN()" in body or name == "operation_begin", name
    assert "login" not in re.search(r"INSERT INTO qmon\.operations \((.*?)\)", own[0][1], re.S).group(1)  # type: ignore[union-attr]


class Making:
    """A connection that answers like a server with the procedure that makes stores."""

    version = (16, 0)

    def __init__(self) -> None:
        self.made: list[Bound] = []

    def fetch(self, bound: Bound) -> Rows:
        columns = bound.statement.columns
        if bound.statement.name == "action/operate/make_store":
            self.made.append(bound)
            return Rows(columns, ((7,),))
        assert bound.statement.name == "action/operate/stores"
        kept = tuple((7, "trash", "dbo.[a.b]", m.values["structure"], "qmon_store") for m in self.made)
        return Rows(columns, kept)

    @contextlib.contextmanager
    def transaction(self) -> Iterator[None]:
        yield


def test_an_operators_store_is_made_by_the_procedure_and_once() -> None:
    connection = Making()
    sql = Sql(cast(Connection, connection), SqlServer())
    columns = (TableColumn("<id>", "int", False, False, True), TableColumn("body", "nvarchar", False, False, False))
    structure = TableStructure(ObjectName("dbo", "a.b"), columns, ())
    for _ in range(2):
        found = undo_tables.ensure_store(sql, "trash", structure, structure.kept_columns)
        assert found.parts == ("qmon_store", "trash_7")
    (made,) = connection.made
    assert made.values["columns"] == '<r k="&lt;id&gt;" /><r k="body" />'
    assert made.values["found_by"] == "qmon_row"


def test_no_time_is_counted_in_seconds_from_1970_which_ends_in_2038() -> None:
    files = [each for each in queries.all_files() if each.engine == "sqlserver"]
    assert [each.path for each in files if re.search(r"DATEDIFF\(\s*SECOND, *'1970", each.file.read_text())] == []
