"""Motion: a queue without rates is healthy only while its head moves or its depth falls."""

from __future__ import annotations

from dataclasses import replace

import pytest

from qmon.model.evidence import Motion, QueueEvidence
from qmon.model.figure import Figure
from qmon.model.layout.layout import Layout, ObjectName, SharedTableQueue
from qmon.model.operation_records import Side
from qmon.model.samples.polled_samples import HeadSample, HeldSample
from qmon.model.snapshot import QueueSamples
from qmon.model.verdicts import RuleInput, judge_queue
from qmon.model.verdicts.flow_verdicts import STILL_S, FlowText
from qmon.model.verdicts.judge import Spans
from qmon.monitor.state.diagnosis import MotionTrack
from tests.unit.rule_inputs import FINE, paused

_FIFO = Layout("mails", "fifo", ObjectName("public", "mails"), id="id")
_NO_RATE = Figure.unknown("our role may not see counters")


def head(head_id: str | None, counted: int = 400, oldest_s: float | None = None, limit: int = 1001) -> QueueSamples:
    """One poll that read the head."""
    return QueueSamples(_FIFO, head=HeadSample(head_id, oldest_s, counted), head_limit=limit)


def seen(*polls: QueueSamples, every_s: float = 10.0) -> Motion | None:
    """Feed these polls to a new track."""
    track, motion = MotionTrack(), None
    for number, q in enumerate(polls):
        motion = track.record_poll(q, 1_000.0 + number * every_s)
    return motion


def unrated(motion: Motion | None, q: QueueSamples | None = None, **fields: object) -> RuleInput:
    """A queue of 400 ready messages without rates."""
    given = replace(
        FINE,
        ready=Figure(400.0),
        in_progress=Figure(0.0),
        oldest=Figure(3_000.0),
        push_rate=_NO_RATE,
        pop_rate=_NO_RATE,
        net_rate=None,
        layout=_FIFO,
        samples=q or head("17"),
        queue=QueueEvidence(motion=motion),
    )
    return replace(given, **fields)  # type: ignore[arg-type]  # the names are checked by replace


def code(given: RuleInput, before: Spans | None = None) -> str:
    """Return the verdict after each sign has lasted for its hold time."""
    _, spans = judge_queue(given, 1_000.0, before or {})
    return judge_queue(given, 1_060.0, spans)[0][0].code


def test_the_first_poll_shows_no_motion() -> None:
    assert seen(head("1")) == Motion("1", 0.0, None)
    assert seen(QueueSamples(_FIFO)) is None


@pytest.mark.parametrize(
    "polls",
    [
        (head("1"), head("2")),
        (head("1", 400), head("1", 399)),
        (head("1", 1), head(None, 0)),
        (head(None, 9, oldest_s=50.0), head(None, 9, oldest_s=20.0)),
        (head("1", 1001), head("1", 1, limit=1), head("1", 990)),
    ],
)
def test_a_head_that_has_left_or_fewer_rows_are_motion(polls: tuple[QueueSamples, ...]) -> None:
    motion = seen(*polls)
    assert motion is not None
    assert motion.moved_s == 0.0


def test_the_first_message_of_an_empty_queue_is_no_motion() -> None:
    assert seen(head(None, 0), head("1", 1)) == Motion("1", 0.0, None)


@pytest.mark.parametrize(
    "polls",
    [
        (head("1"), head("1"), head("1")),
        (head("1", 400), head("1", 450), head("1", 460)),
        (head(None, 9, oldest_s=50.0), head(None, 9, oldest_s=60.2), head(None, 9, oldest_s=70.1)),
        (head("1", 1001), head("1", 1, limit=1), head("1", 1001)),
    ],
)
def test_the_same_head_and_as_many_rows_are_none(polls: tuple[QueueSamples, ...]) -> None:
    motion = seen(*polls)
    assert motion is not None
    assert (motion.still_s, motion.moved_s) == (20.0, None)


def test_a_head_that_is_no_longer_read_does_not_stand_still() -> None:
    motion = seen(head("1"), head("1"), *[QueueSamples(_FIFO)] * 20)
    assert motion == Motion("1", 10.0, None)


def test_a_head_does_not_stand_still_while_a_transaction_holds_rows() -> None:
    held, idle = HeldSample("700", 1, True), HeldSample("700", 1, False)
    assert seen(*[head("1")] * 3, replace(head("1"), held=(held,)), head("1")) == Motion("1", 10.0, None)
    assert seen(*[head("1")] * 3, replace(head("1"), locked=(held,)), head("1")) == Motion("1", 10.0, None)
    assert seen(*[head("1")] * 3, replace(head("1"), held=(idle,)), head("1")) == Motion("1", 40.0, None)


def test_what_happened_in_a_gap_is_unknown() -> None:
    track = MotionTrack()
    track.record_poll(head("1"), 0.0)
    assert track.record_poll(head("1"), 100.0) == Motion("1", 100.0, None)
    track.record_gap()
    assert track.record_poll(head("1"), 200.0) == Motion("1", 0.0, None), "as many were popped behind it as arrived"
    assert track.record_poll(head("1"), 230.0) == Motion("1", 30.0, None)


def test_a_queue_without_rates_is_healthy_only_while_it_moves() -> None:
    assert code(unrated(None)) == "cannot tell"
    assert code(unrated(Motion("17", 5.0, None))) == "cannot tell"
    assert code(unrated(Motion("17", 5.0, 5.0))) == "healthy"
    assert code(unrated(Motion("17", STILL_S, STILL_S))) == "no pops"
    assert code(unrated(None, ready=Figure(0.0), in_progress=Figure(1.0))) == "healthy", "there is no message to pop"
    assert code(unrated(None, pauses=paused(Side.CONSUMERS))) == "paused"


def test_a_queue_seen_well_stays_so_in_the_polls_in_which_its_rate_is_not_known() -> None:
    _, since = judge_queue(FINE, 0.0, {})
    lost = unrated(None)
    (verdict,), since = judge_queue(lost, 10.0, since)
    assert verdict.code == "healthy"
    (verdict,), since = judge_queue(FINE, 12.0, since)
    (verdict,), since = judge_queue(lost, 10.0 + STILL_S, since)
    assert verdict.code == "healthy", "it was known in between"
    (verdict,), _ = judge_queue(lost, 10.0 + 2 * STILL_S, since)
    assert verdict.code == "cannot tell"


def test_no_pops_names_the_message_that_stays_at_the_head() -> None:
    given = unrated(Motion("17", 3_000.0, None))
    _, since = judge_queue(given, 1_000.0, {})
    (verdict,), _ = judge_queue(given, 1_010.0, since)
    assert verdict.proof == FlowText.HEAD_STILL.render(
        ready=400,
        which=FlowText.MESSAGE.render(message="17"),
        age=FlowText.AGE.render(age="50 m 00 s"),
        still="50 m 00 s",
        unseen="",
    )


def test_a_head_that_stays_proves_nothing_while_other_messages_leave_unseen() -> None:
    """They were popped behind a head that was locked between two polls."""
    stays = unrated(Motion("17", 3_000.0, None))
    assert code(stays) == "no pops"
    _, raised = judge_queue(stays, 990.0, {})
    _, raised = judge_queue(stays, 1_000.0, raised)
    (verdict, *_), _ = judge_queue(replace(stays, pops_unseen=True), 1_002.0, raised)
    assert verdict.code != "no pops"


def test_without_locks_a_head_must_stay_for_the_timeout_where_deleted_rows_are_not_seen() -> None:
    unseen = replace(head("17"), held=None, held_counted=False)
    timeout = unseen.layout.timeout_s
    assert timeout > STILL_S
    given = replace(unrated(Motion("17", timeout, None)), samples=unseen)
    _, since = judge_queue(given, 1_000.0, {})
    (verdict,), _ = judge_queue(given, 1_010.0, since)
    assert verdict.code == "no pops"
    assert verdict.proof.endswith(FlowText.LOCK_UNKNOWN)
    young = replace(given, queue=replace(given.queue, motion=Motion("17", timeout - 1.0, None)))
    assert code(young) == "cannot tell"
    deep = replace(given, ready=Figure(1_000.0, at_least=True))
    assert code(deep) == "cannot tell", "pops behind the head are not visible"


@pytest.mark.parametrize(
    "q",
    [
        replace(head("17"), held=(HeldSample("700", 1, True),)),
        replace(head("17"), held=None),
        replace(head("17"), locked=(HeldSample("700", 1, True),)),
        replace(head("17"), partial="a policy hides rows"),
        replace(head("17"), layout=replace(_FIFO, design="lifo")),
        replace(head("17"), layout=replace(_FIFO, priority="priority")),
        replace(head("17"), layout=replace(_FIFO, part=SharedTableQueue("oban", "mails"))),
    ],
    ids=["held", "holders unknown", "locked", "hidden rows", "a stack", "priorities", "a library"],
)
def test_where_others_may_be_popped_before_the_head_nothing_is_proved(q: QueueSamples) -> None:
    still = unrated(Motion("17", 3_000.0, None), q, layout=q.layout, oldest=Figure(1.0))
    assert code(still) == "cannot tell"
