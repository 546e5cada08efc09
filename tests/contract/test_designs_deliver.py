"""Every design under fire: pushers and poppers in processes of their own, some killed; nothing is lost or doubled."""

from __future__ import annotations

import time
from dataclasses import dataclass

import pytest

from qmon.model.layout import Layout
from tests.contract.hammer import Hammer, strike
from tests.facts import query, wait_until
from tests.queues import DESIGNS, call, made, opened

LOST = """
    SELECT message, s.number FROM ledger_pushed
    CROSS JOIN (SELECT generate_series(1, max(subscriber)) FROM ledger_popped) AS s(number)
    EXCEPT SELECT message, subscriber FROM ledger_popped"""
INVENTED = "SELECT message FROM ledger_popped EXCEPT SELECT message FROM ledger_pushed"
DOUBLED = "SELECT message FROM ledger_popped GROUP BY message, subscriber HAVING count(*) > 1"
OVERTAKEN = """
    SELECT * FROM (SELECT id, lag(id) OVER (ORDER BY serial) AS before FROM ledger_popped) AS p WHERE p.id < p.before"""
COUNTED = """
    SELECT id, count(*), max(attempt) FROM ledger_popped GROUP BY id
    HAVING count(*) <> max(attempt) OR count(DISTINCT attempt) <> count(*)"""
NOT_COMPLETED_ONCE = """
    SELECT p.id, count(c.id) FROM ledger_pushed AS p LEFT JOIN ledger_completed AS c USING (id)
    GROUP BY p.id HAVING count(c.id) <> 1"""


@dataclass(frozen=True)
class Soaked:
    """What a soak has done: messages pushed, pops, processes killed, deadlocks, seconds."""

    design: str
    pushed: int
    pops: int
    pushers_killed: int
    poppers_killed: int
    deadlocks: int
    seconds: float


MENDED = ("ring", "ring_pointer", "ring_subscribers")


def drain(hammer: Hammer, layout: Layout) -> None:
    """Let poppers take what is left, and repair what killed ones have left behind, as a script would."""
    pushed = hammer.pushed()

    def drained() -> bool:
        with opened(hammer.url) as connection:
            if layout.design in MENDED:
                call(connection, layout, "repair", "0, 200")
            elif layout.traits.completes:
                call(connection, layout, "requeue", "1, 500, 1000000")
        if layout.traits.completes:
            return query(hammer.url, "SELECT count(DISTINCT id) FROM ledger_completed") >= [(pushed,)]
        return hammer.popped() >= pushed

    wait_until(drained, 60, what="everything is popped")
    hammer.stop()


def soak(
    url: str, design: str, *, pushers: int, poppers: int, messages: int, kills: int, ring_size: int, seed: int
) -> Soaked:
    """Hammer a fresh queue of a design and check the ledger.

    The published ring loses a number with each rollback and each process killed: it is hammered without either.
    """
    layout = made(url, design, ring_size=ring_size)
    if design == "ring_classic":
        hammer, kills = Hammer(url, layout), 0
    else:
        hammer = Hammer(url, layout, rollback_share=0.02, fail_share=0.02)
    deadlocks = "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()"
    began = time.monotonic()
    try:
        strike(hammer, pushers=pushers, poppers=poppers, messages=messages, kills=kills, seed=seed)
        drain(hammer, layout)
    finally:
        hammer.close()
    assert query(url, LOST) == []
    assert query(url, INVENTED) == []
    if layout.traits.completes:
        assert query(url, COUNTED) == []
        assert query(url, NOT_COMPLETED_ONCE) == []
    else:
        assert query(url, DOUBLED) == []
    if design == "strict_fifo":
        assert query(url, OVERTAKEN) == []
    with opened(url) as connection:
        assert call(connection, layout, "pop") == ()
    pops = int(str(query(url, "SELECT count(*) FROM ledger_popped")[0][0]))
    return Soaked(
        design, hammer.pushed(), pops, hammer.killed["pusher"], hammer.killed["popper"],
        int(str(query(url, deadlocks)[0][0])), time.monotonic() - began,
    )  # fmt: skip


@pytest.mark.parametrize("design", DESIGNS)
def test_each_message_is_delivered_whoever_is_killed(database: str, design: str) -> None:
    done = soak(database, design, pushers=8, poppers=8, messages=2000, kills=4, ring_size=50, seed=7)
    assert done.pushed >= 2000
    assert (done.pushers_killed, done.poppers_killed) == ((0, 0) if design == "ring_classic" else (4, 4))
    assert done.deadlocks == 0
