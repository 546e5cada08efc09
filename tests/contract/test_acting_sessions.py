"""End sessions: exactly the one that was shown. qmon checks that it has gone, and refuses to end others."""

from __future__ import annotations

import contextlib
import secrets
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pyodbc
import pytest

from qmon.errors import BadInput
from qmon.model.layout.layout import Layout
from qmon.model.operation_records import Choice, OperationKind, OperationState, OwnerState
from qmon.operate.actions.end_session import EndSessionText, prepare_end_session
from qmon.operate.actions.end_sessions import EndSessions, EndSessionsText
from qmon.operate.actions.requeue_sessions import RequeueSessionsText, prepare_requeue_sessions
from qmon.operate.context import Permission, ReadOnly
from tests.contract.operating import applied, desk_at
from tests.contract.sessions import pid, waiting
from tests.facts import connected, odbc, query, wait_until
from tests.queues import BYTES, call, made, opened, routine
from tests.wordings import has, pattern


@pytest.fixture
def blocker(database: str) -> Iterator[pyodbc.Connection]:
    """An application's session that has locked a row of a table and is idle in its transaction."""
    query(database, "CREATE TABLE items (id int PRIMARY KEY, note text)")
    query(database, "INSERT INTO items VALUES (1, 'a'), (2, 'b')")
    with connected(database, autocommit=False) as raw:
        raw.execute("SET application_name = 'mailer'")
        raw.commit()
        raw.execute("UPDATE items SET note = 'c' WHERE id = 1")
        yield raw


def began(url: str, session: int) -> float:
    found = query(
        url, f"SELECT CAST(extract(epoch FROM backend_start) AS float8) FROM pg_stat_activity WHERE pid = {session}"
    )
    return float(str(found[0][0]))


def there(url: str, session: int) -> bool:
    return query(url, f"SELECT 1 FROM pg_stat_activity WHERE pid = {session}") != []


def test_the_plan_says_who_may_block_the_next(database: str, blocker: pyodbc.Connection, tmp_path: Path) -> None:
    session = pid(blocker)
    context = desk_at(database, tmp_path)
    query(database, "INSERT INTO items VALUES (3, 'x')")

    def told() -> str:
        return "\n".join(prepare_end_session(context, session, began(database, session)).plan.consequences)

    both = "DO $$ BEGIN UPDATE items SET note = 'e' WHERE id = 3; UPDATE items SET note = 'e' WHERE id = 1; END $$"
    with waiting(database, both):
        assert not has(told(), EndSessionText.NEXT_BLOCKER), "no session waits for it"
        with waiting(database, "UPDATE items SET note = 'f' WHERE id = 3"):
            assert has(told(), EndSessionText.NEXT_BLOCKER)
            assert "1 session waits" in told()
            blocker.rollback()


def test_who_idles_in_a_transaction_is_terminated(database: str, blocker: pyodbc.Connection, tmp_path: Path) -> None:
    session = pid(blocker)
    context = desk_at(database, tmp_path)
    with waiting(database) as waiter:
        prepared = prepare_end_session(context, session, began(database, session))
        plan = prepared.plan
        assert (plan.kind, plan.count, plan.refused, plan.undo.possible) == (OperationKind.END_SESSION, 1, None, False)
        told = "\n".join((*plan.consequences, *plan.risks))
        assert (
            "mailer" in told
            and has(told, EndSessionText.BLOCKS, sessions="1 session", directly="1")
            and has(told, EndSessionText.CHANGES_ROLLED_BACK)
        )
        assert "pg_terminate_backend" in plan.sql[0]
        result = applied(prepared)
        waiter.join(120)
    assert (result.state, result.done, result.skipped, result.changed) == (OperationState.DONE, 1, 0, 0)
    assert not there(database, session)
    assert query(database, "SELECT note FROM items WHERE id = 1") == [("d",)]
    assert query(database, "SELECT kind, state, done FROM qmon.operations") == [("end-session", "done", 1)]


@pytest.mark.parametrize("savepoints", [False, True])
def test_what_runs_is_cancelled_and_its_session_lives(
    database: str, blocker: pyodbc.Connection, tmp_path: Path, savepoints: bool
) -> None:
    blocker.rollback()
    failures: list[str] = []
    # By default the driver sets a savepoint around each statement, and then a transaction survives a failed statement.
    asked = odbc(database) + (";Protocol=7.4-2" if savepoints else ";Protocol=7.4-0")
    with contextlib.closing(pyodbc.connect(asked)) as raw:
        raw.execute("UPDATE items SET note = 'c' WHERE id = 1")
        session = pid(raw)
        thread = threading.Thread(target=_sleep, args=(raw, failures))
        thread.start()
        active = f"SELECT 1 FROM pg_stat_activity WHERE pid = {session} AND state = 'active'"
        wait_until(lambda: query(database, active), what="the statement runs")
        context = desk_at(database, tmp_path)
        prepared = prepare_end_session(context, session, None)
        assert "pg_cancel_backend" in prepared.plan.sql[0]
        result = applied(prepared)
        thread.join(120)
        assert failures == ["57014"]
        assert there(database, session)
        assert (result.done, result.skipped) == ((0, 1) if savepoints else (1, 0))
        if savepoints:
            assert has(result.notes[0], EndSessionsText.CANCELLED)
            assert applied(prepare_end_session(context, session, None)).done == 1
            assert not there(database, session)
        assert query(database, "SELECT note FROM items WHERE id = 1 FOR UPDATE NOWAIT") == [("a",)]


def test_another_session_by_the_same_number_is_never_ended(
    database: str, blocker: pyodbc.Connection, tmp_path: Path
) -> None:
    session = pid(blocker)
    context = desk_at(database, tmp_path)
    refused = prepare_end_session(context, session, began(database, session) - 60).plan.refused
    assert refused is not None and has(refused, EndSessionText.OTHER_SESSION)
    # The start is the same, but the server assigns the number to another session between plan and apply.
    prepared = prepare_end_session(context, session, began(database, session))
    assert isinstance(prepared._work, EndSessions)
    (planned,) = prepared._work.sessions
    prepared._work = EndSessions((replace(planned, started_us=planned.started_us - 1),))
    result = applied(prepared)
    assert (result.done, result.changed) == (0, 1)
    assert there(database, session)


def test_whose_transaction_is_another_by_now_is_left_alone(
    database: str, blocker: pyodbc.Connection, tmp_path: Path
) -> None:
    session = pid(blocker)
    prepared = prepare_end_session(desk_at(database, tmp_path), session, None)
    blocker.commit()
    blocker.execute("UPDATE items SET note = 'e' WHERE id = 2")
    result = applied(prepared)
    assert (result.done, result.changed) == (0, 1)
    assert has(result.notes[0], EndSessionsText.NOT_ENDED)
    blocker.commit()
    assert query(database, "SELECT note FROM items WHERE id = 2") == [("e",)]


def test_who_has_gone_holds_nothing_or_is_ours_is_refused(
    database: str, blocker: pyodbc.Connection, tmp_path: Path
) -> None:
    context = desk_at(database, tmp_path)
    session = pid(blocker)
    blocker.commit()

    def refused(number: int) -> str:
        plan = prepare_end_session(context, number, None).plan
        assert plan.refused is not None and plan.count == 0
        with pytest.raises(BadInput):
            applied(prepare_end_session(context, number, None))
        return plan.refused

    assert has(refused(session), EndSessionText.BLOCKS_NONE)
    with opened(database) as ours:
        assert has(refused(ours.session_id), EndSessionText.OF_QMON)
    assert has(refused(1), EndSessionText.GONE, session="1")
    background = query(database, "SELECT pid FROM pg_stat_activity WHERE backend_type = 'checkpointer'")[0][0]
    assert "checkpointer" in refused(int(str(background)))
    assert has(refused(0), EndSessionText.PREPARED_GONE)
    with pytest.raises(BadInput):
        prepare_end_session(context, -1, None)
    assert query(database, "SELECT count(*) FROM pg_namespace WHERE nspname = 'qmon'") == [(0,)]


def test_a_role_without_the_right_is_told_the_grant(database: str, blocker: pyodbc.Connection, tmp_path: Path) -> None:
    role = f"guest_{secrets.token_hex(4)}"
    query(database, f"CREATE ROLE {role} LOGIN")
    query(database, f"GRANT pg_read_all_stats TO {role}")
    query(database, f"CREATE ROLE {role}_victim LOGIN")
    try:
        with connected(database.replace("postgres@", f"{role}_victim@", 1), autocommit=False) as victim:
            context = desk_at(database.replace("postgres@", f"{role}@", 1), tmp_path)
            session = pid(victim)
            refused = prepare_end_session(context, session, None).plan.refused
            assert refused is not None and f"GRANT pg_signal_backend TO {role}" in refused
            superuser = prepare_end_session(context, pid(blocker), None).plan.refused
            assert superuser is not None and has(superuser, EndSessionText.SUPERUSER_ONLY)
            query(database, f"REVOKE pg_read_all_stats FROM {role}")
            refused = prepare_end_session(context, session, None).plan.refused
            assert refused is not None and f"GRANT pg_read_all_stats TO {role}" in refused
    finally:
        query(database, f"DROP ROLE {role}")
        query(database, f"DROP ROLE {role}_victim")


def test_nothing_is_ended_read_only_or_without_what_a_prod_target_asks_for(
    database: str, blocker: pyodbc.Connection, tmp_path: Path
) -> None:
    session = pid(blocker)
    context = desk_at(database, tmp_path, read_only="--read-only")
    with pytest.raises(ReadOnly):
        applied(prepare_end_session(context, session, None))
    prod = desk_at(database, tmp_path, prod=True)
    prepared = prepare_end_session(prod, session, None)
    name = EndSessionText.SESSION.render(session=session)
    for wrong in (
        Permission("why"),
        Permission("", name),
        Permission("why", EndSessionText.SESSION.render(session=session + 1)),
    ):
        with pytest.raises(BadInput):
            applied(prepared, wrong)
    assert there(database, session)
    assert applied(prepared, Permission("why", name)).done == 1


def popping(url: str, layout: Layout, raw: pyodbc.Connection) -> int:
    """Pop a message and leave the transaction open; return the number of the session."""
    raw.execute("SET application_name = 'mailer'")
    assert raw.execute(f"SELECT * FROM {routine(layout, 'pop')}()").fetchone()
    return pid(raw)


@pytest.mark.parametrize("design", ["naive", "heap", "fifo", "lifo", "pending", "strict_fifo"])
def test_what_a_transaction_holds_too_long_is_requeued_by_ending_its_session(
    database: str, tmp_path: Path, design: str
) -> None:
    layout = made(database, design)
    table = f'"{layout.table.schema}"."{layout.table.name}"'
    message = "convert_to('m', 'UTF8')" if design in BYTES else "'m'"
    if design == "pending":
        message += ", clock_timestamp() - interval '1 s'"
    with opened(database) as ours:
        for _ in range(3):
            call(ours, layout, "push", message)
    context = desk_at(database, tmp_path)
    now = Choice(older_than_s=0.0)
    with (
        connected(database, autocommit=False) as consumer,
        connected(database, autocommit=False) as producer,
        connected(database) as waiter,
    ):
        session = popping(database, layout, consumer)
        producer.execute(f"SELECT {routine(layout, 'push')}({message})")
        assert prepare_requeue_sessions(context, layout, Choice()).plan.refused  # not older than the timeout of 5 m
        prepared = prepare_requeue_sessions(context, layout, now)
        plan = prepared.plan
        assert (plan.kind, plan.unit, plan.count, plan.refused) == (OperationKind.REQUEUE, "session", 1, None)
        assert [row.owner for row in plan.first] == [f"mailer ({session})"]
        assert has("\n".join(plan.consequences), RequeueSessionsText.READY_AGAIN, messages="1 message")
        assert [each.count for each in plan.left_out] == [1]  # the producer: none of its rows is visible
        assert prepare_requeue_sessions(context, layout, replace(now, owner="somebody")).plan.refused
        assert prepare_requeue_sessions(context, layout, replace(now, owner=str(session))).plan.count == 1
        unknown = replace(now, owner_states=frozenset({OwnerState.UNKNOWN}))
        assert prepare_requeue_sessions(context, layout, unknown).plan.count == 2
        if layout.id is not None:
            assert prepare_requeue_sessions(context, layout, replace(now, ids=("77",))).plan.refused
            (row,) = plan.first
            assert prepare_requeue_sessions(context, layout, replace(now, ids=(row.id,))).plan.count == 1
        assert applied(prepared).done == 1
        assert not there(database, session)
        producer.rollback()
        waiter.execute("SET statement_timeout = 20000")
        assert waiter.execute(f"SELECT count(*) FROM (SELECT 1 FROM {table} FOR UPDATE NOWAIT) AS r").fetchval() == 3


def test_who_is_at_work_is_left_out_unless_asked_for(database: str, tmp_path: Path) -> None:
    layout = made(database, "fifo")
    context = desk_at(database, tmp_path)
    with opened(database) as ours:
        call(ours, layout, "push", "'m'")
    with contextlib.closing(pyodbc.connect(odbc(database) + ";Protocol=7.4-0")) as consumer:
        session = popping(database, layout, consumer)
        thread = threading.Thread(target=_sleep, args=(consumer, []))
        thread.start()
        wait_until(
            lambda: query(database, f"SELECT 1 FROM pg_stat_activity WHERE pid = {session} AND state = 'active'")
        )
        plan = prepare_requeue_sessions(context, layout, Choice(older_than_s=0.0)).plan
        assert plan.refused and [each.why for each in plan.left_out] == [RequeueSessionsText.RUNNING]
        alive = Choice(older_than_s=0.0, owner_states=frozenset({OwnerState.ALIVE}))
        assert applied(prepare_requeue_sessions(context, layout, alive)).done == 1
        thread.join(120)
        assert there(database, session)  # only cancelled: its session continues
    with opened(database) as ours:
        assert len(call(ours, layout, "pop")) == 1


def _sleep(raw: pyodbc.Connection, failures: list[str]) -> None:
    try:
        raw.execute("SELECT pg_sleep(20)")
    except pyodbc.Error as problem:
        failures.append(problem.args[0])


def test_only_designs_that_delete_on_pop_are_requeued_so(database: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=pattern(RequeueSessionsText.KEEPS_MESSAGES, design="status")):
        prepare_requeue_sessions(desk_at(database, tmp_path), made(database, "status"), Choice())


def test_only_what_is_in_progress_is_requeued_so(database: str, tmp_path: Path) -> None:
    context, layout = desk_at(database, tmp_path), made(database, "naive")
    for state in ("ready", "dead"):
        with pytest.raises(BadInput, match=pattern(RequeueSessionsText.NOT_IN_PROGRESS, state=state)):
            prepare_requeue_sessions(context, layout, Choice(state=state))
    assert prepare_requeue_sessions(context, layout, Choice(state="in_progress")).plan.refused
