"""Every operation is recorded before and after it runs, here and in the database. If that fails, it stops."""

from __future__ import annotations

import contextlib
import os
import resource
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from qmon.errors import BadInput, QueryFailed
from qmon.model.operation_records import Consent, OperationKind, OperationState, Plan, UndoState
from qmon.operate.audit import Audit, AuditFailed, AuditText
from qmon.operate.context import OperatorContext, Permission, ReadOnly
from qmon.operate.operator import Operator
from qmon.operate.run.running_operation import OperationRecord, RunningOperation, RunningOperationText, run_operation
from qmon.operate.sql import Sql
from tests.contract.operating import YES, desk_at, lines
from tests.facts import connected, query, wait_until
from tests.queues import run
from tests.wordings import pattern

HOSTILE = """'; DROP TABLE x; -- "a" [b]] [red]x[/] {y} \U0001f418 \n % ? :z"""


def plan(**more: object) -> Plan:
    facts: dict[str, object] = {
        "kind": OperationKind.REQUEUE,
        "target": "test",
        "queue": "orders",
        "title": "",
        "count": 5,
        "unit": "messages",
        "predicate": "all",
        "sql": (),
    }
    return Plan(**(facts | more))  # type: ignore[arg-type]


@contextlib.contextmanager
def begun(
    context: OperatorContext, permission: Permission = YES, record: OperationRecord | None = None, **more: object
) -> Iterator[RunningOperation]:
    with (
        context.open_sql("requeue") as sql,
        run_operation(context, sql, plan(**more), permission, record) as work,
    ):
        yield work


def test_an_operation_is_written_down_before_and_after_on_both_sides(database: str, tmp_path: Path) -> None:
    at = desk_at(database, tmp_path)
    with begun(at, record=OperationRecord("public.orders", {"cutoff": 1.5}, undoable=True)) as work:
        assert [each["event"] for each in lines(at)] == ["begin"]
        (seen,) = Operator(at).read_operations()
        assert (seen.state, seen.planned, seen.done) == (OperationState.RUNNING, 5, 0)
        with work.batch() as batch:
            batch.done, batch.skipped, batch.changed = 3, 1, 1
        (seen,) = Operator(at).read_operations()
        assert (seen.done, seen.skipped, seen.changed) == (3, 1, 1)
        work.add_note("as it should be")
    assert work.result().state is OperationState.DONE
    (seen,) = Operator(at).read_operations()
    assert (seen.id, seen.state, seen.by, seen.reason) == (work.id, OperationState.DONE, "anna@app-7", "a test")
    assert seen.undo_state is UndoState.POSSIBLE
    assert seen.details["note 1"] == "as it should be"
    assert seen.ended_at is not None and seen.ended_at >= seen.started_at
    first, *progress, last = lines(at)  # an operation of more than a second also writes its progress
    assert (first["event"], first["frozen"], first["planned"]) == ("begin", {"cutoff": 1.5}, 5)
    assert {each["event"] for each in progress} <= {"progress"}
    assert (last["event"], last["state"], last["done"]) == ("end", "done", 3)
    assert first["operation"] == last["operation"] == work.id


def test_hostile_texts_are_kept_as_they_are(database: str, tmp_path: Path) -> None:
    at = desk_at(database, tmp_path, who=HOSTILE)
    with begun(
        at, Permission(HOSTILE), OperationRecord(HOSTILE, {HOSTILE: HOSTILE}), queue=HOSTILE, predicate=HOSTILE
    ) as work:
        work.add_note(HOSTILE)
    (seen,) = Operator(at).read_operations()
    assert (seen.queue, seen.by, seen.reason) == (HOSTILE, HOSTILE, HOSTILE)
    assert seen.details["note 1"] == seen.details["predicate"] == HOSTILE
    assert lines(at)[0]["reason"] == HOSTILE


def test_the_local_file_is_private_and_no_link_is_followed(tmp_path: Path) -> None:
    audit = Audit(tmp_path / "state" / "qmon" / "operations.jsonl")
    before = os.umask(0)
    try:
        audit.write("begin", {})
    finally:
        os.umask(before)
    assert stat.S_IMODE(audit.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(audit.path.parent.stat().st_mode) == 0o700
    link = tmp_path / "link.jsonl"
    link.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(AuditFailed, match=r"link\.jsonl"):
        Audit(link).write("begin", {})
    assert not (tmp_path / "elsewhere").exists()


def test_a_line_that_does_not_fit_is_taken_back(tmp_path: Path) -> None:
    audit = Audit(tmp_path / "operations.jsonl")
    audit.write("begin", {})
    whole = audit.path.read_bytes()
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(whole) + 10, limits[1]))
    try:
        with pytest.raises(AuditFailed, match=pattern(AuditText.NOT_WRITTEN)):
            audit.write("end", {})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert audit.path.read_bytes() == whole
    audit.write("end", {})
    assert len(audit.path.read_text().splitlines()) == 2


def test_without_a_local_audit_nothing_begins(database: str, tmp_path: Path) -> None:
    (tmp_path / "audit").write_text("a file where the folder should be")
    at = desk_at(database, tmp_path)
    with pytest.raises(AuditFailed), begun(at):
        raise AssertionError("nothing may happen")
    assert Operator(at).read_operations() == ()


def test_an_audit_that_fails_half_way_stops_before_the_next_batch(
    database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("qmon.operate.run.running_operation.PROGRESS_EVERY_S", 0.0)
    at = desk_at(database, tmp_path)
    with pytest.raises(AuditFailed), begun(at) as work:
        with work.batch() as batch:
            batch.done = 1
        assert at.audit is not None
        at.audit.unlink()
        at.audit.mkdir()
        with work.batch() as batch:
            raise AssertionError("nothing may happen")
    (seen,) = Operator(at).read_operations()
    assert (seen.state, seen.done) == (OperationState.INTERRUPTED, 1)


def test_a_batch_that_fails_is_not_counted_and_what_was_done_is(database: str, tmp_path: Path) -> None:
    at = desk_at(database, tmp_path)
    with (
        pytest.raises(QueryFailed),
        at.open_sql("requeue") as sql,
        run_operation(at, sql, plan(), YES) as work,
    ):
        with work.batch() as batch:
            batch.done = 2
        with work.batch() as batch:
            batch.done = 3
            run(sql.connection, "SELECT 1/0")
    (seen,) = Operator(at).read_operations()
    assert (seen.state, seen.done) == (OperationState.INTERRUPTED, 2)
    assert "division by zero" in seen.details["note 1"]
    assert lines(at)[-1]["state"] == "interrupted"


def test_an_operation_whose_session_is_gone_was_interrupted(database: str, tmp_path: Path) -> None:
    at = desk_at(database, tmp_path)
    connection = at.connect("requeue")
    work = RunningOperation(at, Sql(connection, at.engine), plan(), YES, OperationRecord())
    work.record_begin()
    assert Operator(at).read_operations()[0].state is OperationState.RUNNING
    connection.close()
    wait_until(lambda: Operator(at).read_operations()[0].state is OperationState.INTERRUPTED)


@pytest.mark.parametrize(
    ("facts", "given", "part"),
    [
        (
            {"refused": "there is nothing to do"},
            YES,
            pattern(RunningOperationText.UNCHANGED, reason="there is nothing to do"),
        ),
        ({"consent": Consent.TYPED}, YES, pattern(RunningOperationText.WRONG_NAME)),
        ({"consent": Consent.TYPED}, Permission("why", "order"), pattern(RunningOperationText.WRONG_NAME)),
        ({"consent": Consent.TYPED}, Permission(" ", "orders"), pattern(RunningOperationText.NO_REASON)),
    ],
)
def test_what_may_not_be_applied_leaves_no_trace(
    database: str, tmp_path: Path, facts: dict[str, object], given: Permission, part: str
) -> None:
    at = desk_at(database, tmp_path)
    with pytest.raises(BadInput, match=part), begun(at, given, None, **facts):
        raise AssertionError("nothing may happen")
    assert lines(at) == []
    assert Operator(at).read_operations() == ()


def test_read_only_comes_first(database: str, tmp_path: Path) -> None:
    at = desk_at(database, tmp_path, read_only="--read-only was given")
    with pytest.raises(ReadOnly, match="--read-only"), begun(at, Permission("why", "orders"), consent=Consent.TYPED):
        raise AssertionError("nothing may happen")
    assert lines(at) == []
    assert query(database, "SELECT count(*) FROM pg_namespace WHERE nspname = 'qmon'") == [(0,)]


def test_a_role_that_may_not_create_writes_locally_and_one_that_may_not_write_stops(
    database: str, tmp_path: Path
) -> None:
    at = desk_at(database, tmp_path)
    with connected(database) as raw:
        role = f"limited_{os.getpid()}"
        raw.execute(f"CREATE ROLE {role}")
        try:
            with at.open_sql("requeue") as sql:
                run(sql.connection, f"SELECT set_config('role', '{role}', false)")
                with run_operation(at, sql, plan(), YES) as work:
                    assert not work.recorded
            assert [each["event"] for each in lines(at) if each["event"] != "progress"] == ["begin", "end"]
            with begun(at):
                pass
            with at.open_sql("requeue") as sql:
                run(sql.connection, f"SELECT set_config('role', '{role}', false)")
                refused = pytest.raises(AuditFailed, match=pattern(RunningOperationText.NO_RECORD))
                with refused, run_operation(at, sql, plan(), YES):
                    raise AssertionError("nothing may happen")
        finally:
            raw.execute(f"DROP ROLE {role}")
