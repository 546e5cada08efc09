"""qmon's T-SQL calls no function that a server or its compatibility level lacks, and does not overflow on odd times."""

from __future__ import annotations

import re

import pytest

from qmon.engines.sql.queries import SqlFile
from qmon.model.layout.time_zones import LOCAL_ZONE, NUMBER_ZONES, UTC_ZONE, Zone
from tests.sqlfiles import each_folder
from tests.tsql import FIRST
from tests.tsql_functions import overflows, too_new, unbounded_steps, unquoted
from tests.tsql_rendered import FILES, rendered


@each_folder(FILES)
def test_every_file_runs_on_each_version_and_level_that_it_serves(files: tuple[SqlFile, ...]) -> None:
    found = {file.path: too_new(rendered(file), max(file.since, FIRST)) for file in files}
    assert {path: each for path, each in found.items() if each} == {}


@each_folder(FILES)
def test_no_file_overflows_if_a_time_is_far_away(files: tuple[SqlFile, ...]) -> None:
    found = {file.path: overflows(rendered(file)) for file in files}
    assert {path: each for path, each in found.items() if each} == {}


@pytest.mark.parametrize("zone", [UTC_ZONE, LOCAL_ZONE, *NUMBER_ZONES.values()], ids=lambda zone: zone.name)
@each_folder(FILES)
def test_no_file_steps_from_a_time_or_number_that_is_far_away(files: tuple[SqlFile, ...], zone: Zone) -> None:
    found = {file.path: unbounded_steps(rendered(file, zone=zone)) for file in files}
    assert {path: each for path, each in found.items() if each} == {}


@each_folder(FILES)
def test_no_file_rounds_the_last_moment_of_a_column_up(files: tuple[SqlFile, ...]) -> None:
    rounded = re.compile(r"CAST\((?:\w+\.)?\[q_\w+\] AS date\w+\([0-6]\)\)")
    for zone in (UTC_ZONE, LOCAL_ZONE):
        assert {file.path: found for file in files if (found := rounded.findall(rendered(file, zone=zone)))} == {}


@each_folder(FILES)
def test_a_session_whose_login_is_under_way_is_not_idle_since_1900(files: tuple[SqlFile, ...]) -> None:
    for file in files:
        text = rendered(file)
        for used in re.findall(r"DATEDIFF\(\w+, (\w\.last_request_\w+), GETDATE\(\)", text):
            assert f"CASE WHEN {used} > '19000102' THEN" in text, file.path
        assert not re.search(r"DATEDIFF\(\w+, CASE WHEN [^)]*last_request_", text), file.path


@each_folder(FILES)
def test_rights_on_a_database_are_asked_for_by_its_quoted_name(files: tuple[SqlFile, ...]) -> None:
    assert {file.path: found for file in files if (found := unquoted(rendered(file)))} == {}
    assert unquoted("SELECT HAS_PERMS_BY_NAME(DB_NAME(), N'DATABASE', 'CREATE TABLE')")


@pytest.mark.parametrize(
    ("text", "since", "problem"),
    [
        ("SELECT ISNULL(TRY_CONVERT(bigint, @x), 0)", 13, "TRY_CONVERT fails below compatibility level 110"),
        ("SELECT value FROM STRING_SPLIT(@x, ',')", 16, "STRING_SPLIT fails below compatibility level 130"),
        ("SELECT value FROM OPENJSON(@x)", 100, "OPENJSON fails below compatibility level 130"),
        ("SELECT STRING_AGG(q.a, ',') FROM q", 13, "STRING_AGG is there from 14 on, and this file serves 13"),
        ("SELECT 1 WHERE (1 = (SELECT JSON_VALUE(@x, '$.a')))", 11, "JSON_VALUE is there from 13 on"),
        ("SELECT REGEXP_COUNT(@x, 'a')", 17, "REGEXP_COUNT is not in the list"),
    ],
)
def test_a_function_that_is_not_everywhere_is_caught(text: str, since: int, problem: str) -> None:
    assert [each for each in too_new(text, since) if problem in each]


def test_what_is_everywhere_is_not() -> None:
    text = "SELECT TRY_CAST(@x AS bigint), IIF(a IN (1, 2), LEFT(b, 3), MAX(c)) FROM t WHERE EXISTS (SELECT 1)"
    assert too_new(text, 11) == []
    assert too_new("SELECT STRING_AGG(a, ',') FROM t", 14) == []


@pytest.mark.parametrize(
    "text",
    [
        "SELECT DATEDIFF(SECOND, q.[q_at], SYSUTCDATETIME())",
        "SELECT CAST(DATEDIFF(SECOND, '20000101', s.login_time) AS float)",
        "SELECT (1 + DATEDIFF(MILLISECOND, CAST(a.at AS date), b.at))",
        "SELECT DATEDIFF(MICROSECOND, DATEADD(DAY, 1, a.at), b.at)",
        "SELECT DATEDIFF(SECOND, @began, a.at)",
    ],
)
def test_a_difference_that_may_overflow_is_caught(text: str) -> None:
    assert overflows(text)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT DATEDIFF(DAY, a.at, SYSUTCDATETIME()) * 86400.0"
        " + DATEDIFF(MILLISECOND, DATEADD(DAY, DATEDIFF(DAY, a.at, SYSUTCDATETIME()), a.at), SYSUTCDATETIME())",
        "SELECT DATEDIFF(SECOND, CAST(a.at AS date), a.at), DATEDIFF(MINUTE, a.at, GETDATE())",
        "SELECT DATEDIFF(MILLISECOND, CAST(CAST(a.at AS date) AS datetime), a.at)",
        "SELECT DATEDIFF(SECOND, @began, @now), DATEDIFF(SECOND, '20000101', SYSUTCDATETIME())",
    ],
)
def test_a_difference_within_a_day_or_of_the_clock_is_not(text: str) -> None:
    assert overflows(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "SELECT DATEADD(DAY, CAST(q.[q_at] AS bigint) / 86400, '19700101') FROM q",
        "SELECT CASE WHEN DATEADD(SECOND, q.[q_at], '19700101') > '1901' THEN 1 END FROM q",
        "SELECT DATEADD(MILLISECOND, -@step, [q_front]) FROM q WHERE [q_front] > '19000102'",
    ],
)
def test_a_step_that_may_overflow_is_caught(text: str) -> None:
    assert unbounded_steps(text)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT CASE WHEN q.[q_at] > 9 THEN '2' ELSE DATEADD(SECOND, q.[q_at] % 9, DATEADD(DAY, q.[q_at] / 9, @x)) END",
        "SELECT DATEADD(DAY, DATEDIFF(DAY, q.[q_at], SYSUTCDATETIME()), q.[q_at])",
        "SELECT DATEADD(SECOND, -@wait, SYSUTCDATETIME())",
    ],
)
def test_a_step_within_bounds_is_not(text: str) -> None:
    assert unbounded_steps(text) == []


def test_gates_let_replication_pass() -> None:
    gates = [rendered(file) for file in FILES if "CREATE TRIGGER" in rendered(file)]
    assert len(gates) == 2
    assert all("AFTER INSERT\nNOT FOR REPLICATION\nAS" in gate for gate in gates)
