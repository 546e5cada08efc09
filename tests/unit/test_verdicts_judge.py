"""Judging: all verdicts that hold, the worst first, without those that merely follow; and earlier verdicts."""

from __future__ import annotations

from dataclasses import replace
from unittest.mock import ANY

import pytest

from qmon.model.evidence import QueueEvidence, TargetEvidence
from qmon.model.figure import Figure, PastVerdict, Severity, Verdict
from qmon.model.formatting import duration
from qmon.model.layout.layout import LayoutSource
from qmon.model.rates.queue_use import QueueUse
from qmon.model.reasons import Reason
from qmon.model.samples.server_state_samples import ServerState
from qmon.model.sessions.clients import ClientsSeen
from qmon.model.snapshot import ProbeFailure
from qmon.model.verdicts import RULES, RuleInput, judge_queue
from qmon.model.verdicts.judge import LULL_S, TARGET_CODES, EvidenceSpan, Spans, undecided_codes
from qmon.model.waits.queue_lock import QueueLock
from qmon.monitor.probes.target_probes import READ_EVERY_S
from qmon.monitor.state.verdict_log import VerdictLog
from qmon.recording.history.timeline import TimelineEvent, VerdictChanges
from tests.tui.waited import waiting
from tests.unit.polls import poll
from tests.unit.rule_inputs import FINE, LAYOUT, with_target_judged

TWICE = replace(
    FINE, ready=Figure(5000), push_rate=Figure(100.0), pop_rate=Figure(60.0), net_rate=40.0, stuck=Figure(3)
)


def test_all_that_hold_are_given_the_worst_first() -> None:
    _, since = judge_queue(TWICE, 0.0, {})
    verdicts, _ = judge_queue(TWICE, 40.0, since)
    assert [v.code for v in verdicts] == ["stuck in progress", "consumers fall behind"]
    assert [v.since_at for v in verdicts] == [0.0, 0.0]


def test_a_guess_has_no_critical_verdict() -> None:
    guess = replace(LAYOUT, source=LayoutSource.DISCOVERY)
    for layout, worst in ((LAYOUT, Severity.CRITICAL), (guess, Severity.WARNING)):
        _, since = judge_queue(replace(TWICE, layout=layout), 0.0, {})
        verdicts, _ = judge_queue(replace(TWICE, layout=layout), 40.0, since)
        assert max(verdict.severity for verdict in verdicts) is worst


def test_what_merely_follows_is_left_out_and_holds_anew_when_its_cause_has_gone() -> None:
    still = replace(FINE, pop_rate=Figure(0.0), locked=QueueLock("session 61", "session 61 holds all"))
    _, since = judge_queue(still, 0.0, {})
    (verdict,), since = judge_queue(still, 60.0, since)
    assert verdict.code == "everything locked"
    freed = replace(still, locked=None)
    (verdict,), since = judge_queue(freed, 62.0, since)
    assert verdict.code == "cannot tell"
    assert judge_queue(freed, 71.9, since)[0][0].code == "cannot tell"
    assert judge_queue(freed, 72.0, since)[0][0].code == "no pops"


POPPED = {
    "a pop is counted": replace(FINE, pop_rate=Figure(0.1), recent_pop_rate=Figure(1.0)),
    "a pop that no counter shows": replace(FINE, recent_pop_rate=Figure.unknown("not counted"), pops_unseen=True),
    "a poll after a break": replace(FINE, pop_rate=Figure.unknown("a break"), pops_unseen=True),
    "a pop by a cleaner": replace(FINE, recent_pop_rate=Figure(0.0), completes=2.0),
}


@pytest.mark.parametrize("popped", POPPED.values(), ids=POPPED)
def test_a_pop_or_a_break_ends_a_verdict_that_nothing_is_popped_and_it_must_hold_anew(popped: RuleInput) -> None:
    still = replace(FINE, pop_rate=Figure(0.0))
    _, spans = judge_queue(still, 0.0, {})
    verdicts, spans = judge_queue(still, 10.0, spans)
    assert verdicts[0].code == "no pops"
    verdicts, spans = judge_queue(popped, 11.0, spans)
    assert verdicts[0].code != "no pops"
    for at in (12.0, 21.9):
        verdicts, spans = judge_queue(still, at, spans)
        assert verdicts[0].code != "no pops"
    assert judge_queue(still, 22.0, spans)[0][0] == Verdict("no pops", ANY, Severity.CRITICAL, 12.0, ANY)


def undecided_of(given: RuleInput, at: float, since: Spans, *, follow: bool = False) -> frozenset[str]:
    given, _ = with_target_judged(replace(given, rates_follow=follow), at)
    verdicts, since = judge_queue(given, at, since)
    return undecided_codes(given, verdicts, since)


# A poll that contains every slow probe.
READ = replace(poll(1, 0.0), server_state=ServerState(read_at=dict.fromkeys(READ_EVERY_S, 0.0)))


def test_a_verdict_whose_evidence_is_not_read_or_has_yet_to_last_is_not_over() -> None:
    nothing = Figure.unknown(Reason.NOTHING_POPPED)
    read = QueueEvidence(
        consumers=ClientsSeen(1, 0, "routine"), use=QueueUse(nothing, nothing, None, nothing, 0, (), ())
    )
    seen = replace(
        FINE,
        queue=read,
        snapshot=replace(READ, horizon=(), blocking=()),
        target=TargetEvidence(waiting=waiting()),
    )
    assert undecided_of(seen, 0.0, {}) == frozenset()
    still = replace(seen, pop_rate=Figure(0.0))
    assert "no pops" in undecided_of(still, 0.0, {})
    assert "no pops" not in undecided_of(still, 60.0, {"no pops": EvidenceSpan(0.0, 58.0)}), "it holds"
    grown = replace(seen, ready=Figure(5000), pop_rate=Figure(10.0), net_rate=40.0)
    since = {"consumers fall behind": EvidenceSpan(0.0, 38.0)}
    assert undecided_of(grown, 40.0, since) == frozenset()
    assert "stuck in progress" in undecided_of(replace(grown, stuck=Figure.unknown("no answer")), 40.0, since)
    assert "no pops" in undecided_of(seen, 0.0, {}, follow=True)
    for blind, codes in (
        (replace(seen, target=TargetEvidence()), {"log-bound", "latch-bound"}),
        (replace(seen, snapshot=replace(READ, horizon=None, blocking=())), {"cleanup held back"}),
        (replace(seen, snapshot=replace(READ, horizon=(), blocking=None)), {"everything locked"}),
        (replace(seen, queue=replace(read, consumers=None)), {"no consumers", "consumers not claiming"}),
    ):
        assert undecided_of(blind, 0.0, {}) == codes


def test_a_raised_verdict_stays_with_the_age_of_its_proof_while_rates_follow_for_at_most_a_lull() -> None:
    still = replace(FINE, pop_rate=Figure(0.0))
    unread = replace(FINE, pop_rate=Figure.unknown("own operation"), rates_follow=True)
    _, spans = judge_queue(still, 0.0, {})
    (proved,), spans = judge_queue(still, 10.0, spans)
    empty = judge_queue(replace(unread, ready=Figure(0.0), in_progress=Figure(1.0)), 13.0, spans)[0]
    assert "no pops" not in [verdict.code for verdict in empty], "no message is ready any more"
    (kept,), spans = judge_queue(unread, 13.0, spans)
    assert (kept.code, kept.since_at) == (proved.code, 0.0)
    assert proved.proof in kept.proof
    assert duration(3.0) in kept.proof
    later, spans = judge_queue(unread, 10.5 + LULL_S, spans)
    assert "no pops" not in [verdict.code for verdict in later]
    (again,), _ = judge_queue(still, 11.0 + LULL_S, spans)
    assert again == replace(proved, since_at=0.0)


def test_a_raised_verdict_that_returns_within_a_lull_keeps_its_start_and_is_one_event() -> None:
    late = replace(FINE, stuck=Figure(3))
    spans: Spans = {}
    log, events, starts = VerdictLog(), VerdictChanges(), list[float | None]()
    happened, past = list[TimelineEvent](), tuple[PastVerdict, ...]()
    for at in (0.0, 10.0, 12.0, 14.0, 20.0, 24.0, 26.0 + LULL_S):
        given = FINE if at in (12.0, 20.0) or at > 24.0 else late
        verdicts, spans = judge_queue(given, at, spans)
        over = undecided_codes(given, verdicts, spans)
        starts += [verdict.since_at for verdict in verdicts if verdict.code == "stuck in progress"]
        happened += events.record_verdicts(at, "orders", verdicts, over)
        past = log.record_verdicts(verdicts, at, over)
    assert starts == [0.0, 0.0, 0.0, 0.0]
    assert [(event.at, event.change) for event in happened] == [(0.0, "began"), (26.0 + LULL_S, "ended")]
    assert happened[1].text.startswith("after 36 s")
    assert [(each.code, each.since_at, each.until_at) for each in past] == [("stuck in progress", 0.0, 26.0 + LULL_S)]


def test_a_raised_verdict_keeps_its_start_while_its_evidence_is_not_read() -> None:
    late = replace(FINE, stuck=Figure(3.0), snapshot=replace(READ, horizon=(), blocking=()))
    _, spans = judge_queue(late, 0.0, {})
    failed = replace(late, stuck=Figure.unknown("no answer"), failures=(ProbeFailure("owners", "no answer"),))
    for at in (30.0, 60.0):
        (verdict,), spans = judge_queue(failed, at, spans)
        assert verdict.code == "cannot tell"
    (verdict,), _ = judge_queue(late, 62.0, spans)
    assert (verdict.code, verdict.since_at) == ("stuck in progress", 0.0)


def test_what_is_unknown_for_a_moment_is_shown_and_is_no_event() -> None:
    blind = replace(FINE, ready=Figure.unknown("no answer"))
    events, log = VerdictChanges(), VerdictLog()
    spans: Spans = {}
    happened = list[TimelineEvent]()
    for at, given in ((0.0, FINE), (2.0, blind), (4.0, FINE), (40.0, blind), (48.0, blind), (50.0, blind)):
        verdicts, spans = judge_queue(given, at, spans)
        assert (verdicts[0].code == "cannot tell") == (given is blind)
        happened += events.record_verdicts(at, "orders", verdicts)
        assert log.record_verdicts(verdicts, at) == ()
    assert [(event.at, event.about) for event in happened] == [(50.0, "cannot tell")]


@pytest.mark.parametrize(
    ("probe", "codes"),
    [
        ("tried_state", {"poison message at the head", "delivered twice"}),
        ("slot_sweep", {"ring hole", "ring orphans"}),
        ("priorities_state", {"priority starved"}),
        (
            "counters",
            {
                "archive behind",
                "no pushes",
                "pushes fail",
                "due later than usual",
                "latch-bound",
                "deadlocks",
                "statistics",
                "everything locked",
            },
        ),
        ("head_state", {"archive behind", "everything locked"}),
        ("clients", {"delivered twice"}),
        ("writers", {"everything locked"}),
        ("waits", {"everything locked", "latch-bound"}),
        ("uses", {"statistics", "cleanup held back"}),
        ("pauses", {"paused"}),
        ("circles", {"deadlocks"}),
        ("statistics", {"statistics"}),
        ("log", {"log full", "log filling"}),
        ("replication", {"replica not synchronizing", "replica behind"}),
    ],
)
def test_a_verdict_whose_probe_fails_is_not_over(probe: str, codes: set[str]) -> None:
    nothing = Figure.unknown(Reason.NOTHING_POPPED)
    read = QueueEvidence(
        consumers=ClientsSeen(1, 0, "routine"), use=QueueUse(nothing, nothing, None, nothing, 0, (), ())
    )
    seen = replace(
        FINE,
        queue=read,
        snapshot=replace(READ, horizon=(), blocking=()),
        target=TargetEvidence(waiting=waiting()),
    )
    failed = ProbeFailure(probe, "took longer than the poll may")
    for_all = replace(seen, snapshot=replace(READ, horizon=(), blocking=(), failures=(failed,)))
    mine = undecided_of(replace(seen, failures=(replace(failed, queue="orders"),)), 0.0, {})
    assert mine == codes - TARGET_CODES, "the failure of one queue's probe says nothing about the target"
    assert undecided_of(for_all, 0.0, {}) == codes
    elsewhere = replace(READ, horizon=(), blocking=(), failures=(replace(failed, queue="mails"),))
    assert undecided_of(replace(seen, snapshot=elsewhere), 0.0, {}) == frozenset()


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
    assert verdict_log.record_verdicts([stuck, outrun], 1.0) == ()
    assert verdict_log.record_verdicts([replace(stuck, proof="8")], 3.0) == (
        PastVerdict("outrun", "9/s", Severity.WARNING, 1.0, 3.0),
    )
    past = verdict_log.record_verdicts([Verdict("healthy", "fine")], 5.0)
    assert [(p.code, p.proof, p.since_at, p.until_at) for p in past] == [
        ("stuck", "7", 1.0, 5.0),
        ("outrun", "9/s", 1.0, 3.0),
    ]
    verdict_log.record_verdicts([outrun], 6.0)
    assert [p.code for p in verdict_log.record_verdicts([], 7.0)] == ["outrun", "stuck"]
