"""Deadlocks: in designs that allow one, PostgreSQL ends one of the two and no message is lost, as the SQL documents."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pyodbc
import pytest

from qmon.model.layout.layout import Layout
from tests.contract.spoiling import rewritten
from tests.facts import connected, query, wait_until
from tests.queues import DESIGNS, call, made, opened, routine

WAITING = """
    SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"""
SQL = Path(__file__).parents[2] / "sql" / "postgres" / "designs"


class Client:
    """A session in one transaction, and the messages popped in it."""

    def __init__(self, url: str, raw: pyodbc.Connection, layout: Layout) -> None:
        self.url, self._raw, self._layout = url, raw, layout
        self.popped: list[str] = []
        self.ended = False
        raw.execute("SET deadlock_timeout = '100ms'")
        raw.commit()

    def push(self, message: str) -> None:
        self._raw.execute(f"SELECT {routine(self._layout, 'push')}('{message}')").fetchall()

    def pop(self) -> None:
        rows = self._raw.execute(f"SELECT payload FROM {routine(self._layout, 'pop')}()").fetchall()
        self.popped += [row[0].decode() if isinstance(row[0], bytes) else str(row[0]) for row in rows]

    def finish(self, step: Callable[[], None]) -> None:
        """Run the step and commit; if a deadlock ends it, roll everything back."""
        try:
            step()
            self._raw.commit()
        except pyodbc.Error as error:
            assert error.args[0] == "40P01", error
            self._raw.rollback()
            self.popped, self.ended = [], True


@pytest.fixture
def raws(database: str) -> Iterator[tuple[pyodbc.Connection, pyodbc.Connection]]:
    with connected(database, autocommit=False) as one, connected(database, autocommit=False) as other:
        yield one, other


Raws = tuple[pyodbc.Connection, pyodbc.Connection]


def clash(one: Client, one_does: Callable[[], None], other: Client, other_does: Callable[[], None]) -> list[str]:
    """Make two sessions wait for each other, so that one is ended. Return the messages that the other has popped."""
    thread = threading.Thread(target=one.finish, args=(one_does,))
    thread.start()
    wait_until(lambda: query(other.url, WAITING) == [(1,)], what="the first waits")
    other.finish(other_does)
    thread.join()
    assert one.ended != other.ended
    return one.popped + other.popped


def filled(url: str, layout: Layout, *messages: str) -> None:
    with opened(url) as connection:
        for message in messages:
            call(connection, layout, "push", f"'{message}'")


def drained(url: str, layout: Layout) -> list[str]:
    """Return the messages left in the queue, after a repair if the design has one."""
    left: list[str] = []
    with opened(url) as connection:
        if layout.routine_for("repair"):
            call(connection, layout, "repair", "0, 1000")
        while rows := call(connection, layout, "pop"):
            left += [row[1].decode() if isinstance(row[1], bytes) else str(row[1]) for row in rows]
    return left


def test_strict_fifo_where_one_pops_and_pushes_and_another_pushes_and_pops(database: str, raws: Raws) -> None:
    layout = made(database, "strict_fifo")
    one, other = (Client(database, raw, layout) for raw in raws)
    filled(database, layout, "a", "b")
    one.pop()
    other.push("d")
    popped = clash(one, lambda: one.push("c"), other, other.pop)
    assert popped == ["a"]
    assert drained(database, layout) == ["b", "d" if one.ended else "c"]


@pytest.mark.parametrize("design", ["batch_single", "batch_split"])
def test_batches_where_two_pop_twice_and_a_message_comes_back_to_the_front(
    database: str, raws: Raws, design: str
) -> None:
    layout = made(database, design)
    one, other = (Client(database, raw, layout) for raw in raws)
    filled(database, layout, "a", "b")
    with opened(database) as third:
        call(third, layout, "pop")
        one.pop()
        call(third, layout, "fail", "1, 1")
    other.pop()
    assert (one.popped, other.popped) == (["b"], ["a"])
    popped = clash(one, one.pop, other, other.pop)
    assert sorted(popped + drained(database, layout)) == ["a", "b"]


@pytest.mark.parametrize("design", ["ring", "ring_pointer", "ring_subscribers"])
def test_rings_where_two_pop_twice_and_a_repair_has_set_the_pop_sequence_back(
    database: str, raws: Raws, design: str
) -> None:
    layout = made(database, design, ring_size=4)
    one, other = (Client(database, raw, layout) for raw in raws)
    blind = rewritten("settle", "RETURN v_orphan;", "RETURN NULL;")  # consumers would pop orphans without a repair
    blind(database, layout)
    filled(database, layout, "a", "b", "c", "d")
    with opened(database) as script:
        sequence = "orders_pop_seq_1" if design == "ring_subscribers" else "orders_pop_seq"
        query(database, f"SELECT nextval('{sequence}')")  # simulates a consumer that died with the first number
        one.pop()
        other.pop()
        assert (one.popped, other.popped) == (["b"], ["c"])
        assert ("orphan", 1) in {row[1:] for row in call(script, layout, "repair", "0, 50")}
    one.pop()
    assert one.popped == ["b", "a"]
    if design == "ring_subscribers":  # its consumers do not wait for each other
        other.finish(other.pop)
        one.finish(one.pop)
        assert not one.ended and not other.ended
        popped = one.popped + other.popped
    else:
        popped = clash(other, other.pop, one, one.pop)
    assert sorted(popped + drained(database, layout)) == ["a", "b", "c", "d"]


@pytest.mark.parametrize("design", DESIGNS)
def test_each_design_says_why_it_does_not_deadlock_or_who_must_retry(design: str) -> None:
    said = " ".join(path.read_text().replace("\n--", "") for path in sorted((SQL / design).glob("*.sql"))).lower()
    assert "no deadlock" in said or "cannot deadlock" in said or "nor deadlock" in said or "must retry" in said
