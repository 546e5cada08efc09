"""qmon's schema and roles on a real server: printed and run SQL match, setup can run twice, its rights suffice."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from urllib.parse import quote

import pytest

from qmon.engines.base import Bound, Connection, Session, Statement, Target
from qmon.engines.urls import read_url
from qmon.errors import PermissionMissing
from qmon.model.layout.layout import Layout
from qmon.model.reasons import Reason
from qmon.monitor.catalog.resolve import resolve_queues
from qmon.operate.install.control_setup import (
    ControlRole,
    plan_control_setup,
    plan_missing_grants,
    run_setup,
    setup_script,
)
from qmon.operate.install.install_queue import install_queue
from tests.contract.tables import ENGINE, qmon_connection
from tests.facts import connected, drop_roles, query
from tests.wordings import has

HOSTILE = 'ta]ble "x"; drop role qmon_monitor; --'


def writable(url: str) -> Connection:
    address = read_url(url, "the URL")
    return ENGINE.connect(Target("test", "postgres", address.keywords), Session("setup"))


@pytest.fixture
def login(clean_roles: str) -> Iterator[tuple[str, str]]:
    """A role that may only log in: its name, and the database's URL for it."""
    name = f"login_{secrets.token_hex(4)}"
    query(clean_roles, f"CREATE ROLE {name} LOGIN")
    yield name, clean_roles.replace("postgres@", f"{quote(name)}@", 1)
    query(clean_roles, f"DROP OWNED BY {name}")
    query(clean_roles, f"DROP ROLE {name}")


def installed(url: str) -> tuple[list[int], tuple[Layout, ...]]:
    """Create queues with hostile names; return the ids of their tables and sequences, and their layouts."""
    connection = writable(url)
    try:
        for design in ("status", "ring", "batch_fast"):
            install_queue(connection, ENGINE, design, schema="public", queue=f"{HOSTILE[:30]} {design}", ring_size=8)
        resolved = resolve_queues(connection, ENGINE, [])
        return [i for facts in resolved.facts.values() for i in facts.object_ids], resolved.layouts
    finally:
        connection.close()


@pytest.mark.parametrize("role", ["monitor", "operator"])
def test_running_what_is_printed_leaves_nothing_to_do(clean_roles: str, role: ControlRole) -> None:
    ids = installed(clean_roles)
    with qmon_connection(clean_roles) as connection:
        steps = plan_control_setup(connection, ENGINE, role, *ids)
    assert steps
    with connected(clean_roles) as raw:
        raw.execute(setup_script(ENGINE, steps))
    with qmon_connection(clean_roles) as connection:
        assert plan_control_setup(connection, ENGINE, role, *ids) == ()


@pytest.mark.parametrize("role", ["monitor", "operator"])
def test_carrying_it_out_runs_exactly_the_printed_statements(clean_roles: str, role: ControlRole) -> None:
    ids = installed(clean_roles)
    connection = writable(clean_roles)
    ran: list[str] = []

    class Watched:
        """The connection, which records every statement."""

        def execute(self, bound: Bound) -> int:
            ran.append(bound.statement.text)
            return connection.execute(bound)

    try:
        steps = plan_control_setup(connection, ENGINE, role, *ids)
        printed = setup_script(ENGINE, steps)
        outcomes = run_setup(Watched(), steps)  # type: ignore[arg-type]  # only execute is asked of it
        assert [outcome.problem for outcome in outcomes] == [""] * len(steps)
        assert ran == [step.text for step in steps]
        assert [text for text in ran if f"{text};\n" not in printed] == []
        assert plan_control_setup(connection, ENGINE, role, *ids) == ()
    finally:
        connection.close()


def test_a_member_of_the_role_may_watch_and_not_write(login: tuple[str, str], clean_roles: str) -> None:
    name, url = login
    ids = installed(clean_roles)
    connection = writable(clean_roles)
    run_setup(connection, plan_control_setup(connection, ENGINE, "monitor", *ids))
    connection.close()
    with qmon_connection(url) as stranger:
        before = resolve_queues(stranger, ENGINE, [])
    assert not before.layouts
    assert before.problems[0].grant
    query(clean_roles, f"GRANT qmon_monitor TO {name}")
    with qmon_connection(url) as watcher:
        after = resolve_queues(watcher, ENGINE, [])
    assert len(after.layouts) == 3
    assert not after.problems
    assert not any(
        has(reason, Reason.SEQUENCE_UNREADABLE) for facts in after.facts.values() for reason in facts.unknown.values()
    )
    mine = writable(url)
    table = ENGINE.quote(after.layouts[0].table.parts)
    try:
        with pytest.raises(PermissionMissing):
            mine.execute(Bound(Statement("test", f"DELETE FROM {table}", (), ())))
        query(clean_roles, "CREATE ROLE qmon_operator")
        _operate(clean_roles, ids)
        query(clean_roles, f"GRANT qmon_operator TO {name}")
        assert mine.execute(Bound(Statement("test", f"DELETE FROM {table}", (), ()))) >= 0
    finally:
        mine.close()


def _operate(url: str, ids: tuple[list[int], tuple[Layout, ...]]) -> None:
    connection = writable(url)
    try:
        run_setup(connection, plan_control_setup(connection, ENGINE, "operator", *ids))
    finally:
        connection.close()


def test_the_schema_needs_no_superuser_and_the_rest_is_named(login: tuple[str, str], clean_roles: str) -> None:
    name, url = login
    database = query(clean_roles, "SELECT current_database()")[0][0]
    query(clean_roles, f'GRANT CREATE ON DATABASE "{database}" TO {name}')
    connection = writable(url)
    try:
        outcomes = run_setup(connection, plan_control_setup(connection, ENGINE, "monitor"))
        done = [o.step.text for o in outcomes if not o.problem]
        refused = [o for o in outcomes if o.problem]
        assert len(done) == 2
        assert "CREATE SCHEMA qmon" in done[0]
        assert [o.step.text.splitlines()[-1] for o in refused[:1]] == ["CREATE ROLE qmon_monitor NOLOGIN"]
        assert all("\n" not in o.problem for o in refused)
        with connected(clean_roles) as dba:
            dba.execute(setup_script(ENGINE, [o.step for o in refused]))
        assert plan_control_setup(connection, ENGINE, "monitor") == ()
        assert query(url, "SELECT count(*) FROM qmon.queues") == [(0,)]
    finally:
        connection.close()


def test_a_new_queue_is_granted_to_the_roles_there_are(clean_roles: str) -> None:
    connection = writable(clean_roles)
    try:
        run_setup(connection, plan_control_setup(connection, ENGINE, "operator"))
        ids = installed(clean_roles)
        steps = plan_missing_grants(connection, ENGINE, *ids)
        assert steps
        assert not any(outcome.problem for outcome in run_setup(connection, steps))
        assert plan_control_setup(connection, ENGINE, "operator", *ids) == ()
    finally:
        connection.close()
    drop_roles(clean_roles)
    with qmon_connection(clean_roles) as again:
        assert plan_missing_grants(again, ENGINE, *ids) == ()
