"""An undo restores the old rows. Plans name rows without a key, wide tables, and hidden or masked columns."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from qmon.errors import BadInput
from qmon.model.layout.layout import Layout, ObjectName, StateColumn
from qmon.model.operation_records import Choice, OwnerState, RedriveLimits
from qmon.model.reasons import Reason
from qmon.monitor.one_shot import view_over
from qmon.operate.actions.archiver import ARCHIVE_SESSION, Archiver, check_can_archive
from qmon.operate.actions.purge import PurgeText
from qmon.operate.actions.requeue import RequeueText
from qmon.operate.actions.undo import UndoText
from qmon.operate.operator import Operator
from qmon.operate.plan.exclusions import ExclusionText
from qmon.operate.plan.required_rights import RightsText
from qmon.operate.run.pacing import archive_pace
from qmon.operate.run.running_operation import ApplyText
from qmon.operate.run.verification import TriggerText
from tests.contract.operating import applied, desk_at
from tests.facts import connected, query
from tests.queues import ENGINE, made, opened, target_of
from tests.wordings import has, pattern

JOBS = Layout(
    "jobs",
    "status",
    ObjectName("public", "jobs"),
    id="id",
    state=StateColumn("status", "ready", "working", dead="dead"),
    attempts="tries",
    started_at="taken",
)
TAKEN = "taken timestamptz DEFAULT now() - interval '1 day')"
WORKING = Choice(state="in_progress", owner_states=frozenset(OwnerState))
HIDDEN = "your role may not read it"  # as the server's row says


def keyless(url: str, *ids: str) -> None:
    """Create a table without a key, with messages in progress with these ids."""
    query(url, "CREATE TABLE jobs (id bigint, status text, tries int, body text, " + TAKEN)
    for number, id in enumerate(ids):
        query(url, f"INSERT INTO jobs VALUES ({id}, 'working', {number}, 'm{number}')")


@pytest.fixture
def role(database: str) -> Iterator[str]:
    """Yield the URL of a role that has no rights yet except to make qmon's schema."""
    name = "reader_" + database.rsplit("test_", 1)[1].split("?")[0]
    current = query(database, "SELECT current_database()")[0][0]
    query(database, f'CREATE ROLE {name} LOGIN; GRANT CREATE ON DATABASE "{current}" TO {name}')
    try:
        yield database.replace("postgres@", f"{name}@", 1)
    finally:
        query(database, f"DROP OWNED BY {name} CASCADE")
        query(database, f"DROP ROLE {name}")


def not_undoable(count: int, messages: str) -> str:
    which = RequeueText.PARTLY_COUNT.render(up_to="", lost=count, messages=messages)
    return RequeueText.PARTLY.render(which=which, why=RequeueText.SAME_VALUES.render(columns="id"))


def named(url: str) -> str:
    return url.partition("//")[2].partition("@")[0]


def test_the_plan_of_a_requeue_says_which_rows_without_a_key_cannot_be_undone(database: str, tmp_path: Path) -> None:
    keyless(database, "1", "2", "2", "3", "NULL")
    query(database, "INSERT INTO jobs VALUES (3, 'ready', 0, 'another')")
    operator = Operator(desk_at(database, tmp_path))
    prepared = operator.requeue(JOBS, WORKING)
    assert prepared.plan.undo.possible
    assert prepared.plan.undo.notes == (
        not_undoable(3, "5 messages"),
        RequeueText.NOT_POPPED_AGAIN,
    )
    done = applied(prepared)
    query(database, "UPDATE jobs SET status = 'working' WHERE id = 1")
    undo = operator.undo(done.operation)
    assert undo.plan.count == 1
    assert {each.why: each.count for each in undo.plan.left_out} == {
        ExclusionText.AMBIGUOUS: 3,
        ExclusionText.CHANGED: 1,
    }
    assert applied(undo).done == 1
    assert query(database, "SELECT body FROM jobs WHERE status = 'working' ORDER BY id") == [("m0",), ("m3",)]


def test_only_the_rows_that_are_meant_count_as_alike(database: str, tmp_path: Path) -> None:
    keyless(database, "1", "2", "2", "7")
    notes = Operator(desk_at(database, tmp_path)).requeue(JOBS, replace(WORKING, ids=("1", "7"))).plan.undo.notes
    assert notes == (RequeueText.NOT_POPPED_AGAIN,)


@pytest.mark.parametrize("act", ["requeue", "redrive"])
def test_a_requeue_of_which_nothing_could_be_undone_says_so_beforehand(database: str, tmp_path: Path, act: str) -> None:
    keyless(database, "4", "4", "NULL")
    operator = Operator(desk_at(database, tmp_path))
    if act == "redrive":
        query(database, "UPDATE jobs SET status = 'dead'")
        prepared = operator.redrive(JOBS, Choice(), RedriveLimits())
    else:
        prepared = operator.requeue(JOBS, WORKING)
    assert not prepared.plan.undo.possible
    assert prepared.plan.undo.notes == (not_undoable(3, "3 messages"),)
    done = applied(prepared)
    assert done.done == 3
    assert operator.undo(done.operation).plan.refused == UndoText.NOT_UNDOABLE.render(kind=act, id=done.operation)


def wide(url: str, columns: int, dropped: int = 0) -> Layout:
    """Create a table with this many columns, of which some are dropped. One of the others has a value."""
    made_of = ", ".join(f"c{number} boolean" for number in range(columns - 1))
    query(url, f"CREATE TABLE wide (id bigint PRIMARY KEY, {made_of})")
    if dropped:
        query(url, "ALTER TABLE wide " + ", ".join(f"DROP c{number}" for number in range(dropped)))
    query(url, "INSERT INTO wide (id, c1500) SELECT n, n % 2 = 0 FROM generate_series(1, 5) AS n")
    return Layout("wide", "fifo", ObjectName("public", "wide"), id="id", payload="c1500")


@pytest.mark.parametrize("columns", [1600, 1598])
def test_a_table_with_too_many_columns_for_the_trash_is_refused_in_the_plan(
    database: str, tmp_path: Path, columns: int
) -> None:
    layout = wide(database, columns)
    prepared = Operator(desk_at(database, tmp_path)).purge(layout, Choice(state="ready"))
    assert has(prepared.plan.refused, PurgeText.TOO_WIDE, table="public.wide")
    assert str(columns) in str(prepared.plan.refused)
    with pytest.raises(BadInput, match=pattern(ApplyText.UNCHANGED)):
        applied(prepared)
    assert query(database, "SELECT count(*) FROM wide") == [(5,)]


@pytest.mark.parametrize(("columns", "dropped"), [(1597, 0), (1600, 3)])
def test_the_widest_table_that_fits_is_purged_and_comes_back(
    database: str, tmp_path: Path, columns: int, dropped: int
) -> None:
    layout = wide(database, columns, dropped)
    before = query(database, "SELECT CAST(w AS text) FROM wide AS w ORDER BY id")
    operator = Operator(desk_at(database, tmp_path))
    purged = applied(operator.purge(layout, Choice(state="ready")))
    assert purged.done == 5
    assert applied(operator.undo(purged.operation)).done == 5
    assert query(database, "SELECT CAST(w AS text) FROM wide AS w ORDER BY id") == before


def test_rows_too_long_for_the_trash_are_refused_in_the_plan_if_all_are_and_else_one_by_one(
    database: str, tmp_path: Path
) -> None:
    numbers = [f"c{number}" for number in range(1015)]
    query(database, f"CREATE TABLE wide (id bigint PRIMARY KEY, {', '.join(f'{each} bigint' for each in numbers)})")
    query(database, f"INSERT INTO wide SELECT 1{', 1' * 1015}")
    query(database, "INSERT INTO wide (id, c1) VALUES (2, 2), (3, 3)")
    layout = Layout("wide", "fifo", ObjectName("public", "wide"), id="id")
    operator = Operator(desk_at(database, tmp_path))
    purged = applied(operator.purge(layout, Choice(state="ready")))
    assert (purged.done, purged.refused) == (2, 1)
    assert any("row is too big" in note for note in purged.notes)
    assert query(database, "SELECT id FROM wide") == [(1,)]
    query(database, "ALTER TABLE wide " + ", ".join(f"ALTER {each} SET NOT NULL" for each in numbers))
    refused = operator.purge(layout, Choice(state="ready")).plan.refused
    assert has(refused, PurgeText.TOO_WIDE, table="public.wide")
    assert "8187" in str(refused), "the bytes of a row"


def test_an_action_on_columns_that_our_role_may_not_read_is_refused_with_their_names(
    database: str, role: str, tmp_path: Path
) -> None:
    query(
        database, "CREATE TABLE jobs (id bigint PRIMARY KEY, status text, tries int, body text, secret text, " + TAKEN
    )
    query(database, "INSERT INTO jobs SELECT n, 'working', 0, 'm', 's' FROM generate_series(1, 3) AS n")
    query(database, f"GRANT INSERT, UPDATE, DELETE ON jobs TO {named(role)}")
    query(database, f"GRANT SELECT (id, status, body, taken) ON jobs TO {named(role)}")
    operator = Operator(desk_at(role, tmp_path))
    helps = f"GRANT SELECT ON public.jobs TO {named(role)}"

    def refusal(*columns: str) -> str:
        why = [RightsText.COLUMN.render(column=each, why=HIDDEN) for each in columns]
        return RightsText.NOT_KEEPABLE.render(table="public.jobs", why="; ".join(why), helps=helps)

    assert operator.purge(JOBS, Choice(state="in_progress")).plan.refused == refusal("secret", "tries")
    assert operator.requeue(JOBS, WORKING).plan.refused == refusal("tries")
    query(database, f"GRANT SELECT (tries, secret) ON jobs TO {named(role)}")
    assert operator.purge(JOBS, Choice(state="in_progress")).plan.refused == refusal("ctid")
    query(database, f"GRANT SELECT ON jobs TO {named(role)}")
    done = applied(operator.purge(JOBS, Choice(state="in_progress")))
    assert done.done == 3
    query(database, f"REVOKE SELECT ON jobs FROM {named(role)}")
    query(database, f"GRANT SELECT (id, status, body, taken) ON jobs TO {named(role)}")
    assert has(operator.undo(done.operation).plan.refused, RightsText.COLUMN, column="secret", why=HIDDEN)
    query(database, f"GRANT SELECT ON jobs TO {named(role)}")
    assert applied(operator.undo(done.operation)).done == 3


def label(url: str, role: str, column: str, *, provider: str = "anon", of_role: str = "MASKED") -> None:
    """Write the same label to the catalogs as the SECURITY LABEL of an anonymizing extension, not installed here."""
    with connected(url) as raw:
        raw.execute("SET allow_system_table_mods = on")
        raw.execute(
            "INSERT INTO pg_catalog.pg_seclabel SELECT attrelid, 'pg_class'::regclass, attnum, ?,"
            " 'MASKED WITH VALUE ''***''' FROM pg_attribute WHERE attrelid = 'jobs'::regclass AND attname = ?",
            provider,
            column,
        )
        raw.execute(
            "INSERT INTO pg_catalog.pg_shseclabel SELECT oid, 'pg_authid'::regclass, ?, ? FROM pg_roles"
            " WHERE rolname = ?",
            provider,
            of_role,
            role,
        )


@pytest.fixture
def unlabelled(database: str) -> Iterator[None]:
    """Remove the labels of roles at the end, because all databases of the server share them."""
    yield
    with connected(database) as raw:
        raw.execute("SET allow_system_table_mods = on")
        raw.execute("DELETE FROM pg_catalog.pg_shseclabel")
        raw.execute("DELETE FROM pg_catalog.pg_seclabel")


@pytest.mark.parametrize("by_group", [False, True])
@pytest.mark.usefixtures("unlabelled")
def test_a_masked_column_is_refused_by_name_where_it_would_be_kept(
    database: str, role: str, tmp_path: Path, by_group: bool
) -> None:
    query(database, "CREATE TABLE jobs (id bigint PRIMARY KEY, status text, tries int, body text, " + TAKEN)
    query(database, "INSERT INTO jobs SELECT n, 'working', 0, 'm' FROM generate_series(1, 3) AS n")
    masked = f"masked_{named(role)}"
    query(database, f"CREATE ROLE {masked}; GRANT ALL ON jobs TO {named(role)}")
    try:
        operator = Operator(desk_at(role, tmp_path))
        assert operator.purge(JOBS, Choice(state="in_progress")).plan.refused is None
        if by_group:
            query(database, f"GRANT {masked} TO {named(role)}")
        label(database, masked if by_group else named(role), "body")
        label(database, named(role), "tries", provider="other", of_role="NOT MASKED")
        assert operator.purge(JOBS, Choice(state="in_progress")).plan.refused == RightsText.NOT_KEEPABLE.render(
            table="public.jobs",
            why=RightsText.COLUMN.render(column="body", why="it is masked for your role (anon)"),
            helps="use a role without masks",
        )
        # A requeue stores other columns.
        assert operator.requeue(JOBS, WORKING).plan.refused is None
        assert Operator(desk_at(database, tmp_path)).purge(JOBS, Choice(state="in_progress")).plan.refused is None
    finally:
        query(database, f"DROP ROLE {masked}")


@pytest.mark.usefixtures("unlabelled")
def test_an_archive_refuses_masked_columns(database: str, role: str) -> None:
    layout = made(database, "flag", "jobs")
    query(database, f"GRANT ALL ON ALL TABLES IN SCHEMA public TO {named(role)}")
    payload = str(layout.payload)
    label(database, named(role), payload)
    with opened(role) as connection, pytest.raises(BadInput, match=f"{payload}: it is masked for your role"):
        check_can_archive(connection, ENGINE, layout)


@pytest.mark.usefixtures("unlabelled")
def test_figures_that_are_made_of_a_masked_column_are_unknown_while_watching(database: str, role: str) -> None:
    query(database, "CREATE TABLE jobs (id bigint PRIMARY KEY, status text, tries int, body text, " + TAKEN)
    query(database, "CREATE INDEX ON jobs (status, id)")
    query(database, "INSERT INTO jobs SELECT n, 'ready', 0, 'm' FROM generate_series(1, 3) AS n")
    query(database, f"GRANT SELECT ON jobs TO {named(role)}")
    label(database, named(role), "body")
    (seen,) = view_over(target_of(role), [JOBS], over_s=1.0).queues
    assert seen.ready.value == 3
    label(database, named(role), "status", provider="other")
    (masked,) = view_over(target_of(role), [JOBS], over_s=1.0).queues
    assert masked.ready.value is None
    assert masked.ready.reason == Reason.MASKED.render(column="status", grant="use a role without masks")
    (owners,) = view_over(target_of(database), [JOBS], over_s=1.0).queues
    assert owners.ready.value == 3


@pytest.mark.parametrize("design", ["flag", "batch_split"])
def test_an_archive_whose_rows_a_trigger_puts_back_fails_and_moves_nothing(database: str, design: str) -> None:
    layout = made(database, design, "jobs")
    state = layout.state
    assert state is not None
    query(database, "SELECT count(jobs_push('message ' || n)) FROM generate_series(1, 30) AS n")
    query(database, f"UPDATE jobs SET {state.column} = {state.done}")
    query(
        database,
        "CREATE FUNCTION spring() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
        " INSERT INTO public.jobs OVERRIDING SYSTEM VALUE SELECT OLD.*; RETURN NULL; END $$;"
        "CREATE TRIGGER spring AFTER DELETE ON jobs FOR EACH ROW EXECUTE FUNCTION spring()",
    )
    before = query(database, "SELECT CAST(j AS text) FROM jobs AS j ORDER BY 1")
    stop = threading.Event()
    archiver = Archiver(
        lambda: ENGINE.connect(target_of(database), ARCHIVE_SESSION), ENGINE, layout, archive_pace(10, 0.0), stop
    )
    with pytest.raises(BadInput, match=pattern(TriggerText.PUT_BACK, triggers="spring")):
        # Without the check this never ends, because archived rows come back.
        archiver.run(lambda now: stop.set() if now.moved > 100 else None, until_empty=True)
    assert (archiver.result().moved, archiver.result().ended) == (0, "failed")
    assert query(database, "SELECT CAST(j AS text) FROM jobs AS j ORDER BY 1") == before
    query(database, "DROP TRIGGER spring ON jobs")
    archiver.run(until_empty=True)
    assert archiver.result().moved == 30
