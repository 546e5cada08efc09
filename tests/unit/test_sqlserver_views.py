"""Every column of a system view in our T-SQL is documented, in every version that the file serves."""

from __future__ import annotations

import json
import re
from typing import Final

import pytest

from qmon.engines.base import EngineName
from qmon.engines.sql import queries
from qmon.engines.sql.queries import SqlFile
from tests.sqlfiles import each_folder, named
from tests.tsql import AZURE, FACTS, unresolved, views
from tests.tsql_rendered import FILES, PROBES, rendered

NUMBERS: Final = ("dm_db_index_operational_stats", "dm_db_index_physical_stats")
# Columns of type sql_variant, which the drivers cannot fetch.
VARIANTS: Final = re.compile(r"\b\w+\.(?:current_value|start_value|last_used_value|minimum_value|increment)\b")


# Columns that both engines must have. Only PostgreSQL knows the sessions that drew from a sequence; SQL Server reports
# deadlocks.
CORE: Final = frozenset(
    re.findall(
        r"\w+",
        """
        blocking clients clock cost head head_any head_due head_state
        head_state_due head_walk horizon in_state messages
        messages_due messages_newest messages_page messages_page_ring messages_page_ring_split messages_page_split
        messages_ready messages_ring messages_ring_split messages_split messages_state
        owners pauses pauses_known progress progress_ids progress_oldest ring ring_classic
        ring_subscribers slot_sweep scan scan_parts scan_state scan_whole scan_whole_state
        scheduled scheduled_state sequences server statistics tried tried_attempts
        tried_state waits writers
        """,
    )
)


def bare(file: SqlFile) -> str:
    """Return the text without comments and with single blanks."""
    return " ".join(re.sub(r"--[^\n]*", "", file.file.read_text(encoding="utf-8")).split())


@each_folder(FILES)
def test_every_column_is_there_in_every_version(files: tuple[SqlFile, ...]) -> None:
    found = {file.path: unresolved(rendered(file), file.since) for file in files}
    assert {path: each for path, each in found.items() if each} == {}


def test_the_test_reads_what_matters() -> None:
    found = {view for file in FILES for view in re.findall(r"\bsys\.dm_\w+", bare(file))}
    assert len(found) >= 16
    assert found <= views().keys()


def test_each_view_has_the_right_that_it_needs_and_the_page_that_says_so() -> None:
    facts = json.loads(FACTS.read_text("utf-8"))
    assert {name for name, fact in facts.items() if not fact["right"]} == set()
    pages = {name: fact["page"] for name, fact in facts.items()}
    assert {n: p for n, p in pages.items() if not p.startswith("https://learn.microsoft.com/sql/")} == {}


def probe(name: str, since: int) -> str:
    found = (file for file in PROBES if file.name == f"probe/{name}" and file.since == since)
    return rendered(next(found))


@pytest.mark.parametrize(
    ("name", "old", "new", "problem"),
    [
        ("cost", "s.logical_reads", "s.logical_read", "sys.dm_exec_sessions has no column logical_read"),
        ("cost", "s.logical_reads", "logical_read", "sys.dm_exec_sessions has no column logical_read"),
        ("cost", "s.session_id = @@SPID", "s.session = @@SPID", "sys.dm_exec_sessions has no column session"),
        ("waits", "r.session_id <>", "r.sesion_id <>", "sys.dm_exec_requests has no column sesion_id"),
        ("waits", "s.program_name IS NULL", "x.program_name IS NULL", "x.program_name: nothing is called x here"),
        ("writers", "r.session_id = st.session_id", "r.session_id = st.sid", "session_transactions has no column sid"),
        ("horizon", "a.commit_sequence_num", "a.commit_number", "transactions has no column commit_number"),
        (
            "table_counters",
            "SUM(u.page_latch_wait_count)",
            "SUM(u.latch_count)",
            "stats has no column latch_count",
        ),
        ("temp_space", "s.total_page_count", "s.total_pages", "sys.dm_db_file_space_usage has no column total_pages"),
        ("wait_totals", "h.latch_class <>", "h.class <>", "sys.dm_os_latch_stats has no column class"),
        ("sequences", "s.current_value", "s.last_used_value", "only since 14, and this file serves 11"),
        ("latches", "sys.dm_exec_sql_text(r.sql_handle)", "sys.dm_db_page_info(1, 1, 1, NULL)", "only since 15"),
        ("wait_totals", "sys.dm_os_wait_stats", "sys.dm_db_wait_stats", f"only since {AZURE}, and this file serves 11"),
        ("wait_totals", "sys.dm_os_wait_stats", "sys.dm_os_wait_statistics", "the tests have no facts about it"),
    ],
)
def test_what_is_misspelt_or_too_new_is_found(name: str, old: str, new: str, problem: str) -> None:
    text = probe(name, 0)
    assert old in text
    assert any(problem in found for found in unresolved(text.replace(old, new), 0))


def test_a_column_that_is_too_new_is_fine_where_the_file_says_so() -> None:
    text = probe("sequences", 14)
    assert "s.last_used_value" in text
    assert unresolved(text, 14) == []
    assert unresolved(text, 13) != []


@each_folder(FILES)
def test_what_grows_or_fails_on_a_real_server_is_not_written(files: tuple[SqlFile, ...]) -> None:
    for file in files:
        with named(file):
            what_grows_or_fails_on_a_real_server_is_not_written(file)


def what_grows_or_fails_on_a_real_server_is_not_written(file: SqlFile) -> None:
    text = bare(file)
    for function in NUMBERS:
        for before, arguments in re.findall(
            rf"(\w+) sys\.{function}\(((?:[^()]|\([^()]*\)|\([^()]*\([^()]*\)[^()]*\))*)\)", text
        ):
            database, thing = re.split(r",\s*(?![^()]*\))", arguments)[:2]
            assert database == "DB_ID()", "NULL would ask about every database"
            assert thing.startswith(("COALESCE(CAST(:table_id", "OBJECT_ID({table", "COALESCE(OBJECT_ID({")), (
                "NULL would ask about every table"
            )
            assert before != "APPLY", "the documentation says that it takes no correlated arguments"
    if "dm_os_performance_counters" in text:
        level = "cntr_type = 65792" in text and "NULL AS bigint) AS persistent_bytes" in text
        assert level or "cntr_type IN (272696576, 272696320)" in text, "a total, or a level that is marked as one"
    for found in VARIANTS.finditer(text):
        before, after = text[: found.start()], text[found.end() :]
        cast = before.endswith(("CAST(", "CONVERT(bigint, ")) or after.startswith((" IS NULL", " = "))
        assert cast or before.endswith(" = "), f"{found[0]} is a sql_variant, which no driver fetches: cast it"
    assert not re.search(r"(?<!CAST\()SERVERPROPERTY\(", text)
    # Acting is an exception: a table variable cannot take the types of a queue's own columns.
    assert "/operate/" in file.name or not re.search(r"\b(?:INTO|TABLE) #", text), "no temporary tables"


@each_folder(PROBES)
def test_a_probe_reads_and_does_nothing_else(files: tuple[SqlFile, ...]) -> None:
    for file in files:
        with named(file):
            a_probe_reads_and_does_nothing_else(file)


def a_probe_reads_and_does_nothing_else(file: SqlFile) -> None:
    text = bare(file)
    assert re.match(r"(?:SELECT|WITH) ", text)
    assert not re.search(r"\b(?:INSERT|UPDATE|DELETE|MERGE|EXEC|EXECUTE|DECLARE|query_plan|SET)\b", text)
    assert ("recompile}" in text) == ("ecompiled for each execution" in file.file.read_text(encoding="utf-8"))
    assert "RECOMPILE" not in text, "needed only where an index is filtered: {name!recompile}"


@each_folder(PROBES)
def test_a_probe_that_reads_a_queue_is_bounded_and_names_its_index(files: tuple[SqlFile, ...]) -> None:
    for file in files:
        with named(file):
            a_probe_that_reads_a_queue_is_bounded_and_names_its_index(file)


def a_probe_that_reads_a_queue_is_bounded_and_names_its_index(file: SqlFile) -> None:
    text = bare(file)
    if "{table}" not in text or file.name.startswith(("probe/scan_whole", "probe/group_")):
        return  # the counts of a group include all of its messages in a state; that cost is measured
    for found in re.finditer(r"FROM \{(?:table|data_table)\}( AS \w+)?( WITH \((?:INDEX|FORCESEEK))?", text):
        select = text[: found.start()].rpartition("SELECT")[2]
        assert select.strip().startswith("TOP ("), f"{found[0]}: not bounded"
        small = "CASE p.small" in select or "{data_id} =" in text[found.end() : found.end() + 30]
        assert found[2] or small, f"{found[0]}: the index is left to the optimizer"


def test_both_engines_are_asked_the_same() -> None:
    def columns(engine: EngineName) -> dict[str, set[tuple[str, ...]]]:
        out: dict[str, set[tuple[str, ...]]] = {}
        for file in queries.all_files():
            if file.engine == engine and file.kind == "probe":
                out.setdefault(file.name, set()).add(queries.read_query(file).columns)
        return out

    ours, theirs = columns("sqlserver"), columns("postgres")
    assert {f"probe/{name}" for name in CORE} <= ours.keys() & theirs.keys()
    for name in ours:
        assert len(ours[name]) == 1, f"{name}: its files return different columns"
        assert name not in theirs or ours[name] == theirs[name], name
