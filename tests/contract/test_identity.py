"""A row is identified by its whole key, or by its place and the plan's values. Refused rows are skipped and named."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from qmon.engines.base import Connection, Session
from qmon.errors import BadInput
from qmon.model.layout.layout import Layout, ObjectName, OwnerColumn, StateColumn
from qmon.model.layout.message_ids import split_id, split_ids
from qmon.model.operation_records import Choice, OwnerState
from qmon.monitor.catalog.resolve import resolve_queues
from qmon.operate.actions.purge import PurgeText
from qmon.operate.operator import Operator
from qmon.operate.plan.selection import ChoiceText
from qmon.operate.run import batches
from qmon.operate.run.batches import AllRefused, RowRefusal
from qmon.operate.run.running_operation import RunningOperationText
from qmon.operate.run.table_identity import TableChange, TableChanged
from qmon.operate.run.verification import TriggerText
from qmon.operate.table_structure import StructureText
from tests.contract.hostile import role
from tests.contract.hostile_tables import ROLE
from tests.contract.operating import applied, desk_at
from tests.facts import connected, query, wait_until
from tests.queues import ENGINE, opened
from tests.wordings import has, pattern

ALL = Choice(owner_states=frozenset(OwnerState), older_than_s=0.0)
BUSY = Choice(state="in_progress", owner_states=frozenset(OwnerState))
TABLE = """
    CREATE TABLE jobs (tenant text NOT NULL, seq bigint NOT NULL, status int NOT NULL, owner text, attempts int,
                       since timestamptz, payload text {key});
    INSERT INTO jobs SELECT t, i, 2, t || i, i, now() - interval '1 h', t || i
    FROM generate_series(1, 3) AS i, unnest(ARRAY['a/b', 'c']) AS t"""
LAYOUT = Layout(
    "jobs",
    "status",
    ObjectName("public", "jobs"),
    id="seq",
    state=StateColumn("status", 1, 2),
    attempts="attempts",
    started_at="since",
    owner=OwnerColumn("owner", "name"),
    payload="payload",
    timeout_s=0.0,
)


@pytest.fixture
def operator(database: str, tmp_path: Path) -> Operator:
    return Operator(desk_at(database, tmp_path))


def jobs(url: str, key: str = ", PRIMARY KEY (tenant, seq)") -> None:
    query(url, TABLE.format(key=key))


def everything(url: str) -> list[tuple[object, ...]]:
    return query(url, "SELECT CAST(j AS text) FROM jobs AS j ORDER BY 1")


def payloads(url: str) -> list[str]:
    """Return the contents of the queue and of the trash."""
    out = [str(row[0]) for row in query(url, "SELECT payload FROM jobs")]
    for (name,) in query(url, "SELECT tablename FROM pg_tables WHERE schemaname = 'qmon' AND tablename LIKE 'trash%'"):
        out += [str(row[0]) for row in query(url, f"SELECT payload FROM qmon.{name}")]
    return sorted(out)


def test_an_undo_that_meets_one_conflicting_row_loses_nothing_and_doubles_nothing(
    database: str, operator: Operator
) -> None:
    jobs(database)
    purged = applied(operator.purge(LAYOUT, BUSY))
    assert purged.done == 6
    query(database, "INSERT INTO jobs VALUES ('c', 1, 1, NULL, 0, NULL, 'new')")
    for _ in range(3):
        undo = operator.undo(purged.operation)
        if undo.plan.refused is None:
            assert applied(undo).done == 5
    assert payloads(database) == ["a/b1", "a/b2", "a/b3", "c1", "c2", "c3", "new"]


def test_an_undo_of_a_requeue_gives_each_row_its_own_owner_and_attempts_back(database: str, operator: Operator) -> None:
    jobs(database)
    query(database, "UPDATE jobs SET attempts = 77 WHERE tenant = 'c'")
    before = everything(database)
    done = applied(operator.requeue(LAYOUT, ALL))
    assert done.done == 6
    assert applied(operator.undo(done.operation)).done == 6
    assert everything(database) == before


def test_an_undo_does_not_read_a_table_without_a_key_once_for_each_message(database: str, operator: Operator) -> None:
    jobs(database, "")
    query(database, "INSERT INTO jobs SELECT 'd', i, 2, 'd' || i, i, now(), 'd' || i FROM generate_series(4, 63) AS i")
    query(database, "DELETE FROM jobs WHERE tenant = 'c'")
    before = everything(database)
    done = applied(operator.requeue(LAYOUT, ALL))

    def scans() -> int:
        ours = "SELECT FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE 'qmon %'"
        wait_until(lambda: not query(database, ours), what="our sessions have reported their counters")
        return int(str(query(database, "SELECT seq_scan FROM pg_stat_user_tables WHERE relname = 'jobs'")[0][0]))

    so_far = scans()
    assert applied(operator.undo(done.operation)).done == 63
    assert scans() - so_far < 10
    assert everything(database) == before


def test_plans_name_the_whole_key_and_ids_take_it(database: str, operator: Operator) -> None:
    jobs(database)
    plan = operator.purge(LAYOUT, BUSY).plan
    assert {row.id for row in plan.first} == {r"a\/b/1", r"a\/b/2", r"a\/b/3", "c/1", "c/2", "c/3"}
    one = operator.purge(LAYOUT, replace(BUSY, ids=(r"a\/b/2",)))
    assert [row.payload for row in one.plan.first] == ["a/b2"]
    with pytest.raises(BadInput, match=pattern(ChoiceText.WRITE_IDS)):
        operator.purge(LAYOUT, replace(BUSY, ids=("2",)))
    assert applied(one).done == 1
    assert query(database, "SELECT tenant, seq FROM jobs WHERE seq = 2") == [("c", 2)]


def test_a_composite_key_is_proposed_as_such(database: str) -> None:
    jobs(database)
    with opened(database) as connection:
        (found,) = resolve_queues(connection, ENGINE, [replace(LAYOUT, state=StateColumn("status", 1, 2))]).layouts
    assert (found.id, found.id_columns) == ("seq", ("tenant", "seq"))


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        (r"a/\b", (r"a/\b",)),
        (r"a\/b/c", ("a/b", "c")),
        (r"\\/\/", ("\\", "/")),
        ("a,b/", ("a,b", "")),
        (r"a\\\//\\,", (r"a\/", r"\,")),
        (r"x/y/z\/", ("x", "y", "z/")),
    ],
)
def test_an_id_is_read_as_the_database_writes_it(text: str, parts: tuple[str, ...]) -> None:
    assert split_id(text, len(parts)) == parts


def test_a_list_of_ids_may_hold_commas_within_one() -> None:
    assert split_ids(r"17, 18,a\,b") == ("17", "18", "a,b")
    assert [split_id(each, 2) for each in split_ids(r"a\/b/1,c\\/2")] == [("a/b", "1"), ("c\\", "2")]


@pytest.mark.parametrize("key", ["", ", PRIMARY KEY (tenant, seq)"])
@pytest.mark.parametrize(
    ("change", "why"),
    [
        ("VACUUM FULL jobs", TableChange.MOVED),
        ("ALTER TABLE jobs ALTER seq TYPE int", TableChange.MOVED),
        ("ALTER TABLE jobs ADD more text DEFAULT 'x'", TableChange.ALTERED),
    ],
)
def test_a_table_that_was_rewritten_or_altered_since_the_plan_is_not_touched(
    database: str, operator: Operator, key: str, change: str, why: TableChange
) -> None:
    jobs(database, key)
    query(database, "DELETE FROM jobs WHERE seq = 1")
    prepared = [operator.purge(LAYOUT, BUSY), operator.requeue(LAYOUT, ALL)]
    query(database, change)
    before = everything(database)
    for each in prepared:
        with pytest.raises(TableChanged, match=pattern(why, table="public.jobs")):
            applied(each)
    assert everything(database) == before


def test_a_row_that_waits_for_somebody_else_is_left_alone_and_the_others_go_on(
    database: str, operator: Operator
) -> None:
    jobs(database)
    query(database, "CREATE TABLE child (tenant text, seq bigint, FOREIGN KEY (tenant, seq) REFERENCES jobs)")
    query(database, "INSERT INTO child VALUES ('c', 2)")

    def hasty(purpose: str) -> Connection:
        return ENGINE.connect(operator.context.target, Session(purpose, statement_timeout_s=60, lock_timeout_s=0.1))

    with connected(database, autocommit=False) as other:
        other.execute("DELETE FROM child")
        purged = applied(Operator(replace(operator.context, connect=hasty)).purge(LAYOUT, BUSY))
    assert (purged.state, purged.done, purged.refused) == ("done", 5, 1)
    assert has(purged.notes[0], RunningOperationText.REFUSED, count=1, why=RowRefusal.LOCKED)
    assert query(database, "SELECT tenant, seq FROM jobs") == [("c", 2)]


def test_where_row_after_row_is_refused_the_rest_is_not_tried(
    database: str, operator: Operator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batches, "MAX_ONLY_REFUSED", 8)
    jobs(database)
    query(database, "INSERT INTO jobs SELECT 'd', i, 2, 'd' || i, i, now(), 'd' || i FROM generate_series(4, 63) AS i")
    query(
        database,
        "CREATE FUNCTION never() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'never'; END $$;"
        "CREATE TRIGGER never BEFORE UPDATE ON jobs FOR EACH ROW EXECUTE FUNCTION never()",
    )
    before = everything(database)
    with pytest.raises(AllRefused, match=pattern(RowRefusal.ALL_REFUSED, count=8, why="never")):
        applied(operator.requeue(LAYOUT, ALL))
    assert everything(database) == before
    ((state, done, refused, notes),) = query(database, "SELECT state, done, refused, notes FROM qmon.operations")
    assert (state, done, refused) == ("failed", 0, 8)
    assert has(str(notes), RunningOperationText.REFUSED, count=8)


@pytest.mark.parametrize(
    ("what", "named"),
    [
        ("CREATE UNIQUE INDEX one_ready ON jobs (tenant) WHERE status = 1 AND tenant = 'c'", "one_ready"),
        (
            "CREATE FUNCTION odd() RETURNS trigger LANGUAGE plpgsql SET search_path = public AS $$ BEGIN"
            " IF NEW.tenant = 'c' AND NEW.seq = 3 THEN RAISE 'it is odd'; END IF; RETURN NEW; END $$;"
            "CREATE TRIGGER odd BEFORE UPDATE ON jobs FOR EACH ROW EXECUTE FUNCTION odd()",
            "odd",
        ),
    ],
)
def test_one_refused_row_is_left_alone_and_named_and_the_others_go_on(
    database: str, operator: Operator, what: str, named: str
) -> None:
    jobs(database)
    query(database, what)
    prepared = operator.requeue(LAYOUT, ALL)
    assert any(named in line for line in prepared.plan.consequences)
    result = applied(prepared)
    assert (result.done + result.refused, result.changed, result.refused > 0) == (6, 0, True)
    assert any(named in note and "c/" in note for note in result.notes)
    assert query(database, "SELECT count(*) FROM jobs WHERE status = 1") == [(result.done,)]
    assert operator.read_operations()[0].refused == result.refused


@pytest.mark.parametrize("kind", ["RESTRICT", "NO ACTION", "NO ACTION DEFERRABLE INITIALLY DEFERRED"])
def test_what_others_refer_to_is_foreseen_left_alone_and_named(database: str, operator: Operator, kind: str) -> None:
    jobs(database)
    query(database, f"CREATE TABLE child (t text, s bigint, FOREIGN KEY (t, s) REFERENCES jobs ON DELETE {kind})")
    query(database, "INSERT INTO child VALUES ('c', 2)")
    prepared = operator.purge(LAYOUT, BUSY)
    assert any("child" in line for line in prepared.plan.consequences)
    result = applied(prepared)
    assert (result.done, result.refused) == (5, 1)
    assert any("c/2" in note for note in result.notes)
    assert payloads(database) == ["a/b1", "a/b2", "a/b3", "c1", "c2", "c3"]


TRIGGERS = {
    "soft": "BEFORE DELETE|UPDATE jobs SET attempts = -1 WHERE seq = OLD.seq; RETURN NULL;",
    "again": "AFTER DELETE|INSERT INTO jobs SELECT OLD.*; RETURN NULL;",
    "renumber": "BEFORE INSERT|NEW.seq = NEW.seq + 100; RETURN NEW;",
    "away": "AFTER INSERT|DELETE FROM jobs WHERE payload = NEW.payload; RETURN NULL;",
}


@pytest.mark.parametrize("name", TRIGGERS)
def test_a_trigger_that_has_its_way_is_found_out_and_nothing_is_lost(
    database: str, operator: Operator, name: str
) -> None:
    jobs(database)
    when, _, body = TRIGGERS[name].partition("|")
    query(
        database,
        f"CREATE FUNCTION t() RETURNS trigger LANGUAGE plpgsql SET search_path = public AS $$ BEGIN {body} END $$",
    )
    query(database, f"CREATE TRIGGER {name} {when} ON jobs FOR EACH ROW EXECUTE FUNCTION t()")
    before = everything(database)
    prepared = operator.purge(LAYOUT, BUSY)
    assert any(name in line for line in (*prepared.plan.consequences, *prepared.plan.undo.notes))
    purged = applied(prepared)
    if "DELETE" in when:
        assert (purged.done, purged.refused, everything(database)) == (0, 6, before)
        return
    for _ in range(3):
        undone = applied(operator.undo(purged.operation))
        assert (undone.done, undone.refused) == (0, 6)
    assert payloads(database) == ["a/b1", "a/b2", "a/b3", "c1", "c2", "c3"]


WRITERS = {
    "reverts": ("BEFORE UPDATE", "NEW.status = OLD.status; RETURN NEW;", TriggerText.CHANGED_VALUES),
    "owns": ("BEFORE UPDATE", "NEW.owner = 'the trigger'; RETURN NEW;", TriggerText.CHANGED_VALUES),
    "renames": ("BEFORE UPDATE", "NEW.seq = NEW.seq + 100; RETURN NEW;", TriggerText.CHANGED_VALUES),
    "skips": ("BEFORE UPDATE", "RETURN NULL;", TriggerText.PREVENTED),
    "after": (
        "AFTER UPDATE",
        "UPDATE jobs SET status = 2 WHERE payload = NEW.payload AND status = 1; RETURN NULL;",
        TriggerText.CHANGED_AGAIN,
    ),
    "removes": (
        "AFTER UPDATE",
        "DELETE FROM jobs WHERE payload = NEW.payload; RETURN NULL;",
        TriggerText.CHANGED_AGAIN,
    ),
}


@pytest.mark.parametrize("key", ["", ", PRIMARY KEY (tenant, seq)"])
@pytest.mark.parametrize("name", WRITERS)
def test_a_requeue_is_done_only_where_the_row_stays_as_it_was_written(
    database: str, operator: Operator, name: str, key: str
) -> None:
    jobs(database, key)
    when, body, why = WRITERS[name]
    query(
        database,
        f"CREATE FUNCTION t() RETURNS trigger LANGUAGE plpgsql SET search_path = public AS $$ BEGIN {body} END $$",
    )
    condition = "FOR EACH ROW WHEN (OLD.tenant = 'c')"
    query(database, f"CREATE TRIGGER {name} {when} ON jobs {condition} EXECUTE FUNCTION t()")
    before = [row for row in everything(database) if "(c," in str(row)]
    result = applied(operator.requeue(LAYOUT, ALL))
    assert (result.done, result.skipped, result.changed, result.refused) == (3, 0, 0, 3)
    assert [row for row in everything(database) if "(c," in str(row)] == before
    (note,) = result.notes
    assert has(note, RunningOperationText.REFUSED, count=3)
    assert has(note, why)


LATE = {
    "again": ("AFTER DELETE", "INSERT INTO jobs SELECT OLD.*; RETURN NULL;"),
    "away": ("AFTER INSERT", "DELETE FROM jobs WHERE payload = NEW.payload; RETURN NULL;"),
    "reverts": ("AFTER UPDATE", "UPDATE jobs SET status = 2 WHERE payload = NEW.payload AND status = 1; RETURN NULL;"),
}


@pytest.mark.parametrize(("name", "key"), [("again", True), ("away", True), ("away", False), ("reverts", True)])
def test_a_trigger_that_waits_for_the_commit_is_found_out_before_it(
    database: str, operator: Operator, name: str, key: bool
) -> None:
    jobs(database, ", PRIMARY KEY (tenant, seq)" if key else "")
    when, body = LATE[name]
    query(
        database,
        f"CREATE FUNCTION t() RETURNS trigger LANGUAGE plpgsql SET search_path = public AS $$ BEGIN {body} END $$",
    )
    deferred = "DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION t()"
    query(database, f"CREATE CONSTRAINT TRIGGER {name} {when} ON jobs {deferred}")
    result = applied(operator.requeue(LAYOUT, ALL) if name == "reverts" else operator.purge(LAYOUT, BUSY))
    if name == "away":
        result = applied(operator.undo(result.operation))
    assert (result.done, result.refused) == (0, 6)
    assert payloads(database) == ["a/b1", "a/b2", "a/b3", "c1", "c2", "c3"]


def test_what_row_level_security_keeps_from_being_changed_is_not_told_as_locked_by_others(
    database: str, tmp_path: Path
) -> None:
    jobs(database)
    ours = Operator(desk_at(role(database), tmp_path))
    query(database, f"GRANT ALL ON jobs TO {ROLE}")
    query(database, "ALTER TABLE jobs ENABLE ROW LEVEL SECURITY")
    query(database, "CREATE POLICY seen ON jobs FOR SELECT USING (true)")
    query(database, "CREATE POLICY changed ON jobs FOR UPDATE USING (tenant <> 'c') WITH CHECK (true)")
    query(database, "CREATE POLICY deleted ON jobs FOR DELETE USING (seq <> 3)")
    with connected(database, autocommit=False) as other:
        prepared = ours.purge(LAYOUT, replace(BUSY, ids=("c/2", r"a\/b/2", r"a\/b/3")))
        other.execute("SELECT 1 FROM jobs WHERE (tenant, seq) = ('a/b', 2) FOR UPDATE").fetchall()
        result = applied(prepared)
    assert (result.done, result.skipped, result.refused) == (0, 1, 2)
    assert any(has(note, RowRefusal.ROW_SECURITY) and "c/2" in note for note in result.notes)
    assert any(has(note, PurgeText.KEPT) and "a\\/b/3" in note for note in result.notes)
    requeued = applied(ours.requeue(LAYOUT, ALL))
    assert (requeued.done, requeued.skipped, requeued.refused) == (3, 0, 3)


def test_a_rule_that_stands_in_for_a_statement_is_refused_beforehand(database: str, operator: Operator) -> None:
    jobs(database)
    query(database, "CREATE RULE never AS ON DELETE TO jobs DO INSTEAD NOTHING")
    assert "never" in (operator.purge(LAYOUT, BUSY).plan.refused or "")


def test_a_table_with_a_partition_on_another_server_is_not_acted_on(database: str, operator: Operator) -> None:
    query(
        database,
        """
        CREATE TABLE jobs (tenant text, seq bigint, status int, owner text, attempts int, since timestamptz,
                           payload text) PARTITION BY LIST (tenant);
        CREATE TABLE here PARTITION OF jobs FOR VALUES IN ('a');
        CREATE FOREIGN DATA WRAPPER any; CREATE SERVER far FOREIGN DATA WRAPPER any;
        CREATE FOREIGN TABLE there PARTITION OF jobs FOR VALUES IN ('b') SERVER far;
        INSERT INTO jobs VALUES ('a', 1, 2, 'a1', 1, now(), 'a1')
        """.replace("any", '"any"'),
    )
    for prepare in (operator.requeue, operator.purge):
        with pytest.raises(
            BadInput,
            match=pattern(StructureText.REMOTE_PARTITIONS, partitions="public.there"),
        ):
            prepare(LAYOUT, BUSY)
