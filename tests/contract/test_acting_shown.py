"""Plans show data of other users: bytes as text, masked as configured, and never a password."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from pathlib import Path

import pytest

from qmon.model.layout.layout import Layout
from qmon.model.operation_records import Choice, OwnerState, Plan
from qmon.operate.actions.end_session import EndSessionText
from qmon.operate.context import OperatorContext
from qmon.operate.operator import Operator
from tests.contract.operating import applied, desk_at
from tests.facts import connected, query
from tests.queues import made, routine
from tests.wordings import has

ANY = frozenset(OwnerState)


def covering(url: str, folder: Path) -> OperatorContext:
    """A desk with a configuration that masks a word."""
    return replace(desk_at(url, folder), redact=lambda text: text.replace("hunter2", "•••"))


def payloads(plan: Plan) -> list[str | None]:
    return [row.payload for row in plan.first]


def pushed(url: str, layout: Layout) -> None:
    push = routine(layout, "push")
    query(url, f'SELECT {push}(convert_to(\'{{"to": "ä", "pin": "hunter2"}}\', \'UTF8\'))')
    query(url, f"SELECT {push}('\\xff00'::bytea)")


def test_bytes_are_shown_as_text_covered_before_any_screen_has_them(database: str, tmp_path: Path) -> None:
    layout = made(database, "status")
    pushed(database, layout)
    query(database, "UPDATE orders SET status = 2, started_at = now() - interval '1 h', owner = '1/1'")
    operator = Operator(covering(database, tmp_path))
    shown = ['{"to": "ä", "pin": "•••"}', "0xff00"]
    requeue = operator.requeue(layout, Choice(owner_states=ANY))
    assert payloads(requeue.plan) == shown
    assert applied(requeue).done == 2
    purge = operator.purge(layout, Choice(state="ready"))
    assert sorted(map(str, payloads(purge.plan))) == sorted(shown)
    assert payloads(operator.undo(applied(purge).operation).plan) == payloads(purge.plan)


def test_a_held_message_is_shown_as_text_too(database: str, tmp_path: Path) -> None:
    layout = replace(made(database, "fifo"), timeout_s=0.0)
    pushed(database, layout)
    with connected(database, autocommit=False) as consumer:
        consumer.execute(f"SELECT * FROM {routine(layout, 'pop')}()").fetchall()
        plan = Operator(covering(database, tmp_path)).requeue(layout, Choice(owner_states=ANY)).plan
        assert payloads(plan) == ['{"to": "ä", "pin": "•••"}']


def test_text_that_looks_like_bytes_stays_text(database: str, tmp_path: Path) -> None:
    layout = made(database, "batch_fast")
    query(database, f"SELECT {routine(layout, 'push')}('\\x6162')")
    assert payloads(Operator(desk_at(database, tmp_path)).purge(layout, Choice(state="ready")).plan) == ["\\x6162"]


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT 1 AS \"ALTER ROLE shop PASSWORD 'geheim'\"",
        "SELECT 'host=db1 user=shop password=geheim'",
        "SELECT 'postgresql://shop:geheim@db1/shop'",
    ],
)
def test_the_plan_to_end_a_session_shows_no_password(database: str, tmp_path: Path, statement: str) -> None:
    query(database, "CREATE TABLE items (id int)")
    with connected(database, autocommit=False) as blocker, contextlib.ExitStack() as after:
        after.callback(blocker.rollback)
        blocker.execute("INSERT INTO items VALUES (1)")
        session = int(blocker.execute("SELECT pg_backend_pid()").fetchval())
        blocker.execute(statement).fetchall()
        plan = Operator(desk_at(database, tmp_path)).end_session(session, None).plan
    assert any(has(line, EndSessionText.LAST_STATEMENT) and "***" in line for line in plan.consequences)
    assert "geheim" not in str(plan)
