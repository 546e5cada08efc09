"""Nothing is lost and nothing delivered twice, on every engine there is: sixteen sessions, kills and rollbacks."""

from __future__ import annotations

import pytest

from tests.contract.anywhere import Place
from tests.contract.anywhere_crowd import Crowd
from tests.queues import DESIGNS


@pytest.mark.parametrize("design", [design for design in DESIGNS if design != "ring_classic"])
def test_sixteen_sessions_that_roll_back_and_are_killed_lose_nothing_and_deliver_nothing_twice(
    place: Place, design: str
) -> None:
    layout = place.made(design, ring_size=256)
    crowd = Crowd(place, layout, each=25, kills=20, seed=len(design))
    crowd.run()
    assert crowd.killed == 20
    assert crowd.ledger() == (crowd.messages, crowd.messages, 0)
