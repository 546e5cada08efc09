"""The ledger finds broken promises: of sabotaged queues, but not of sound ones under fire."""

from __future__ import annotations

from typing import Final

import pytest

from tests.contract.hammer import Hammer
from tests.contract.ledger import Pop, order, overtaken
from tests.contract.spoiling import Spoil, rewritten
from tests.facts import connected, wait_until
from tests.queues import made, routine

MESSAGES = 200


def disorder(url: str, design: str, spoil: Spoil) -> int:
    """Return the pops out of order, with four consumers that sometimes roll back and two producers."""
    layout = made(url, design)
    spoil(url, layout)
    hammer = Hammer(url, layout)
    try:
        if design == "pending":  # so that the consumers run before the messages are due
            hammer.start("consumer", 4)
        hammer.start("producer", 2, limit=MESSAGES // 2)
        hammer.wait_producers()
        with connected(url, autocommit=False) as slow:
            if design == "strict_fifo":  # others skip a message that is given back, so it fails each time
                slow.execute(f"SELECT * FROM {routine(layout, 'pop')}()").fetchall()
            if design != "pending":
                hammer.start("consumer", 4, rollback_share=0.3)
            wait_until(lambda: hammer.popped() >= MESSAGES // 2, 60, what="half of it is popped")
            slow.rollback()
        wait_until(lambda: hammer.popped() == MESSAGES, 60, what="everything is popped")
        hammer.stop()
    finally:
        hammer.close()
    return order(url, layout, allowed=12).violations


SPOILT: Final = {
    "fifo": rewritten("pop", r"ORDER BY r\.id(\s+LIMIT 1\s+FOR UPDATE)", r"ORDER BY r.id DESC\1"),
    "flag": rewritten("pop", r"ORDER BY r\.id(\s+LIMIT 1\s+FOR UPDATE)", r"ORDER BY r.id DESC\1"),
    "lifo": rewritten("pop", r"ORDER BY r\.id DESC(\s+LIMIT 1\s+FOR UPDATE)", r"ORDER BY r.id\1"),
    "pending": rewritten("pop", r"WHERE r\.due_time <= v_now", "WHERE true"),
    "strict_fifo": rewritten("pop", r"FOR UPDATE", "FOR UPDATE SKIP LOCKED"),
}


@pytest.mark.parametrize("design", SPOILT)
def test_a_queue_that_is_spoilt_is_found_out_of_order(database: str, design: str) -> None:
    assert disorder(database, design, SPOILT[design]) > 0


def test_overtaken_counts_what_was_there_when_a_pop_began() -> None:
    first, second, third = (Pop((float(n),), there_at=n, began_at=10) for n in (1, 2, 3))
    late = Pop((0.0,), there_at=11, began_at=12)
    assert list(overtaken([first, second, third, late])) == [0, 0, 0, 0]
    assert list(overtaken([third, first, second, late])) == [2, 0, 0, 0]
    assert list(overtaken([third, second, first, late])) == [2, 1, 0, 0]
