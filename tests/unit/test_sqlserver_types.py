"""Types of SQL Server's columns: messages of any type are shown; keys are complete or refused."""

from __future__ import annotations

import re
from typing import Final

import pytest

from qmon.engines.sql import queries
from qmon.engines.sql.condition_sql import RowColumn
from qmon.engines.sql.queries import SqlFile
from qmon.engines.sqlserver.sqlserver_engine import SqlServer
from qmon.model.groups.conditions import ColumnRef
from qmon.model.groups.group import Group
from qmon.model.layout.layout import Layout, ObjectName
from qmon.model.layout.table_facts import Column, TableFacts
from qmon.monitor.probes.probe_names import probe_names_for
from tests.tsql_rendered import forms_of, names_for

# Types that the server does not convert to `nvarchar(max)` (error 529), or not as text.
REFUSED: Final = ("image", "timestamp", "sql_variant", "hierarchyid", "geography")
READING: Final = tuple(
    file
    for file in queries.all_files()
    if file.engine == "sqlserver" and "read" in forms_of(queries.read_query(file)).get("payload", ())
)


def test_every_statement_that_shows_a_message_asks_for_its_readable_form() -> None:
    shown = [
        file.path
        for file in queries.all_files()
        if file.engine == "sqlserver"
        and file.kind in ("probe", "action")
        and re.search(r"CONVERT\(nvarchar\(max\), (\{payload\??\}|q\.\{payload)", queries.read_query(file).text)
    ]
    assert shown == []
    assert len(READING) > 20


@pytest.mark.parametrize("file", READING, ids=lambda file: file.path)
@pytest.mark.parametrize("kind", REFUSED)
def test_a_message_of_a_type_that_is_not_converted_is_read_by_way_of_another(file: SqlFile, kind: str) -> None:
    query = queries.read_query(file)
    names = names_for(query) | {"payload": Column("Body", kind)}
    text = queries.render(query, names, SqlServer()).text
    assert "CONVERT(nvarchar(max), [Body]," not in text
    assert SqlServer().readable_expression("[Body]", kind) in text
    plain = queries.render(query, names | {"payload": Column("Body", "nvarchar")}, SqlServer()).text
    assert "CONVERT(nvarchar(max), [Body], 1)" in plain or "[Body] AS qmon_payload" in plain


LISTS: Final = tuple(
    file
    for file in queries.all_files()
    if file.engine == "sqlserver" and "newest" in forms_of(queries.read_query(file)).get("error", ())
)


@pytest.mark.parametrize("file", LISTS, ids=lambda file: file.path)
def test_the_last_error_is_converted_by_its_type_and_a_json_list_is_cut_at_its_beginning(file: SqlFile) -> None:
    query = queries.read_query(file)
    for kind in ("nvarchar", *REFUSED):
        text = queries.render(query, names_for(query) | {"error": Column("Failed", kind)}, SqlServer()).text
        value = "m.qmon_error" if "[Failed] AS qmon_error" in text else "[Failed]"
        assert f"FROM (SELECT {SqlServer().readable_expression(value, kind)} AS qmon_value) AS e)" in text
        assert "= N'[' AND RIGHT(CONVERT(nvarchar(max), e.qmon_value, 1), 1) = N']' THEN RIGHT(" in text
    assert "qmon_value" not in queries.render(query, names_for(query) | {"error": None}, SqlServer()).text


def test_every_list_has_the_last_error() -> None:
    lists = [file for file in queries.all_files() if re.match(r"probe/(messages|group_(messages|page))", file.name)]
    assert {file.path for file in lists if "error" not in queries.read_query(file).columns} == set()
    without = {file.path for file in lists if "error" not in queries.read_query(file).names}
    assert without == {file.path for file in lists if "_ring" in file.name}


def test_probes_know_the_type_of_a_message_in_a_second_table() -> None:
    layout = Layout("q", "batch_split", ObjectName("dbo", "Meta"), id="Id", payload="Body")
    found = probe_names_for(layout, TableFacts(1, data_table_id=2, payload=Column("Body", "image")))
    assert found["payload"] == Column("Body", "image")
    assert probe_names_for(layout, TableFacts(1))["payload"] == "Body"


def test_bytes_are_searched_for_a_text_by_way_of_varbinary() -> None:
    condition = SqlServer().contains_condition("[Body]", "?", binary=True)
    assert condition.count("CONVERT(varbinary(max), [Body])") == 2
    assert "varbinary" not in SqlServer().contains_condition("[Body]", "?", binary=False)


def test_of_several_connections_of_a_session_the_one_used_last_has_its_statement() -> None:
    """Multiple Active Result Sets give a session several rows in ``sys.dm_exec_connections``."""
    texts = [queries.read_query(file).text for file in queries.all_files() if file.engine == "sqlserver"]
    asking = [text for text in texts if "c.most_recent_sql_handle\n" in text]
    assert len(asking) > 4
    for text in asking:
        assert re.search(r"TOP \(1\) c\.most_recent_sql_handle\n.*\n.*\n +ORDER BY c\.last_read DESC\n", text)


@pytest.mark.parametrize("name", ["probe/group_messages", "probe/group_page"])
def test_a_message_of_a_configured_group_is_read_by_its_type(name: str) -> None:
    group = Group("g", ObjectName("dbo", "t"), "id", (), payload=ColumnRef("Body"), types=((("t", "Body"), "image"),))
    query = queries.load_query("sqlserver", name, (16, 0))
    given = names_for(query) | dict.fromkeys(("payload", "error"), RowColumn(ColumnRef("Body"), group, "t"))
    text = queries.render(query, given, SqlServer()).text
    assert re.search(r"\(SELECT CONVERT\(varbinary\(max\), \w*\.?\[Body\]\) AS qmon_value\) AS e", text)
    assert re.search(r"CONVERT\(nvarchar\(max\), CONVERT\(varbinary\(max\), \w*\.?\[Body\]\), 1\)", text)
