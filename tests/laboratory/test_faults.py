"""Each cause injected once, side by side: named rightly, in time, with its culprit, and nothing else is said."""

from __future__ import annotations

import pytest

from tests.laboratory import locks, messages, poppers, rings, sight
from tests.laboratory.case import HOLDS
from tests.laboratory.confusion import table
from tests.laboratory.laboratory import laboratory

GROUPS = (poppers.CASES, locks.CASES, rings.CASES, messages.CASES, sight.CASES)
CASES = tuple(case for group in GROUPS for case in group if case.verdict in HOLDS)
"""A cause whose verdict does not exist is not injected."""
WITNESSES = ("status", "ring", "batch_fast")
"""Designs of the queues that nobody disturbs."""


@pytest.mark.alone
def test_each_cause_is_named_in_time_and_nothing_else_is_said() -> None:
    with laboratory(CASES, WITNESSES) as lab:
        outcomes = [*lab.run(CASES), *lab.undisturbed()]
    print(table(outcomes))
    assert [each for each in outcomes if each.faults] == [], table(outcomes)
