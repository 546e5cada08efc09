"""Requeue on a real server: exactly the planned messages, none that is no longer stuck, and correct counts."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from qmon.engines.base import Connection
from qmon.errors import BadInput
from qmon.model.layout.layout import Layout, ObjectName, OwnerColumn, StateColumn
from qmon.model.operation_records import Choice, OperationResult, OperationState, OperationText, UndoState
from qmon.operate.actions.requeue import RequeueText
from qmon.operate.context import Permission, ReadOnly
from qmon.operate.install.install_queue import InstallText, install_queue, read_installed_layouts
from qmon.operate.operator import Operator
from qmon.operate.plan.allowed_actions import NotAllowed
from qmon.operate.plan.exclusions import ExclusionText
from qmon.operate.plan.selection import ChoiceText
from qmon.operate.run.running_operation import ApplyText
from tests.contract.operating import ANY_OWNER, HELD, applied, desk_at, stuck
from tests.facts import connected, query
from tests.queues import ENGINE, call, made, opened, run
from tests.wordings import has, pattern


def states(url: str, layout: Layout) -> dict[object, int]:
    assert layout.state is not None
    sql = f'SELECT {layout.state.column}, count(*) FROM "{layout.table.name}" GROUP BY 1'
    return {row[0]: row[1] for row in query(url, sql)}  # type: ignore[misc]


@contextlib.contextmanager
def consumer(url: str, layout: Layout) -> Iterator[Connection]:
    """A consumer that keeps its session."""
    with opened(url, "consumer") as connection:
        call(connection, layout, "pop")
        yield connection


@pytest.mark.parametrize("design", ["status", "batch_fast", "batch_single", "batch_split"])
def test_stuck_messages_of_the_dead_are_ready_again_in_their_old_order(
    database: str, tmp_path: Path, design: str
) -> None:
    layout = replace(made(database, design), owner=HELD)
    stuck(database, layout, 300)
    operator = Operator(desk_at(database, tmp_path))
    prepared = operator.requeue(layout, Choice(owner_states=ANY_OWNER))
    assert (prepared.plan.count, prepared.plan.refused) == (300, None)
    assert len(prepared.plan.first) == 10
    assert [row.id for row in prepared.plan.first] == [str(number) for number in range(1, 11)]
    assert {row.state for row in prepared.plan.first} == {"in_progress"}
    result = applied(prepared)
    assert (result.state, result.done, result.skipped, result.changed) == (OperationState.DONE, 300, 0, 0)
    assert layout.state is not None
    assert states(database, layout) == {layout.state.ready: 300}
    assert query(database, "SELECT count(*) FROM orders WHERE owner IS NULL AND started_at IS NULL") == [(300,)]
    with opened(database) as connection:
        assert [row[0] for row in call(connection, layout, "pop_batch", "5")] == [1, 2, 3, 4, 5]
    (seen,) = operator.read_operations()
    assert (seen.id, seen.planned, seen.done, seen.undo_state) == (result.operation, 300, 300, UndoState.POSSIBLE)


def test_beyond_the_attempts_a_message_is_dead(database: str, tmp_path: Path) -> None:
    layout = replace(made(database, "status"), owner=HELD)
    stuck(database, layout, 4)
    query(database, "UPDATE orders SET attempts = id + 2")
    result = applied(Operator(desk_at(database, tmp_path)).requeue(layout, Choice(owner_states=ANY_OWNER)))
    assert result.done == 4
    assert query(database, "SELECT id, status, attempts FROM orders ORDER BY id") == [
        (1, 1, 3),
        (2, 1, 4),
        (3, 3, 5),
        (4, 3, 6),
    ]


@pytest.mark.parametrize("design", ["status", "batch_split"])
def test_how_many_attempts_there_are_is_said_at_installation_or_in_the_configuration(
    database: str, tmp_path: Path, design: str
) -> None:
    with opened(database) as connection:
        layout = install_queue(connection, ENGINE, design, schema="public", queue="orders", max_attempts=2).layout
        assert read_installed_layouts(connection, ENGINE)["orders"] == layout
        with pytest.raises(BadInput, match=pattern(InstallText.NO_ATTEMPTS)):
            install_queue(connection, ENGINE, "fifo", schema="public", queue="line", max_attempts=2)
        with pytest.raises(BadInput, match=pattern(InstallText.ATTEMPTS)):
            install_queue(connection, ENGINE, design, schema="public", queue="other", max_attempts=0)
        call(connection, layout, "push", "'x'")
        states: list[tuple[object, ...]] = []
        for attempt in (1, 2):
            call(connection, layout, "pop")
            states += call(connection, layout, "fail", f"1, {attempt}")
        assert layout.state is not None
        assert [state for (state,) in states] == [layout.state.ready, layout.state.dead]
        call(connection, layout, "push", "'y'")
        query(database, "UPDATE orders SET attempts = 1 WHERE attempts = 0")
        call(connection, layout, "pop")
    stuck = replace(layout, owner=None, timeout_s=0.0)
    prepared = Operator(desk_at(database, tmp_path)).requeue(stuck, Choice())
    assert has(prepared.plan.consequences, RequeueText.DEAD_BY_LIMIT, attempts="2 attempts")
    more = Operator(desk_at(database, tmp_path)).requeue(replace(stuck, max_attempts=3), Choice())
    assert has(more.plan.consequences, RequeueText.DEAD_BY_LIMIT, attempts="3 attempts")
    assert applied(prepared).done == 1
    assert query(database, "SELECT count(*) FROM orders WHERE status = 3") == [(2,)]


def test_what_its_consumer_completed_between_plan_and_apply_is_never_requeued(database: str, tmp_path: Path) -> None:
    layout = replace(made(database, "status"), owner=HELD)
    stuck(database, layout, 6)
    prepared = Operator(desk_at(database, tmp_path)).requeue(layout, Choice(owner_states=ANY_OWNER))
    with opened(database) as connection:
        call(connection, layout, "complete", "1, 1")
        call(connection, layout, "fail", "2, 1")
        run(connection, "UPDATE orders SET owner = 'somebody else' WHERE id = 3 RETURNING 1")
        run(connection, "UPDATE orders SET started_at = now() WHERE id = 4 RETURNING 1")
    result = applied(prepared)
    assert (result.done, result.skipped, result.changed) == (2, 0, 4)
    assert query(database, "SELECT id, status FROM orders ORDER BY id") == [(2, 1), (3, 2), (4, 2), (5, 1), (6, 1)]


def test_a_plan_of_5_never_touches_18(database: str, tmp_path: Path) -> None:
    layout = replace(made(database, "status"), owner=HELD)
    stuck(database, layout, 5)
    prepared = Operator(desk_at(database, tmp_path)).requeue(layout, Choice(owner_states=ANY_OWNER))
    stuck(database, layout, 13)
    query(database, "UPDATE orders SET attempts = 1 WHERE id > 5")
    result = applied(prepared)
    assert result.done + result.changed == 5
    assert states(database, layout)[2] >= 13
    with pytest.raises(BadInput, match=pattern(ApplyText.APPLIED)):
        applied(prepared)


def test_locked_messages_are_left_out_and_said_so(database: str, tmp_path: Path) -> None:
    layout = replace(made(database, "status"), owner=HELD)
    stuck(database, layout, 10)
    operator = Operator(desk_at(database, tmp_path))
    early = operator.requeue(layout, Choice(owner_states=ANY_OWNER))
    with connected(database, autocommit=False) as holder:
        holder.execute("SELECT 1 FROM orders WHERE id <= 3 FOR UPDATE").fetchall()
        plan = operator.requeue(layout, Choice(owner_states=ANY_OWNER)).plan
        assert plan.count == 7
        assert [(each.why, each.count) for each in plan.left_out] == [(ExclusionText.LOCKED, 3)]
        result = applied(early)
        assert (result.done, result.skipped, result.changed) == (7, 3, 0)
        (seen,) = operator.read_operations()
        assert (seen.done, seen.skipped, seen.changed) == (7, 3, 0)


def test_two_operators_requeue_each_message_once_and_are_told_the_truth(database: str, tmp_path: Path) -> None:
    layout = replace(made(database, "status"), owner=HELD)
    stuck(database, layout, 400)
    query(database, "CREATE TABLE seen (id bigint)")
    query(
        database,
        "CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql SET search_path = public AS "
        "$$ BEGIN INSERT INTO seen VALUES (NEW.id); RETURN NEW; END $$",
    )
    query(database, "CREATE TRIGGER t AFTER UPDATE ON orders FOR EACH ROW EXECUTE FUNCTION note()")
    at = desk_at(database, tmp_path)
    first, second = (Operator(at).requeue(layout, Choice(owner_states=ANY_OWNER)) for _ in range(2))
    results: list[OperationResult] = []
    # The second does all its work while the first pauses after its first batch.
    mine = applied(first, tell=lambda now: results.append(applied(second)) if not results else None)
    (other,) = results
    assert query(database, "SELECT count(*), count(DISTINCT id) FROM seen") == [(400, 400)]
    assert mine.done + other.done == 400
    assert mine.done == other.changed
    assert other.done == mine.changed
    assert mine.skipped == other.skipped == 0


def test_stopped_at_once_and_planned_again_finishes(database: str, tmp_path: Path) -> None:
    layout = replace(made(database, "status"), owner=HELD)
    stuck(database, layout, 500)
    operator = Operator(desk_at(database, tmp_path))
    told: list[int] = []
    result = applied(
        operator.requeue(layout, Choice(owner_states=ANY_OWNER)),
        tell=lambda now: told.append(now.done),
        stopped=lambda: bool(told),
    )
    assert result.state is OperationState.CANCELLED
    assert result.done == told[0] < 500
    assert states(database, layout) == {1: result.done, 2: 500 - result.done}
    rest = applied(operator.requeue(layout, Choice(owner_states=ANY_OWNER)))
    assert (rest.state, rest.done) == (OperationState.DONE, 500 - result.done)


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        (Choice(ids=("3", "5"), owner_states=ANY_OWNER), [3, 5]),
        (Choice(ids=("5", "99"), owner_states=ANY_OWNER), [5]),
        (Choice(limit=2, owner_states=ANY_OWNER), [1, 2]),
        (Choice(older_than_s=15 * 60, owner_states=ANY_OWNER), []),
        (Choice(older_than_s=9 * 60, owner_states=ANY_OWNER), [1, 2, 3, 4, 5, 6]),
        (Choice(owner="1/1", owner_states=ANY_OWNER, older_than_s=0), [1, 2, 3, 4, 5, 6]),
        (Choice(owner="x' OR 1=1 --", owner_states=ANY_OWNER), []),
    ],
)
def test_a_choice_means_what_it_says(database: str, tmp_path: Path, choice: Choice, expected: list[int]) -> None:
    layout = replace(made(database, "status"), owner=HELD)
    stuck(database, layout, 6)
    prepared = Operator(desk_at(database, tmp_path)).requeue(layout, choice)
    assert prepared.plan.count == len(expected)
    if expected:
        applied(prepared)
    else:
        with pytest.raises(BadInput, match=pattern(OperationText.NO_MESSAGE)):
            applied(prepared)
    assert [row[0] for row in query(database, "SELECT id FROM orders WHERE status = 1 ORDER BY id")] == expected


@pytest.mark.parametrize(
    ("choice", "part"),
    [
        (Choice(ids=("x",)), pattern(ChoiceText.NOT_IDS)),
        (Choice(ids=("1; DROP TABLE orders",)), pattern(ChoiceText.NOT_IDS)),
        (Choice(state="sleeping"), pattern(ChoiceText.NOT_A_STATE)),
        (Choice(state="done"), pattern(ChoiceText.NO_SUCH_STATE, state="done")),
        (Choice(limit=0), pattern(ChoiceText.ZERO_LIMIT)),
        (Choice(limit=-1), pattern(ChoiceText.NOT_A, what=ChoiceText.A_LIMIT)),
        (Choice(older_than_s=float("nan")), pattern(ChoiceText.NOT_A, what=ChoiceText.AN_AGE)),
        (Choice(owner_states=frozenset()), pattern(ChoiceText.NO_OWNER_STATE)),
    ],
)
def test_nonsense_is_refused_in_one_line(database: str, tmp_path: Path, choice: Choice, part: str) -> None:
    layout = replace(made(database, "status"), owner=HELD)
    with pytest.raises(BadInput, match=part):
        Operator(desk_at(database, tmp_path)).requeue(layout, choice)


@pytest.mark.parametrize("design", ["ring", "ring_subscribers", "flag"])
def test_a_design_without_messages_in_progress_says_what_to_do_instead(
    database: str, tmp_path: Path, design: str
) -> None:
    prepared = Operator(desk_at(database, tmp_path)).requeue(made(database, design), Choice())
    assert prepared.plan.refused is not None
    assert prepared.plan.refused in (NotAllowed.RING_REQUEUE, RequeueText.NEVER_IN_PROGRESS)
    with pytest.raises(BadInput, match=pattern(ApplyText.UNCHANGED)):
        applied(prepared)


def test_processed_messages_of_a_flag_are_popped_again_where_that_is_asked_for(database: str, tmp_path: Path) -> None:
    layout = made(database, "flag")
    with opened(database) as connection:
        for _ in range(3):
            call(connection, layout, "push", "'x'")
        call(connection, layout, "pop_batch", "3")
    prepared = Operator(desk_at(database, tmp_path)).requeue(layout, Choice(state="done", ids=("2",)))
    assert RequeueText.TWICE in prepared.plan.risks
    assert applied(prepared).done == 1
    with opened(database) as connection:
        assert call(connection, layout, "pop") == ((2, "x"),)


def test_a_production_target_and_many_messages_ask_for_the_name_and_a_reason(database: str, tmp_path: Path) -> None:
    layout = replace(made(database, "status"), owner=HELD)
    stuck(database, layout, 2)
    operator = Operator(desk_at(database, tmp_path, prod=True))
    for wrong in (Permission(), Permission("why"), Permission("", "orders"), Permission("why", "Orders")):
        with pytest.raises(BadInput):
            applied(operator.requeue(layout, Choice(owner_states=ANY_OWNER)), wrong)
    assert states(database, layout) == {2: 2}
    assert applied(operator.requeue(layout, Choice(owner_states=ANY_OWNER)), Permission("why", "orders")).done == 2


def test_read_only_changes_nothing(database: str, tmp_path: Path) -> None:
    layout = replace(made(database, "status"), owner=HELD)
    stuck(database, layout, 2)
    prepared = Operator(desk_at(database, tmp_path, read_only="--read-only")).requeue(
        layout, Choice(owner_states=ANY_OWNER)
    )
    assert prepared.plan.refused == "--read-only"
    assert prepared.plan.count == 2
    with pytest.raises(ReadOnly):
        applied(prepared)
    assert states(database, layout) == {2: 2}


def test_hostile_names_change_nothing_but_what_they_should(database: str, tmp_path: Path) -> None:
    table, state, owner, key = '"; drop table x; --', "[st]]ate] 'x'", 'o"w{n}er ?:x', "\U0001f418 id"
    quoted = ['"' + name.replace('"', '""') + '"' for name in (table, key, state, owner)]
    with connected(database) as raw:
        raw.execute("CREATE TABLE x (a int)")
        raw.execute(
            f"CREATE TABLE {quoted[0]} ({quoted[1]} text PRIMARY KEY, {quoted[2]} text, {quoted[3]} text,"
            " s timestamptz)"
        )
        cursor = raw.cursor()
        for number, name in enumerate(("a'; --", '{"x",\\}', "[red]b[/]", "plain")):
            cursor.execute(
                f"INSERT INTO {quoted[0]} VALUES (?, ?, ?, now() - interval '1 hour')",
                name,
                "run'ning",
                f"o{number}'\"",
            )
    layout = Layout(
        "[bold]q'",
        "status",
        ObjectName("public", table),
        id=key,
        state=StateColumn(state, "re\"ady\\'", "run'ning"),
        started_at="s",
        owner=OwnerColumn(owner, "name"),
    )
    choice = Choice(ids=("a'; --", '{"x",\\}', "[red]b[/]"), owner_states=ANY_OWNER, state="in_progress")
    prepared = Operator(desk_at(database, tmp_path)).requeue(layout, choice)
    assert prepared.plan.count == 3
    assert applied(prepared, Permission("'; -- [x] {y} \U0001f418")).done == 3
    found = query(database, f"SELECT {quoted[1]}, {quoted[2]}, {quoted[3]} FROM {quoted[0]} ORDER BY 1")
    assert sorted(found, key=str) == sorted(
        [
            ("a'; --", "re\"ady\\'", None),
            ('{"x",\\}', "re\"ady\\'", None),
            ("[red]b[/]", "re\"ady\\'", None),
            ("plain", "run'ning", "o3'\""),
        ],
        key=str,
    )
    assert query(database, "SELECT count(*) FROM x") == [(0,)]
