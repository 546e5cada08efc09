"""Every design under fire: producer and consumer processes, some of them killed. The design's promises hold.

The long form, with a hundred kills, is in ``make soak``.
"""

from __future__ import annotations

import pytest

from tests.contract.soaking import MENDED, Fire, soak
from tests.facts import query
from tests.queues import DESIGNS


@pytest.mark.parametrize("design", DESIGNS)
def test_each_message_is_delivered_in_order_whoever_is_killed(database: str, design: str) -> None:
    done = soak(database, design, Fire(producers=5, consumers=5, messages=600, kills=2))
    assert done.pushed >= 600
    assert (done.producers_killed, done.consumers_killed) == ((0, 0) if design == "ring_classic" else (2, 2))
    assert done.order.violations == 0 or design == "ring_classic", done.order  # it inverts laps once it is full
    assert done.deadlocks == 0


@pytest.mark.parametrize("design", MENDED)
def test_a_ring_with_fewer_slots_than_producers_survives_the_dead_and_the_sleeping(database: str, design: str) -> None:
    done = soak(database, design, Fire(messages=400, kills=2, ring_size=4, asleep=True))
    assert done.naps > 0
    assert done.order.violations == 0, done.order
    assert int(str(query(database, "SELECT max(id) / 4 FROM ledger_pushed")[0][0])) >= 100  # laps
