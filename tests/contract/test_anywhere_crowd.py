"""No message is lost or delivered twice, on every engine: sixteen sessions, kills and rollbacks."""

from __future__ import annotations

from typing import Final

import pytest

from tests.contract.anywhere import Place, some
from tests.contract.anywhere_crowd import Crowd
from tests.queues import DESIGNS

# All designs but the one that stops for good if a number is lost.
WHOLE: Final = tuple(design for design in DESIGNS if design != "ring_classic")


def test_the_ledger_tells_what_is_missing_popped_twice_or_never_pushed(place: Place) -> None:
    crowd = Crowd(place, place.made("ring_subscribers"), each=0, kills=0, seed=0)
    place.run(
        "INSERT INTO pushed VALUES ('a'), ('b'), ('c'), ('d')",
        "INSERT INTO popped VALUES ('a', 1), ('a', 2), ('b', 1), ('b', 2), ('b', 2), ('c', 1), ('e', 1), ('e', 2)",
    )
    assert crowd.ledger() == (4, 3, 2)  # c and d are missing; b came twice, e was never there


@pytest.mark.parametrize("design", some(WHOLE, ("fifo", "status", "ring")))
def test_sixteen_sessions_that_roll_back_and_are_killed_lose_nothing_and_deliver_nothing_twice(
    place: Place, design: str
) -> None:
    layout = place.made(design, ring_size=256)
    crowd = Crowd(place, layout, each=25, kills=20, seed=len(design))
    crowd.run()
    assert crowd.killed == 20
    assert crowd.ledger() == (crowd.messages, crowd.messages, 0)
