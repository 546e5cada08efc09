"""All designs under healthy, bursty, mixed load for a while: every verdict is healthy or empty.

The long form is ``make soak ARGS=--laboratory``.
"""

from __future__ import annotations

from tests.laboratory.healthy import calm, runs
from tests.queues import DESIGNS


def test_nothing_is_said_about_healthy_queues() -> None:
    found = calm(12)
    print(found)
    assert found.false == {}, str(found)
    assert found.said["healthy"] + found.said["empty"] == found.polls * len(DESIGNS)
    assert found.said["healthy"] > found.polls
    assert {run.design for run in runs()} == set(DESIGNS)
