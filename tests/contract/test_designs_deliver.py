"""Every design under fire: pushers and poppers in processes of their own, some killed; nothing is lost or doubled."""

from __future__ import annotations

import pytest

from qmon.model.layout import Layout
from tests.contract.hammer import Hammer, strike
from tests.facts import query, wait_until
from tests.queues import DESIGNS, call, made, opened

LOST = "SELECT message FROM ledger_pushed EXCEPT SELECT message FROM ledger_popped"
INVENTED = "SELECT message FROM ledger_popped EXCEPT SELECT message FROM ledger_pushed"
DOUBLED = "SELECT message FROM ledger_popped GROUP BY message HAVING count(*) > 1"
COUNTED = """
    SELECT id, count(*), max(attempt) FROM ledger_popped GROUP BY id
    HAVING count(*) <> max(attempt) OR count(DISTINCT attempt) <> count(*)"""
NOT_COMPLETED_ONCE = """
    SELECT p.id, count(c.id) FROM ledger_pushed AS p LEFT JOIN ledger_completed AS c USING (id)
    GROUP BY p.id HAVING count(c.id) <> 1"""


def drain(hammer: Hammer, layout: Layout) -> None:
    """Let poppers take what is left, and repair what killed ones have left behind, as a script would."""
    pushed = hammer.pushed()
    done = "ledger_completed" if layout.traits.completes else "ledger_popped"

    def drained() -> bool:
        with opened(hammer.url) as connection:
            if layout.design == "ring":
                call(connection, layout, "repair", "0, 200")
            elif layout.traits.completes:
                call(connection, layout, "requeue", "1, 500, 1000000")
        return query(hammer.url, f"SELECT count(DISTINCT id) FROM {done}") >= [(pushed,)]

    if layout.design == "ring":  # a requeued orphan has a new number: messages are what counts
        done = "ledger_popped"
        wait_until(lambda: drained() and not query(hammer.url, LOST), 60, what="everything is popped")
    else:
        wait_until(drained, 60, what="everything is popped")
    hammer.stop()


def soak(
    url: str, design: str, *, pushers: int, poppers: int, messages: int, kills: int, ring_size: int, seed: int
) -> str:
    """Hammer a fresh queue of a design and check the ledger; returns one line that says what was done."""
    layout = made(url, design, ring_size=ring_size)
    hammer = Hammer(url, layout, rollback_share=0.02, fail_share=0.02)
    deadlocks = "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()"
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
    with opened(url) as connection:
        assert call(connection, layout, "pop") == ()
    return f"{design}: {hammer.pushed()} messages, killed {hammer.killed}, deadlocks {query(url, deadlocks)[0][0]}"


@pytest.mark.parametrize("design", DESIGNS)
def test_each_message_is_delivered_whoever_is_killed(database: str, design: str) -> None:
    done = soak(database, design, pushers=4, poppers=4, messages=2000, kills=4, ring_size=50, seed=7)
    assert "killed {'pusher': 4, 'popper': 4}, deadlocks 0" in done
