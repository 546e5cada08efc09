"""Lists of rings from a real server: each message once, in the order of the numbers, wherever its slot is."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from qmon.model.layout.layout import Layout, ObjectName, Ring
from qmon.model.reasons import Reason
from qmon.model.samples.listing_samples import MAX_ROWS_READ, PAGE_SIZE, PageRequest
from tests.contract.listing import Reader, reading, touched
from tests.facts import connected, query
from tests.queues import call, made, opened
from tests.wordings import has

RINGS = ("ring", "ring_classic", "ring_pointer", "ring_subscribers")
SIZE = 250


def push(url: str, count: int) -> None:
    """Push this many messages."""
    query(url, f"SELECT orders_push('m' || n) FROM generate_series(1, {count}) AS n")


def pop(url: str, layout: Layout, count: int, subscribers: tuple[int, ...] = (1, 2)) -> None:
    """Pop this many messages, of several subscribers each."""
    for each in subscribers if layout.ring is not None and layout.ring.subscribers else (None,):
        arguments = "" if each is None else f"{each}"
        query(url, f"SELECT orders_pop({arguments}) FROM generate_series(1, {count})")


def in_table(url: str, state: str) -> list[str]:
    """Return the numbers in a state, from the table and the pop positions."""
    popped = "(SELECT min(coalesce(last_value, 0)) FROM pg_sequences WHERE sequencename LIKE 'orders_pop_seq%')"
    how = ">" if state == "ready" else "<="
    rows = query(url, f"SELECT message_id FROM orders WHERE message_id {how} {popped} ORDER BY message_id")
    return [str(row[0]) for row in rows]


def agree(url: str, reader: Reader, states: tuple[str, ...] = ("ready", "in_progress")) -> None:
    """Check that the lists match the table, in both directions."""
    for state in states:
        wanted = in_table(url, state)
        assert reader.ids(state) == wanted
        assert reader.ids(state, descending=True) == wanted[::-1]


def assert_empty(reader: Reader) -> None:
    """Check that both lists are empty, without a further page."""
    for state in ("ready", "in_progress"):
        assert [(ids, page.next, page.why) for ids, page in reader.pages(state)] == [([], None, "")]


@pytest.mark.parametrize("design", RINGS)
def test_pages_go_over_the_end_of_the_ring_and_over_numbers_without_a_message(database: str, design: str) -> None:
    layout = made(database, design, ring_size=SIZE)
    with reading(database) as reader, connected(database, autocommit=False) as consumer:
        assert_empty(reader)
        push(database, 200)
        pop(database, layout, 190)
        push(database, 60)
        query(database, "SELECT nextval('orders_push_seq') FROM generate_series(1, 3)")
        push(database, 160)
        agree(database, reader)
        assert [len(ids) for ids, _ in reader.pages("ready")] == [100, 100, 30]
        own = "1" if design == "ring_subscribers" else ""
        popped = consumer.execute(f"SELECT (orders_pop({own})).id FROM generate_series(1, 4)").fetchall()
        if design == "ring_subscribers":
            pop(database, layout, 1, (2,))
        agree(database, reader)
        held = reader.ids("in_progress", descending=True)
        assert held == [str(row[0]) for row in popped][::-1][-len(held) :]
        assert len(held) == (1 if design == "ring_subscribers" else 4)  # numbers that both subscribers have drawn
        messages, page = reader.messages(PageRequest("ready", descending=True))
        assert (messages[0].payload, messages[0].state, messages[0].owner) == ("m160", "ready", None)
        assert messages[0].age_s is not None
        assert (page.order, page.every, page.cut, page.why) == ("message_id", False, False, "")


def test_a_ring_that_is_full_and_then_empty(database: str) -> None:
    layout = made(database, "ring", ring_size=8)
    with reading(database) as reader:
        for number in (8, 3):
            push(database, number)
            agree(database, reader)
            assert len(reader.ids("ready")) == number
            pop(database, layout, number)
            assert_empty(reader)


def test_what_is_popped_between_two_pages_is_left_out_and_nothing_else(database: str) -> None:
    layout = made(database, "ring", ring_size=SIZE)
    push(database, SIZE)
    with reading(database) as reader:
        ids, page = reader.page(PageRequest("ready"))
        assert (ids[0], ids[-1], page.next is not None) == ("1", "100", True)
        pop(database, layout, 130)
        push(database, 40)
        assert reader.page(PageRequest("ready", page.next))[0] == [str(n) for n in range(131, 231)]
        ids, page = reader.page(PageRequest("ready", descending=True))
        assert (ids[0], ids[-1]) == ("290", "191")
        pop(database, layout, 20)
        assert reader.page(PageRequest("ready", page.next, descending=True))[0] == [str(n) for n in range(190, 150, -1)]


def test_what_a_repair_leaves_a_lap_behind_or_ahead_is_listed(database: str) -> None:
    made(database, "ring", ring_size=10)
    with opened(database) as connection, reading(database) as reader:
        layout = reader.probes.layout
        for n in range(55):
            call(connection, layout, "push", f"'m{n}'")
            if n < 50:
                call(connection, layout, "pop")
        query(database, "SELECT setval('orders_pop_seq', 4)")
        assert sorted(reader.ids("ready")) == ["51", "52", "53", "54", "55"]
        assert reader.ids("in_progress") == []
        query(database, "UPDATE orders SET message_id = 27, turn = 28 WHERE slot = 7")
        query(database, "SELECT setval('orders_pop_seq', 52)")
        assert reader.ids("in_progress", descending=True) == ["52", "51", "27"]
        assert reader.ids("ready") == ["53", "54", "55"]


def ring_of(size: int, rows: str, push_last: int, pop_last: int, *, index: bool = True) -> tuple[str, ...]:
    """A user's ring and the SQL that creates it. ``rows``: SQL of slots and their numbers."""
    return (
        "DROP TABLE IF EXISTS slots",
        "DROP SEQUENCE IF EXISTS pushed, popped",
        "CREATE TABLE slots (place int NOT NULL, number bigint, body text, pushed_at timestamptz DEFAULT now(),"
        " reference_count int DEFAULT 0)",
        f"INSERT INTO slots (place, number, body) {rows}",
        "CREATE UNIQUE INDEX ON slots (place)" if index else "SELECT 1",
        "CREATE SEQUENCE pushed MINVALUE 0 START 0",
        "CREATE SEQUENCE popped MINVALUE 0 START 0",
        f"SELECT setval('pushed', {push_last}), setval('popped', {pop_last})",
    )


def mine(size: int) -> Layout:
    """Its layout."""
    name, pushed, popped = (ObjectName("public", each) for each in ("slots", "pushed", "popped"))
    ring = Ring(size, pushed, popped, slot="place", turn=None, message_id="number")
    return Layout("slots", "ring_classic", name, ring=ring, enqueued_at="pushed_at", payload="body")


def make(url: str, statements: tuple[str, ...]) -> None:
    with connected(url) as connection:
        for each in statements:
            connection.execute(each)


def test_the_last_page_of_a_deep_ring_costs_what_the_first_one_costs(database: str) -> None:
    size, pop_last = 200_000, 150_000
    number = f"n + CASE WHEN n <= {pop_last} THEN {size} ELSE 0 END"
    rows = f"SELECT n, {number}, 'm' || n FROM generate_series(0, {size - 1}) AS n"
    make(database, (*ring_of(size, rows, pop_last + size, pop_last), "ANALYZE slots"))
    with reading(database, mine(size)) as reader:
        first, page = reader.page(PageRequest("ready"))
        assert page.next is not None
        assert first == [str(pop_last + n) for n in range(1, PAGE_SIZE + 1)]
        late = replace(page.next, value=str(pop_last + size - 50))
        for listing in (
            PageRequest("ready"),
            PageRequest("ready", descending=True),
            PageRequest("ready", late),
            PageRequest("ready", late, descending=True),
            PageRequest("ready", replace(late, value=str(size - 50))),
        ):
            assert touched(reader, listing) < 60
        assert reader.page(PageRequest("ready", late))[0][-1] == str(pop_last + size)
        nothing, page = reader.page(PageRequest("in_progress", descending=True))
        assert (nothing, page.every, page.looked, page.next is not None) == ([], True, MAX_ROWS_READ, True)
        assert touched(reader, PageRequest("in_progress", page.next, descending=True)) < 60


@pytest.mark.parametrize("size", [1, 7, 230, 2_100])
def test_every_message_of_a_ring_made_by_chance_is_on_one_page(database: str, size: int) -> None:
    chance = random.Random(size)
    for _ in range(2):
        pop_last = chance.choice((0, size, chance.randrange(3 * size)))
        held: dict[int, int] = {}
        for number in range(max(pop_last - size, 0) + 1, pop_last + size + 1):
            if chance.random() < (0.05 if number <= pop_last else 0.6):
                held.setdefault(number % size, number)
        slots = ", ".join(f"({slot}, {held.get(slot, 'NULL::bigint')}, 'x')" for slot in range(size))
        make(database, ring_of(size, f"VALUES {slots}", max(pop_last, *held.values(), 0, 0), pop_last))
        with reading(database, mine(size)) as reader:
            for state in ("ready", "in_progress"):
                wanted = [str(n) for n in sorted(held.values()) if (n > pop_last) is (state == "ready")]
                assert reader.ids(state) == wanted
                assert reader.ids(state, descending=True) == wanted[::-1]


def test_a_ring_without_an_index_by_slot_says_so(database: str) -> None:
    make(database, ring_of(5, "SELECT n, n, 'x' FROM generate_series(0, 4) AS n", 4, 1, index=False))
    with reading(database, mine(5)) as reader:
        for state in ("ready", "in_progress"):
            ids, page = reader.page(PageRequest(state))
            assert (ids, page.next) == ([], None)
            assert has(page.why, Reason.NO_INDEX_FOR_SLOT, column="place")
        assert reader.page(PageRequest("dead"))[1].why == Reason.RING_HAS_NO_DEAD
