"""A connection that goes silent: every use of it ends within its deadline, and qmon reports the unknown outcome."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from qmon.engines.base import Connection, Session
from qmon.engines.bounded_calls import LoginText
from qmon.engines.driver_calls import DriverCallText
from qmon.errors import ConnectionFailed, ConnectionLost, OutcomeUnknown
from qmon.model.operation_records import Choice, OperationState, OwnerState, Progress, Side
from qmon.operate.actions.pause import PauseText
from qmon.operate.context import OperatorContext
from qmon.operate.operator import Operator
from qmon.operate.operator_context import Connections
from qmon.operate.run.running_operation import RunningOperationText
from tests.contract.engines import opened, sql
from tests.contract.operating import YES, applied, desk_at, lines
from tests.facts import query, wait_until
from tests.jobs import fill, layout, states
from tests.queues import ENGINE, made, target_of
from tests.silence import COMMIT_OF_A_BATCH, Tunnel, tunnel
from tests.wordings import has, pattern

SHORT = Session("test", statement_timeout_s=1.0, silence_s=0.5)
ONE = sql("SELECT 1 AS one", "one")
ALL = frozenset(OwnerState)


@pytest.fixture
def quiet(database: str) -> Iterator[Tunnel]:
    """A tunnel to the database that can go silent."""
    with tunnel(database) as made:
        yield made


@contextlib.contextmanager
def stopped(process: int) -> Iterator[None]:
    """Stop a process, and let it continue at the end."""
    os.kill(process, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(process, signal.SIGCONT)


def desk(url: str, folder: Path) -> OperatorContext:
    """Return an operator context with short deadlines."""
    context = desk_at(url, folder)
    target = target_of(url)

    def connect(purpose: str) -> Connection:
        return ENGINE.connect(target, replace(SHORT, purpose=purpose, lock_timeout_s=0.2))

    return replace(context, connect=connect)


def test_a_statement_over_a_silent_tunnel_is_abandoned(quiet: Tunnel) -> None:
    with opened(quiet.url, SHORT) as connection:
        quiet.silence_at(b"SELECT 1", passes=True)
        with pytest.raises(ConnectionLost, match=pattern(DriverCallText.NO_ANSWER, time="1.5 s")):
            connection.fetch(ONE)
        with pytest.raises(ConnectionLost, match=pattern(DriverCallText.NO_ANSWER)):
            connection.execute(ONE)
        connection.cancel()
        connection.abandon()


def test_a_statement_of_a_stopped_backend_is_abandoned(database: str) -> None:
    with opened(database, SHORT) as connection:
        with stopped(connection.session_id), pytest.raises(ConnectionLost, match=pattern(DriverCallText.NO_ANSWER)):
            connection.fetch(ONE)
        sessions = f"SELECT pid FROM pg_stat_activity WHERE pid = {connection.session_id}"
        wait_until(lambda: query(database, sessions) == [], what="the abandoned session ends once it goes on")


def test_a_transaction_ends_without_waiting_for_a_rollback(quiet: Tunnel, database: str) -> None:
    query(database, "CREATE TABLE t (n int)")
    with opened(quiet.url, SHORT) as connection:
        quiet.silence_at(b"INSERT", passes=True)
        with pytest.raises(ConnectionLost) as raised, connection.transaction():
            connection.execute(sql("INSERT INTO t VALUES (1)"))
    assert not isinstance(raised.value, OutcomeUnknown)
    quiet.close()
    assert query(database, "SELECT count(*) FROM t") == [(0,)]


@pytest.mark.parametrize("arrives", [True, False])
def test_nobody_knows_the_outcome_of_a_commit_that_is_not_answered(quiet: Tunnel, database: str, arrives: bool) -> None:
    query(database, "CREATE TABLE t (n int)")
    with opened(quiet.url, SHORT) as connection:
        quiet.silence_at(b"COMMIT", passes=arrives)
        with (
            pytest.raises(OutcomeUnknown, match="commit: " + pattern(DriverCallText.NO_ANSWER)),
            connection.transaction(),
        ):
            connection.execute(sql("INSERT INTO t VALUES (1)"))
    if arrives:
        wait_until(lambda: query(database, "SELECT count(*) FROM t") == [(1,)], what="the server has committed")


def test_a_wait_without_a_deadline_ends_when_the_connection_is_abandoned(quiet: Tunnel) -> None:
    with opened(quiet.url, Session("test")) as connection:
        quiet.silence_at(b"SELECT 1", passes=True)
        problems: list[str] = []

        def ask() -> None:
            try:
                connection.fetch(ONE)
            except ConnectionLost as problem:
                problems.append(str(problem))

        asking = threading.Thread(target=ask, daemon=True)
        asking.start()
        assert quiet.silent.wait(120)
        connection.abandon()
        asking.join(120)
        assert problems == [f"test/statement: {DriverCallText.ABANDONED}"]


def test_a_login_over_a_silent_tunnel_ends(quiet: Tunnel) -> None:
    quiet.silence_at(b"SET ", passes=False)  # psqlODBC's first statement after libpq has logged in
    with pytest.raises(ConnectionFailed, match=pattern(LoginText.NO_ANSWER)):
        ENGINE.connect(target_of(quiet.url), replace(SHORT, login_timeout_s=1.0))
    assert quiet.silent.is_set()


@pytest.mark.parametrize("arrives", [True, False])
@pytest.mark.parametrize("act", ["requeue", "purge", "undo"])
def test_a_batch_whose_commit_is_not_answered_is_unknown_and_the_operations_tell_later(
    quiet: Tunnel, database: str, tmp_path: Path, act: str, arrives: bool
) -> None:
    fill(database, dead=150, alive=0, ready=0)
    context = desk(quiet.url, tmp_path)
    operator, direct = Operator(context), Operator(desk_at(database, tmp_path))
    every = Choice(owner_states=ALL, state="in_progress")
    if act == "undo":
        prepared = operator.undo(applied(direct.purge(layout(), every)).operation)
    else:
        prepared = operator.purge(layout(), every) if act == "purge" else operator.requeue(layout(), every)
    done: list[int] = []

    def tell(now: Progress) -> None:
        done.append(now.done)
        if len(done) == 1:
            quiet.silence_at(*COMMIT_OF_A_BATCH, passes=arrives)

    result = applied(prepared, tell=tell)
    assert 0 < done[-1] < 150
    assert (result.state, result.done) == (OperationState.UNKNOWN, done[-1])
    assert has(result.notes[0], RunningOperationText.UNKNOWN)
    assert f"{len(done) + 1} (" in result.notes[0], "the batch"
    assert has(result.notes[1], RunningOperationText.SEE_OPERATIONS)
    last = lines(context)[-1]
    assert (last["event"], last["state"], last["done"]) == ("end", "unknown", done[-1])
    assert last["notes"] == list(result.notes)
    quiet.close()

    def interrupted() -> bool:
        return direct.read_operations()[0].state is OperationState.INTERRUPTED

    wait_until(interrupted, what="the server has noticed")
    (found, *_) = direct.read_operations()
    moved = {
        "requeue": lambda: states(database).get("ready", 0),
        "purge": lambda: 150 - states(database).get("working", 0),
        "undo": lambda: states(database).get("working", 0),
    }
    assert found.id == result.operation
    assert found.done == moved[act]()
    assert (found.done > done[-1]) is arrives


def test_where_only_the_local_audit_is_written_the_unknown_says_so(
    quiet: Tunnel, database: str, tmp_path: Path
) -> None:
    fill(database, dead=3)
    role, grants = "lesser", "GRANT ALL ON public.jobs TO lesser; REVOKE CREATE ON DATABASE {} FROM public, lesser"
    name = str(query(database, "SELECT current_database()")[0][0])
    query(database, "DROP ROLE IF EXISTS lesser; CREATE ROLE lesser LOGIN")
    try:
        query(database, grants.format(f'"{name}"'))
        context = desk(quiet.url.replace("postgres@", f"{role}@", 1), tmp_path)
        prepared = Operator(context).requeue(layout(), Choice(owner_states=ALL))
        quiet.silence_at(b"COMMIT", passes=True)
        result = applied(prepared)
    finally:
        quiet.close()
        query(database, "DROP OWNED BY lesser; DROP ROLE lesser")
    assert (result.state, result.done) == (OperationState.UNKNOWN, 0)
    assert has(result.notes[-1], RunningOperationText.SEE_QUEUE)
    assert lines(context)[-1]["state"] == "unknown"


def test_an_operation_of_a_stopped_backend_ends_and_what_was_done_is_counted(database: str, tmp_path: Path) -> None:
    fill(database, dead=150)
    context = desk(database, tmp_path)
    prepared = Operator(context).requeue(layout(), Choice(owner_states=ALL))
    found: list[int] = []
    with contextlib.ExitStack() as halted:

        def tell(now: Progress) -> None:
            if not found:
                ((process,),) = query(
                    database, "SELECT pid FROM pg_stat_activity WHERE application_name = 'qmon requeue'"
                )
                halted.enter_context(stopped(int(str(process))))
            found.append(now.done)

        with pytest.raises(ConnectionLost, match=pattern(DriverCallText.NO_ANSWER)):
            applied(prepared, tell=tell)
        assert lines(context)[-1]["state"] == "interrupted"
    direct = Operator(desk_at(database, tmp_path))
    wait_until(lambda: direct.read_operations()[0].state is OperationState.INTERRUPTED, what="its session has ended")
    assert direct.read_operations()[0].done == found[-1] == states(database)["ready"]


@pytest.mark.parametrize("what", ["record", "switch"])
def test_a_pause_over_a_silent_tunnel_ends(quiet: Tunnel, database: str, tmp_path: Path, what: str) -> None:
    queue = made(database, "fifo")
    Operator(desk_at(database, tmp_path)).resume(queue, Side.PRODUCERS)
    context = desk(quiet.url, tmp_path)
    prepared = Operator(context).pause(queue, Side.PRODUCERS)
    marks = (*COMMIT_OF_A_BATCH, *((b"setval",) if what == "switch" else ()))
    quiet.silence_at(*marks, passes=True)
    result = prepared.apply(YES, lambda now: None, lambda: False)
    assert result.state is OperationState.UNKNOWN
    paused = PauseText.WERE_PAUSED.render(side="producers")
    step = RunningOperationText.BATCH_COMMITTED if what == "record" else paused
    assert has(result.notes[0], RunningOperationText.UNKNOWN) if what == "record" else step in result.notes[0]


def test_a_second_stop_abandons_an_operation_that_has_no_answer(quiet: Tunnel, database: str, tmp_path: Path) -> None:
    fill(database, dead=3)
    connections = Connections(ENGINE, target_of(quiet.url))
    context = replace(desk(quiet.url, tmp_path), connect=connections)
    prepared = Operator(context).requeue(layout(), Choice(owner_states=ALL))
    quiet.silence_at(*COMMIT_OF_A_BATCH, passes=True)
    results: list[OperationState] = []
    acting = threading.Thread(target=lambda: results.append(applied(prepared).state), daemon=True)
    acting.start()
    assert quiet.silent.wait(120)
    connections.cancel()
    connections.abandon()
    acting.join(120)
    assert results == [OperationState.UNKNOWN]
