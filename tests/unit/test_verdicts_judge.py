"""Judging: all verdicts that hold, the worst first, without those that merely follow; and what was said before."""

from __future__ import annotations

from dataclasses import replace

from qmon.model.figure import Figure, PastVerdict, Severity, Verdict
from qmon.model.verdicts import RULES, judge
from qmon.model.waits.locked import Locked
from qmon.monitor.state.verdict_log import VerdictLog
from tests.unit.test_verdicts import FINE

TWICE = replace(
    FINE, ready=Figure(5000), push_rate=Figure(100.0), pop_rate=Figure(60.0), net_rate=40.0, stuck=Figure(3)
)


def test_all_that_hold_are_given_the_worst_first() -> None:
    _, since = judge(TWICE, 0.0, {})
    verdicts, _ = judge(TWICE, 40.0, since)
    assert [v.code for v in verdicts] == ["stuck in progress", "pushers outrun poppers"]
    assert [v.since_at for v in verdicts] == [0.0, 0.0]


def test_what_merely_follows_is_left_out_and_holds_anew_when_its_cause_has_gone() -> None:
    still = replace(FINE, pop_rate=Figure(0.0), locked=Locked("session 61", "session 61 holds all"))
    _, since = judge(still, 0.0, {})
    (verdict,), since = judge(still, 60.0, since)
    assert verdict.code == "everything locked"
    freed = replace(still, locked=None)
    (verdict,), since = judge(freed, 62.0, since)
    assert verdict.code == "healthy"
    assert judge(freed, 71.9, since)[0][0].code == "healthy"
    assert judge(freed, 72.0, since)[0][0].code == "no pops"


def test_codes_are_unique_and_explain_only_verdicts_there_are_and_never_each_other() -> None:
    rules = {rule.code: rule for rule in RULES}
    assert len(rules) == len(RULES)
    for rule in RULES:
        for code in rule.explains:
            assert code in rules, (rule.code, code)
            assert rule.code not in rules[code].explains, (rule.code, code)


def test_the_chronicle_keeps_what_is_over_the_newest_first_and_only_so_much() -> None:
    verdict_log = VerdictLog(most=2)
    stuck, outrun = Verdict("stuck", "7", Severity.CRITICAL), Verdict("outrun", "9/s", Severity.WARNING)
    assert verdict_log.add([stuck, outrun], 1.0) == ()
    assert verdict_log.add([replace(stuck, proof="8")], 3.0) == (
        PastVerdict("outrun", "9/s", Severity.WARNING, 1.0, 3.0),
    )
    past = verdict_log.add([Verdict("healthy", "fine")], 5.0)
    assert [(p.code, p.proof, p.since_at, p.until_at) for p in past] == [
        ("stuck", "7", 1.0, 5.0),
        ("outrun", "9/s", 1.0, 3.0),
    ]
    verdict_log.add([outrun], 6.0)
    assert [p.code for p in verdict_log.add([], 7.0)] == ["outrun", "stuck"]
