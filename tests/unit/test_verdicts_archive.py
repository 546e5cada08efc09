"""Archive behind: done messages that pile up while nothing is taken out."""

from __future__ import annotations

from dataclasses import replace

from qmon.model.evidence import Archiving, QueueEvidence
from qmon.model.figure import Figure
from qmon.model.samples.polled import CounterSample
from qmon.model.verdicts import judge
from qmon.monitor.state.diagnosis import ArchiveTrack
from tests.unit.test_verdicts import FINE

COUNTERS = CounterSample(1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 8192)


def said(archiving: Archiving | None, seconds: float = 10.0) -> dict[str, str]:
    signs = replace(FINE, queue=QueueEvidence(archiving=archiving))
    _, since = judge(signs, 100.0, {})
    return {v.code: v.proof for v in judge(signs, 100.0 + seconds, since)[0]}


def test_done_messages_that_grow_while_nothing_is_archived() -> None:
    never = Archiving(10_000, 45.0, 30.0, 40.0, None)
    assert said(never) == {
        "archive behind": "~10,000 done and not archived, growing 45.0/s; nothing was archived for 40 s"
    }
    assert said(never, 9.9).keys() == {"healthy"}
    for fine in (
        replace(never, done=9_999),
        replace(never, growth=0.0),
        replace(never, silent_s=19.9),
        replace(never, usual_s=14.0),
        None,
    ):
        assert said(fine, 60.0).keys() == {"healthy"}
    assert "archive behind" in said(replace(never, done=1_000, usual_s=10.0))
    assert said(replace(never, done=999, usual_s=10.0)).keys() == {"healthy"}


def test_the_longest_break_of_an_archiver_is_learnt_and_forgotten_at_a_reset() -> None:
    track = ArchiveTrack()
    polls = ((0.0, 50), (10.0, 50), (20.0, 60), (26.0, 70), (40.0, 90))
    found = [track.add(replace(COUNTERS, deleted=deleted), Figure(1_000 + at), at) for at, deleted in polls]
    assert found[-1] == Archiving(1_040.0, 1.0, 30.0, 0.0, 14.0)
    later = track.add(replace(COUNTERS, deleted=90), Figure(1_100.0), 70.0)
    assert later is not None
    assert (later.silent_s, later.usual_s, later.growth) == (30.0, 14.0, 2.0)
    assert track.add(COUNTERS, Figure(1_100.0), 72.0) == Archiving(1_100.0, 0.0, 0.0, 0.0, None)
    assert track.add(None, Figure(5.0), 74.0) is None
    assert track.add(COUNTERS, Figure.unknown("a flag"), 76.0) is None
