"""Pauses on a real server: every design checks, also in connected sessions; no number is drawn; pauses end in time."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pyodbc
import pytest

from qmon.errors import BadInput
from qmon.model.layout.layout import Layout, ObjectName
from qmon.model.operation_records import OperationKind, Progress, Side
from qmon.operate.actions.pause import PauseText, prepare_pause, prepare_resume
from qmon.operate.actions.pause_check import ArrivalCounter, PauseCheckText
from qmon.operate.actions.pause_switch import read_pauses
from qmon.operate.context import Permission
from qmon.operate.install.install_queue import install_queue, uninstall_queue
from qmon.operate.sql import Sql
from tests.contract.operating import applied, desk_at
from tests.facts import connected, query, wait_until
from tests.queues import DESIGNS, ENGINE, made, opened, routine
from tests.wordings import has, pattern

HOSTILE = '"; drop table x; -- 🐘 [q]'


def refused(connection: pyodbc.Connection, layout: Layout, verb: str, arguments: str = "") -> str:
    """Return the SQLSTATE with which a routine call is refused, or an empty string."""
    try:
        connection.execute(f"SELECT * FROM {routine(layout, verb)}({arguments}) AS r").fetchall()
    except pyodbc.Error as problem:
        return str(problem.args[0])
    return ""


def batch(design: str) -> str:
    return (
        "ARRAY['a', 'b']::bytea[]"
        if design in ("fifo", "heap", "lifo", "pending", "status", "strict_fifo")
        else ("ARRAY['a', 'b']")
    )


def switched(url: str, layout: Layout, seconds: float, *, side: Side = Side.PRODUCERS) -> None:
    """Set the switch without qmon."""
    assert layout.switch is not None
    name = ENGINE.quote((layout.switch.producers if side is Side.PRODUCERS else layout.switch.consumers).parts)
    until = "(extract(epoch FROM clock_timestamp()) * 1000 + ?::float8 * 1000)::bigint"
    query(url, f"SELECT setval(?::regclass, {until})", name, seconds)


def positions(url: str) -> list[tuple[object, ...]]:
    """Return the position of every sequence of the queue except the switches."""
    return query(
        url,
        "SELECT sequencename, last_value FROM pg_sequences WHERE schemaname = 'public'"
        " AND sequencename NOT LIKE '%\\_until' ORDER BY 1",
    )


@pytest.mark.parametrize("design", DESIGNS)
def test_every_design_asks_in_every_way_in_and_draws_no_number(database: str, design: str) -> None:
    layout = made(database, design, HOSTILE)
    verbs = {verb for verb, _ in layout.routines}
    with connected(database) as session:
        assert refused(session, layout, "push", "'one'") == ""
        before = positions(database)
        switched(database, layout, 60)
        switched(database, layout, 60, side=Side.CONSUMERS)
        assert refused(session, layout, "push", "'two'") == "QM001"
        if "push_batch" in verbs:
            assert refused(session, layout, "push_batch", batch(design)) == "QM001"
        assert refused(session, layout, "pop") == "QM002"
        if "pop_batch" in verbs:
            assert refused(session, layout, "pop_batch", "2") == "QM002"
        assert positions(database) == before
        session.execute("SET qmon.let_through = 'on'")
        assert refused(session, layout, "push", "'three'") == ""
        session.execute("RESET qmon.let_through")
        switched(database, layout, -1)
        switched(database, layout, -1, side=Side.CONSUMERS)
        assert refused(session, layout, "push", "'four'") == ""
        assert len(session.execute(f"SELECT * FROM {routine(layout, 'pop')}() AS r").fetchall()) == 1


def test_the_error_says_which_queue_which_side_and_until_when(database: str) -> None:
    layout = made(database, "status", HOSTILE)
    switched(database, layout, 60)
    with connected(database) as session, pytest.raises(pyodbc.Error) as caught:
        session.execute(f"SELECT {routine(layout, 'push')}('x')")
    text = str(caught.value)
    assert HOSTILE.replace('"', '""') in text
    assert "the producers of" in text
    assert "UTC" in text


def test_a_producer_in_the_middle_of_its_transaction_is_paused_too(database: str) -> None:
    layout = made(database, "fifo")
    with connected(database, autocommit=False) as session:
        session.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        session.execute(f"SELECT {routine(layout, 'push')}('x')").fetchall()
        switched(database, layout, 60)
        assert refused(session, layout, "push", "'y'") == "QM001"


def test_a_producer_that_asked_to_wait_waits_for_the_end_and_no_longer_than_it_asked(database: str) -> None:
    layout = made(database, "ring")
    with connected(database) as session:
        session.execute("SET qmon.pause_wait_ms = '20000'")
        switched(database, layout, 0.3)
        assert refused(session, layout, "push", "'late'") == ""
        session.execute("SET qmon.pause_wait_ms = '50'")
        switched(database, layout, 60)
        assert refused(session, layout, "push", "'never'") == "QM001"


def test_whoever_may_push_is_paused_without_any_right_on_the_switch(database: str) -> None:
    layout = made(database, "status")
    table = ENGINE.quote(layout.table.parts)
    query(database, "DROP ROLE IF EXISTS qmon_test_producer")
    query(database, "CREATE ROLE qmon_test_producer")
    try:
        query(database, f"GRANT SELECT, INSERT ON {table} TO qmon_test_producer")
        switched(database, layout, 60)
        with connected(database) as session:
            session.execute("SET ROLE qmon_test_producer")
            assert refused(session, layout, "push", "'x'") == "QM001"
    finally:
        query(database, "DROP OWNED BY qmon_test_producer")
        query(database, "DROP ROLE qmon_test_producer")


def test_a_repair_goes_on_while_producers_are_paused(database: str) -> None:
    layout = made(database, "ring")
    with connected(database) as session:
        session.execute(f"SELECT {routine(layout, 'push')}('orphan')").fetchall()
        assert layout.ring is not None
        name = ENGINE.quote(layout.ring.pop_sequence.parts)
        session.execute("SELECT nextval(?::regclass)", name).fetchall()
        switched(database, layout, 60)
        found = session.execute(f"SELECT * FROM {routine(layout, 'requeue_orphan')}(1, 1000) AS r").fetchall()
        assert [tuple(row) for row in found] == [(2,)]


def test_pause_and_resume_are_recorded_seen_and_told(database: str, tmp_path: Path) -> None:
    layout = made(database, "status", HOSTILE)
    context = desk_at(database, tmp_path)
    prepared = prepare_pause(context, layout, Side.PRODUCERS, 60)
    assert prepared.plan.kind is OperationKind.PAUSE
    assert prepared.plan.refused is None
    assert "QM001" in " ".join(prepared.plan.consequences)
    result = applied(prepared, Permission("it [burns] 'now'"))
    assert any(has(note, PauseCheckText.NONE, messages="pushes") for note in result.notes), result.notes
    with opened(database) as connection:
        (seen,) = read_pauses(Sql(connection, ENGINE))
    assert (seen.queue, seen.side, seen.by, seen.reason) == (HOSTILE, Side.PRODUCERS, "anna@app-7", "it [burns] 'now'")
    assert seen.about == str(layout.table)
    again = prepare_pause(desk_at(database, tmp_path), layout, Side.PRODUCERS, 120)
    assert has(again.plan.risks[0], PauseText.ALREADY_PAUSED)
    applied(again, Permission("longer"))
    with opened(database) as connection:
        (longer,) = read_pauses(Sql(connection, ENGINE))
    assert longer.reason == "longer"
    assert longer.until_at > seen.until_at
    applied(prepare_resume(context, layout, Side.PRODUCERS))
    with opened(database) as connection:
        assert read_pauses(Sql(connection, ENGINE)) == ()
    with connected(database) as session:
        assert refused(session, layout, "push", "'x'") == ""
    idle = prepare_resume(context, layout, Side.PRODUCERS).plan
    assert (idle.refused, idle.count) == (PauseText.NOT_PAUSED.render(side="producers", queue=HOSTILE), 0)
    kinds = query(database, "SELECT kind, state, about FROM qmon.operations ORDER BY started_at")
    table = str(layout.table)
    assert kinds == [("pause", "done", table), ("pause", "done", table), ("resume", "done", table)]


def test_a_pause_ends_by_itself(database: str, tmp_path: Path) -> None:
    layout = made(database, "fifo")
    applied(prepare_pause(desk_at(database, tmp_path), layout, Side.PRODUCERS, 1.5))
    with connected(database) as session:
        wait_until(lambda: refused(session, layout, "push", "'x'") == "")
    with opened(database) as connection:
        assert read_pauses(Sql(connection, ENGINE)) == ()


def test_consumers_are_paused_and_producers_go_on(database: str, tmp_path: Path) -> None:
    layout = made(database, "batch_fast")
    result = applied(prepare_pause(desk_at(database, tmp_path), layout, Side.CONSUMERS, 60))
    assert any(has(note, PauseCheckText.NONE, messages="pops") for note in result.notes), result.notes
    with connected(database) as session:
        assert refused(session, layout, "push", "'x'") == ""
        assert refused(session, layout, "pop") == "QM002"


@contextlib.contextmanager
def inserting(url: str, statement: str) -> Iterator[None]:
    """Run a statement in a loop in its own session, without push."""
    stop, begun = threading.Event(), threading.Event()

    def work() -> None:
        with connected(url) as session:
            session.execute("SET application_name = 'bypass'")
            while not stop.is_set():
                session.execute(statement)
                begun.set()
                time.sleep(0.005)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        assert begun.wait(120)
        yield
    finally:
        stop.set()
        thread.join()


@pytest.mark.parametrize("design", ["fifo", "heap"])
def test_pushes_that_do_not_stop_are_said(database: str, tmp_path: Path, design: str) -> None:
    layout = made(database, design)
    table = ENGINE.quote(layout.table.parts)
    with inserting(database, f"INSERT INTO {table} (payload) VALUES ('x')"):
        result = applied(prepare_pause(desk_at(database, tmp_path), layout, Side.PRODUCERS, 60))
    assert any(has(note, PauseCheckText.STILL_COME, messages="pushes") for note in result.notes), result.notes


def test_pushes_that_the_server_hears_of_late_are_not_missed(database: str, tmp_path: Path) -> None:
    """A session reports its work once a second: ten pushes just after a report show only once it is idle."""
    layout = made(database, "heap")
    table = ENGINE.quote(layout.table.parts)
    told = f"SELECT pg_stat_get_tuples_inserted('{table}'::regclass)"
    made_: list[int] = []
    with connected(database) as session:

        def push(progress: Progress) -> None:
            if made_:
                return
            for _ in range(40):  # until it has reported: then it reports nothing for a second
                session.execute(f"INSERT INTO {table} (payload) VALUES ('x')")
                made_.append(1)
                if query(database, told) != [(0,)]:
                    break
                time.sleep(0.05)
            for _ in range(10):
                session.execute(f"INSERT INTO {table} (payload) VALUES ('y')")

        def stopped() -> bool:  # some checks after the server has counted them
            heard.append(query(database, told) == [(len(made_) + 10,)])
            return sum(heard) > 3

        heard: list[bool] = []
        prepared = prepare_pause(desk_at(database, tmp_path), layout, Side.PRODUCERS, 60)
        result = applied(prepared, tell=push, stopped=stopped)
    assert query(database, f"SELECT count(*) FROM {table} WHERE payload = 'y'") == [(10,)]
    (said,) = [note for note in result.notes if "pushes" in note]
    assert has(said, PauseCheckText.SEEN, count=10, messages="pushes"), said


def test_a_look_that_was_cut_short_proves_nothing_and_says_so(database: str, tmp_path: Path) -> None:
    for design, side, name in (("heap", Side.PRODUCERS, "a"), ("fifo", Side.CONSUMERS, "b")):
        layout = made(database, design, name)
        context = desk_at(database, tmp_path)
        result = applied(prepare_pause(context, layout, side, 60), stopped=lambda: True)
        (said,) = [note for note in result.notes if f"0 {'pushes' if side is Side.PRODUCERS else 'pops'}" in note]
        assert has(said, PauseCheckText.NOT_YET_KNOWN)
        assert "12 s" in said


def test_what_is_rolled_back_is_no_push_and_what_completes_is_no_pop(database: str, tmp_path: Path) -> None:
    heap, batch = made(database, "heap", "h"), made(database, "batch_fast", "b")
    with opened(database) as connection:
        meter = ArrivalCounter(Sql(connection, ENGINE), heap, Side.PRODUCERS)
        pops = ArrivalCounter(Sql(connection, ENGINE), batch, Side.CONSUMERS)
        with connected(database, autocommit=False) as session:
            session.execute("INSERT INTO h (payload) VALUES ('x'), ('y')")
            session.rollback()
        wait_until(lambda: query(database, "SELECT pg_stat_get_tuples_inserted('h'::regclass)") == [(2,)])
        assert meter.read_count() == 0
        query(database, "SELECT b_push('x'), b_push('y')")
        assert pops.read_count() == 0
        query(database, "SELECT * FROM b_pop()")
        assert pops.read_count() == 1
        query(database, "SELECT b_complete(1, 1)")
        assert pops.read_count() == 1


def test_where_the_server_forgets_what_it_has_counted_nothing_is_proven(database: str) -> None:
    heap = made(database, "heap", "h")
    with opened(database) as connection:
        query(database, "INSERT INTO h (payload) VALUES ('x'), ('y')")
        wait_until(lambda: query(database, "SELECT pg_stat_get_tuples_inserted('h'::regclass)") == [(2,)])
        meter = ArrivalCounter(Sql(connection, ENGINE), heap, Side.PRODUCERS)
        assert meter.read_count() == 0
        query(database, "SELECT pg_stat_reset_single_table_counters('h'::regclass)")
        wait_until(lambda: query(database, "SELECT pg_stat_get_tuples_inserted('h'::regclass)") == [(0,)])
        assert meter.read_count() is None


def test_who_has_not_ended_what_he_pushed_before_is_named(database: str, tmp_path: Path) -> None:
    layout = made(database, "fifo")
    with connected(database, autocommit=False) as session:
        session.execute("SET application_name = 'shop-api'")
        session.execute(f"SELECT {routine(layout, 'push')}('x')").fetchall()
        result = applied(prepare_pause(desk_at(database, tmp_path), layout, Side.PRODUCERS, 60))
    assert any(has(note, PauseCheckText.STILL_OPEN) and "shop-api" in note for note in result.notes)


def test_what_cannot_be_paused_is_refused_in_one_line(database: str, tmp_path: Path) -> None:
    context = desk_at(database, tmp_path)
    layout = made(database, "fifo")
    for wrong in (0.5, 86_401.0):
        with pytest.raises(BadInput, match=pattern(PauseText.DURATION_RANGE)):
            prepare_pause(context, layout, Side.PRODUCERS, wrong)
    query(database, "CREATE TABLE jobs (id bigint PRIMARY KEY)")
    foreign = Layout("jobs", "fifo", ObjectName("public", "jobs"), id="id")
    assert has(str(prepare_pause(context, foreign, Side.PRODUCERS).plan.refused), PauseText.NO_PUSH_SWITCH)
    assert has(str(prepare_pause(context, foreign, Side.CONSUMERS).plan.refused), PauseText.NO_POP_SWITCH)
    reader = desk_at(database, tmp_path, read_only="read-only: --read-only")
    prepared = prepare_pause(reader, layout, Side.PRODUCERS)
    assert prepared.plan.refused == "read-only: --read-only"
    with pytest.raises(BadInput):
        applied(prepared)
    assert query(database, "SELECT to_regclass('qmon.pauses')") == [(None,)]


def test_a_queue_installed_before_there_were_switches_is_still_taken_away(database: str) -> None:
    with opened(database) as connection:
        layout = install_queue(connection, ENGINE, "fifo", schema="public", queue="old").layout
        assert layout.switch is not None
        query(database, "DROP SEQUENCE old_push_until")
        uninstall_queue(connection, ENGINE, "old")
    assert query(database, "SELECT count(*) FROM pg_class WHERE relname LIKE 'old%'") == [(0,)]
