"""qmon's T-SQL never disturbs other sessions that work on a queue; each rule catches a file that breaks it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from qmon.engines.sql.queries import SqlFile
from tests.sqlfiles import each_folder
from tests.tsql_rendered import FILES, rendered
from tests.tsql_rules import problems

PAGE = Path(__file__).parents[2] / "docs" / "sql-server.md"
LISTED = {
    name: (cost.strip(), often.strip())
    for name, cost, often in re.findall(r"^\| `(sys\.\w+)` \| ([^|]+) \| ([^|]+) \|", PAGE.read_text(), re.M)
}
COSTS = {"own", "catalog", "sessions", "locks", "counters", "memory", "files", "pages"}


# Only for the designs of qmon, whose states are numbers: any text is converted to a number.
OWN = ("action/workload/", "action/pause/taken", "design/")


@each_folder(FILES)
@pytest.mark.parametrize(("kind", "filtered"), [("varchar", True), ("nvarchar", False)])
def test_no_statement_breaks_a_rule(files: tuple[SqlFile, ...], kind: str, filtered: bool) -> None:
    found = {}
    for file in files:
        textual = "varchar" if file.name.startswith(OWN) else kind
        found[file.path] = problems(rendered(file, textual, filtered=filtered), LISTED, textual, filtered=filtered)
    assert {path: each for path, each in found.items() if each} == {}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("UPDATE [q_table] SET [q_state] = 1 WHERE [q_id] = 7", "q_table is locked without ROWLOCK"),
        ("DELETE q FROM [q_table] AS q WITH (READCOMMITTEDLOCK)", "q_table is locked without ROWLOCK"),
        ("SELECT 1 FROM [q_table] WITH (UPDLOCK, READCOMMITTEDLOCK)", "q_table is locked without ROWLOCK"),
        ("DELETE TOP (5) FROM [q_data_table]", "q_data_table is locked without ROWLOCK"),
        ("SELECT 1 FROM [q_table] AS q WITH (ROWLOCK, READPAST)", "q_table: READPAST without READCOMMITTEDLOCK"),
        (
            "DECLARE @k table (mark nvarchar(40)); SELECT 1 FROM @k AS k JOIN [q_table] AS q ON k.mark = q.[q_id]",
            "mark is compared without COLLATE",
        ),
        (
            "SELECT 1 FROM sys.dm_tran_locks AS l WHERE l.resource_description = %%lockres%%",
            "is compared without COLLATE",
        ),
        ("SELECT 1 FROM [q_table] WHERE [q_state] = ?", "q_state is compared with a value of another type family"),
        (
            "SELECT 1 FROM [q_table] AS q WHERE q.[q_state] = CAST(? AS nvarchar(100))",
            "q_state is compared with a value of another type family",
        ),
        (
            "DECLARE @s nvarchar(200) = ?; SELECT 1 FROM [q_table] WHERE [q_state] = @s",
            "q_state is compared with a value of another type family",
        ),
        (
            "WITH seen AS (SELECT 1 AS n FROM [q_table]) SELECT 1 FROM seen UNION ALL SELECT 2 FROM seen",
            "seen reads a table or view and is used 2 times",
        ),
        (
            "WITH a AS (SELECT 1 AS n FROM sys.dm_tran_locks), b AS (SELECT n FROM a) SELECT 1 FROM b CROSS JOIN b",
            "b reads a table or view and is used 2 times",
        ),
        ("SELECT 1 FROM sys.dm_os_buffer_descriptors", "sys.dm_os_buffer_descriptors is not in the list"),
        ("SELECT 1 FROM sys.fn_dblog(NULL, NULL)", "sys.fn_dblog is not in the list"),
    ],
)
def test_a_file_that_breaks_a_rule_is_caught(text: str, problem: str) -> None:
    assert any(problem in found for found in problems(text, LISTED)), problems(text, LISTED)


SEEK = "SELECT 1 FROM [q_table] WITH (INDEX ([q_head_index])) WHERE [q_state] = CAST(? AS {kind}(100)) OPTION ({more})"


@pytest.mark.parametrize(
    ("text", "kind", "filtered", "problem"),
    [
        (SEEK.format(kind="varchar", more="MAXDOP 1"), "varchar", True, "names a filtered index"),
        (SEEK.format(kind="varchar", more="RECOMPILE"), "varchar", False, "for an index that holds every row"),
        (SEEK.format(kind="varchar", more="RECOMPILE"), "nvarchar", True, "a value of another type family"),
        (SEEK.format(kind="nvarchar", more="RECOMPILE"), "varchar", True, "a value of another type family"),
        ("SELECT 1 FROM #w OPTION (RECOMPILE)", "varchar", True, "compares no value with a column"),
        (
            "SELECT COALESCE(CAST(? AS varchar(450)), (SELECT TOP (1) f.[q_id] FROM [q_table] AS f)) AS qmon_from",
            "nvarchar",
            False,
            "q_id is compared with a value of another type family",
        ),
        (
            "DECLARE @s varchar(200) = ?; SELECT 1 FROM [q_table] WHERE @s = [q_state]",
            "nvarchar",
            False,
            "q_state is compared with a value of another type family",
        ),
    ],
)
def test_a_value_of_another_type_and_a_plan_that_does_not_fit_are_caught(
    text: str, kind: str, filtered: bool, problem: str
) -> None:
    assert any(problem in found for found in problems(text, LISTED, kind, filtered=filtered))


@pytest.mark.parametrize("kind", ["varchar", "nvarchar"])
@pytest.mark.parametrize("filtered", [True, False])
def test_a_value_of_the_columns_type_is_fine_and_so_is_a_plan_that_fits(kind: str, filtered: bool) -> None:
    text = SEEK.format(kind=kind, more="RECOMPILE" if filtered else "MAXDOP 1")
    assert problems(text, LISTED, kind, filtered=filtered) == []


@pytest.mark.parametrize(
    "text",
    [
        "UPDATE q SET [q_state] = 1 FROM #w AS w JOIN [q_table] AS q WITH (ROWLOCK) ON q.[q_id] = w.[q_id]",
        "SELECT 1 FROM [q_table] WITH (NOLOCK)",
        "SELECT 1 FROM [q_table] WITH (ROWLOCK, READPAST, READCOMMITTEDLOCK) WHERE [q_state] = CAST(? AS varchar(100))",
        "WITH seen AS (SELECT 1 AS n FROM [q_table]) SELECT 1 FROM seen",
        "DECLARE @k table (mark nvarchar(40)); SELECT 1 FROM @k AS k WHERE k.mark COLLATE Latin1_General_BIN2 = N'x'",
        "SELECT 1 FROM sys.dm_exec_sessions",
    ],
)
def test_a_file_that_keeps_them_is_not(text: str) -> None:
    assert problems(text, LISTED) == []


def test_the_manual_says_of_each_view_what_it_costs_and_how_often_it_is_read() -> None:
    dynamic = re.compile(r"\bsys\.((?:dm|fn|query_store)_\w+)")
    used = {f"sys.{view}" for file in FILES for view in dynamic.findall(rendered(file))}
    assert LISTED.keys() == used
    assert {cost for cost, _ in LISTED.values()} <= COSTS
    assert all(often for _, often in LISTED.values())
