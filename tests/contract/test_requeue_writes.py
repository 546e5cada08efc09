"""Columns that a requeue writes: the place in the queue, and columns that must change together with the state."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from qmon.errors import BadInput
from qmon.model.layout.layout import Layout, ObjectName, RequeueWrite, SortColumn, StateColumn
from qmon.model.operation_records import Choice, OwnerState
from qmon.operate.actions.requeue import RequeueText
from qmon.operate.operator import Operator
from qmon.operate.plan.transitions import TransitionText
from tests.contract.operating import applied, desk_at
from tests.facts import query
from tests.queues import BYTES, call, made, opened
from tests.wordings import has, pattern

ALL = frozenset({OwnerState.DEAD, OwnerState.ALIVE, OwnerState.UNKNOWN})
# Designs with a state column.
DESIGNS = ("status", "flag", "batch_single", "batch_split", "batch_fast")
# A table like River's, as far as a requeue needs it.
RIVER = """
    CREATE TABLE job (
        id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, state text NOT NULL DEFAULT 'available',
        attempt smallint NOT NULL DEFAULT 0, max_attempts smallint NOT NULL DEFAULT 3,
        scheduled_at timestamptz NOT NULL DEFAULT now(), attempted_at timestamptz, finalized_at timestamptz,
        due int NOT NULL DEFAULT 0,
        CONSTRAINT finalized_or_finalized_at_null
            CHECK ((finalized_at IS NOT NULL) = (state IN ('cancelled', 'completed', 'discarded'))))"""
JOB = Layout(
    "job",
    "status",
    ObjectName("public", "job"),
    id="id",
    state=StateColumn("state", "available", "running", "completed", "discarded"),
    started_at="attempted_at",
    attempts="attempt",
    max_attempts="max_attempts",
    order=(SortColumn("scheduled_at"), SortColumn("id")),
    writes=(
        RequeueWrite("ready", "finalized_at", "null"),
        RequeueWrite("ready", "scheduled_at", "now"),
        RequeueWrite("dead", "finalized_at", "now"),
    ),
)
RUNNING = "INSERT INTO job (state, attempt, attempted_at) SELECT 'running', i, now() - interval '1 hour'"


@pytest.mark.parametrize("design", DESIGNS)
def test_the_plan_says_where_a_message_will_stand_and_there_it_is_popped(
    database: str, tmp_path: Path, design: str
) -> None:
    layout = replace(made(database, design), owner=None, timeout_s=0.0)
    text = "convert_to('{0}', 'UTF8')" if design in BYTES else "'{0}'"
    with opened(database) as connection:
        for name in "ABC":
            call(connection, layout, "push", text.format(name))
        ((first, *_),) = call(connection, layout, "pop")
        if design.startswith("batch"):  # due later than messages pushed since
            query(database, "UPDATE orders SET queue_date_time = queue_date_time + interval '1 h' WHERE status = 1")
        state = "done" if design == "flag" else None
        prepared = Operator(desk_at(database, tmp_path)).requeue(layout, Choice(state=state, owner_states=ALL))
        place = TransitionText.TO_FRONT if design.startswith("batch") else TransitionText.OLD_PLACE_BEFORE
        assert has(prepared.plan.consequences[0], place)
        done = applied(prepared)
        assert done.done == 1
        ids = [call(connection, layout, "pop")[0][0] for _ in range(3)]
        assert ids == [first, *sorted({1, 2, 3} - {first})]


@pytest.mark.parametrize("design", DESIGNS)
def test_an_undo_puts_back_all_that_a_requeue_wrote(database: str, tmp_path: Path, design: str) -> None:
    layout = replace(made(database, design), owner=None, timeout_s=0.0)
    text = "convert_to('A', 'UTF8')" if design in BYTES else "'A'"
    with opened(database) as connection:
        for _ in range(2):
            call(connection, layout, "push", text)
        call(connection, layout, "pop")
    if design.startswith("batch"):
        query(database, "UPDATE orders SET queue_date_time = queue_date_time + interval '1 h' WHERE status = 1")
    before = query(database, "SELECT * FROM orders ORDER BY 1, 2")
    operator = Operator(desk_at(database, tmp_path))
    state = "done" if design == "flag" else None
    done = applied(operator.requeue(layout, Choice(state=state, owner_states=ALL)))
    assert query(database, "SELECT * FROM orders ORDER BY 1, 2") != before
    assert applied(operator.undo(done.operation, Choice())).done == 1
    assert query(database, "SELECT * FROM orders ORDER BY 1, 2") == before


def test_several_that_go_to_the_front_keep_their_order_and_one_that_is_before_it_keeps_its_place(
    database: str, tmp_path: Path
) -> None:
    layout = replace(made(database, "batch_fast"), owner=None, timeout_s=0.0)
    with opened(database) as connection:
        for _ in range(6):
            call(connection, layout, "push", "'x'")
        call(connection, layout, "pop_batch", "4")
        query(database, "UPDATE orders SET queue_date_time = now() + interval '1 h' WHERE queue_id IN (2, 3)")
        applied(Operator(desk_at(database, tmp_path)).requeue(layout, Choice()))
        assert [row[0] for row in call(connection, layout, "pop_batch", "9")] == [1, 4, 2, 3, 5, 6]


def test_they_keep_their_order_also_where_nothing_counts_attempts_and_there_are_many(
    database: str, tmp_path: Path
) -> None:
    query(database, "CREATE TABLE job (id int PRIMARY KEY, state text, due timestamptz, attempted_at timestamptz)")
    query(database, "INSERT INTO job SELECT i, 'running', now(), now() - interval '1 h' FROM generate_series(1, 80) i")
    query(database, "INSERT INTO job SELECT i, 'available', now() - interval '1 h' FROM generate_series(81, 90) i")
    order = (SortColumn("due"), SortColumn("id"))
    layout = replace(
        JOB, attempts=None, max_attempts=None, order=order, writes=(RequeueWrite("ready", "due", "front"),)
    )
    assert applied(Operator(desk_at(database, tmp_path)).requeue(layout, Choice())).done == 80
    assert [row[0] for row in query(database, "SELECT id FROM job ORDER BY due, id")] == list(range(1, 91))


STAMP = """
    CREATE FUNCTION stamp() RETURNS trigger LANGUAGE plpgsql SET search_path = public AS $$
    BEGIN NEW.scheduled_at = clock_timestamp(); RETURN NEW; END $$;
    CREATE TRIGGER stamp BEFORE UPDATE ON job FOR EACH ROW EXECUTE FUNCTION stamp()"""


def test_a_trigger_may_write_the_time_into_a_column_that_a_requeue_gives_it(database: str, tmp_path: Path) -> None:
    query(database, RIVER + ";" + STAMP)
    query(database, f"{RUNNING} FROM generate_series(1, 3) AS i")
    operator = Operator(desk_at(database, tmp_path))
    done = applied(operator.requeue(replace(JOB, max_attempts=None), Choice()))
    assert (done.done, done.refused) == (3, 0)
    assert applied(operator.undo(done.operation, Choice())).done == 3
    assert query(database, "SELECT DISTINCT state FROM job") == [("running",)]


def test_the_plan_names_the_triggers_that_may_write_behind_a_requeue(database: str, tmp_path: Path) -> None:
    query(database, RIVER + ";" + STAMP)
    query(
        database,
        "CREATE FUNCTION late() RETURNS trigger LANGUAGE plpgsql SET search_path = public AS $$ BEGIN"
        " UPDATE job SET due = 7 WHERE id = NEW.id AND due <> 7 AND NEW.id = 2; RETURN NULL; END $$;"
        " CREATE TRIGGER late AFTER UPDATE ON job FOR EACH ROW EXECUTE FUNCTION late()",
    )
    query(database, f"{RUNNING} FROM generate_series(1, 3) AS i")
    prepared = Operator(desk_at(database, tmp_path)).requeue(replace(JOB, max_attempts=None), Choice())
    said = prepared.plan.consequences
    assert has(said, RequeueText.SKIPPED_AFTER, triggers="late")
    assert has(said, RequeueText.SKIPPED_BEFORE, triggers="stamp")
    done = applied(prepared)
    assert (done.done, done.refused) == (2, 1)
    assert query(database, "SELECT id FROM job WHERE state = 'running'") == [(2,)]


def test_no_number_of_attempts_makes_a_dead_letter_where_nothing_says_so(database: str, tmp_path: Path) -> None:
    query(database, RIVER.replace("CHECK ((finalized_at IS NOT NULL)", "CHECK (true OR (finalized_at IS NOT NULL)"))
    query(database, f"{RUNNING} FROM generate_series(1, 40, 13) AS i")
    layout = replace(JOB, max_attempts=None)
    prepared = Operator(desk_at(database, tmp_path)).requeue(layout, Choice())
    texts = (RequeueText.DEAD_BY_COLUMN, RequeueText.DEAD_BY_LIMIT)
    assert not any(has(line, text) for line in prepared.plan.consequences for text in texts)
    assert applied(prepared).done == 4
    assert query(database, "SELECT state, count(*) FROM job GROUP BY 1") == [("available", 4)]


def test_each_row_s_own_limit_is_read_and_what_becomes_dead_gets_its_time(database: str, tmp_path: Path) -> None:
    query(database, RIVER)
    query(database, f"{RUNNING} FROM generate_series(1, 6) AS i")
    query(database, "UPDATE job SET max_attempts = 20 WHERE id = 5")
    before = query(database, "SELECT * FROM job ORDER BY id")
    operator = Operator(desk_at(database, tmp_path))
    prepared = operator.requeue(JOB, Choice())
    assert prepared.plan.refused is None
    assert has(prepared.plan.consequences, RequeueText.DEAD_BY_COLUMN, column="max_attempts")
    write = TransitionText.WRITE.render(column="finalized_at", value=TransitionText.CURRENT_TIME)
    assert any(write in line for line in prepared.plan.consequences)
    done = applied(prepared)
    assert done.done == 6
    assert query(
        database,
        "SELECT id, state, finalized_at > now() - interval '1 min', scheduled_at > now() - interval '1 min',"
        " attempted_at IS NULL FROM job ORDER BY id",
    ) == [
        (1, "available", None, True, True),
        (2, "available", None, True, True),
        (3, "discarded", True, True, True),
        (4, "discarded", True, True, True),
        (5, "available", None, True, True),
        (6, "discarded", True, True, True),
    ]
    assert applied(operator.undo(done.operation, Choice())).done == 6
    assert query(database, "SELECT * FROM job ORDER BY id") == before


@pytest.mark.parametrize(
    ("writes", "choice", "state"),
    [
        ((RequeueWrite("ready", "finalized_at", "null"),), Choice(), "dead"),
        ((RequeueWrite("dead", "finalized_at", "now"),), Choice(), "ready"),
        ((RequeueWrite("dead", "finalized_at", "now"),), Choice(state="dead"), "ready"),
    ],
)
def test_what_a_constraint_ties_to_the_state_is_in_the_way_until_somebody_says_what_it_gets(
    database: str, tmp_path: Path, writes: tuple[RequeueWrite, ...], choice: Choice, state: str
) -> None:
    query(database, RIVER)
    query(database, f"{RUNNING} FROM generate_series(1, 3) AS i")
    query(database, "INSERT INTO job (state, finalized_at) VALUES ('discarded', now())")
    before = query(database, "SELECT * FROM job ORDER BY id")
    prepared = Operator(desk_at(database, tmp_path)).requeue(replace(JOB, writes=writes), choice)
    assert has(prepared.plan.refused, TransitionText.NO_VALUE, column="finalized_at", state=state)
    assert has(prepared.plan.refused, TransitionText.CONSTRAINT, constraint="finalized_or_finalized_at_null")
    with pytest.raises(BadInput, match=pattern(TransitionText.NO_VALUE)):
        applied(prepared)
    assert query(database, "SELECT * FROM job ORDER BY id") == before


def test_a_time_that_says_that_a_message_ended_is_in_the_way_without_a_constraint_too(
    database: str, tmp_path: Path
) -> None:
    query(
        database,
        "CREATE TABLE job (id int PRIMARY KEY, state text, attempt int, attempted_at timestamptz,"
        ' "discardedOn" timestamptz, failed_by text)',
    )
    query(database, "INSERT INTO job VALUES (1, 'discarded', 9, NULL, now())")
    layout = replace(JOB, max_attempts=3, order=(), writes=())
    operator = Operator(desk_at(database, tmp_path))
    refused = operator.requeue(layout, Choice(state="dead")).plan.refused
    assert has(refused, TransitionText.NO_VALUE, column="discardedOn", state="ready")
    query(database, "INSERT INTO job VALUES (2, 'running', 9, now() - interval '1 h', NULL)")
    assert has(operator.requeue(layout, Choice()).plan.refused, TransitionText.NO_VALUE, state="dead")
    assert operator.requeue(replace(layout, max_attempts=None), Choice()).plan.refused is None
    said = replace(
        layout, writes=(RequeueWrite("ready", "discardedOn", "null"), RequeueWrite("ready", "attempt", "value", 0))
    )
    done = applied(operator.requeue(said, Choice(state="dead")))
    assert query(database, 'SELECT state, attempt, "discardedOn" FROM job WHERE id = 1') == [("available", 0, None)]
    assert applied(operator.undo(done.operation, Choice())).done == 1
    assert query(database, 'SELECT state, attempt, "discardedOn" IS NULL FROM job WHERE id = 1') == [
        ("discarded", 9, False)
    ]


@pytest.mark.parametrize(
    ("write", "part"),
    [
        (
            RequeueWrite("ready", "nowhere", "null"),
            pattern(TransitionText.COLUMN_FAULT, column="nowhere", fault=TransitionText.DOES_NOT_EXIST),
        ),
        (RequeueWrite("ready", "due", "null"), pattern(TransitionText.NOT_NULL, column="due")),
        (
            RequeueWrite("ready", "state2", "now"),
            pattern(TransitionText.WRONG_TYPE, write="now", column="state2", type="text"),
        ),
    ],
)
def test_what_cannot_be_written_is_refused_in_the_plan(
    database: str, tmp_path: Path, write: RequeueWrite, part: str
) -> None:
    query(database, RIVER)
    query(database, "ALTER TABLE job ADD COLUMN state2 text")
    query(database, f"{RUNNING} FROM generate_series(1, 2) AS i")
    prepared = Operator(desk_at(database, tmp_path)).requeue(replace(JOB, writes=(*JOB.writes, write)), Choice())
    assert re.search(part, str(prepared.plan.refused))


@pytest.mark.parametrize(
    ("order", "write", "told", "popped"),
    [
        (
            (SortColumn("due"), SortColumn("id")),
            RequeueWrite("ready", "due", "front"),
            pattern(TransitionText.TO_FRONT),
            [3, 1, 2],
        ),
        (
            (SortColumn("attempt"), SortColumn("due")),
            RequeueWrite("ready", "due", "front"),
            pattern(TransitionText.TO_FRONT_OF, columns="attempt"),
            [3, 1, 2],
        ),
        (
            (SortColumn("due"), SortColumn("id")),
            RequeueWrite("ready", "due", "value", 7),
            pattern(TransitionText.NEW_PLACE, column="due"),
            [1, 2, 3],
        ),
        (
            (SortColumn("due"), SortColumn("id")),
            RequeueWrite("ready", "due", "now"),
            pattern(TransitionText.NEW_PLACE, column="due"),
            [1, 2, 3],
        ),
        ((SortColumn("due"), SortColumn("id")), None, pattern(TransitionText.OLD_PLACE_BY, columns="d"), [1, 3, 2]),
        ((), None, pattern(TransitionText.OLD_PLACE), [1, 3, 2]),
    ],
)
def test_in_a_table_of_others_messages_stand_where_the_layout_and_the_plan_say(
    database: str,
    tmp_path: Path,
    order: tuple[SortColumn, ...],
    write: RequeueWrite | None,
    told: str,
    popped: list[int],
) -> None:
    query(database, RIVER)
    query(database, "INSERT INTO job (due) VALUES (1), (5)")
    query(database, "INSERT INTO job (state, due, attempted_at) VALUES ('running', 3, now() - interval '1 h')")
    layout = replace(JOB, order=order, writes=(*JOB.writes[::2], *(() if write is None else (write,))))
    prepared = Operator(desk_at(database, tmp_path)).requeue(layout, Choice())
    assert re.search(told, prepared.plan.consequences[0])
    applied(prepared)
    assert [
        row[0] for row in query(database, "SELECT id FROM job WHERE state = 'available' ORDER BY due, id")
    ] == popped
