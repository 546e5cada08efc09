"""Faults while qmon acts: qmon is killed, the server stops, the line is cut, the disk is full. No row is lost.

The long form of the kills is in ``make soak``.
"""

from __future__ import annotations

import contextlib
import random
import resource
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from qmon.demo.embedded_server import EmbeddedServer
from qmon.errors import ConnectionFailed, QmonError
from qmon.model.operation_records import Choice, OperationResult, OperationState, OwnerState, Progress
from qmon.operate.audit import AuditFailed
from qmon.operate.run import running_operation
from qmon.operate.run.running_operation import PreparedAction
from tests.contract.killing import ACTS, Act, Victim
from tests.contract.operating import applied, lines
from tests.facts import query, wait_until

ROWS = 200
ALL = frozenset(OwnerState)


Blow = Callable[[], None]


def prepared(victim: Victim, act: Act) -> PreparedAction:
    """Return the plan for all remaining rows."""
    if act == "undo":
        return victim.operator.undo(victim.purged().id)
    if act == "purge":
        return victim.operator.purge(victim.layout, Choice(state="ready"))
    return victim.operator.requeue(victim.layout, Choice(owner_states=ALL))


def struck(victim: Victim, act: Act, blow: Blow) -> QmonError:
    """Apply, with a fault after the second batch; return the error."""
    told: list[Progress] = []

    def tell(now: Progress) -> None:
        told.append(now)
        if len(told) == 2:
            blow()

    with pytest.raises(QmonError) as raised:
        applied(prepared(victim, act), tell=tell)
    assert 0 < told[-1].done < ROWS
    return raised.value


def finished(victim: Victim, act: Act, planned: int) -> OperationResult:
    """Plan and apply again. This finishes the remaining rows, and now all are done."""
    again = prepared(victim, act)
    assert again.plan.count == planned
    result = applied(again)
    assert (result.state, result.done, result.skipped, result.changed) == (OperationState.DONE, planned, 0, 0)
    assert victim.left(act) == 0
    victim.check(act)
    return result


def interrupted(victim: Victim, act: Act) -> int:
    """Check the rows left by an interrupted operation: all in one place, and it reports its progress; return them."""
    victim.check(act)
    left = victim.left(act)
    last = victim.last()
    assert last is not None
    assert (last.kind, last.state, last.done) == (act, OperationState.INTERRUPTED, ROWS - left)
    assert 0 < left < ROWS
    return left


@pytest.mark.parametrize("act", ACTS)
def test_a_killed_qmon_leaves_every_row_in_one_place_and_the_next_finishes(
    database: str, tmp_path: Path, act: Act
) -> None:
    victim = Victim(database, tmp_path, 3_000, random.Random(act))
    done = victim.strike(act, kills=2)
    assert done.kills >= 2
    assert done.interrupted >= 1


@pytest.mark.parametrize("act", ACTS)
def test_a_connection_cut_in_the_middle_interrupts(database: str, tmp_path: Path, act: Act) -> None:
    victim = Victim(database, tmp_path, ROWS, random.Random(act))
    victim.fill(act)
    cut = f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'qmon {act}'"

    def blow() -> None:
        assert query(database, cut) == [(True,)]
        wait_until(lambda: query(database, cut) == [], what="the session is gone")

    assert isinstance(struck(victim, act, blow), ConnectionFailed)
    finished(victim, act, interrupted(victim, act))


@pytest.fixture
def own_server() -> Iterator[EmbeddedServer]:
    """A server that a test may stop."""
    with EmbeddedServer() as server:
        yield server


@pytest.mark.parametrize("way", ["stop", "kill"])
def test_a_server_that_goes_in_the_middle_interrupts(own_server: EmbeddedServer, tmp_path: Path, way: str) -> None:
    victim = Victim(own_server.url(), tmp_path, ROWS, random.Random(way))
    for act in ACTS:
        victim.fill(act)
        problem = struck(victim, act, own_server.stop if way == "stop" else own_server.kill)
        assert isinstance(problem, ConnectionFailed)
        own_server.start()
        wait_until(lambda: _answers(own_server.url()), what="the server answers again")
        finished(victim, act, interrupted(victim, act))


def _answers(url: str) -> bool:
    with contextlib.suppress(Exception):
        return query(url, "SELECT 1") == [(1,)]
    return False


@pytest.mark.parametrize("act", ACTS)
def test_a_disk_that_is_full_for_the_audit_stops_before_the_next_batch(
    database: str, tmp_path: Path, act: Act, monkeypatch: pytest.MonkeyPatch
) -> None:
    victim = Victim(database, tmp_path, ROWS, random.Random(act))
    victim.fill(act)
    monkeypatch.setattr(running_operation, "PROGRESS_EVERY_S", 0.0)
    audit = victim.operator.context.audit
    assert audit is not None
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)

    def blow() -> None:
        # From here on the file cannot grow by a line. This simulates a full disk, and needs no root.
        resource.setrlimit(resource.RLIMIT_FSIZE, (audit.stat().st_size + 10, hard))

    try:
        problem = struck(victim, act, blow)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert isinstance(problem, AuditFailed)
    assert str(audit) in str(problem)
    assert [line["event"] for line in lines(victim.operator.context)][-1] == "progress"
    finished(victim, act, interrupted(victim, act))


def test_a_disk_that_is_full_before_it_begins_changes_nothing(database: str, tmp_path: Path) -> None:
    victim = Victim(database, tmp_path, 10, random.Random(1))
    victim.fill("purge")
    plan = prepared(victim, "purge")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, hard))
        with pytest.raises(AuditFailed):
            applied(plan)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert victim.left("purge") == 10
    assert victim.last() is None
