"""Rights to act: an operator in the role from setup may do every action and nothing else; a monitor may not act."""

from __future__ import annotations

import inspect
import os
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from qmon.cli.target_session import ChosenTarget, SessionText
from qmon.config.config_file import Config
from qmon.errors import BadInput
from qmon.model.layout.layout import Layout
from qmon.model.operation_records import Choice, OperationKind, OwnerState, Side
from qmon.operate.actions.archiver import ARCHIVE_SESSION, Archiver, ArchiveText, check_can_archive
from qmon.operate.actions.end_session import EndSessionText
from qmon.operate.context import OperatorContext, Permission, ReadOnly
from qmon.operate.operator import Operator
from qmon.operate.operator_context import ContextText
from qmon.operate.run.pacing import archive_pace
from qmon.operate.run.running_operation import PreparedAction
from tests.contract.operating import applied, desk_at
from tests.contract.roles import kept_out, login, set_up
from tests.contract.sessions import pid
from tests.facts import connected, query
from tests.queues import ENGINE, call, made, opened, target_of
from tests.wordings import has, pattern

WHY = Permission("a test")
ANY = Choice(owner_states=frozenset(OwnerState))


@pytest.fixture
def queues(clean_roles: str, tmp_path: Path) -> dict[str, Layout]:
    """Create queues with work for every action, before there were roles. Some work was done and paused then, too."""
    url = clean_roles
    queues = {design: made(url, design, design) for design in ("batch_fast", "fifo", "ring")}
    batch = replace(queues["batch_fast"], timeout_s=0.0)
    with opened(url) as connection:
        for number in range(6):
            call(connection, batch, "push", f"'m{number}'")
            call(connection, queues["fifo"], "push", "'\\x01'")
        call(connection, batch, "pop_batch", "2")
        call(connection, batch, "complete", "1, 1")
    query(url, "CREATE TABLE jobs (id int PRIMARY KEY)")
    query(url, "SELECT nextval('ring_push_seq')")
    query(url, "UPDATE ring SET time = clock_timestamp() - interval '1 h'")
    owner = Operator(desk_at(url, tmp_path))
    assert applied(owner.purge(batch, Choice(ids=("6",)))).done == 1
    applied(owner.pause(queues["fifo"], Side.PRODUCERS, for_s=60), WHY)
    return {**queues, "batch_fast": batch}


def test_an_operator_may_do_everything_and_nothing_else(
    clean_roles: str, queues: dict[str, Layout], tmp_path: Path
) -> None:
    set_up(clean_roles, "operator")
    batch = queues["batch_fast"]
    with login(clean_roles, "operator") as url:
        operator = Operator(desk_at(url, tmp_path))
        (before,) = (each for each in operator.read_operations() if each.kind is OperationKind.PURGE)
        assert applied(operator.undo(before.id)).done == 1
        requeued = applied(operator.requeue(batch, ANY))
        assert requeued.done == 1
        assert applied(operator.undo(requeued.operation)).done == 1
        purged = applied(operator.purge(batch, Choice(ids=("3", "4"))))
        assert purged.done == 2
        assert applied(operator.undo(purged.operation, Choice(ids=("3",)))).done == 1
        assert applied(operator.empty_trash(None, 0.0)).done == 2
        assert applied(operator.resume(queues["fifo"], Side.PRODUCERS)).done == 1
        for side in Side:
            assert applied(operator.pause(batch, side, for_s=60), WHY).done == 1
            assert applied(operator.resume(batch, side)).done == 1
        assert applied(operator.repair(queues["ring"])).done == 1
        archived(url, batch)
        with connected(clean_roles, autocommit=False) as blocker:
            blocker.execute("INSERT INTO jobs VALUES (1)")
            ended = operator.end_session(pid(blocker), None)
            assert has(ended.plan.refused or "", EndSessionText.SUPERUSER_ONLY)
        with login(clean_roles, "monitor") as other, connected(other, autocommit=False) as blocker:
            blocker.execute("SELECT pg_advisory_xact_lock(1)").fetchall()
            assert applied(operator.end_session(pid(blocker), None)).done == 1
        kept_out(
            url, "TRUNCATE batch_fast", "DROP TABLE batch_fast", "SELECT * FROM jobs", "INSERT INTO jobs VALUES (2)"
        )
        kept_out(url, "DELETE FROM qmon.operations", "CREATE TABLE public.mine (id int)", "CREATE ROLE mine")


def archived(url: str, layout: Layout) -> None:
    with opened(url) as connection:
        check_can_archive(connection, ENGINE, layout)
    pace = archive_pace(10, 0.0)
    archiver = Archiver(
        lambda: ENGINE.connect(target_of(url), ARCHIVE_SESSION), ENGINE, layout, pace, threading.Event()
    )
    assert archiver.run(until_empty=True).moved == 1


class Noted:
    """An operator, and the actions it was asked for."""

    def __init__(self, operator: Operator) -> None:
        self._operator, self.asked = operator, set[str]()

    def __getattr__(self, name: str) -> Any:
        self.asked.add(name)
        return getattr(self._operator, name)


def refused_all(
    at: OperatorContext, queues: dict[str, Layout], session: int, problem: type[Exception]
) -> dict[str, str]:
    """Try to apply every action; return why each one is refused."""
    operator = Noted(Operator(at))
    batch, fifo, jobs = queues["batch_fast"], queues["fifo"], replace(queues["fifo"], switch=None)
    done = next(each.id for each in operator.read_operations() if each.kind is OperationKind.PURGE)
    plans: dict[str, PreparedAction] = {
        "requeue": operator.requeue(batch, ANY),
        "requeue by ending sessions": operator.requeue(replace(fifo, timeout_s=0.0), ANY),
        "redrive": operator.redrive(batch, Choice()),
        "purge": operator.purge(batch, Choice(state="ready")),
        "undo": operator.undo(done),
        "empty trash": operator.empty_trash(None, 0.0),
        "pause": operator.pause(batch, Side.PRODUCERS),
        "pause consumers": operator.pause(batch, Side.CONSUMERS),
        "resume": operator.resume(fifo, Side.PRODUCERS),
        "install gate": operator.install_gate(jobs),
        "remove gate": operator.remove_gate(jobs),
        "repair": operator.repair(queues["ring"]),
        "end blocker": operator.end_session(session, None),
    }
    reads = {"read_pauses", "is_paused_by_library", "read_message", "read_session"}
    there = {name for name, _ in inspect.getmembers(Operator, inspect.isfunction) if not name.startswith("_")}
    assert operator.asked | reads == there
    for name, prepared in plans.items():
        with pytest.raises(problem):
            prepared.apply(WHY, lambda now: None, lambda: False)
        assert prepared.plan.refused, name
        said = prepared.plan.undo.possible or prepared.plan.undo.notes or not prepared.plan.count
        assert said, f"{name}: the plan does not say whether it can be undone"
    return {name: prepared.plan.refused or "" for name, prepared in plans.items()}


def whole(url: str) -> list[tuple[object, ...]]:
    """Return everything in the database: rows with their versions, sequence positions, all objects, all rights."""
    out = query(
        url, "SELECT oid, nspname, nspacl::text FROM pg_namespace WHERE nspname !~ '^pg_(toast_)?temp' ORDER BY 1"
    )
    out += query(
        url,
        "SELECT oid, relname, relkind::text, relacl::text, relhastriggers FROM pg_class WHERE oid > 16383 ORDER BY 1",
    )
    out += query(url, "SELECT oid, proname, prosrc, proacl::text FROM pg_proc WHERE oid > 16383 ORDER BY 1")
    out += query(url, "SELECT oid, tgname FROM pg_trigger ORDER BY 1")
    tables = (
        "SELECT format('%I.%I', schemaname, tablename) FROM pg_tables WHERE schemaname IN ('public', 'qmon') ORDER BY 1"
    )
    for (table,) in query(url, tables):
        out += query(
            url, f"SELECT CAST(t AS text), CAST(t.ctid AS text), CAST(t.xmin AS text) FROM {table} AS t ORDER BY 2"
        )
    sequences = "SELECT format('%I.%I', schemaname, sequencename) FROM pg_sequences ORDER BY 1"
    for (sequence,) in query(url, sequences):
        out += query(url, f"SELECT last_value, is_called FROM {sequence}")
    return out


def test_read_only_no_action_changes_anything(clean_roles: str, queues: dict[str, Layout], tmp_path: Path) -> None:
    set_up(clean_roles, "monitor")
    audit = tmp_path / "nobody's" / "operations.jsonl"
    with login(clean_roles, "monitor") as watcher, connected(clean_roles, autocommit=False) as consumer:
        consumer.execute("SELECT * FROM fifo_pop()").fetchall()
        target, nothing = target_of(clean_roles), Config(Path(os.devnull))
        ways: tuple[tuple[OperatorContext, type[Exception], str], ...] = (
            (ChosenTarget(target, (), nothing).operator_context(read_only=True), ReadOnly, SessionText.READ_ONLY),
            (
                ChosenTarget(replace(target, read_only=True), (), nothing).operator_context(),
                ReadOnly,
                str(ContextText.READ_ONLY.render(target=target.name)),
            ),
            (ChosenTarget(target_of(watcher), (), nothing).operator_context(), BadInput, ""),
        )
        before = whole(clean_roles)
        for at, problem, said in ways:
            why = refused_all(replace(at, audit=audit), queues, pid(consumer), problem)
            assert [name for name, reason in why.items() if said not in reason] == []
            assert whole(clean_roles) == before
        with opened(watcher) as connection, pytest.raises(BadInput, match=pattern(ArchiveText.RIGHTS_MISSING)):
            check_can_archive(connection, ENGINE, queues["batch_fast"])
        assert whole(clean_roles) == before
        assert query(clean_roles, f"SELECT 1 FROM pg_stat_activity WHERE pid = {pid(consumer)}")
        consumer.rollback()
    assert not audit.exists()


def test_a_right_that_is_missing_on_the_table_is_named(
    clean_roles: str, queues: dict[str, Layout], tmp_path: Path
) -> None:
    set_up(clean_roles, "operator")
    query(clean_roles, "REVOKE UPDATE ON batch_fast FROM qmon_operator")
    with login(clean_roles, "operator") as url:
        for prepared in (
            Operator(desk_at(url, tmp_path)).requeue(queues["batch_fast"], ANY),
            Operator(desk_at(url, tmp_path)).purge(queues["batch_fast"], Choice(state="ready")),
        ):
            assert "GRANT UPDATE ON public.batch_fast TO" in (prepared.plan.refused or "")
