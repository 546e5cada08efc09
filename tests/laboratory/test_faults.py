"""Each cause injected once, side by side: named rightly, in time, with its culprit, and nothing else is said."""

from __future__ import annotations

import pytest

from tests.laboratory import locks, poppers, rings, sight
from tests.laboratory.case import HOLDS
from tests.laboratory.confusion import table
from tests.laboratory.laboratory import laboratory

CASES = tuple(case for case in (*poppers.CASES, *locks.CASES, *rings.CASES, *sight.CASES) if case.verdict in HOLDS)


@pytest.mark.alone
def test_each_cause_is_named_in_time_and_nothing_else_is_said() -> None:
    with laboratory(CASES, ("status", "ring", "batch_fast")) as lab:
        outcomes = [*lab.run(CASES), *lab.undisturbed()]
    print(table(outcomes))
    assert [each for each in outcomes if each.faults] == [], table(outcomes)
