"""Known problems come before unknown figures: among verdicts, in their lines, in a check and on the overview."""

from __future__ import annotations

from dataclasses import replace

import pytest

from qmon.model.alerts.target_check import CheckState
from qmon.model.alerts.target_check import check_target as check
from qmon.model.figure import Figure, Severity, Verdict
from qmon.model.ranking import Ranking
from qmon.model.snapshot import ProbeFailure
from qmon.model.verdicts import RuleInput, judge_queue
from qmon.model.verdicts.flow_verdicts import FlowText
from qmon.model.verdicts.judge import JudgeText, Spans
from qmon.tui.overview.summary import SummaryText, summary_line
from tests.tui.scripted import queue, view
from tests.unit.rule_inputs import FINE

pytestmark = pytest.mark.unit

UNKNOWN = Figure.unknown("no index leads to them")
GROWS = replace(
    FINE, ready=Figure(882.0), push_rate=Figure(8.0), pop_rate=Figure(0.5), recent_pop_rate=Figure(0.5), net_rate=7.5
)
BLINDNESS = {
    "in progress": replace(GROWS, in_progress=UNKNOWN),
    "stuck": replace(GROWS, stuck=UNKNOWN),
    "both": replace(GROWS, in_progress=UNKNOWN, stuck=UNKNOWN),
    "oldest": replace(GROWS, oldest=UNKNOWN),
    "a failed probe": replace(GROWS, failures=(ProbeFailure("owners", "no answer", "orders"),)),
}


def over(given: RuleInput, seconds: int, spans: Spans | None = None) -> tuple[Verdict, ...]:
    """Return the verdicts after polls with the same figures, every 2 s."""
    spans = spans or {}
    verdicts: tuple[Verdict, ...] = ()
    for second in range(0, seconds + 1, 2):
        verdicts, spans = judge_queue(given, float(second), spans)
    return verdicts


@pytest.mark.parametrize("blind", BLINDNESS.values(), ids=BLINDNESS)
def test_what_is_not_known_hides_no_verdict(blind: RuleInput) -> None:
    assert [verdict.code for verdict in over(blind, 30)] == ["consumers fall behind"]


def test_a_trickle_of_pops_does_not_hide_that_the_queue_grows() -> None:
    spans: Spans = {}
    verdicts: tuple[Verdict, ...] = ()
    for second in range(31):
        recent = 0.0 if second % 6 > 1 else 0.5
        rates = {"pop_rate": Figure(0.0 if second % 10 == 4 else 0.5), "recent_pop_rate": Figure(recent)}
        verdicts, spans = judge_queue(replace(GROWS, **rates), float(second), spans)  # type: ignore[arg-type]
    assert [verdict.code for verdict in verdicts] == ["consumers fall behind"]


def test_no_pops_is_reported_without_what_follows_from_it() -> None:
    still = replace(GROWS, pop_rate=Figure(0.0), recent_pop_rate=Figure(0.0))
    assert [verdict.code for verdict in over(still, 60)] == ["no pops"]


def test_the_line_begins_with_the_sign_that_has_yet_to_last() -> None:
    (verdict,) = over(BLINDNESS["stuck"], 10)
    grows = JudgeText.IF_THIS_LASTS.render(
        proof=FlowText.FALLS_BEHIND.render(push=8.0, pop=0.5, net=7.5), verdict="consumers fall behind", age="20 s"
    )
    assert verdict.code == "cannot tell"
    assert verdict.proof == f"{grows}; " + JudgeText.IS.render(
        figures="stuck", why=JudgeText.UNKNOWN.render(reason="no index leads to them")
    )


def test_a_check_and_the_overview_put_trouble_before_what_is_not_known() -> None:
    outrun = over(BLINDNESS["stuck"], 30)[0]
    blind = Verdict("cannot tell", "stuck is unknown: no answer", Severity.NOTICE)
    seen = view((queue("a", ready=9_000, verdict=blind), queue("b", ready=882, verdict=outrun)))
    found = check(seen, ())
    assert found.state is CheckState.WARNING
    assert [(each.queue, each.state) for each in found.problems] == [
        ("b", CheckState.WARNING),
        ("a", CheckState.UNKNOWN),
    ]
    line = "".join(words for words, _ in summary_line(seen, Ranking().rank_queues(seen), 120))
    some = SummaryText.SOME_QUEUES.render(count=1, total=2, state=SummaryText.ONE_WARNING)
    unknown = SummaryText.ALSO.render(count=1, state=SummaryText.ONE_UNKNOWN)
    assert line == f" ▲ {some}{unknown}: b{SummaryText.READY.render(count='882')}."
