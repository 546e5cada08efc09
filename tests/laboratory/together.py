"""Causes injected at the same time: in queues of one server, or on whole servers."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from qmon.model.forecast import Trend
from tests.laboratory import consumers, locks, messages, rings, shape, sight, target
from tests.laboratory.case import HOLDS, Case, Outcome
from tests.laboratory.foretold import summary
from tests.laboratory.laboratory import laboratory
from tests.laboratory.runs import LIVE

GROUPS = (consumers.CASES, locks.CASES, rings.CASES, messages.CASES, sight.CASES)
# Causes whose verdict does not exist are skipped.
CASES = tuple(case for group in GROUPS for case in group if case.verdict in HOLDS)
TARGET_CASES = tuple(case for case in target.CASES if case.verdict in HOLDS)
# Designs of the queues without faults.
WITNESSES = ("status", "ring", "batch_fast")


def queues(*, again: bool = False, more: Sequence[Case] = ()) -> list[Outcome]:
    """Causes in one queue each, all at the same time. Two other queues drain, and their forecasts are checked."""
    cases = (*(case for case in CASES if not case.alone and not case.patient), *more)
    with laboratory(cases, WITNESSES, drains=LIVE) as lab:
        outcomes = [*lab.run(cases, again=again), *shape.outcomes(lab.server, again=again), *lab.undisturbed()]
        drained = lab.foretold()
    for each in drained:  # many runs judge the bands; here it must only be near
        assert each.trend is not Trend.GROWING, summary(drained)
        assert each.truth is not None, summary(drained)
        near = abs(each.said - each.truth) <= max(each.band, 0.5 * each.said)
        assert near or each.trend is not Trend.DRAINING, summary(drained)
    return outcomes


def whole(*, again: bool = False) -> list[Outcome]:
    """Causes that affect a whole server, on two servers at the same time. At the end the first is stopped."""
    with ThreadPoolExecutor(2) as pool:
        parts = pool.map(partial(_in_all, again=again), (TARGET_CASES[:1], TARGET_CASES[1:]))
        return [each for found in parts for each in found]


def _in_all(cases: Sequence[Case], *, again: bool) -> list[Outcome]:
    with laboratory(cases, ("naive", "flag"), target.SETTINGS) as lab:
        outcomes = [*lab.in_turn(cases, again=again), *lab.undisturbed()]
        return [*outcomes, target.exhausted(lab), target.stopped(lab)] if TARGET_CASES[0] in cases else outcomes


def patient(*, again: bool = False) -> list[Outcome]:
    """Causes whose readings cover minutes, at the same time."""
    cases = tuple(case for case in CASES if case.patient)
    with laboratory(cases, WITNESSES[:1]) as lab:
        return [*lab.run(cases, again=again), *lab.undisturbed()]


def alone() -> list[Outcome]:
    """Causes that need a server of their own, one after the other; long form only."""
    outcomes: list[Outcome] = []
    for case in (case for case in CASES if case.alone):
        with laboratory((case,), WITNESSES[:1]) as lab:
            outcomes += [lab.one(case), *lab.undisturbed()]
    return outcomes


def crowd() -> list[Outcome]:
    """Causes that take all processors; long form only."""
    cases = tuple(case for case in target.CROWDED if case.verdict in HOLDS)
    with laboratory(cases, ()) as lab:
        return lab.in_turn(cases)
