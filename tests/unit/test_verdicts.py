"""Verdicts: each sign, its hold time, and that healthy queues stay healthy."""

from __future__ import annotations

from dataclasses import replace

import pytest

from qmon.model.figure import Figure, Severity
from qmon.model.layout.layout import Layout, ObjectName, SharedTableQueue
from qmon.model.operation_records import OperationText, Side
from qmon.model.snapshot import ProbeFailure
from qmon.model.verdicts import RuleInput, judge_queue
from qmon.model.verdicts.flow_verdicts import FlowText
from qmon.model.verdicts.judge import JudgeText
from tests.unit.rule_inputs import FINE, paused


def after(signs: RuleInput, seconds: float) -> tuple[str, str]:
    """Return the verdict after the sign has lasted for this number of seconds."""
    _, since = judge_queue(signs, 1000.0, {})
    verdict = judge_queue(signs, 1000.0 + seconds, since)[0][0]
    return verdict.code, verdict.proof


def test_healthy_and_empty() -> None:
    assert after(FINE, 60)[0] == "healthy"
    assert after(replace(FINE, ready=Figure(0), in_progress=Figure(0)), 60)[0] == "empty"


def test_stuck_is_said_at_once_with_its_number() -> None:
    code, proof = after(replace(FINE, stuck=Figure(7)), 0)
    assert code == "stuck in progress"
    assert proof == FlowText.LATE.render(count="7", longer=FlowText.LATE_BY_TIMEOUT.render(timeout="5 m 00 s"))


def test_where_messages_say_themselves_how_long_they_may_take_stuck_names_no_time() -> None:
    part = SharedTableQueue("pg-boss", "mails", own_timeout=True)
    layout = Layout("pg-boss/mails", "pg-boss", ObjectName("s", "job"), id="id", part=part)
    proof = after(replace(FINE, stuck=Figure(7), layout=layout), 0)[1]
    assert proof == FlowText.LATE.render(count="7", longer=FlowText.LATE_BY_OWN_TIMEOUT)
    layout = replace(layout, part=replace(part, own_timeout=False))
    assert after(replace(FINE, stuck=Figure(7), layout=layout), 0)[1] == FlowText.LATE.render(
        count="7", longer=FlowText.LATE_BY_TIMEOUT.render(timeout="5 m 00 s")
    )


def test_outrun_needs_thirty_seconds() -> None:
    signs = replace(FINE, ready=Figure(5000), push_rate=Figure(100.0), pop_rate=Figure(60.0), net_rate=40.0)
    assert after(signs, 29)[0] == "healthy"
    code, proof = after(signs, 30)
    assert code == "consumers fall behind"
    assert proof == FlowText.FALLS_BEHIND.render(push=100.0, pop=60.0, net=40.0)


@pytest.mark.parametrize("side", Side)
def test_nothing_outruns_anything_while_a_side_is_paused(side: Side) -> None:
    signs = replace(FINE, ready=Figure(5000), push_rate=Figure(100.0), pop_rate=Figure(60.0), net_rate=40.0)
    assert after(replace(signs, pauses=paused(side)), 30)[0] == "paused"


def test_no_pops_is_worse_than_outrun_and_needs_ten_seconds() -> None:
    signs = replace(FINE, pop_rate=Figure(0.0), net_rate=50.0)
    code, proof = after(signs, 8)
    assert code == "cannot tell"
    assert proof.endswith(JudgeText.IF_THIS_LASTS.render(proof="", verdict="no pops", age="2.0 s"))
    assert after(signs, 10)[0] == "no pops"


def test_a_sign_that_goes_away_starts_its_hold_time_anew() -> None:
    signs = replace(FINE, pop_rate=Figure(0.0))
    _, since = judge_queue(signs, 0.0, {})
    _, since = judge_queue(FINE, 6.0, since)
    (verdict,), since = judge_queue(signs, 8.0, since)
    assert verdict.code == "healthy"
    assert (since["no pops"].first_at, since["healthy"].first_at) == (8.0, 6.0)


def test_a_queue_that_was_never_seen_well_is_not_called_healthy_while_a_critical_sign_has_yet_to_last() -> None:
    still = replace(FINE, pop_rate=Figure(0.0))
    unknown = Figure.unknown("rates follow")
    (verdict,), since = judge_queue(replace(FINE, push_rate=unknown, pop_rate=unknown), 0.0, {})
    assert verdict.code == "cannot tell"
    for at in (2.0, 6.0):
        (verdict,), since = judge_queue(still, at, since)
        assert (verdict.code, verdict.severity) == ("cannot tell", Severity.NOTICE)
    (verdict,), since = judge_queue(FINE, 8.0, since)
    assert verdict.code == "healthy"
    (verdict,), since = judge_queue(still, 10.0, since)
    assert verdict.code == "healthy"
    (verdict,), _ = judge_queue(replace(still, net_rate=50.0), 10.0, {})
    assert verdict.code == "cannot tell"
    (verdict,), _ = judge_queue(replace(FINE, ready=Figure(9_000.0), net_rate=50.0), 10.0, {})
    assert verdict.code == "healthy", "growth is a warning, with the rates in the line"


def test_full_ring() -> None:
    code, proof = after(replace(FINE, fill=Figure(1.0)), 5)
    assert (code, proof) == ("ring full", FlowText.RING_FULL.render(share="100 %"))


def test_cannot_see_names_the_grant() -> None:
    failure = ProbeFailure("head", "permission denied for table q", "q", "GRANT SELECT ON q TO monitor")
    (verdict,), _ = judge_queue(replace(FINE, ready=Figure.unknown("not read"), failures=(failure,)), 0.0, {})
    assert verdict.code == "cannot see"
    assert verdict.proof == "permission denied for table q; GRANT SELECT ON q TO monitor"
    assert verdict.severity is Severity.CRITICAL


def test_unknown_depth_is_not_called_healthy() -> None:
    (verdict,), _ = judge_queue(replace(FINE, ready=Figure.unknown("a count is under way")), 0.0, {})
    assert (verdict.code, verdict.proof) == (
        "cannot tell",
        JudgeText.IS.render(figures="ready", why=JudgeText.UNKNOWN.render(reason="a count is under way")),
    )


def test_paused_is_said_at_once_by_whom_until_when_and_why() -> None:
    code, proof = after(replace(FINE, ready=Figure(0), in_progress=Figure(0), pauses=paused(Side.PRODUCERS)), 0)
    assert (code, proof) == (
        "paused",
        OperationText.PAUSED.render(side="producers", who="anna@app-7", time="08:00:00 UTC", reason=": [deploy]"),
    )


def test_what_paused_consumers_do_not_do_is_no_trouble_but_stuck_messages_are() -> None:
    still = replace(FINE, pop_rate=Figure(0.0), net_rate=50.0, pauses=paused(Side.CONSUMERS))
    assert after(still, 60)[0] == "paused"
    assert after(replace(still, pauses=paused(Side.PRODUCERS)), 60)[0] == "no pops"
    assert after(replace(still, stuck=Figure(3)), 60)[0] == "stuck in progress"
