"""The ring for several subscribers: each reads every message at its own pace, despite rollbacks and kills."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import pytest

from qmon.engines.base import Connection
from qmon.errors import BadInput
from qmon.model.layout.layout import Layout, ObjectName
from qmon.operate.install.install_queue import InstallText, install_queue
from tests.contract.designs import draw, end
from tests.facts import query
from tests.queues import ENGINE, Row, call, made, opened, run
from tests.wordings import pattern


@pytest.fixture
def layout(database: str) -> Layout:
    return made(database, "ring_subscribers", ring_size=4)


@pytest.fixture
def a(database: str) -> Iterator[Connection]:
    with opened(database, "a") as connection:
        yield connection


@pytest.fixture
def b(database: str) -> Iterator[Connection]:
    with opened(database, "b") as connection:
        yield connection


def push(connection: Connection, layout: Layout, message: str) -> object:
    return call(connection, layout, "push", f"'{message}', 0, p_null_when_full => true")[0][0]


def pop(connection: Connection, layout: Layout, subscriber: int) -> tuple[Row, ...]:
    return call(connection, layout, "pop", f"{subscriber}, 0")


def test_two_by_default_as_many_as_asked_for_and_only_of_a_ring(database: str, a: Connection) -> None:
    three = install_queue(a, ENGINE, "ring", schema="public", queue="three", ring_size=8, subscribers=3).layout
    assert three.design == "ring_subscribers"
    assert three.ring is not None
    assert three.ring.subscribers == tuple(ObjectName("public", f"three_pop_seq_{n}") for n in (1, 2, 3))
    push(a, three, "m1")
    assert query(database, "SELECT reference_count, unread FROM three WHERE slot = 1") == [(3, 7)]
    one = install_queue(a, ENGINE, "ring", schema="public", queue="one", subscribers=1).layout
    assert one.design == "ring"
    for design, count, words in (
        ("fifo", 2, pattern(InstallText.ONE_SUBSCRIBER, design="fifo")),
        ("ring", 17, pattern(InstallText.SUBSCRIBERS, limit=16, subscribers=17)),
        ("ring_subscribers", 0, pattern(InstallText.SUBSCRIBERS, limit=16, subscribers=0)),
    ):
        with pytest.raises(BadInput, match=words):
            install_queue(a, ENGINE, design, schema="public", queue="more", subscribers=count)


def test_each_subscriber_reads_every_message_in_the_order_of_numbers(
    database: str, layout: Layout, a: Connection, b: Connection
) -> None:
    assert [push(a, layout, f"m{n}") for n in range(1, 5)] == [1, 2, 3, 4]
    counts = "SELECT reference_count, unread FROM orders WHERE slot = 1"
    assert query(database, counts) == [(2, 3)]
    assert [pop(a, layout, 1)[0] for _ in range(4)] == [(n, f"m{n}") for n in range(1, 5)]
    assert pop(a, layout, 1) == ()
    assert query(database, counts) == [(1, 2)]
    assert push(a, layout, "m5") is None  # full: the second subscriber has read nothing
    assert pop(b, layout, 2) == ((1, "m1"),)
    assert query(database, counts) == [(0, 0)]
    assert push(a, layout, "m5") == 5
    assert pop(a, layout, 1) == ((5, "m5"),)
    assert [pop(b, layout, 2)[0][0] for _ in range(4)] == [2, 3, 4, 5]
    assert (pop(a, layout, 1), pop(b, layout, 2)) == ((), ())


def test_a_subscriber_does_not_wait_for_the_transaction_of_another(
    layout: Layout, a: Connection, b: Connection
) -> None:
    push(a, layout, "m1")
    push(a, layout, "m2")
    run(b, "SELECT set_config('lock_timeout', '1', false)")  # a wait for a lock would fail
    with contextlib.suppress(ZeroDivisionError), a.transaction():
        assert pop(a, layout, 1) == ((1, "m1"),)
        assert pop(b, layout, 2) == ()  # the other holds the row: try again instead of waiting
        raise ZeroDivisionError
    assert pop(b, layout, 2) == ((1, "m1"),)
    assert pop(a, layout, 1) == ((1, "m1"),)  # rolled back: its own session pops it again
    assert pop(b, layout, 2) == ((2, "m2"),)


def test_one_session_may_pop_for_both(layout: Layout, a: Connection) -> None:
    push(a, layout, "m1")
    push(a, layout, "m2")
    assert [pop(a, layout, s)[0][0] for s in (1, 2, 2, 1)] == [1, 1, 2, 2]
    with pytest.raises(Exception, match="there is no subscriber 3"):
        pop(a, layout, 3)


def test_an_orphan_of_one_subscriber_is_requeued_for_that_one(
    database: str, layout: Layout, a: Connection, b: Connection
) -> None:
    push(b, layout, "m1")
    draw(a, "pop_seq_2")
    end(database, a)
    assert pop(b, layout, 1) == ((1, "m1"),)
    assert call(b, layout, "requeue_orphan", "1, 1, 100") == ((None,),)  # the first has read it
    assert call(b, layout, "repair", "0, 200") == ((1, "orphan", 2),)
    push(b, layout, "m3")
    assert pop(b, layout, 1) == ((3, "m3"),)  # and skips 2, which is not for it
    assert [pop(b, layout, 2)[0] for _ in range(2)] == [(2, "m1"), (3, "m3")]
    assert query(database, "SELECT count(*) FROM orders WHERE message_id IS NOT NULL OR unread <> 0") == [(0,)]


def test_a_hole_is_skipped_by_both(database: str, layout: Layout, a: Connection, b: Connection) -> None:
    draw(a, "push_seq")
    end(database, a)
    assert push(b, layout, "m2") == 2
    assert [call(b, layout, "pop", f"{subscriber}, 1000") for subscriber in (1, 2)] == [((2, "m2"),)] * 2


def test_a_ring_full_of_orphans_of_one_subscriber_moves_again(
    database: str, layout: Layout, a: Connection, b: Connection
) -> None:
    for number in range(1, 5):
        push(b, layout, f"m{number}")
        draw(a, "pop_seq_1")
    end(database, a)
    assert [pop(b, layout, 2)[0][0] for _ in range(4)] == [1, 2, 3, 4]
    assert push(b, layout, "m5") is None
    assert {row[1] for row in call(b, layout, "repair", "0, 200")} == {"orphan"}
    assert sorted(str(pop(b, layout, 1)[0][1]) for _ in range(4)) == ["m1", "m2", "m3", "m4"]
    assert push(b, layout, "m5") is not None
    assert [call(b, layout, "pop", f"{subscriber}, 100")[0][1] for subscriber in (1, 2)] == ["m5", "m5"]
