"""Pushes that fail: rows that were rolled back, and numbers without a message in a database with rollbacks."""

from __future__ import annotations

from dataclasses import replace

import pytest

from qmon.model.evidence import QueueEvidence, TargetEvidence
from qmon.model.layout.layout import Layout
from qmon.model.rates.flow import Flow
from qmon.model.samples.polled_samples import CounterSample
from qmon.model.snapshot import QueueSamples
from qmon.model.trend import FailedPushes
from qmon.model.verdicts import judge_queue
from qmon.model.verdicts.flow_verdicts import FlowText
from qmon.monitor.state.failed_pushes import PUSHES_S, FailedPushTrack
from tests.unit.rule_inputs import FINE, LAYOUT


def sampled(inserted: int, last_id: int | None, layout: Layout = LAYOUT) -> QueueSamples:
    counters = CounterSample(1, inserted, 0, 0, 0, 0, 0, 0, 0, 0, 0)
    return QueueSamples(layout, counters=counters, last_id=last_id)


def found(inserted: int, drawn: int, pushed: int, rollbacks: float | None, polls: int = 10) -> FailedPushes | None:
    """Return the finding after polls with these rows inserted, numbers drawn and messages pushed in each second."""
    track, result = FailedPushTrack(), None
    for poll in range(1, polls + 1):
        before, now = (sampled(inserted * each, drawn * each) for each in (poll - 1, poll))
        flow = Flow(float(pushed), 0.0, None, 0.0)
        result = track.record_poll(float(poll), before, now, flow, rollbacks)
    return result


def test_rows_that_were_rolled_back_are_failed_pushes() -> None:
    assert found(10, 10, 2, None) == FailedPushes(80.0, 20.0, 9.0), "the server does not count rollbacks"
    assert found(10, 10, 6, 4.0) is None, "most pushes succeed"
    assert found(1, 1, 0, 1.0, polls=9) is None, "too few"
    assert found(1, 1, 0, 1.0) == FailedPushes(10.0, 0.0, 9.0)


@pytest.mark.parametrize(("rollbacks", "fails"), [(10.0, True), (4.0, False), (0.0, False), (None, False)])
def test_a_number_without_a_message_is_a_failed_push_only_if_transactions_were_rolled_back(
    rollbacks: float | None, fails: bool
) -> None:
    assert (found(1, 10, 1, rollbacks) is not None) == fails


def test_failed_pushes_are_forgotten() -> None:
    track, flow = FailedPushTrack(), Flow(0.0, 0.0, None, 0.0)
    assert track.record_poll(1.0, sampled(0, 0), sampled(20, 20), flow, 0.0) == FailedPushes(20.0, 0.0, 0.0)
    assert track.record_poll(2.0, sampled(20, 20), sampled(20, 20), None, 0.0) is not None, "not read"
    assert track.record_poll(1.0 + PUSHES_S, sampled(20, 20), sampled(20, 20), None, 0.0) is None


def test_failed_pushes_are_a_verdict_with_the_rollbacks() -> None:
    evidence = QueueEvidence(failed_pushes=FailedPushes(148.0, 2.0, 15.0))
    context = replace(FINE, queue=evidence, target=TargetEvidence(rollbacks=9.9))
    _, spans = judge_queue(context, 0.0, {})
    verdicts, _ = judge_queue(context, 5.0, spans)
    assert verdicts[0].code == "pushes fail"
    rollbacks = FlowText.ROLLBACKS.render(rate=9.9)
    assert verdicts[0].proof == FlowText.PUSHES_FAIL.render(time="15 s", failed=148.0, pushed=2.0, rollbacks=rollbacks)
