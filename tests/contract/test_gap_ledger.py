"""Compare the ledger of the gap with real events: commits, rollbacks, a killed consumer, a server crash."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from qmon.demo.embedded_server import EmbeddedServer
from qmon.model.gap_ledger import IN_FLIGHT, ORPHANED, POPPED_SKIPPED, POPPED_UNCLEAR, READY, SKIPPED, UNCLEAR, Ledger
from qmon.model.view import QueueView, View
from tests.contract.watching import Watched, installed, watching
from tests.facts import connected, query


@pytest.fixture
def own_server() -> Iterator[EmbeddedServer]:
    """A server that this test may crash. Committed data survives that."""
    with EmbeddedServer() as running:
        yield running


def push(url: str, queue: str, *, keep: bool = True) -> int:
    """Push a message and commit, or roll back; return its number."""
    with connected(url, autocommit=False) as raw:
        number = raw.execute(f"SELECT {queue}_push('x')").fetchval()
        raw.commit() if keep else raw.rollback()
        assert isinstance(number, int)
        return number


def pop(url: str, queue: str) -> None:
    query(url, f"SELECT * FROM {queue}_pop()")


def last(url: str, sequence: str) -> int:
    (row,) = query(url, "SELECT pg_sequence_last_value(?::regclass)", sequence)
    assert isinstance(row[0], int)
    return row[0]


def adds_up(queue: QueueView) -> bool:
    """Return whether the parts add up to the gap on the same screen, including numbers drawn by consumers."""
    ledger = queue.ledger
    if ledger is None or queue.gap.value is None:
        return False
    assert all(part.count >= 0 for part in ledger.parts)
    if queue.layout.ring is None:
        return ledger.total == queue.gap.value
    drawn = (ledger.count_for(IN_FLIGHT) or 0) + (ledger.count_for(ORPHANED) or 0)
    without = ledger.count_for(UNCLEAR) if ledger.count_for(SKIPPED) is None else ledger.count_for(SKIPPED)
    assert without is not None
    return ledger.count_for(READY) == queue.ready.value and 0 <= ledger.total - drawn - queue.gap.value <= without


def told(watched: Watched, name: str, **parts: int) -> Ledger:
    """Return the first ledger of a queue with these parts, given by kind; check that each earlier one adds up."""
    wanted = {WORDS[word]: count for word, count in parts.items()}

    def fits(view: View) -> bool:
        queue = view.queue(name)
        ledger = queue.ledger if queue is not None else None
        return ledger is not None and all(ledger.count_for(part) == count for part, count in wanted.items())

    try:
        found = watched.view(fits).queue(name)
    except AssertionError as problem:
        seen = [each.ledger for view in watched.views[-3:] for each in view.queues if each.name == name]
        raise AssertionError(f"{name} wanted {wanted}, last: {seen}") from problem
    assert found is not None
    assert found.ledger is not None
    return found.ledger


WORDS = {
    "ready": READY,
    "in_flight": IN_FLIGHT,
    "orphaned": ORPHANED,
    "unclear": UNCLEAR,
    "skipped": SKIPPED,
    "popped_unclear": POPPED_UNCLEAR,
    "popped_skipped": POPPED_SKIPPED,
}


def test_each_part_is_what_was_done(own_server: EmbeddedServer) -> None:
    url = own_server.url()
    installed(url, "fifo", "ring", ring_size=200)
    with watching(url) as watched, ExitStack() as open_ones:
        for queue in ("fifo", "ring"):
            for n in range(30):
                push(url, queue, keep=n % 5 != 2)  # six of thirty are rolled back, beginning with the third
            pop(url, queue)
        told(watched, "fifo", ready=23, in_flight=0, popped_skipped=6)
        told(watched, "ring", ready=23, in_flight=0, orphaned=0, skipped=6)

        for queue in ("fifo", "ring"):
            producer = open_ones.enter_context(connected(url, autocommit=False))
            producer.execute(f"SELECT {queue}_push('x')").fetchall()
            consumer = open_ones.enter_context(connected(url, autocommit=False))
            consumer.execute(f"SELECT * FROM {queue}_pop()").fetchall()
        told(watched, "fifo", ready=22, in_flight=1, popped_unclear=7)
        told(watched, "ring", ready=22, in_flight=1, orphaned=0, unclear=7)
        open_ones.close()  # both roll back: the ring's consumer leaves an orphan, each producer a number
        told(watched, "fifo", ready=23, in_flight=0, popped_skipped=7)
        told(watched, "ring", ready=22, in_flight=0, orphaned=1, skipped=7)

        before = {name: last(url, sequence) for name, sequence in SEQUENCES.items()}
        own_server.kill()
        own_server.start()
        skipped = {name: last(url, sequence) - before[name] for name, sequence in SEQUENCES.items()}
        assert max(skipped.values()) > 0
        told(watched, "fifo", ready=23, in_flight=0, popped_skipped=7 + skipped["fifo"])
        # A crash moves sequences forward. Numbers that the ring's consumers skipped that way are orphaned like the
        # others.
        there = [row[0] for row in query(url, "SELECT message_id FROM ring WHERE turn = message_id + 1")]
        drawn = last(url, "ring_pop_seq")
        ready = sum(isinstance(number, int) and number > drawn for number in there)
        told(watched, "ring", ready=ready, in_flight=0, orphaned=len(there) - ready)

        seen = [queue for view in watched.views for queue in view.queues if queue.ledger is not None]
        assert {queue.name for queue in seen} == {"fifo", "ring"}
        assert all(adds_up(queue) for queue in seen)


SEQUENCES = {"fifo": "fifo_id_seq", "ring": "ring_push_seq"}
