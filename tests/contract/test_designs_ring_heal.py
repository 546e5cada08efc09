"""Rings heal by themselves: the next consumers pop, in order, messages left by a rollback, a kill or a crash."""

from __future__ import annotations

import contextlib
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest

from qmon.demo.embedded_server import EmbeddedServer
from qmon.engines.base import Connection
from qmon.model.layout.layout import Layout
from tests.contract.designs import draw, end
from tests.contract.soaking import MENDED
from tests.facts import connected, query, wait_until
from tests.queues import call, made, opened, run

Pop = Callable[[Connection], list[object]]


@pytest.fixture(params=MENDED)
def layout(database: str, request: pytest.FixtureRequest) -> Layout:
    return made(database, str(request.param), ring_size=40)


@pytest.fixture
def a(database: str) -> Iterator[Connection]:
    with opened(database, "a") as connection:
        yield connection


@pytest.fixture
def b(database: str) -> Iterator[Connection]:
    with opened(database, "b") as connection:
        yield connection


def pop(layout: Layout, connection: Connection, wait_ms: int = 0) -> list[object]:
    """Pop for the first subscriber; return the message, if any."""
    asked = f"1, {wait_ms}" if layout.design == "ring_subscribers" else str(wait_ms)
    return [row[1] for row in call(connection, layout, "pop", asked)]


def pop_sequence(layout: Layout) -> str:
    return "pop_seq_1" if layout.design == "ring_subscribers" else "pop_seq"


def push(connection: Connection, layout: Layout, *messages: str) -> None:
    for message in messages:
        assert call(connection, layout, "push", f"'{message}'") != ((None,),)


def rolled_back(connection: Connection, layout: Layout, count: int) -> list[object]:
    """Pop this many messages in one transaction, roll it back, and return them."""
    taken: list[object] = []
    with contextlib.suppress(ZeroDivisionError), connection.transaction():
        for _ in range(count):
            taken += pop(layout, connection)
        raise ZeroDivisionError
    return taken


def drained(connection: Connection, layout: Layout) -> list[object]:
    return [message for messages in iter(partial(pop, layout, connection), []) for message in messages]


@pytest.mark.parametrize("same", [True, False], ids=["the same session", "another session"])
def test_what_a_rollback_of_several_pops_gives_back_is_popped_again_before_what_comes_later(
    layout: Layout, a: Connection, b: Connection, *, same: bool
) -> None:
    push(b, layout, "m1", "m2", "m3")
    assert rolled_back(a, layout, 3) == ["m1", "m2", "m3"]
    consumer = a if same else b
    first = pop(layout, consumer)  # the ring is at rest
    push(b, layout, "m4")
    assert first + drained(consumer, layout) == ["m1", "m2", "m3", "m4"]
    assert [pop(layout, a), pop(layout, b)] == [[], []]


def test_a_rollback_of_more_pops_than_are_settled_at_a_time_leaves_nothing_behind(
    layout: Layout, a: Connection, b: Connection
) -> None:
    messages = [f"m{n}" for n in range(40)]
    push(b, layout, *messages)
    assert rolled_back(a, layout, 36) == messages[:36]  # once in 32 pops, the ring checks popped numbers
    assert drained(b, layout) == messages


def test_what_was_given_back_is_found_while_there_is_traffic(layout: Layout, a: Connection, b: Connection) -> None:
    push(b, layout, *(f"m{n}" for n in range(3)))
    assert rolled_back(a, layout, 3) == ["m0", "m1", "m2"]
    # The ring has forty slots. There is always a next message, so consumers never find it empty.
    popped: list[object] = []
    push(b, layout, *(f"n{n}" for n in range(30)))
    for number in range(200):
        if len(popped) >= 37:
            break
        popped += pop(layout, b)
        if layout.ring is not None and number % 2 and len(popped) < 30:
            call(b, layout, "push", f"'o{number}', 0, p_null_when_full => true")
        if layout.design == "ring_subscribers":
            call(b, layout, "pop", "2, 0")
    assert {"m0", "m1", "m2"} <= set(popped)
    assert len(set(popped)) == len(popped)


def test_nothing_is_taken_that_an_open_transaction_may_still_pop(
    database: str, layout: Layout, a: Connection, b: Connection
) -> None:
    push(b, layout, "m1", "m2")
    with a.transaction():
        draw(a, pop_sequence(layout))  # and is stopped before it reaches the slot
        assert pop(layout, b) == ["m2"]
        assert pop(layout, b, 50) == []
    assert pop(layout, b) == ["m1"]  # the transaction has ended without popping it


def test_a_number_kept_by_a_session_is_no_reason_to_wait_for_another_that_takes_its_message(
    database: str, layout: Layout, a: Connection, b: Connection
) -> None:
    push(b, layout, "m1")
    assert rolled_back(a, layout, 1) == ["m1"]
    run(a, "SELECT set_config('lock_timeout', '1000', false)")
    with b.transaction():
        assert pop(layout, b) == ["m1"]
        push(b, layout, "m2")
        with opened(database) as other:
            push(other, layout, "m3")
        assert pop(layout, a) in ([], ["m3"])
    assert pop(layout, a) in (["m2"], ["m3"])


def test_the_messages_of_dead_consumers_wait_for_nobody(database: str, layout: Layout, a: Connection) -> None:
    push(a, layout, *(f"m{n}" for n in range(40)))
    with opened(database) as dying:
        for _ in range(40):
            draw(dying, pop_sequence(layout))
        end(database, dying)
    assert call(a, layout, "push", "'too many', 0, p_null_when_full => true") == ((None,),)
    assert drained(a, layout) == [f"m{n}" for n in range(40)]


def test_laps_of_traffic_leave_nothing_to_look_at(database: str, layout: Layout, a: Connection) -> None:
    for _ in range(10):
        push(a, layout, *(f"m{n}" for n in range(20)))
        assert len(drained(a, layout)) == 20
        while layout.design == "ring_subscribers" and call(a, layout, "pop", "2, 0"):
            pass
    if layout.design == "ring_subscribers":
        ((settled,),) = query(database, "SELECT min(settled) FROM orders_readers")
    else:
        ((settled,),) = query(database, "SELECT last_value FROM orders_settled_seq")
    assert 200 - 32 <= int(str(settled)) <= 200


def test_who_may_only_push_and_pop_heals_a_ring_too(database: str, layout: Layout, a: Connection) -> None:
    push(a, layout, *(f"m{n}" for n in range(40)))
    for _ in range(40):
        draw(a, pop_sequence(layout))
    role = f"consumer_{uuid.uuid4().hex}"
    data = [layout.data_table.name] if layout.data_table is not None else []
    tables = [layout.queue, *data]
    with connected(database) as raw:
        raw.execute(f"CREATE ROLE {role}")
        try:
            raw.execute(f"GRANT SELECT, UPDATE, DELETE ON {', '.join(tables)} TO {role}")
            if layout.design == "ring_subscribers":
                raw.execute(f"GRANT SELECT ON orders_readers TO {role}")
            for sequence in ("push_seq", pop_sequence(layout)):
                raw.execute(f"GRANT USAGE, SELECT ON SEQUENCE orders_{sequence} TO {role}")
            with opened(database) as consumer:
                run(consumer, f"SELECT set_config('role', '{role}', false)")
                assert len(drained(consumer, layout)) == 40
        finally:
            raw.execute(f"DROP OWNED BY {role}")
            raw.execute(f"DROP ROLE {role}")


def dead_producer(database: str, count: int) -> None:
    """Leave this many holes."""
    with opened(database) as dying:
        for _ in range(count):
            draw(dying, "push_seq")
        end(database, dying)


def test_producers_that_wait_in_open_transactions_do_not_wait_for_the_end_of_each_other(
    database: str, layout: Layout, a: Connection, b: Connection
) -> None:
    dead_producer(database, 40)  # both find slots of holes first

    def pushed(connection: Connection, wait_ms: int = 10_000) -> object:
        return call(connection, layout, "push", f"'m', {wait_ms}, p_null_when_full => true")[0][0]

    with a.transaction(), b.transaction(), ThreadPoolExecutor() as pool:
        assert [pushed(each, 0) for each in (a, b)] == [None, None]  # either may have a number now
        assert sorted(map(str, pool.map(pushed, (a, b)))) == ["41", "42"]
    assert drained(b, layout) == ["m", "m"]


def test_a_slow_server_does_not_make_a_proven_hole_look_like_an_empty_ring(
    database: str, layout: Layout, a: Connection
) -> None:
    subscriber = "p_subscriber integer, " if layout.design == "ring_subscribers" else ""
    query(
        database,
        f"CREATE OR REPLACE FUNCTION orders_settle({subscriber}p_behind bigint, p_holes boolean) RETURNS bigint"
        " LANGUAGE sql AS 'SELECT NULL::bigint FROM pg_sleep(0.025)'",  # takes all the time that a pop waits
    )
    dead_producer(database, 3)
    push(a, layout, "m")
    assert pop(layout, a) == ["m"]


def test_a_number_that_a_waiting_producer_may_still_use_is_no_hole(
    database: str, layout: Layout, a: Connection, b: Connection
) -> None:
    push(b, layout, "m1")
    dead_producer(database, 39)
    with ThreadPoolExecutor() as pool:
        with a.transaction():
            draw(a, "push_seq")
            dead_producer(database, 1)
            waiting = pool.submit(call, a, layout, "push", "'m41', 20000")  # for the slot of m1
            wait_until(lambda: call(b, layout, "fill_hole", "2, 0") == ((True,),), what="a smaller number is a hole")
            assert call(b, layout, "fill_hole", "42, 50") == ((False,),)
            assert pop(layout, b) == ["m1"]
            if layout.design == "ring_subscribers":
                call(b, layout, "pop", "2, 0")
            assert waiting.result() == ((41,),)
            assert call(b, layout, "fill_hole", "42, 50") == ((False,),)
        assert call(b, layout, "fill_hole", "42, 0") == ((True,),)
    assert pop(layout, b, 1000) == ["m41"]


@pytest.mark.parametrize("design", MENDED)
def test_after_a_crash_of_the_server_a_ring_is_in_step_again_without_a_repair(design: str) -> None:
    with EmbeddedServer() as server:
        server.create_database("crash")
        url = server.url("crash")
        layout = made(url, design, ring_size=40)
        with opened(url) as one:
            push(one, layout, *(f"m{n}" for n in range(10)))
            assert [pop(layout, one), pop(layout, one)] == [["m0"], ["m1"]]
            query(url, "CHECKPOINT")
            # The pop sequence is logged ahead, so after the crash it has passed the numbers of existing messages.
            assert pop(layout, one) == ["m2"]
        server.kill()
        server.start()
        ((drawn,),) = query(url, f"SELECT last_value FROM orders_{pop_sequence(layout)}")
        assert int(str(drawn)) > 10  # the number of the last message
        with opened(url) as one:
            assert drained(one, layout) == [f"m{n}" for n in range(3, 10)]
            for number in range(60):
                push(one, layout, f"n{number}")
                assert wait_until(partial(pop, layout, one)) == [f"n{number}"]
                if design == "ring_subscribers":
                    wait_until(lambda: call(one, layout, "pop", "2, 0") == ())
