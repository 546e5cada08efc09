"""Inject each cause at the same time: qmon names it correctly, in time, with its culprit, and reports nothing else."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from qmon.demo.embedded_server import EmbeddedServer
from tests.laboratory import shape, target, upkeep
from tests.laboratory.case import Case
from tests.laboratory.confusion import table
from tests.laboratory.laboratory import SETTINGS, laboratory
from tests.laboratory.together import CASES, TARGET_CASES, WITNESSES, patient, queues, whole


@pytest.mark.soak
@pytest.mark.parametrize("case", (*CASES, *TARGET_CASES, *upkeep.CASES), ids=lambda case: case.queue)
def test_one_cause_by_itself(case: Case) -> None:
    with laboratory((case,), WITNESSES[:1], target.SETTINGS if case in TARGET_CASES else None) as lab:
        outcome = lab.one(case)
    assert outcome.faults == (), table([outcome])


@pytest.mark.soak
@pytest.mark.parametrize("case", shape.CASES, ids=lambda case: case.queue)
def test_a_state_that_is_new_to_qmon_by_itself(case: Case) -> None:
    with EmbeddedServer(settings=SETTINGS) as server:
        (outcome,) = shape.outcomes(server, (case,))
    assert outcome.faults == (), table([outcome])


@pytest.mark.soak
def test_exhausted_sessions_by_themselves() -> None:
    with laboratory((), WITNESSES[:1], SETTINGS) as lab:
        outcome = target.exhausted(lab)
    assert outcome.faults == (), table([outcome])


@pytest.mark.alone
def test_each_cause_is_named_in_time_and_nothing_else_is_said() -> None:
    with ThreadPoolExecutor(2) as pool:
        outcomes = [each for found in pool.map(lambda part: part(again=True), (queues, whole)) for each in found]
    print(table(outcomes))
    assert [each for each in outcomes if each.faults] == [], table(outcomes)


@pytest.mark.long
@pytest.mark.timeout(600)
def test_causes_whose_readings_cover_minutes_are_named_in_time() -> None:
    outcomes = patient(again=True)
    print(table(outcomes))
    assert [each for each in outcomes if each.faults] == [], table(outcomes)
