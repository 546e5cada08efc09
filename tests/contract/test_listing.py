"""Pages of messages in one state from a real server: every message exactly once, for any number and any sort order."""

from __future__ import annotations

import random
from dataclasses import replace
from functools import partial

import pytest

from qmon.engines.base import Connection
from qmon.model.layout.layout import Layout, ObjectName
from qmon.model.samples.listing_samples import MAX_ROWS_READ, PAGE_SIZE, PageRequest
from qmon.model.view import QueueView
from qmon.monitor.probes.message_pages import statements_for_page
from qmon.monitor.probes.probe_statements import StatementCache
from qmon.monitor.source import ReadScope
from tests.contract.listing import BY_ID, COLUMNS, STATES, fill, ids_of, jobs, reading, table, touched
from tests.contract.watching import watching
from tests.facts import connected, query
from tests.jobs import HOSTILE
from tests.queues import BYTES, DESIGNS, ENGINE, call, made, opened


@pytest.mark.parametrize("index", [BY_ID, "CREATE INDEX ON jobs (id) WHERE status = 'dead'"])
@pytest.mark.parametrize("descending", [False, True])
def test_every_message_in_a_state_is_on_one_page(database: str, index: str, descending: bool) -> None:
    table(database, index, fill("dead", 250), fill("done", 50), fill("dead", 57), fill("ready", 10))
    with reading(database, jobs()) as reader:
        wanted = ids_of(database, "dead", f"id {'DESC' if descending else ''}")
        pages = list(reader.pages("dead", descending=descending))
        assert [id for ids, _ in pages for id in ids] == wanted
        assert [len(ids) for ids, _ in pages] == [100, 100, 100, 7]
        assert {(page.order, page.every, page.cut) for _, page in pages} == {("id", False, False)}
        assert max(page.looked for _, page in pages) == PAGE_SIZE + 2


def test_the_last_page_of_many_messages_costs_what_the_first_one_costs(database: str) -> None:
    table(database, BY_ID, fill("done", 200_000), "ANALYZE jobs")
    with reading(database, jobs()) as reader:
        _, page = reader.page(PageRequest("done"))
        assert page.next is not None
        late = replace(page.next, value="199950", id="199950")
        for listing in (PageRequest("done"), PageRequest("done", late), PageRequest("done", late, descending=True)):
            assert touched(reader, listing) < 60
        ids, page = reader.page(PageRequest("done", late))
        assert (ids[0], ids[-1], page.next) == ("199951", "200000", None)


def test_the_longest_running_come_first_and_those_without_a_start_last(database: str) -> None:
    table(
        database,
        "CREATE INDEX ON jobs (status, started_at)",
        fill("working", 130, "started_at", "now() - n * interval '1 s'"),
        fill("working", 30),
    )
    with reading(database, jobs()) as reader:
        wanted = ids_of(database, "working", "started_at NULLS LAST, CAST(id AS text)")
        assert reader.ids("in_progress") == wanted
        assert reader.ids("in_progress", descending=True) == ids_of(
            database, "working", "started_at DESC NULLS LAST, CAST(id AS text) DESC"
        )
        stuck = reader.ids("stuck")
        assert stuck == wanted[: len(stuck)]
        assert 69 <= len(stuck) <= 130
        messages, _ = reader.messages(PageRequest("stuck"))
        assert {each.state for each in messages} == {"in_progress"}
        assert messages[0].age_s == pytest.approx(130, abs=30)


def test_equal_times_are_told_apart_by_the_id(database: str) -> None:
    table(
        database,
        "CREATE INDEX ON jobs (status, started_at)",
        *(fill("working", rows, "started_at", f"date '2026-01-0{n}'") for n, rows in ((1, 9), (2, 250), (3, 320))),
    )
    with reading(database, jobs()) as reader:
        for down, order in ((False, ""), (True, "DESC")):
            wanted = ids_of(database, "working", f'started_at {order}, CAST(id AS text) COLLATE "C" {order}')
            assert reader.ids("in_progress", descending=down) == wanted


def test_of_more_equal_times_than_are_looked_at_some_are_left_out_and_it_is_said(database: str) -> None:
    table(
        database,
        "CREATE INDEX ON jobs (status, started_at)",
        fill("working", 40, "started_at", "timestamptz '2026-01-01' + n * interval '1 s'"),
        fill("working", MAX_ROWS_READ + 500, "started_at", "timestamptz '2026-01-02'"),
        fill("working", 60, "started_at", "timestamptz '2026-01-03' + n * interval '1 s'"),
    )
    with reading(database, jobs()) as reader:
        pages = list(reader.pages("in_progress"))
        found = [id for ids, _ in pages for id in ids]
        assert len(found) == len(set(found)) == 40 + MAX_ROWS_READ + 60
        assert [page.cut for _, page in pages] == [False, *(len(pages) - 2) * [True], False]


@pytest.mark.parametrize("keys", ["started_at, id", "started_at DESC, id", "started_at, id DESC"])
@pytest.mark.parametrize("descending", [False, True])
def test_of_any_number_of_equal_times_none_is_left_out_where_the_index_has_them_by_id(
    database: str, keys: str, descending: bool
) -> None:
    table(
        database,
        f"CREATE INDEX ON jobs (status, {keys})",
        fill("working", 40, "started_at", "timestamptz '2026-01-01' + n * interval '1 s'"),
        fill("working", MAX_ROWS_READ + 500, "started_at", "timestamptz '2026-01-02'"),
        fill("working", 60, "started_at", "timestamptz '2026-01-03' + n * interval '1 s'"),
        fill("working", MAX_ROWS_READ + 1, "started_at", "timestamptz '2026-01-04'"),
        fill("working", 30),
        "ANALYZE jobs",
    )
    down = "DESC" if descending else ""
    with reading(database, jobs()) as reader:
        pages = list(reader.pages("in_progress", descending=descending))
        wanted = ids_of(database, "working", f"started_at {down} NULLS LAST, id {down}")
        assert [id for ids, _ in pages for id in ids] == wanted
        assert not any(page.cut for _, page in pages)
        assert len(pages) <= len(wanted) / PAGE_SIZE + 6


def test_without_an_index_rows_are_walked_in_the_order_of_the_key(database: str) -> None:
    table(database, fill("done", 5_000), fill("dead", 3), fill("done", 1_000), fill("dead", 150))
    with reading(database, jobs()) as reader:
        pages = list(reader.pages("dead"))
        assert [id for ids, _ in pages for id in ids] == ids_of(database, "dead")
        assert [len(ids) for ids, _ in pages][:3] == [0, 0, 3]
        assert all(page.every and page.looked <= MAX_ROWS_READ and not page.cut for _, page in pages)


def test_an_index_on_the_state_alone_leads_to_the_first_of_them(database: str) -> None:
    table(database, "CREATE INDEX ON jobs (status)", fill("done", 5_000), fill("dead", 230), "ANALYZE jobs")
    with reading(database, jobs()) as reader:
        assert sorted(reader.ids("dead")) == sorted(ids_of(database, "dead"))
        _, page = reader.page(PageRequest("done"))
        assert (page.order, page.cut, page.looked) == ("", True, MAX_ROWS_READ)


def test_what_is_due_is_ready_and_the_rest_is_scheduled(database: str) -> None:
    table(
        database,
        "CREATE INDEX ON jobs (status, due_at)",
        fill("ready", 120, "due_at", "now() - n * interval '1 m'"),
        fill("ready", 110, "due_at", "now() + n * interval '1 h'"),
    )
    with reading(database, jobs(due_at="due_at")) as reader:
        assert reader.ids("ready") + reader.ids("scheduled") == ids_of(database, "ready", "due_at")
        assert len(reader.ids("scheduled")) == 110


def test_keys_of_several_columns_with_what_divides_them(database: str) -> None:
    table(
        database,
        "CREATE INDEX ON jobs (status, id)",
        "INSERT INTO jobs (tenant, id, status) SELECT E'a/b\\\\', n, 'dead' FROM generate_series(1, 160) AS n",
        "INSERT INTO jobs (tenant, id, status) SELECT 'ä🎉''', n, 'dead' FROM generate_series(1, 90) AS n",
        key="tenant text NOT NULL, id int NOT NULL, PRIMARY KEY (tenant, id)",
    )
    with reading(database, jobs(key=("tenant", "id"))) as reader:
        found = reader.ids("dead")
        assert len(found) == len(set(found)) == 250
        assert found[:2] == ["a\\/b\\\\/1", "ä🎉'/1"]


def test_hostile_names_change_nothing_but_what_they_should(database: str) -> None:
    nasty = HOSTILE.replace('"', '""')
    table(
        database,
        f'ALTER TABLE jobs RENAME COLUMN id TO "{nasty}"',
        f'ALTER TABLE jobs RENAME COLUMN status TO "q.{nasty}"',
        f'CREATE INDEX ON jobs ("q.{nasty}", "{nasty}")',
        f"INSERT INTO jobs (\"q.{nasty}\", payload) SELECT '{nasty}', 'x' FROM generate_series(1, 130)",
        f'ALTER TABLE jobs RENAME TO "{nasty}"',
    )
    layout = jobs(
        table=ObjectName("public", HOSTILE), id=HOSTILE, state=replace(STATES, column=f"q.{HOSTILE}", dead=nasty)
    )
    with reading(database, layout) as reader:
        assert reader.ids("dead") == [str(n) for n in range(1, 131)]


def test_ids_that_are_random_are_listed_in_their_order(database: str) -> None:
    table(
        database, BY_ID, fill("dead", 140), "ANALYZE jobs", key="id uuid NOT NULL DEFAULT gen_random_uuid() PRIMARY KEY"
    )
    with reading(database, jobs()) as reader:
        assert reader.ids("dead") == [id.lower() for id in ids_of(database, "dead")]


@pytest.mark.parametrize("design", sorted(set(DESIGNS) - {"heap"}))
def test_the_ready_messages_of_each_design_are_listed_with_their_payload(database: str, design: str) -> None:
    layout = made(database, design, "orders")
    with opened(database) as connection:
        for n in range(3):
            push(connection, layout, n)
    with reading(database) as reader:
        messages, page = reader.messages(PageRequest("ready"))
        assert (len(messages), page.next, page.why) == (3, None, "")
        assert {each.state for each in messages} == {"ready"}
        assert {each.payload for each in messages} == {"m0", "m1", "m2"}


def push(connection: Connection, layout: Layout, n: int) -> None:
    """Push a message with the payload ``m`` and the number."""
    text = f"convert_to('m{n}', 'UTF8')" if layout.design in BYTES else f"'m{n}'"
    call(connection, layout, "push", text)


def test_a_column_that_our_role_may_not_read_and_the_page_does_not_need_is_not_read(database: str) -> None:
    table(database, BY_ID, fill("dead", 3), "ALTER TABLE jobs ADD COLUMN secret text")
    with reading(database, jobs()) as reader:
        (asked,) = statements_for_page(
            StatementCache(ENGINE, reader.connection.version), reader.probes, PageRequest("dead")
        )
        assert "secret" not in asked.bound.statement.text


INDEXES = (
    "CREATE INDEX ON jobs (status, started_at)",
    "CREATE INDEX ON jobs (started_at) WHERE status = 'working'",
    "CREATE INDEX ON jobs (status, started_at DESC NULLS LAST)",
    "CREATE INDEX ON jobs (status, id)",
    "CREATE INDEX ON jobs (status)",
    "SELECT 1",
)


@pytest.mark.parametrize("seed", range(12))
def test_every_message_of_a_table_made_by_chance_is_on_one_page(database: str, seed: int) -> None:
    chance = random.Random(seed)
    key, ids = chance.choice(
        [
            ("id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY", ("id",)),
            ("id uuid NOT NULL DEFAULT gen_random_uuid() PRIMARY KEY", ("id",)),
            (
                "tenant text COLLATE \"C\" NOT NULL DEFAULT 'a/' || floor(random() * 3), id bigserial,"
                " PRIMARY KEY (id, tenant)",
                ("tenant", "id"),
            ),
        ]
    )
    hours = f"now() - floor(random() * {chance.choice((4, 60))}) * interval '1 h'"
    started = f"CASE WHEN random() < 0.2 THEN NULL ELSE {hours} END"
    index = chance.choice(INDEXES)
    rows = [fill(state, chance.randrange(1, 400), "started_at", started) for state in ("working", "done", "working")]
    table(database, index, *rows, "ANALYZE jobs", key=key)
    with reading(database, jobs(key=ids if len(ids) > 1 else ())) as reader:
        called = " || '/' || ".join(f"replace(CAST({each} AS text), '/', '\\/')" for each in ids)
        truth = {str(row[0]) for row in query(database, f"SELECT {called} FROM jobs WHERE status = 'working'")}
        for descending in (False, True):
            found = reader.ids("in_progress", descending=descending)
            assert len(found) == len(set(found))
            assert set(found) == truth


def is_page(listing: PageRequest, queue: QueueView) -> bool:
    """Return whether that page was read."""
    return queue.page is not None and queue.page.listing == listing


def test_a_poll_reads_once_more_where_too_many_have_the_same_value(database: str) -> None:
    table(
        database,
        "CREATE INDEX ON jobs (status, started_at DESC, id)",
        fill("working", MAX_ROWS_READ + 100, "started_at", "timestamptz '2026-01-02'"),
    )
    with watching(database, [jobs()]) as watched:
        listing = PageRequest("in_progress")
        for first in (1, 101):
            watched.poller.set_focus(ReadScope(rows_of="jobs", listing=listing))
            found = watched.queue("jobs", partial(is_page, listing))
            assert [each.id for each in found.messages or ()] == [str(n) for n in range(first, first + PAGE_SIZE)]
            assert found.page is not None
            assert not found.page.cut
            assert found.page.looked == PAGE_SIZE + 2
            listing = replace(listing, after=found.page.next)


def test_ids_that_are_words_are_listed_in_their_order(database: str) -> None:
    words = "('ä'), ('Z'), ('a'), ('A/\\'), (''), ('🎉'), ('''; --'), ('10'), ('9')"
    more = "SELECT 'dead', chr(97 + n % 26) || n FROM generate_series(1, 230) AS n"
    table(
        database,
        BY_ID,
        f"INSERT INTO jobs (status, id) SELECT 'dead', w FROM (VALUES {words}) AS v(w)",
        f"INSERT INTO jobs (status, id) {more}",
        key="id text PRIMARY KEY",
    )
    with reading(database, jobs()) as reader:
        assert reader.ids("dead") == ids_of(database, "dead")
        assert reader.ids("dead", descending=True) == ids_of(database, "dead", "id DESC")


def test_the_messages_of_all_partitions_are_one_list(database: str) -> None:
    with connected(database) as connection:
        for statement in (
            f"CREATE TABLE jobs (id bigint GENERATED ALWAYS AS IDENTITY, {COLUMNS}, PRIMARY KEY (id))"
            " PARTITION BY HASH (id)",
            *(f"CREATE TABLE jobs_{n} PARTITION OF jobs FOR VALUES WITH (MODULUS 3, REMAINDER {n})" for n in range(3)),
            BY_ID,
            fill("dead", 330),
        ):
            connection.execute(statement)
    with reading(database, jobs()) as reader:
        assert reader.ids("dead") == ids_of(database, "dead")
