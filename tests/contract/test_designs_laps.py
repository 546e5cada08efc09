"""Laps: the published ring inverts them, a ring whose slots have a turn does not. Both go through the same story."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from qmon.engines.base import Connection
from qmon.model.layout.layout import Layout
from tests.contract.designs import says_empty
from tests.contract.hammer import Hammer
from tests.contract.ledger import delivered, order
from tests.facts import query, wait_until
from tests.queues import call, made, opened, run

WITH_TURN = ("ring", "ring_pointer", "ring_subscribers")


@pytest.fixture
def producer(database: str) -> Iterator[Connection]:
    with opened(database, "producer") as connection:
        yield connection


def pops(url: str, layout: Layout, count: int) -> list[object]:
    """Pop this many times in separate sessions; return the numbers, or ``None`` if there was no message."""
    found: list[object] = []
    for _ in range(count):
        with opened(url) as consumer:
            rows = call(consumer, layout, "pop")
            found.append(rows[0][0] if rows else None)
    return found


def sleeping_producer(url: str, layout: Layout, producer: Connection) -> list[object]:
    """A producer draws 1 and sleeps while others use a ring of four; then it pushes. Return the next four pops."""
    at_once = "0" if layout.design == "ring_classic" else "0, p_null_when_full => true"
    with producer.transaction(), opened(url) as other:
        run(producer, "SELECT nextval('orders_push_seq')")
        if layout.design == "ring_classic":  # there the session continues with this number
            oid = "CAST(CAST('orders_push_seq' AS regclass) AS oid)"
            run(producer, f"SELECT set_config('qmon.classic_push', {oid} || ' 1', false)")
        for number in range(2, 6):
            call(other, layout, "push", f"'m{number}', {at_once}")
        pushed = call(producer, layout, "push", "'m1', 0")[0][0]
    assert pushed == (None if layout.design == "ring_classic" else 1)
    return pops(url, layout, 4)


def test_the_published_ring_inverts_laps_and_stops(database: str, producer: Connection) -> None:
    layout = made(database, "ring_classic", ring_size=4)
    first = sleeping_producer(database, layout, producer)
    # 5 went into the slot of 1: the consumer of 1 waits for ever, and 1 waits for a slot behind 5.
    assert first == [None, 2, 3, 4]
    assert query(database, "SELECT message_id, message FROM orders WHERE slot = 1") == [(5, "m5")]


@pytest.mark.parametrize("design", WITH_TURN)
def test_a_ring_with_turns_keeps_its_laps_apart(database: str, producer: Connection, design: str) -> None:
    layout = made(database, design, ring_size=4)
    assert sleeping_producer(database, layout, producer) == [1, 2, 3, 4]
    assert pops(database, layout, 2) == [None, None]  # 5 is not pushed yet: push reported a full ring


def test_the_published_ring_is_laid_anew(database: str, producer: Connection) -> None:
    layout = made(database, "ring_classic", ring_size=4)
    sleeping_producer(database, layout, producer)
    with opened(database) as script:
        assert call(script, layout, "reset") == ((1,),)
        assert call(script, layout, "pop") == ((6, "m5"),)
        assert [call(script, layout, "push", f"'n{n}', 0")[0][0] for n in range(1, 6)] == [7, 8, 9, 10, None]
        assert [call(script, layout, "pop")[0][1] for _ in range(4)] == ["n1", "n2", "n3", "n4"]


def test_the_published_ring_waits_where_it_is_full_and_where_it_is_empty(database: str, producer: Connection) -> None:
    layout = made(database, "ring_classic", ring_size=2)
    with opened(database) as consumer:
        assert call(consumer, layout, "pop", "0, 2") == ()
        assert call(producer, layout, "push", "'a'")[0][0] == 1
        assert call(consumer, layout, "pop", "0, 2") == ()  # the lead is less than two
        assert call(producer, layout, "push", "'b'")[0][0] == 2
        assert call(producer, layout, "push", "'c', 20")[0][0] is None
        assert call(consumer, layout, "pop", "0, 2") == ((1, "a"),)
        assert call(producer, layout, "push", "'c', 0")[0][0] == 3  # with the number it had drawn
        assert [call(consumer, layout, "pop")[0] for _ in range(2)] == [(2, "b"), (3, "c")]
        assert call(consumer, layout, "pop", "20, 0") == ()  # as published: it has drawn 4 and runs ahead
        assert query(database, "SELECT last_value FROM orders_pop_seq") == [(4,)]
        call(producer, layout, "push", "'d'")
        assert call(consumer, layout, "pop", "0, 0") == ((4, "d"),)


@pytest.mark.parametrize("design", WITH_TURN)
def test_from_full_to_empty_with_twice_as_many_producers_as_slots(database: str, design: str) -> None:
    layout = made(database, design, ring_size=4)
    hammer = Hammer(database, layout)
    free = "SELECT 1 FROM orders WHERE reference_count = 0"
    try:
        hammer.start("producer", 8, limit=40)
        wait_until(lambda: hammer.pushed() == 4 and query(database, free) == [], what="the ring is full")
        hammer.start("consumer", 4)
        hammer.wait_producers()
        wait_until(lambda: hammer.popped() == 320, 60, what="everything is popped")
        hammer.stop()
    finally:
        hammer.close()
    laps = query(database, "SELECT count(*), max(id) / 4 FROM ledger_pushed")
    assert laps == [(320, 80)]
    delivered(database, layout)
    assert order(database, layout, allowed=0).violations == 0
    # No process died, so each consumer got its messages in the order of numbers.
    own = "SELECT id - lag(id) OVER (PARTITION BY consumer ORDER BY serial) AS step FROM ledger_popped"
    assert query(database, f"SELECT 1 FROM ({own}) AS s WHERE step <= 0") == []
    with opened(database) as connection:
        assert call(connection, layout, "pop") == ()


@pytest.mark.parametrize("design", WITH_TURN)
def test_no_row_is_not_said_by_a_consumer_that_has_time_while_a_message_is_there(database: str, design: str) -> None:
    # Each session pops only after it has pushed, so there is a message for each, or it is on its way.
    layout = made(database, design, ring_size=8)
    asked = "1, 10000" if design == "ring_subscribers" else "10000"
    with opened(database) as other:
        # The second subscriber has its own thread, otherwise the ring would be full.
        over = threading.Event()

        def read() -> None:
            while not over.is_set():
                call(other, layout, "pop", "2, 10")

        reader = threading.Thread(target=read if design == "ring_subscribers" else over.wait)
        reader.start()
        try:
            assert not says_empty(database, layout, cycles=60, push="'m', 60000", pop=asked)
        finally:
            over.set()
            reader.join()
