"""Owners: messages of dead ones are requeued, of live ones never by default, and unknown ones are reported."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from qmon.engines.base import Connection
from qmon.model.layout.layout import Layout, ObjectName, OwnerColumn, StateColumn
from qmon.model.operation_records import Choice, OwnerState
from qmon.model.sessions.owners import OwnerFacts, OwnerText, owner_proof
from qmon.operate.actions.requeue import RequeueText
from qmon.operate.context import OperatorContext
from qmon.operate.operator import Operator
from qmon.operate.plan.exclusions import ExclusionText
from tests.contract.operating import HELD, applied, desk_at
from tests.facts import connected, query, wait_until
from tests.queues import call, made, opened, run
from tests.wordings import has, pattern

NOW = OwnerFacts("", 10_000.0, True, 1_000.0, False)

# Risks that consumers process a message twice.
RISKS = (RequeueText.TWICE, RequeueText.OWNER_WORKS)


def waiting(url: str, count: int, *, held: bool = True, timeout_s: float = 0.01) -> Layout:
    """A queue with this many ready messages. The timeout is below the age of the test's server."""
    owner = replace(HELD, held_while_working=held)
    layout = replace(made(url, "status"), owner=owner, timeout_s=timeout_s)
    query(url, f"SELECT orders_push(convert_to('x', 'UTF8')) FROM generate_series(1, {count})")
    return layout


@contextlib.contextmanager
def popped(url: str, layout: Layout, count: int) -> Iterator[Connection]:
    with opened(url, "consumer") as connection:
        call(connection, layout, "pop_batch", str(count))
        yield connection


def gone(url: str, session: int) -> None:
    wait_until(lambda: query(url, f"SELECT count(*) FROM pg_stat_activity WHERE pid = {session}") == [(0,)])


def owner_unknown(reason: OwnerText) -> str:
    """Return why messages of unknown owners are left out."""
    return ExclusionText.OWNER_UNKNOWN_BECAUSE.render(reason=reason)


def reasons(operator: Operator, layout: Layout, choice: Choice | None = None) -> tuple[int, dict[str, int]]:
    plan = operator.requeue(layout, choice or Choice()).plan
    return plan.count, {each.why: each.count for each in plan.left_out}


def test_the_living_keep_their_messages_however_old_and_the_dead_lose_them_at_once(
    database: str, tmp_path: Path
) -> None:
    layout = waiting(database, 5)
    operator = Operator(desk_at(database, tmp_path))
    with popped(database, layout, 2):
        with popped(database, layout, 3) as dying:
            query(database, "UPDATE orders SET started_at = now() - interval '3 days' WHERE id <= 2")
            assert reasons(operator, layout) == (0, {ExclusionText.OWNER_ALIVE: 5})
        gone(database, dying.session_id)
        # The dead owner's messages are recent. It is enough that their consumer is dead.
        slow = replace(layout, timeout_s=1.0)
        wait_until(lambda: reasons(operator, slow)[0] == 3)
        assert reasons(operator, slow) == (3, {ExclusionText.OWNER_ALIVE: 2})
        prepared = operator.requeue(slow, Choice())
        assert {row.owner_state for row in prepared.plan.first} == {OwnerState.DEAD}
        assert not any(has(line, text) for line in prepared.plan.risks for text in RISKS)
        assert applied(prepared).done == 3
        assert query(database, "SELECT id FROM orders WHERE status = 2 ORDER BY id") == [(1,), (2,)]
        asked = operator.requeue(slow, Choice(owner_states=frozenset({OwnerState.ALIVE}), ids=("1",)))
        assert any(has(line, text) for line in asked.plan.risks for text in RISKS)
        assert asked.plan.first[0].owner_state is OwnerState.ALIVE
        assert applied(asked).done == 1


def test_a_session_that_is_not_held_while_working_proves_nothing(database: str, tmp_path: Path) -> None:
    layout = waiting(database, 2, held=False)
    with popped(database, layout, 2) as consumer:
        pass
    gone(database, consumer.session_id)
    count, left = reasons(Operator(desk_at(database, tmp_path)), layout)
    assert (count, list(left.values())) == (0, [2])
    assert has(next(iter(left)), OwnerText.NOT_HELD_WHILE_WORKING)


def test_behind_a_pool_owners_are_unknown(database: str, tmp_path: Path) -> None:
    layout = waiting(database, 2)
    with popped(database, layout, 2) as consumer:
        pass
    gone(database, consumer.session_id)
    operator = Operator(desk_at(database, tmp_path))
    with connected(database) as pooled:
        pooled.execute("DISCARD ALL")
        count, left = reasons(operator, layout)
        assert (count, left) == (0, {owner_unknown(OwnerText.SHARED_SESSIONS): 2})
    wait_until(lambda: reasons(operator, layout)[0] == 2)
    with connected(database) as pooled:
        pooled.execute("SET application_name = 'PgBouncer'")
        assert reasons(operator, layout)[0] == 0


def limited(at: OperatorContext, role: str) -> OperatorContext:
    def connect(purpose: str) -> Connection:
        connection = at.connect(purpose)
        run(connection, f"SELECT set_config('role', '{role}', false)")
        return connection

    return replace(at, connect=connect)


def test_a_role_that_may_not_see_other_sessions_knows_nothing_of_owners(database: str, tmp_path: Path) -> None:
    layout = waiting(database, 2)
    with popped(database, layout, 2) as consumer:
        pass
    gone(database, consumer.session_id)
    role = "r_" + database.rpartition("/")[2].partition("?")[0]
    at = desk_at(database, tmp_path)
    with connected(database) as raw:
        raw.execute(f"CREATE ROLE {role}")
        raw.execute(f"GRANT SELECT, UPDATE ON orders TO {role}")
        try:
            count, left = reasons(Operator(limited(at, role)), layout)
            assert (count, left) == (0, {owner_unknown(OwnerText.SESSIONS_UNSEEN): 2})
        finally:
            raw.execute(f"DROP OWNED BY {role}")
            raw.execute(f"DROP ROLE {role}")
    assert reasons(Operator(at), layout)[0] == 2


def test_within_one_timeout_of_a_restart_owners_are_unknown(database: str, tmp_path: Path) -> None:
    layout = waiting(database, 2)
    with popped(database, layout, 2) as consumer:
        pass
    gone(database, consumer.session_id)
    operator = Operator(desk_at(database, tmp_path))
    assert reasons(operator, layout)[0] == 2
    query(database, "UPDATE orders SET started_at = now() - interval '300 days'")
    count, left = reasons(operator, replace(layout, timeout_s=86400.0 * 200))
    assert (count, list(left.values())) == (0, [2])
    assert has(next(iter(left)), OwnerText.SERVER_RESTARTED)


def test_an_expired_lease_and_a_stale_heartbeat_are_dead(database: str, tmp_path: Path) -> None:
    with connected(database) as raw:
        raw.execute("CREATE TABLE jobs (id int PRIMARY KEY, state text, until timestamptz, beat timestamp)")
        raw.execute(
            "INSERT INTO jobs VALUES (1, 'run', now() - interval '1 s', now() at time zone 'UTC' - interval '1 h'),"
            " (2, 'run', now() + interval '1 h', now() at time zone 'UTC'), (3, 'run', NULL, NULL),"
            " (4, 'wait', now() - interval '1 s', now())"
        )
    layout = Layout("jobs", "status", ObjectName("public", "jobs"), id="id", state=StateColumn("state", "wait", "run"))
    operator = Operator(desk_at(database, tmp_path))
    for column, kind in (("until", "lease"), ("beat", "heartbeat")):
        owner = OwnerColumn(column, kind)  # type: ignore[arg-type]
        count, left = reasons(operator, replace(layout, owner=owner))
        assert (count, left) == (
            1,
            {
                ExclusionText.OWNER_ALIVE: 1,
                owner_unknown(OwnerText.NO_HEARTBEAT): 1,
            },
        )
    assert applied(operator.requeue(replace(layout, owner=OwnerColumn("until", "lease")), Choice())).done == 1
    assert query(database, "SELECT id FROM jobs WHERE state = 'wait' AND until IS NULL") == [(1,)]


def test_a_lease_renewed_between_plan_and_apply_is_left_alone(database: str, tmp_path: Path) -> None:
    layout = waiting(database, 2)
    query(database, "ALTER TABLE orders ADD COLUMN until timestamptz")
    query(database, "UPDATE orders SET status = 2, started_at = now(), until = now() - interval '1 s'")
    leased = replace(layout, owner=OwnerColumn("until", "lease"))
    prepared = Operator(desk_at(database, tmp_path)).requeue(leased, Choice())
    query(database, "UPDATE orders SET until = now() + interval '1 h' WHERE id = 2")
    result = applied(prepared)
    assert (result.done, result.changed) == (1, 1)


def test_a_name_proves_nothing_and_without_an_owner_age_decides(database: str, tmp_path: Path) -> None:
    layout = waiting(database, 3)
    query(database, "UPDATE orders SET status = 2, owner = 'app-7', started_at = now() - interval '1 h' WHERE id < 3")
    query(database, "UPDATE orders SET status = 2, owner = 'app-7', started_at = now() WHERE id = 3")
    operator = Operator(desk_at(database, tmp_path))
    named = replace(layout, owner=OwnerColumn("owner", "name"), timeout_s=300.0)
    count, left = reasons(operator, named)
    assert (count, left) == (
        0,
        {
            owner_unknown(OwnerText.OWNER_IS_A_NAME): 2,
            ExclusionText.NOT_STUCK_FOR.render(duration="5 m 00 s"): 1,
        },
    )
    nobody = replace(layout, owner=None, timeout_s=300.0)
    prepared = operator.requeue(nobody, Choice())
    assert prepared.plan.count == 2
    assert prepared.plan.first[0].owner_state is OwnerState.NONE
    assert any(has(line, RequeueText.CONSUMER_UNCHECKED) for line in prepared.plan.risks)
    assert operator.requeue(replace(nobody, started_at=None), Choice()).plan.refused is not None
    assert operator.requeue(replace(nobody, started_at=None), Choice(ids=("3",))).plan.count == 1


@pytest.mark.parametrize("text", ["app-7/61", "", "1/2/3", "-1", "99999999999999999999", "1; DROP TABLE orders", "1'"])
def test_an_owner_that_is_no_session_is_unknown(database: str, tmp_path: Path, text: str) -> None:
    layout = waiting(database, 1)
    query(database, "UPDATE orders SET status = 2, owner = ?, started_at = now() - interval '1 h'", text)
    count, left = reasons(Operator(desk_at(database, tmp_path)), layout)
    assert (count, left) == (0, {owner_unknown(OwnerText.NO_SESSION): 1})


@pytest.mark.parametrize(
    ("facts", "held", "vanished", "why"),
    [
        (NOW, True, True, pattern(OwnerText.NO_SESSION)),
        (NOW, False, False, pattern(OwnerText.NOT_HELD_WHILE_WORKING)),
        (replace(NOW, sees_others=False), True, False, pattern(OwnerText.SESSIONS_UNSEEN)),
        (replace(NOW, pooled=True), True, False, pattern(OwnerText.SHARED_SESSIONS)),
        (
            replace(NOW, up_since=9_900.0),
            True,
            False,
            pattern(OwnerText.SERVER_RESTARTED, time="1970-01-01 02:45:00 UTC"),
        ),
        (replace(NOW, up_since=None), True, False, pattern(OwnerText.SERVER_RESTARTED, time=OwnerText.UNKNOWN_TIME)),
    ],
)
def test_a_vanished_session_is_proof_only_where_all_is_known(
    facts: OwnerFacts, held: bool, vanished: bool, why: str
) -> None:
    layout = Layout("q", "status", ObjectName("s", "t"), owner=replace(HELD, held_while_working=held), timeout_s=300.0)
    found = owner_proof(layout, facts)
    assert found.vanished is vanished
    assert re.search(why, found.why)
