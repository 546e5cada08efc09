"""Triggers that undo, repeat or extend an action's writes: qmon reports what happened to the rows."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from qmon.model.layout.layout import Layout, ObjectName, StateColumn
from qmon.model.operation_records import Choice, OperationResult, OwnerState
from qmon.operate.actions.purge import PurgeText
from qmon.operate.actions.undo import UndoText
from qmon.operate.operator import Operator
from qmon.operate.run.running_operation import RunningOperationText
from qmon.operate.run.verification import TriggerText
from tests.contract.operating import applied, desk_at
from tests.facts import query
from tests.wordings import has, pattern

JOBS = Layout(
    "jobs",
    "status",
    ObjectName("public", "jobs"),
    id="id",
    state=StateColumn("status", "ready", "working", "done"),
    payload="body",
)
HALVES = Layout(
    "halves",
    "batch_split",
    ObjectName("public", "halves"),
    id="id",
    payload="body",
    data_table=ObjectName("public", "bodies"),
    data_id="half",
)
WORKING = Choice(state="in_progress", owner_states=frozenset(OwnerState))
WORKING_IDS = replace(WORKING, ids=("1", "2", "3"))


def table(url: str, *, key: str = "PRIMARY KEY", state: str = "ready") -> None:
    """Create ``jobs`` with twelve messages."""
    query(url, f"CREATE TABLE jobs (id bigserial {key}, status text NOT NULL, body text)")
    query(url, "INSERT INTO jobs (status, body) SELECT ?, 'm' || n FROM generate_series(1, 12) AS n", state)


def trigger(
    url: str, when: str, body: str, *, on: str = "jobs", gives: str = "NULL", each: str = "FOR EACH ROW", kind: str = ""
) -> None:
    """Create a trigger ``spring`` on a table."""
    query(
        url,
        f"CREATE FUNCTION spring() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN {body}; RETURN {gives}; END $$",
    )
    query(url, f"CREATE {kind} TRIGGER spring {when} ON {on} {each} EXECUTE FUNCTION spring()")


def rows(url: str, name: str = "jobs") -> list[tuple[object, ...]]:
    """Return the contents of a table."""
    return query(url, f"SELECT CAST(t AS text) FROM {name} AS t ORDER BY 1")


def reasons(result: OperationResult) -> str:
    """Return why rows were refused."""
    return "; ".join(result.notes)


PUT_BACK = "INSERT INTO jobs (status, body) VALUES (OLD.status, OLD.body)"


@pytest.mark.parametrize("key", ["PRIMARY KEY", pytest.param("", marks=pytest.mark.soak)])
@pytest.mark.parametrize(
    ("when", "kind", "gives", "each", "body"),
    [
        ("AFTER DELETE", "", "NULL", "FOR EACH ROW", PUT_BACK),
        ("BEFORE DELETE", "", "OLD", "FOR EACH ROW", PUT_BACK),
        ("AFTER DELETE", "CONSTRAINT", "NULL", "DEFERRABLE INITIALLY DEFERRED FOR EACH ROW", PUT_BACK),
        (
            "AFTER DELETE",
            "",
            "NULL",
            "REFERENCING OLD TABLE AS gone FOR EACH STATEMENT",
            "INSERT INTO jobs (status, body) SELECT status, body FROM gone",
        ),
    ],
)
def test_a_purge_whose_rows_come_back_under_another_key_is_refused(
    database: str, tmp_path: Path, key: str, when: str, kind: str, gives: str, each: str, body: str
) -> None:
    table(database, key=key)
    trigger(database, when, body, gives=gives, each=each, kind=kind)
    before = rows(database)
    result = applied(Operator(desk_at(database, tmp_path)).purge(JOBS, Choice(state="ready")))
    assert (result.done, result.refused) == (0, 12)
    why = TriggerText.PUT_BACK.render(triggers="spring")
    assert has(reasons(result), RunningOperationText.REFUSED, count=12, why=why)
    assert rows(database) == before
    assert query(database, "SELECT count(*) FROM qmon.trash_1") == [(0,)]


@pytest.mark.parametrize(
    ("body", "gives", "reason"),
    [
        ("UPDATE jobs SET status = 'done' WHERE id = OLD.id", "NULL", pattern(PurgeText.KEPT)),
        (
            "DELETE FROM jobs WHERE id = OLD.id + 100",
            "OLD",
            pattern(TriggerText.CHANGED_OTHERS, triggers="spring"),
        ),
        (
            "UPDATE jobs SET body = '' WHERE id = OLD.id + 100",
            "OLD",
            pattern(TriggerText.CHANGED_OTHERS),
        ),
    ],
)
def test_a_purge_touches_no_row_beyond_its_plan_by_a_trigger(
    database: str, tmp_path: Path, body: str, gives: str, reason: str
) -> None:
    table(database)
    query(database, "INSERT INTO jobs SELECT id + 100, 'working', body FROM jobs")
    trigger(database, "BEFORE DELETE", body, gives=gives)
    before = rows(database)
    result = applied(Operator(desk_at(database, tmp_path)).purge(JOBS, Choice(state="ready")))
    assert (result.done, result.refused) == (0, 12)
    assert re.search(reason, reasons(result))
    assert rows(database) == before


def test_only_the_rows_that_come_back_are_refused_and_an_audit_elsewhere_is_no_matter(
    database: str, tmp_path: Path
) -> None:
    table(database)
    query(database, "CREATE TABLE audit (id bigint)")
    trigger(database, "AFTER DELETE", f"INSERT INTO audit VALUES (OLD.id); IF OLD.id % 4 = 0 THEN {PUT_BACK}; END IF")
    result = applied(Operator(desk_at(database, tmp_path)).purge(JOBS, Choice(state="ready")))
    assert (result.done, result.refused) == (9, 3)
    assert query(database, "SELECT id FROM jobs ORDER BY id") == [(4,), (8,), (12,)]
    assert query(database, "SELECT count(*) FROM audit") == [(9,)]
    assert applied(Operator(desk_at(database, tmp_path)).undo(result.operation)).done == 9


@pytest.mark.parametrize(
    ("body", "gives", "reason"),
    [
        ("NULL", "NULL", pattern(PurgeText.DATA_KEPT)),
        ("INSERT INTO bodies VALUES (OLD.half + 100, OLD.body)", "OLD", pattern(TriggerText.PUT_BACK)),
        ("INSERT INTO halves VALUES (OLD.half + 100)", "OLD", pattern(TriggerText.PUT_BACK)),
    ],
)
def test_the_second_half_of_a_message_is_watched_too(
    database: str, tmp_path: Path, body: str, gives: str, reason: str
) -> None:
    query(
        database,
        "CREATE TABLE halves (id bigint PRIMARY KEY); CREATE TABLE bodies (half bigint PRIMARY KEY, body text)",
    )
    query(database, "INSERT INTO halves VALUES (1), (2); INSERT INTO bodies VALUES (1, 'a'), (2, 'b')")
    trigger(database, "BEFORE DELETE", body, on="bodies", gives=gives)
    before = rows(database, "halves"), rows(database, "bodies")
    result = applied(Operator(desk_at(database, tmp_path)).purge(HALVES, Choice(state="ready")))
    assert (result.done, result.refused) == (0, 2)
    assert re.search(reason, reasons(result))
    assert (rows(database, "halves"), rows(database, "bodies")) == before


@pytest.mark.parametrize(
    ("when", "body", "gives", "kind", "reason"),
    [
        ("BEFORE UPDATE", "NEW.status = OLD.status", "NEW", "", pattern(TriggerText.CHANGED_VALUES, columns="status")),
        ("BEFORE UPDATE", "NULL", "NULL", "", pattern(TriggerText.PREVENTED)),
        (
            "AFTER UPDATE OF body, status",
            "IF pg_trigger_depth() = 1 THEN UPDATE jobs SET status = OLD.status WHERE id = NEW.id; END IF",
            "NULL",
            "",
            pattern(TriggerText.CHANGED_AGAIN),
        ),
        (
            "AFTER UPDATE",
            "INSERT INTO jobs (status, body) VALUES (NEW.status, NEW.body)",
            "NULL",
            "",
            pattern(TriggerText.INSERTED, triggers="spring"),
        ),
        (
            "AFTER UPDATE",
            "DELETE FROM jobs WHERE id = NEW.id + 6",
            "NULL",
            "",
            pattern(TriggerText.CHANGED_OTHERS, triggers="spring"),
        ),
        (
            "AFTER UPDATE",
            "UPDATE jobs SET body = '' WHERE id = NEW.id + 6 AND pg_trigger_depth() = 1",
            "NULL",
            "",
            pattern(TriggerText.CHANGED_OTHERS, triggers="spring"),
        ),
    ],
)
def test_a_requeue_and_its_undo_tell_what_triggers_do(
    database: str, tmp_path: Path, when: str, body: str, gives: str, kind: str, reason: str
) -> None:
    table(database, state="working")
    operator = Operator(desk_at(database, tmp_path))
    done = applied(operator.requeue(JOBS, WORKING_IDS))
    assert done.done == 3
    trigger(database, when, body, gives=gives, kind=kind)
    before = rows(database)
    again = applied(operator.requeue(JOBS, replace(WORKING, ids=("4", "5", "6"))))
    assert (again.done, again.refused) == (0, 3)
    assert re.search(reason, reasons(again))
    undone = applied(operator.undo(done.operation))
    assert (undone.done, undone.refused) == (0, 3)
    assert re.search(reason, reasons(undone))
    assert rows(database) == before


def test_a_requeue_may_move_rows_to_another_partition_under_triggers(database: str, tmp_path: Path) -> None:
    query(
        database,
        "CREATE TABLE jobs (id bigint, status text, body text, PRIMARY KEY (id, status)) PARTITION BY LIST (status)",
    )
    query(database, "CREATE TABLE waiting PARTITION OF jobs FOR VALUES IN ('ready')")
    query(database, "CREATE TABLE busy PARTITION OF jobs FOR VALUES IN ('working', 'done')")
    query(database, "INSERT INTO jobs SELECT n, 'working', 'm' || n FROM generate_series(1, 12) AS n")
    query(database, "CREATE TABLE audit (id bigint)")
    trigger(database, "AFTER UPDATE", "INSERT INTO audit VALUES (NEW.id)")
    result = applied(Operator(desk_at(database, tmp_path)).requeue(JOBS, WORKING_IDS))
    assert (result.done, result.refused) == (3, 0)
    assert query(database, "SELECT count(*) FROM waiting") == [(3,)]
    assert applied(Operator(desk_at(database, tmp_path)).undo(result.operation)).done == 3
    assert query(database, "SELECT count(*) FROM waiting") == [(0,)]


@pytest.mark.parametrize("key", ["PRIMARY KEY", pytest.param("", marks=pytest.mark.soak)])
@pytest.mark.parametrize(
    ("when", "body", "gives", "reason"),
    [
        (
            "AFTER INSERT",
            "IF pg_trigger_depth() = 1 THEN INSERT INTO jobs (status, body) VALUES (NEW.status, 'twin'); END IF",
            "NULL",
            pattern(TriggerText.INSERTED, triggers="spring"),
        ),
        ("AFTER INSERT", "UPDATE jobs SET status = 'done' WHERE id = NEW.id", "NULL", pattern(UndoText.INSERT_CHANGED)),
        (
            "AFTER INSERT",
            "DELETE FROM jobs WHERE id = NEW.id",
            "NULL",
            pattern(TriggerText.CHANGED_OTHERS, triggers="spring"),
        ),
        ("BEFORE INSERT", "NULL", "NULL", pattern(UndoText.INSERT_PREVENTED)),
        (
            "AFTER INSERT",
            "DELETE FROM jobs WHERE status = 'working'",
            "NULL",
            pattern(TriggerText.CHANGED_OTHERS, triggers="spring"),
        ),
    ],
)
def test_an_undo_of_a_purge_tells_what_triggers_do(
    database: str, tmp_path: Path, key: str, when: str, body: str, gives: str, reason: str
) -> None:
    table(database, key=key)
    query(
        database,
        "INSERT INTO jobs VALUES (100, 'working', 'at work'), (101, 'working', 'at work'), (102, 'working', '')",
    )
    operator = Operator(desk_at(database, tmp_path))
    purged = applied(operator.purge(JOBS, Choice(ids=("1", "2", "3"))))
    assert purged.done == 3
    trigger(database, when, body, gives=gives)
    before = rows(database)
    undone = applied(operator.undo(purged.operation))
    assert (undone.done, undone.refused) == (0, 3)
    assert re.search(reason, reasons(undone))
    assert rows(database) == before
    assert query(database, "SELECT count(*) FROM qmon.trash_1") == [(3,)]


def test_an_undo_says_how_many_rows_came_back_with_other_values_in_columns_that_do_not_matter(
    database: str, tmp_path: Path
) -> None:
    table(database)
    query(database, "ALTER TABLE jobs ADD seen timestamptz")
    operator = Operator(desk_at(database, tmp_path))
    purged = applied(operator.purge(JOBS, Choice(state="ready")))
    trigger(
        database,
        "AFTER INSERT",
        "IF pg_trigger_depth() = 1 THEN UPDATE jobs SET seen = now() WHERE id = NEW.id; END IF",
    )
    undone = applied(operator.undo(purged.operation))
    assert (undone.done, undone.refused) == (12, 0)
    assert has(reasons(undone), RunningOperationText.ALTERED, rows="12 rows")


def test_a_table_whose_triggers_cannot_be_watched_is_refused_in_the_plan(database: str, tmp_path: Path) -> None:
    table(database)
    trigger(database, "AFTER DELETE", "NULL")
    name = str(query(database, "SELECT current_database()")[0][0])
    query(database, f'ALTER DATABASE "{name}" SET track_counts = off')
    operator = Operator(desk_at(database, tmp_path))
    refused = operator.purge(JOBS, Choice(state="ready")).plan.refused
    assert refused == PurgeText.UNCOUNTED.render(table="public.jobs", triggers="spring")
    query(database, "UPDATE jobs SET status = 'working'")
    query(database, "CREATE TRIGGER other AFTER UPDATE ON jobs EXECUTE FUNCTION spring()")
    result = applied(operator.requeue(JOBS, WORKING_IDS))
    assert (result.done, result.refused) == (0, 3)
    assert has(reasons(result), TriggerText.UNCOUNTED, triggers="other")
