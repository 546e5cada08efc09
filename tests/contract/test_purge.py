"""Purge and its undo on a real server: every row is in exactly one place, and restored rows are identical."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from qmon.errors import BadInput
from qmon.model.layout.layout import Layout, ObjectName, StateColumn
from qmon.model.operation_records import Choice, Nothing, OperationKind, OperationState, OwnerState, UndoState
from qmon.model.sessions.owners import OwnerText
from qmon.operate.actions.purge import PurgeText
from qmon.operate.actions.undo import UndoText
from qmon.operate.actions.undo_tables import UndoLossText
from qmon.operate.context import AccessText, Permission, ReadOnly
from qmon.operate.operator import Operator
from qmon.operate.plan.exclusions import ExclusionText
from qmon.operate.plan.selection import ChoiceText
from qmon.operate.run.running_operation import ApplyText, RunningOperationText
from qmon.operate.table_structure import StructureText
from tests.contract.operating import applied, desk_at, lines
from tests.facts import connected, query
from tests.queues import BYTES, call, made, opened, routine, run
from tests.wordings import has, pattern

ALL = frozenset(OwnerState)


def pushed(url: str, layout: Layout, count: int) -> None:
    message = "convert_to('x' || i, 'UTF8')" if layout.design in BYTES else "'x' || i"
    due = ", now() - interval '1 min'" if layout.design == "pending" else ""
    call_push = f"SELECT {routine(layout, 'push')}({message}{due}) FROM generate_series(1, {count}) AS i"
    query(url, call_push.replace(f"({message}{due})", f"(now(), {message})") if due else call_push)


def everything(url: str, table: str) -> list[tuple[object, ...]]:
    return query(url, f'SELECT CAST(t AS text) FROM "{table}" AS t ORDER BY 1')


@pytest.mark.parametrize(
    "design", ["naive", "heap", "fifo", "strict_fifo", "lifo", "status", "flag", "batch_fast", "batch_split"]
)
def test_a_purge_empties_the_queue_and_its_undo_brings_all_back(database: str, tmp_path: Path, design: str) -> None:
    layout = made(database, design)
    pushed(database, layout, 130)
    tables = ["orders", *(["orders_data"] if layout.data_table else [])]
    before = [everything(database, table) for table in tables]
    operator = Operator(desk_at(database, tmp_path))
    prepared = operator.purge(layout, Choice(state="ready"))
    assert prepared.plan.count == 130
    assert prepared.plan.undo.possible
    assert prepared.plan.undo.until is not None
    assert len(prepared.plan.first) == 10
    shown = {row.payload for row in prepared.plan.first}
    assert shown == {f"x{n}" for n in range(1, 11)}
    result = applied(prepared)
    assert (result.state, result.done, result.skipped, result.changed) == (OperationState.DONE, 130, 0, 0)
    assert [everything(database, table) for table in tables] == [[] for _ in tables]
    back = operator.undo(result.operation)
    assert back.plan.count == 130
    undone = applied(back)
    assert (undone.kind, undone.done) == (OperationKind.UNDO, 130)
    assert [everything(database, table) for table in tables] == before
    assert [each.undo_state for each in operator.read_operations()] == [UndoState.NO, UndoState.UNDONE]
    assert operator.undo(result.operation).plan.refused == UndoText.UNDONE
    with opened(database) as connection:
        assert call(connection, layout, "pop")


def test_part_of_a_purge_is_undone_and_conflicts_are_said(database: str, tmp_path: Path) -> None:
    layout = made(database, "batch_fast")
    pushed(database, layout, 20)
    operator = Operator(desk_at(database, tmp_path))
    purged = applied(operator.purge(layout, Choice(ids=tuple(str(number) for number in range(1, 16)))))
    assert purged.done == 15
    assert query(database, "SELECT count(*) FROM orders") == query(database, "SELECT count(*) FROM orders_data")
    assert applied(operator.undo(purged.operation, Choice(ids=("3", "4")))).done == 2
    assert operator.read_operations()[1].undo_state is UndoState.PARTLY_UNDONE
    query(
        database,
        "INSERT INTO orders (queue_id, queue_date_time, title) OVERRIDING SYSTEM VALUE VALUES (5, now(), 'new')",
    )
    rest = operator.undo(purged.operation)
    assert rest.plan.count == 12
    assert [(each.why, each.count) for each in rest.plan.left_out] == [(ExclusionText.ID_TAKEN, 1)]
    query(
        database,
        "INSERT INTO orders (queue_id, queue_date_time, title) OVERRIDING SYSTEM VALUE VALUES (6, now(), 'new')",
    )
    result = applied(rest)
    assert (result.done, result.changed, result.refused) == (11, 0, 1)
    assert query(database, "SELECT count(*), count(*) FILTER (WHERE title = 'new') FROM orders") == [(20, 2)]
    assert query(database, "SELECT count(*) FROM orders_data") == [(18,)]


def test_what_others_took_or_hold_is_left_alone(database: str, tmp_path: Path) -> None:
    layout = made(database, "fifo")
    pushed(database, layout, 30)
    operator = Operator(desk_at(database, tmp_path))
    prepared = operator.purge(layout, Choice(state="ready"))
    with opened(database) as connection:
        call(connection, layout, "pop_batch", "4")
    query(database, "UPDATE orders SET payload = 'changed' WHERE id = 10")
    pushed(database, layout, 5)
    with connected(database, autocommit=False) as consumer:
        consumer.execute("DELETE FROM orders WHERE id IN (5, 6)")
        result = applied(prepared)
        assert (result.done, result.skipped, result.changed) == (23, 2, 5)
        consumer.rollback()
    left = [row[0] for row in query(database, "SELECT id FROM orders ORDER BY id")]
    assert left == [5, 6, 10, 31, 32, 33, 34, 35]


def title(listed: str, unit: str) -> str:
    messages = ChoiceText.MESSAGES.render(listed=listed, unit=unit)
    return PurgeText.TITLE.render(messages=messages, queue="orders")


def test_messages_in_progress_stay_unless_they_are_asked_for(database: str, tmp_path: Path) -> None:
    layout = made(database, "status")
    pushed(database, layout, 6)
    with opened(database) as connection:
        call(connection, layout, "pop_batch", "2")
    query(database, "UPDATE orders SET status = 3 WHERE id = 6")
    operator = Operator(desk_at(database, tmp_path))
    assert operator.purge(layout, Choice(state="ready")).plan.title == title("3 ready", "messages")
    assert operator.purge(layout, Choice()).plan.title == title("1 dead", "message")
    assert operator.purge(layout, Choice(payload="m")).plan.left_out == ()
    ids = Choice(ids=("1", "3", "5", "6"))
    named = operator.purge(layout, ids).plan
    assert named.title == title("2 ready and 1 dead", "messages"), "the first is in progress"
    by_default = operator.purge(layout, Choice(state="in_progress")).plan
    assert (by_default.count, [each.count for each in by_default.left_out]) == (0, [2])
    assert has(by_default.left_out[0].why, OwnerText.NOT_HELD_WHILE_WORKING)
    asked = operator.purge(layout, Choice(state="in_progress", owner_states=ALL))
    assert asked.plan.count == 2
    assert any(has(line, PurgeText.CANNOT_COMPLETE) for line in asked.plan.risks)


def test_a_message_in_progress_is_as_old_as_its_start(database: str, tmp_path: Path) -> None:
    layout = made(database, "status")
    pushed(database, layout, 3)
    with opened(database) as connection:
        call(connection, layout, "pop_batch", "2")
    query(database, "UPDATE orders SET enqueued_at = enqueued_at - interval '1 day'")
    query(database, "UPDATE orders SET started_at = now() - interval '10 min' WHERE id = 1")
    operator = Operator(desk_at(database, tmp_path))

    def ages(state: str, older_than_s: float) -> dict[str, int]:
        choice = Choice(state=state, owner_states=ALL, older_than_s=older_than_s)
        first = operator.purge(layout, choice).plan.first
        return {row.id: round((row.age_s or 0.0) / 60) for row in first}

    assert ages("in_progress", 0.0) == {"1": 10, "2": 0}
    assert ages("in_progress", 300.0) == {"1": 10}
    assert ages("ready", 300.0) == {"3": 24 * 60}
    before = everything(database, "orders")
    result = applied(operator.purge(layout, Choice(state="in_progress", owner_states=ALL, older_than_s=300.0)))
    assert (result.done, result.changed) == (1, 0)
    applied(operator.undo(result.operation))
    assert everything(database, "orders") == before


TYPES = """
    CREATE TYPE mood AS ENUM ('sad', 'so ''so', 'happy');
    CREATE DOMAIN positive AS numeric(12, 4) CHECK (VALUE > 0);
    -- xml is there as a column alone: the server may be built without libxml, and then takes no value.
    CREATE TYPE pair AS (a int, b text);
    CREATE TABLE anything (
        id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        si smallint, i int, n numeric, n2 numeric(30, 10), r real, d float8, m money, b boolean, c "char",
        ch char(10), vc varchar(20), t text COLLATE "C", nm name, by bytea, da date, ti time, tz timetz, ts timestamp,
        tstz timestamptz, iv interval, u uuid, j json, jb jsonb, x xml, ia int[], ta text[][], ea mood[], e mood,
        dm positive, p pair, pa pair[], ir int4range, tr tstzrange, mr nummultirange, inet inet, cidr cidr, mac macaddr,
        bt bit(5), vb varbit, pt point, bx box, po polygon, tsv tsvector, tsq tsquery, oid oid, lsn pg_lsn,
        jp jsonpath, "we ird ""col" text, dropped int,
        g bigint GENERATED ALWAYS AS (i::bigint * 2) STORED, status int NOT NULL
    );
    ALTER TABLE anything DROP COLUMN dropped;
    ALTER TABLE anything ADD COLUMN late text DEFAULT 'de''fault';
    INSERT INTO anything (si, i, n, n2, r, d, m, b, c, ch, vc, t, nm, by, da, ti, tz, ts, tstz, iv, u, j, jb, ia, ta,
        ea, e, dm, p, pa, ir, tr, mr, inet, cidr, mac, bt, vb, pt, bx, po, tsv, tsq, oid, lsn, jp, "we ird ""col",
        status)
    VALUES (-32768, 2147483647, 'NaN', 12345678901234567890.0123456789, '1e-37', 'Infinity', '-12.34', true, 'x', 'a  ',
        'ü  ', E'line\\n\\t\\\\ quote'' \U0001f418', 'a name', '\\x00ff00', 'infinity', '24:00', '10:00+05:30',
        '4713-01-01 BC', '294276-01-01', '-1 year 2 mons -3 days 04:05:06.789', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11',
        '{"b": 1,  "a": [1, 1.0],"b":2}', '{"b": 1.0, "a": null}', '{1,NULL,3}',
        '[2:3][1:2]={{a,NULL},{"NULL","x,y"}}', '{sad,NULL}', 'so ''so', 0.0001, ROW(NULL, 'x"('),
        ARRAY[ROW(1, NULL)::pair],
        'empty', '[2020-01-01,)', '{[1,2),(3.5,4]}', '10.0.0.1/8', '10.0.0.0/8', '08:00:2b:01:02:03', B'10101', B'',
        '(1.5,-0)', '((1,1),(0,0))', '((0,0),(1,1),(1,0))', 'a:1A b:2', 'a & !b', 4294967295, '16/B374D848',
        '$.a[*] ? (@ > 1)', 'x', 1);
    INSERT INTO anything (status) VALUES (1);
    INSERT INTO anything (t, by, status)
    SELECT string_agg(md5(i::text), ''), string_agg(sha256(i::text::bytea), ''), 1 FROM generate_series(1, 330000) AS i;
    INSERT INTO anything (i, status) SELECT i, 1 FROM generate_series(1, 20) AS i"""


def test_every_type_comes_back_bit_for_bit(database: str, tmp_path: Path) -> None:
    with connected(database) as raw:
        raw.execute(TYPES)
    columns = [
        str(row[0])
        for row in query(
            database,
            (
                "SELECT attname FROM pg_attribute"
                " WHERE attrelid = 'anything'::regclass AND attnum > 0 AND NOT attisdropped"
            ),
        )
    ]
    assert query(database, "SELECT max(length(t)) > 10000000, max(length(by)) > 10000000 FROM anything") == [
        (True,) * 2
    ]
    # The bytes that the server sends to a client that asks for binary format, column by column.
    quoted = ['"' + name.replace('"', '""') + '"' for name in columns]
    sent = ", ".join(f"md5(coalesce(record_send(ROW({name})), ''))" for name in quoted)
    before = query(database, f"SELECT id, {sent} FROM anything ORDER BY id")
    layout = Layout(
        "anything", "status", ObjectName("public", "anything"), id="id", state=StateColumn("status", 1, 2), payload="t"
    )
    operator = Operator(desk_at(database, tmp_path))
    prepared = operator.purge(layout, Choice(state="ready"))
    assert prepared.plan.count == 23
    assert any(has(note, UndoLossText.RECOMPUTED) for note in prepared.plan.undo.notes)
    assert all(len(row.payload or "") <= 200 for row in prepared.plan.first)
    purged = applied(prepared)
    assert query(database, "SELECT count(*) FROM anything") == [(0,)]
    assert applied(operator.undo(purged.operation)).done == 23
    assert query(database, f"SELECT id, {sent} FROM anything ORDER BY id") == before


def test_a_table_that_changed_since_gets_back_what_it_can(database: str, tmp_path: Path) -> None:
    layout = made(database, "fifo")
    pushed(database, layout, 3)
    operator = Operator(desk_at(database, tmp_path))
    first = applied(operator.purge(layout, Choice(state="ready")))
    query(database, "ALTER TABLE orders ADD COLUMN color text DEFAULT 'red'")
    query(database, "ALTER TABLE orders DROP COLUMN enqueued_at")
    pushed_now = replace(layout, enqueued_at=None)
    query(database, "INSERT INTO orders (payload, color) VALUES ('y', 'blue')")
    second = applied(operator.purge(pushed_now, Choice(state="ready")))
    back = operator.undo(first.operation)
    assert any("enqueued_at" in line for line in back.plan.risks)
    assert applied(back).done == 3
    assert applied(operator.undo(second.operation)).done == 1
    assert query(database, "SELECT id, color FROM orders ORDER BY id") == [
        (1, "red"),
        (2, "red"),
        (3, "red"),
        (4, "blue"),
    ]


def test_rows_at_the_same_place_of_several_partitions_are_told_apart(database: str, tmp_path: Path) -> None:
    with connected(database) as raw:
        raw.execute("CREATE TABLE parts (id bigint, status int, body text, owner text) PARTITION BY RANGE (id)")
        for first in (0, 10, 20):
            raw.execute(f"CREATE TABLE parts_{first} PARTITION OF parts FOR VALUES FROM ({first}) TO ({first + 10})")
        raw.execute("INSERT INTO parts SELECT i, i % 2, 'x' FROM generate_series(0, 29) AS i")
    layout = Layout(
        "parts", "status", ObjectName("public", "parts"), id="id", state=StateColumn("status", 0, 1), payload="body"
    )
    before = everything(database, "parts")
    operator = Operator(desk_at(database, tmp_path))
    chosen = Choice(ids=("2", "14", "26", "8"))
    purged = applied(operator.purge(layout, chosen))
    assert (purged.done, purged.changed) == (4, 0)
    left = {row[0] for row in query(database, "SELECT id FROM parts")}
    assert left == set(range(30)) - {2, 14, 26, 8}
    assert applied(operator.undo(purged.operation)).done == 4
    assert everything(database, "parts") == before
    requeued = applied(operator.requeue(layout, Choice(ids=("3", "15"), owner_states=ALL)))
    assert requeued.done == 2
    assert query(database, "SELECT id FROM parts WHERE status = 0 AND id % 2 = 1 ORDER BY id") == [(3,), (15,)]
    assert applied(operator.undo(requeued.operation)).done == 2
    assert everything(database, "parts") == before


def test_a_view_and_a_table_that_others_inherit_from_are_refused(database: str, tmp_path: Path) -> None:
    with connected(database) as raw:
        raw.execute("CREATE TABLE parent (id int, body text)")
        raw.execute("CREATE TABLE child () INHERITS (parent)")
        raw.execute("CREATE VIEW seen AS SELECT * FROM child")
    operator = Operator(desk_at(database, tmp_path))
    for name in ("parent", "seen"):
        with pytest.raises(BadInput, match=pattern(StructureText.NOT_A_TABLE)):
            operator.purge(
                Layout("q", "fifo", ObjectName("public", name), id="id", payload="body"), Choice(state="ready")
            )


@pytest.mark.parametrize("rule", ["CASCADE", "SET NULL", "SET DEFAULT"])
def test_cascading_foreign_keys_are_refused(database: str, tmp_path: Path, rule: str) -> None:
    layout = made(database, "fifo")
    pushed(database, layout, 2)
    query(database, f"CREATE TABLE child (order_id bigint REFERENCES orders (id) ON DELETE {rule})")
    prepared = Operator(desk_at(database, tmp_path)).purge(layout, Choice(state="ready"))
    assert prepared.plan.refused is not None
    assert "child" in prepared.plan.refused
    with pytest.raises(BadInput, match=pattern(ApplyText.UNCHANGED)):
        applied(prepared)
    assert query(database, "SELECT count(*) FROM orders") == [(2,)]


def test_a_trigger_that_keeps_a_row_is_told_and_one_that_copies_is_named(database: str, tmp_path: Path) -> None:
    layout = made(database, "fifo")
    pushed(database, layout, 5)
    query(
        database,
        "CREATE FUNCTION keep() RETURNS trigger LANGUAGE plpgsql SET search_path = public AS "
        "$$ BEGIN IF OLD.id = 3 THEN RETURN NULL; END IF; RETURN OLD; END $$",
    )
    query(database, "CREATE TRIGGER keeper BEFORE DELETE ON orders FOR EACH ROW EXECUTE FUNCTION keep()")
    prepared = Operator(desk_at(database, tmp_path)).purge(layout, Choice(state="ready"))
    assert any("keeper" in note for note in prepared.plan.undo.notes)
    result = applied(prepared)
    assert (result.done, result.changed, result.refused) == (4, 0, 1)
    assert any("3" in note and has(note, PurgeText.KEPT) for note in result.notes)
    assert query(database, "SELECT id FROM orders") == [(3,)]


def test_only_emptying_takes_away_for_good(database: str, tmp_path: Path) -> None:
    layout = made(database, "batch_fast")
    pushed(database, layout, 120)
    operator = Operator(desk_at(database, tmp_path))
    purged = applied(operator.purge(layout, Choice(state="ready")))
    assert operator.empty_trash(None, 3600).plan.refused == Nothing.NO_TRASH
    assert operator.empty_trash("others", 0).plan.count == 0
    prepared = operator.empty_trash("orders", 0)
    assert prepared.plan.count == 240
    assert any(purged.operation in line for line in prepared.plan.risks)
    assert applied(prepared).done == 240
    assert operator.read_operations()[1].undo_state is UndoState.GONE
    assert operator.undo(purged.operation).plan.refused == UndoText.TRASH_EMPTIED


def test_read_only_lets_every_plan_be_seen_and_none_applied(database: str, tmp_path: Path) -> None:
    layout = made(database, "batch_fast")
    pushed(database, layout, 9)
    done = applied(Operator(desk_at(database, tmp_path)).purge(layout, Choice(ids=("1", "2"))))
    tables = [
        str(row[0])
        for row in query(
            database,
            (
                "SELECT format('%I.%I', schemaname, tablename) FROM pg_tables"
                " WHERE schemaname IN ('public', 'qmon') ORDER BY 1"
            ),
        )
    ]

    def content() -> list[list[tuple[object, ...]]]:
        shown = "SELECT CAST(t AS text), CAST(xmin AS text) FROM"
        return [query(database, f"{shown} {each} AS t ORDER BY 1") for each in tables]

    before, audit = content(), len(lines(desk_at(database, tmp_path)))
    reader = Operator(desk_at(database, tmp_path, read_only="the configuration says read_only"))
    prepared = [
        reader.purge(layout, Choice(state="ready")),
        reader.undo(done.operation),
        reader.empty_trash(None, 0),
        reader.requeue(layout, Choice(state="done")),
        reader.requeue(layout, Choice()),
    ]
    assert [each.plan.count for each in prepared] == [7, 2, 4, 0, 0]
    for each in prepared:
        assert each.plan.refused == "the configuration says read_only"
        with pytest.raises(ReadOnly, match="the configuration says read_only"):
            applied(each)
    assert content() == before
    assert len(lines(desk_at(database, tmp_path))) == audit


def test_emptying_a_production_targets_trash_asks_for_its_name(database: str, tmp_path: Path) -> None:
    layout = made(database, "fifo")
    pushed(database, layout, 2)
    applied(Operator(desk_at(database, tmp_path)).purge(layout, Choice(state="ready")))
    operator = Operator(desk_at(database, tmp_path, prod=True))
    with pytest.raises(BadInput, match=pattern(RunningOperationText.WRONG_NAME)):
        applied(operator.empty_trash(None, 0))
    with pytest.raises(BadInput, match=pattern(RunningOperationText.WRONG_NAME)):
        applied(operator.empty_trash("orders", 0))
    assert applied(operator.empty_trash(None, 0), Permission("old", "test")).done == 2


def test_an_unknown_operation_is_said(database: str, tmp_path: Path) -> None:
    operator = Operator(desk_at(database, tmp_path))
    with pytest.raises(BadInput, match=pattern(UndoText.NO_OPERATION)):
        operator.undo("nothing")


def test_without_qmons_schema_there_is_no_purge(database: str, tmp_path: Path) -> None:
    layout = made(database, "fifo")
    pushed(database, layout, 1)
    with connected(database) as raw:
        raw.execute("DROP SCHEMA qmon CASCADE")
    at = desk_at(database, tmp_path)
    role = "r_" + database.rpartition("/")[2].partition("?")[0]
    with connected(database) as raw:
        raw.execute(f"CREATE ROLE {role}")
        raw.execute(f"GRANT SELECT, DELETE ON orders TO {role}")
        try:
            opening = at.connect

            def limited(purpose: str) -> object:
                connection = opening(purpose)
                run(connection, f"SELECT set_config('role', '{role}', false)")
                return connection

            prepared = Operator(replace(at, connect=limited)).purge(layout, Choice(state="ready"))  # type: ignore[arg-type]
            assert prepared.plan.refused is not None
            assert has(prepared.plan.refused, AccessText.NO_TRASH)
        finally:
            raw.execute(f"DROP OWNED BY {role}")
            raw.execute(f"DROP ROLE {role}")
