"""Priority starved: one head stays while the heads of others move."""

from __future__ import annotations

from dataclasses import replace

from qmon.model.evidence import QueueEvidence, Starved
from qmon.model.figure import Figure
from qmon.model.samples.message_samples import MessageDiagnostics, PrioritySample
from qmon.model.verdicts import judge_queue
from qmon.model.verdicts.flow_verdicts import FlowText
from qmon.monitor.state.message_faults import PriorityTrack
from tests.unit.rule_inputs import FINE

LOW = Starved(9, "812", 20.0, 840.0, 5)


def said(starved: Starved | None, seconds: float = 10.0, pops: float = 40.0) -> dict[str, str]:
    signs = replace(FINE, queue=QueueEvidence(starved=starved), recent_pop_rate=Figure(pops))
    _, since = judge_queue(signs, 100.0, {})
    return {v.code: v.proof for v in judge_queue(signs, 100.0 + seconds, since)[0]}


def test_a_head_that_stays_while_others_are_popped() -> None:
    assert said(LOW) == {
        "priority starved": FlowText.STARVED.render(
            priority=9, message="812", age=FlowText.AGE.render(age="14 m 00 s"), still="20 s", pops=40.0
        )
    }
    assert said(LOW, 9.9).keys() == {"healthy"}
    for fine in (replace(LOW, still_s=19.9), replace(LOW, others=4), None):
        assert said(fine, 60.0).keys() == {"healthy"}
    assert "priority starved" not in said(LOW, 60.0, pops=0.0)


def heads(*pairs: tuple[int, str]) -> MessageDiagnostics:
    return MessageDiagnostics(priorities=tuple(PrioritySample(priority, head, 5.0) for priority, head in pairs))


def test_moves_of_other_heads_are_counted_while_one_stays() -> None:
    track = PriorityTrack()
    assert track.record_poll(heads((1, "a"), (9, "z")), 0.0) is None
    assert track.record_poll(heads((1, "b"), (9, "z")), 2.0) == Starved(9, "z", 2.0, 5.0, 1)
    assert track.record_poll(heads((9, "z")), 4.0) == Starved(9, "z", 4.0, 5.0, 2)
    assert track.record_poll(heads((1, "c"), (9, "z")), 6.0) == Starved(9, "z", 6.0, 5.0, 2)
    assert track.record_poll(heads((1, "c"), (9, "y")), 8.0) == Starved(1, "c", 2.0, 5.0, 1)
    assert track.record_poll(heads((1, "d"), (9, "x")), 10.0) is None
    assert track.record_poll(MessageDiagnostics(), 12.0) is None
