"""Gates on user tables: they refuse inserts and COPY while producers are paused, and only then."""

from __future__ import annotations

from pathlib import Path

import pyodbc
import pytest

from qmon.errors import BadInput
from qmon.model.layout.layout import Layout, LayoutSource, ObjectName
from qmon.model.operation_records import OperationKind, Side
from qmon.operate.actions.gate import GateText, prepare_install_gate, prepare_remove_gate
from qmon.operate.actions.pause import PauseText, prepare_pause, prepare_resume
from qmon.operate.actions.pause_check import PauseCheckText
from qmon.operate.actions.pause_switch import read_pauses
from qmon.operate.sql import Sql
from tests.contract.operating import YES, applied, desk_at
from tests.facts import connected, query, wait_until
from tests.queues import ENGINE, opened
from tests.wordings import has, pattern

NAMES = ("jobs", '"; drop table x; --', "[a]]b].[c d]", "🐘 queue", "it's")


def foreign(url: str, name: str) -> tuple[Layout, str]:
    """Create a user's queue table; return its layout and quoted name."""
    table = ObjectName("public", name)
    quoted = ENGINE.quote(table.parts)
    query(url, f"CREATE TABLE {quoted} (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, payload text)")
    return Layout(name, "fifo", table, id="id", payload="payload", source=LayoutSource.CONFIGURATION), quoted


def insert(url: str, quoted: str) -> str:
    """Return the SQLSTATE with which an insert is refused, or an empty string."""
    try:
        query(url, f"INSERT INTO {quoted} (payload) VALUES ('x')")
    except pyodbc.Error as problem:
        return str(problem.args[0])
    return ""


@pytest.mark.parametrize("name", NAMES)
def test_a_gate_is_installed_pauses_and_is_taken_away_without_a_trace(database: str, tmp_path: Path, name: str) -> None:
    layout, quoted = foreign(database, name)
    context = desk_at(database, tmp_path)
    prepared = prepare_install_gate(context, layout)
    assert prepared.plan.kind is OperationKind.INSTALL_GATE
    assert prepared.plan.refused is None
    assert has(prepared.plan.consequences[0], GateText.INSERT_FAILS)
    assert any("CREATE TRIGGER" in text for text in prepared.plan.sql)
    applied(prepared)
    assert insert(database, quoted) == ""
    applied(prepare_pause(context, layout, Side.PRODUCERS, 60))
    assert insert(database, quoted) == "QM001"
    assert query(database, f"SELECT count(*) FROM {quoted}") == [(1,)]
    with opened(database) as connection:
        (seen,) = read_pauses(Sql(connection, ENGINE))
    assert (seen.queue, seen.way, seen.about) == (name, "gate", str(layout.table))
    applied(prepare_resume(context, layout, Side.PRODUCERS))
    assert insert(database, quoted) == ""
    assert query(database, f"SELECT max(id), count(*) FROM {quoted}") == [(2, 2)]
    applied(prepare_remove_gate(context, layout))
    assert query(database, "SELECT count(*) FROM pg_trigger WHERE tgname = 'qmon_gate'") == [(0,)]
    assert query(database, "SELECT count(*) FROM pg_class WHERE relname LIKE 'gate\\_%'") == [(0,)]
    assert insert(database, quoted) == ""


def test_copy_is_refused_what_an_undo_inserts_passes_and_a_pause_ends_by_itself(database: str, tmp_path: Path) -> None:
    layout, quoted = foreign(database, "jobs")
    context = desk_at(database, tmp_path)
    applied(prepare_install_gate(context, layout))
    copy = f"COPY {quoted} (payload) FROM PROGRAM 'printf \"a\\nb\\n\"'"
    query(database, copy)
    applied(prepare_pause(context, layout, Side.PRODUCERS, 2))
    with pytest.raises(pyodbc.Error) as caught:
        query(database, copy)
    assert caught.value.args[0] == "QM001"
    with connected(database) as session:
        session.execute("SET qmon.let_through = 'on'")
        session.execute(f"INSERT INTO {quoted} (payload) VALUES ('undo')")
    wait_until(lambda: insert(database, quoted) == "")


def test_whoever_may_insert_needs_no_other_right(database: str, tmp_path: Path) -> None:
    layout, quoted = foreign(database, "jobs")
    context = desk_at(database, tmp_path)
    applied(prepare_install_gate(context, layout))
    applied(prepare_pause(context, layout, Side.PRODUCERS, 60))
    query(database, "DROP ROLE IF EXISTS qmon_test_inserter")
    query(database, "CREATE ROLE qmon_test_inserter")
    try:
        query(database, f"GRANT INSERT ON {quoted} TO qmon_test_inserter")
        with connected(database) as session:
            session.execute("SET ROLE qmon_test_inserter")
            with pytest.raises(pyodbc.Error) as caught:
                session.execute(f"INSERT INTO {quoted} (payload) VALUES ('x')")
            assert caught.value.args[0] == "QM001"
            session.execute("SET qmon.pause_wait_ms = '20000'")
            applied(prepare_pause(context, layout, Side.PRODUCERS, 1))
            session.execute(f"INSERT INTO {quoted} (payload) VALUES ('waited')")
    finally:
        query(database, "DROP OWNED BY qmon_test_inserter")
        query(database, "DROP ROLE qmon_test_inserter")


def test_a_busy_table_is_left_alone_and_nobody_waits_long(database: str, tmp_path: Path) -> None:
    layout, quoted = foreign(database, "jobs")
    context = desk_at(database, tmp_path)
    prepared = prepare_install_gate(context, layout)
    asked: list[str] = []
    with connected(database, autocommit=False) as session:
        session.execute(f"INSERT INTO {quoted} (payload) VALUES ('held')")

        def stopped() -> bool:
            asked.append(insert(database, quoted))  # the others are not paused in the meantime
            return len(asked) == 2

        result = prepared.apply(YES, lambda progress: None, stopped)
    assert result.state == "cancelled"
    assert asked == ["", ""]
    assert query(database, "SELECT count(*) FROM pg_trigger WHERE tgname = 'qmon_gate'") == [(0,)]
    applied(prepare_install_gate(context, layout))


def test_what_cannot_have_a_gate_is_refused_in_one_line(database: str, tmp_path: Path) -> None:
    context = desk_at(database, tmp_path)
    layout, quoted = foreign(database, "jobs")
    assert has(str(prepare_remove_gate(context, layout).plan.refused), GateText.NO_GATE)
    applied(prepare_install_gate(context, layout))
    assert has(str(prepare_install_gate(context, layout).plan.refused), GateText.HAS_GATE)
    query(database, f"ALTER TABLE {quoted} DISABLE TRIGGER qmon_gate")
    assert prepare_pause(context, layout, Side.PRODUCERS).plan.refused == PauseText.GATE_DISABLED
    nowhere = Layout("nowhere", "fifo", ObjectName("public", "nowhere"), id="id")
    assert has(str(prepare_install_gate(context, nowhere).plan.refused), GateText.NO_TABLE)
    query(database, "CREATE VIEW seen AS SELECT 1 AS id")
    view = Layout("seen", "fifo", ObjectName("public", "seen"), id="id")
    assert has(str(prepare_install_gate(context, view).plan.refused), GateText.NOT_A_TABLE)
    with pytest.raises(BadInput):
        applied(prepare_install_gate(desk_at(database, tmp_path, read_only="no"), layout))


def partitioned(url: str) -> Layout:
    """Create a user's partitioned queue table: two partitions exist, and one is attached later."""
    query(url, "CREATE TABLE jobs (id bigserial, name text NOT NULL, payload text NOT NULL) PARTITION BY LIST (name)")
    query(url, "CREATE TABLE jobs_a PARTITION OF jobs FOR VALUES IN ('a')")
    query(url, "CREATE TABLE jobs_rest PARTITION OF jobs FOR VALUES IN ('b', 'c') PARTITION BY LIST (name)")
    query(url, "CREATE TABLE jobs_b PARTITION OF jobs_rest FOR VALUES IN ('b')")
    query(url, "CREATE TABLE jobs_c (LIKE jobs INCLUDING DEFAULTS)")
    return Layout("jobs", "fifo", ObjectName("public", "jobs"), id="id", payload="payload")


def test_a_gate_on_a_partitioned_table_is_that_of_every_partition_and_of_those_that_come(
    database: str, tmp_path: Path
) -> None:
    layout = partitioned(database)
    context = desk_at(database, tmp_path)
    prepared = prepare_install_gate(context, layout)
    assert any(has(line, GateText.EVERY_PARTITION) for line in prepared.plan.consequences)
    assert any(has(line, GateText.RETURNS_FAIL) for line in prepared.plan.risks)
    applied(prepared)
    ways = (
        "INSERT INTO jobs (name, payload) VALUES ('a', 'x')",
        "INSERT INTO jobs_a (name, payload) VALUES ('a', 'x')",
        "INSERT INTO jobs_b (name, payload) VALUES ('b', 'x')",
        "COPY jobs_b (name, payload) FROM PROGRAM 'echo b,x' CSV",
        "COPY jobs (name, payload) FROM PROGRAM 'echo a,x' CSV",
    )
    for way in ways:
        query(database, way)
    assert query(database, "SELECT count(*) FROM jobs") == [(5,)]
    numbers = query(database, "SELECT last_value FROM jobs_id_seq")
    pause = prepare_pause(context, layout, Side.PRODUCERS, 60)
    assert any(has(line, GateText.RETURNS_FAIL) for line in pause.plan.risks)
    done = applied(pause)
    assert has(done.notes, PauseCheckText.REFUSED_IN, partitions=PauseCheckText.EACH_OF.render(places=2))
    assert query(database, "SELECT last_value FROM jobs_id_seq") == numbers
    query(database, "ALTER TABLE jobs_rest ATTACH PARTITION jobs_c FOR VALUES IN ('c')")
    for way in (*ways, "INSERT INTO jobs_c VALUES (9, 'c', 'x')"):
        with pytest.raises(pyodbc.Error) as caught:
            query(database, way)
        assert caught.value.args[0] == "QM001"
    assert query(database, "SELECT count(*) FROM jobs") == [(5,)]
    part = Layout("part", "fifo", ObjectName("public", "jobs_b"), id="id")
    assert has(str(prepare_install_gate(context, part).plan.refused), GateText.COVERED, above="public.jobs")
    applied(prepare_resume(context, layout, Side.PRODUCERS))
    query(database, "INSERT INTO jobs_c VALUES (9, 'c', 'x')")
    query(database, "ALTER TABLE jobs_b DISABLE TRIGGER qmon_gate")
    assert prepare_pause(context, layout, Side.PRODUCERS).plan.refused == PauseText.GATE_DISABLED
    applied(prepare_remove_gate(context, layout))
    assert query(database, "SELECT count(*) FROM pg_trigger WHERE tgname = 'qmon_gate'") == [(0,)]


def test_a_pause_that_an_insert_gets_past_is_lifted_and_said_to_be_none(database: str, tmp_path: Path) -> None:
    layout = partitioned(database)
    context = desk_at(database, tmp_path)
    applied(prepare_install_gate(context, layout))
    prepared = prepare_pause(context, layout, Side.PRODUCERS, 60)
    query(database, "ALTER TABLE jobs_b DISABLE TRIGGER qmon_gate")
    with pytest.raises(BadInput, match=pattern(PauseText.GATE_BROKEN, partition="public.jobs_b")):
        applied(prepared)
    query(database, "INSERT INTO jobs (name, payload) VALUES ('a', 'x')")
    with opened(database) as connection:
        assert read_pauses(Sql(connection, ENGINE)) == ()
    assert query(database, "SELECT count(*) FROM jobs") == [(1,)]


def test_whoever_was_writing_when_the_pause_began_is_named(database: str, tmp_path: Path) -> None:
    layout = partitioned(database)
    context = desk_at(database, tmp_path)
    applied(prepare_install_gate(context, layout))
    with connected(database, autocommit=False) as session:
        session.execute("SET application_name = 'shop-api'")
        session.execute("INSERT INTO jobs_a (name, payload) VALUES ('a', 'x')")
        done = prepare_pause(context, layout, Side.PRODUCERS, 60).apply(YES, lambda progress: None, lambda: True)
    assert any(has(note, PauseText.OPEN_SESSIONS) and "shop-api" in note for note in done.notes), done.notes
