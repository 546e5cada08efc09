"""No verdict without evidence: data that is unknown, old or incomplete is never called healthy or empty."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from qmon.model.alerts.alert_rules import AlertRule, evaluate_rule
from qmon.model.counts import TableCount
from qmon.model.figure import Figure, Severity
from qmon.model.layout.layout import Layout, ObjectName, Ring, StateColumn
from qmon.model.operation_records import Side
from qmon.model.reasons import Reason
from qmon.model.samples.polled_samples import (
    HeadSample,
    HeldSample,
    PauseSample,
    ProgressSample,
    ServerSample,
    WriterSample,
)
from qmon.model.snapshot import ProbeFailure, QueueSamples, Snapshot
from qmon.model.verdicts import RuleInput, judge_queue
from qmon.model.verdicts.judge import JudgeText
from qmon.model.view import QueueView
from qmon.monitor.state.sample_figures import FigureText
from qmon.monitor.state.target_history import TargetHistory
from tests.unit.rule_inputs import FINE

T = ObjectName("public", "t")
STATUS = Layout("q", "status", T, id="id", state=StateColumn("st", 1, 2), started_at="at", timeout_s=300.0)
UNTIMED = replace(STATUS, started_at=None)
FIFO = Layout("q", "fifo", T, id="id", timeout_s=300.0)
RING = Layout("q", "ring", T, ring=Ring(100, ObjectName("p", "a"), ObjectName("p", "b")))
NO_INDEX = "no index leads to the rows in progress"


def said(signs: RuleInput) -> tuple[str, str]:
    """Return the worst verdict of the first poll and its proof."""
    verdict = judge_queue(signs, 0.0, {})[0][0]
    return verdict.code, verdict.proof


@pytest.mark.parametrize("figure", ["ready", "in_progress", "stuck"])
@pytest.mark.parametrize(
    ("bad", "why"),
    [
        (Figure.unknown("never counted"), JudgeText.UNKNOWN.render(reason="never counted")),
        (
            Figure(0.0).as_lower_bound("row level security hides rows"),
            JudgeText.PARTLY_KNOWN.render(reason="row level security hides rows"),
        ),
        (Figure(0.0, at_least=True, reason="watched"), JudgeText.PARTLY_KNOWN.render(reason="watched")),
        (
            Figure(0.0, age_s=7.0).mark_old(6.0).evidence,
            JudgeText.UNKNOWN.render(reason=Reason.LAST_READ.render(age="7.0 s")),
        ),
    ],
)
def test_one_figure_without_evidence_is_enough_to_tell_nothing(figure: str, bad: Figure, why: str) -> None:
    signs = replace(FINE, ready=Figure(0.0), in_progress=Figure(0.0), stuck=Figure(0.0))
    assert said(signs)[0] == "empty"
    changes: dict[str, Any] = {figure: bad}
    code, proof = said(replace(signs, **changes))
    assert (code, proof) == ("cannot tell", JudgeText.IS.render(figures=figure.replace("_", " "), why=why))


def test_figures_that_lack_for_one_reason_are_named_together() -> None:
    signs = replace(FINE, in_progress=Figure.unknown(NO_INDEX), stuck=Figure.unknown(NO_INDEX))
    assert said(signs) == (
        "cannot tell",
        JudgeText.ARE.render(figures="in progress and stuck", why=JudgeText.UNKNOWN.render(reason=NO_INDEX)),
    )
    failure = ProbeFailure("progress", "permission denied", "q", "GRANT SELECT ON t TO me")
    signs = replace(FINE, stuck=Figure.unknown(Reason.NOT_READ_IN_THIS_POLL), failures=(failure,))
    assert said(signs)[1] == JudgeText.IS.render(
        figures="stuck", why=JudgeText.UNKNOWN.render(reason="permission denied; GRANT SELECT ON t TO me")
    )


def test_what_a_layout_has_not_need_not_be_known() -> None:
    ring = replace(FINE, layout=RING, stuck=Figure.unknown("nothing stays in progress"))
    assert said(ring)[0] == "healthy"
    assert not RING.has_figure("stuck")
    assert STATUS.has_figure("stuck")
    assert UNTIMED.has_figure("stuck")
    assert FIFO.has_figure("stuck")


def test_a_bounded_count_is_evidence_that_messages_are_there_and_none_that_they_are_not() -> None:
    deep = Figure(1000.0, at_least=True, reason=Reason.MORE_THAN_COUNTED)
    assert said(replace(FINE, ready=deep, in_progress=deep))[0] == "healthy"
    assert said(replace(FINE, ready=deep.as_lower_bound("a policy")))[0] == "cannot tell"


def test_a_count_of_a_while_ago_does_not_prove_that_a_queue_is_empty() -> None:
    counted = Figure(0.0, estimated=True, age_s=40.0, every_s=60.0).mark_old(6.0)
    assert not counted.old
    assert said(replace(FINE, ready=counted, in_progress=Figure(0.0)))[0] == "healthy"
    assert Figure(0.0, age_s=97.0, every_s=60.0).mark_old(6.0).old


def test_a_pause_does_not_hide_what_is_not_known() -> None:
    pause = PauseSample("q", "", Side.PRODUCERS, 1.0, 2e9, "ada", "", "switch")
    verdicts, _ = judge_queue(replace(FINE, pauses=(pause,), stuck=Figure.unknown(NO_INDEX)), 0.0, {})
    assert [v.code for v in verdicts] == ["paused", "cannot tell"]
    stuck, _ = judge_queue(replace(FINE, stuck=Figure(2.0), in_progress=Figure.unknown(NO_INDEX)), 0.0, {})
    assert [v.code for v in stuck] == ["stuck in progress"]


def polled(
    sample: QueueSamples,
    at: float = 1_000.0,
    history: TargetHistory | None = None,
    *,
    sees_sessions: bool = True,
    **more: object,
) -> QueueView:
    """Return one poll's view of a queue. ``more``: fields of the snapshot."""
    server = ServerSample(at, 1.0, None, False, 5, 10, 0, 0, sees_sessions)
    snapshot = Snapshot("t", "postgres", "18.6", 1, at, at, 3.0, 1.5, 10, 2.0, server, (sample,), **more)  # type: ignore[arg-type]
    (queue,) = (history or TargetHistory()).record_snapshot(snapshot).queues
    return queue


EMPTY_HEAD = HeadSample(None, None, 0)


def test_a_table_whose_messages_in_progress_no_index_leads_to_is_not_called_empty() -> None:
    slow = {"in_progress": NO_INDEX, "stuck": NO_INDEX}
    queue = polled(QueueSamples(STATUS, head=EMPTY_HEAD, head_limit=1001, unknown=slow))
    assert queue.verdict.code == "cannot tell"
    assert queue.verdict.proof == JudgeText.ARE.render(
        figures="in progress and stuck", why=JudgeText.UNKNOWN.render(reason=NO_INDEX)
    )
    assert queue.verdict.severity is Severity.NOTICE
    counted = TableCount(990.0, 0.0, 60.0, 1, 0, 500)
    queue = polled(QueueSamples(STATUS, head=EMPTY_HEAD, head_limit=1001, unknown=slow, count=counted))
    assert (queue.in_progress.value, queue.in_progress.estimated, queue.in_progress.age_s) == (500.0, True, 10.0)
    assert queue.verdict.code == "cannot tell"


def test_without_a_start_time_stuck_is_known_once_it_was_watched_for_as_long() -> None:
    history = TargetHistory()

    def poll(at: float) -> QueueView:
        working = ProgressSample(2, 2, None, None)
        sample = QueueSamples(UNTIMED, head=EMPTY_HEAD, head_limit=1001, progress=working, in_progress_ids=("1", "2"))
        return polled(sample, at, history)

    assert poll(1_000.0).verdict.code == "cannot tell"
    queue = [poll(1_000.0 + second) for second in range(2, 300, 2)][-1]
    assert (queue.verdict.code, queue.stuck.value, queue.stuck.at_least) == ("cannot tell", 0.0, True)
    assert queue.verdict.proof == JudgeText.IS.render(
        figures="stuck",
        why=JudgeText.PARTLY_KNOWN.render(
            reason=FigureText.WATCHED_WITHOUT_START.render(
                watched=FigureText.SHARE_WATCHED.render(seen="4 m 58 s", timeout="5 m 00 s")
            )
        ),
    )
    assert poll(1_302.0).verdict.code == "stuck in progress"
    none = QueueSamples(UNTIMED, head=EMPTY_HEAD, head_limit=1001, progress=ProgressSample(0, 0, None, None))
    assert polled(none).verdict.code == "empty"


HELD = QueueSamples(FIFO, head=HeadSample("1", 1.0, 3), head_limit=1001, held=(HeldSample("700", 3, True),))


def writer(age_s: float | None) -> WriterSample:
    return WriterSample("700", 61, age_s, "idle in transaction", "app")


def test_where_a_pop_deletes_stuck_is_told_by_the_age_of_the_transactions_that_hold_rows() -> None:
    assert polled(HELD, writers=(writer(5.0),)).stuck == Figure(0.0)
    assert polled(HELD, writers=(writer(400.0),)).verdict.code == "stuck in progress"
    hidden = polled(HELD, writers=(writer(None),))
    assert hidden.stuck.value == 0.0
    assert hidden.stuck.at_least
    assert hidden.verdict.code == "cannot tell"
    unread = replace(HELD, held=None)
    young = polled(unread, writers=(writer(5.0),))
    assert young.stuck == Figure(0.0), "no transaction is old enough"
    assert young.verdict.proof == JudgeText.UNMOVED.render(ready=3, reason=Reason.COUNTERS_UNREAD)
    assert polled(unread, writers=(writer(400.0),)).verdict.code == "cannot tell"
    assert polled(unread).verdict.code == "cannot tell"


def test_a_role_that_sees_a_part_of_the_rows_marks_every_count_of_them() -> None:
    sample = QueueSamples(STATUS, head=EMPTY_HEAD, head_limit=1001, progress=ProgressSample(0, 0, 0, None))
    assert polled(sample).verdict.code == "empty"
    queue = polled(replace(sample, partial="a policy hides rows from our role"))
    for figure in (queue.ready, queue.in_progress, queue.stuck):
        assert (figure.value, figure.at_least, figure.partial) == (0.0, True, True)
    assert queue.verdict.code == "cannot tell"
    assert "a policy hides rows from our role" in queue.verdict.proof


def test_a_limit_on_a_figure_that_is_old_or_not_known_cannot_be_told() -> None:
    rule = AlertRule("stuck", figure="stuck", crit=10.0)
    queue = polled(QueueSamples(STATUS, head=EMPTY_HEAD, head_limit=1001, progress=ProgressSample(0, 0, 0, None)))
    assert evaluate_rule(rule, queue, Severity.CRITICAL).met is False
    for figure in (replace(queue.stuck, old=True), Figure.unknown("?"), queue.stuck.as_lower_bound("a policy")):
        assert evaluate_rule(rule, replace(queue, stuck=figure), Severity.CRITICAL).met is None


def test_a_scan_that_found_nothing_stuck_says_so_only_as_long_as_nothing_can_have_become_stuck_since() -> None:
    slow = {"in_progress": NO_INDEX, "stuck": NO_INDEX}
    sample = QueueSamples(STATUS, head=EMPTY_HEAD, head_limit=1001, unknown=slow)

    def stuck(count: TableCount, at: float = 1_000.0) -> Figure:
        return polled(replace(sample, count=count), at).stuck

    young = TableCount(990.0, 0.0, 60.0, 1, 0, in_progress=3, stuck=0, longest_at=985.0, began_at=990.0)
    assert not stuck(young).at_least
    assert stuck(young, 1_290.0).at_least, "messages popped at 985 are stuck from 1285 on"
    none = TableCount(990.0, 0.0, 60.0, 1, 0, in_progress=0, stuck=0, began_at=990.0)
    assert not stuck(none, 1_289.0).at_least
    unwritten = replace(none, counted_at=1_289.0)
    assert not stuck(unwritten, 1_300.0).at_least, "the server has counted no writes"
    assert stuck(unwritten, 1_289.0 - 10.0 + 301.0).at_least, "work of the ten seconds before may not be counted yet"
