"""Alert rules, their result for a reading, and latches over time."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qmon.errors import BadInput
from qmon.model.alerts.alert_rules import (
    CODES,
    LIMIT_FIGURES,
    AlertRule,
    AlertText,
    RuleResult,
    evaluate_rule,
    matches_pattern,
    value_text,
    verdict_meets_rule,
)
from qmon.model.alerts.latches import (
    Alert,
    AlertEvent,
    Latch,
    LatchKey,
    find_changes,
    raised_alerts,
    record_loss,
    record_view,
)
from qmon.model.alerts.rule_parser import RuleText, rules_from_list, rules_from_texts
from qmon.model.config_reader import KeyText
from qmon.model.figure import Figure, Severity, Verdict
from qmon.model.formatting import DurationText
from qmon.model.queue_figures import DIRECT_FIGURES
from qmon.model.status_report import queue_object
from qmon.model.view import QueueView, View
from qmon.monitor.state.target_history import TargetHistory
from tests.tui.scripted import TAKEN_AT, figure, queue, view
from tests.unit.polls import COUNTERS, fifo, moved, poll
from tests.wordings import pattern

WARNING, CRITICAL = Severity.WARNING, Severity.CRITICAL
DEEP = AlertRule("deep", "ready", warn=100.0, crit=1000.0, margin=0.1)


def met(rule: AlertRule, of: QueueView, level: Severity = WARNING, *, held: bool = False) -> bool | None:
    return evaluate_rule(rule, of, level, was_met=held).met


def at(seconds: float, *queues: QueueView) -> View:
    return view(queues, at=seconds)


def follow(rules: tuple[AlertRule, ...], *views: View) -> tuple[Alert, ...]:
    memory: dict[LatchKey, Latch] = {}
    for each in views:
        memory = record_view(rules, each, memory)
    return raised_alerts(memory)


# --------------------------------------------------------------------------------------------- what a reading says


def test_every_figure_has_its_name_from_the_status_report() -> None:
    assert set(LIMIT_FIGURES) <= set(queue_object(queue("q")))


def test_beyond_a_limit_is_more_or_less_than_it_never_the_limit_itself() -> None:
    assert met(DEEP, queue("q", ready=101)) is True
    assert met(DEEP, queue("q", ready=100)) is False
    slow = AlertRule("slow", "pop_rate", crit=1.0, below=True)
    assert met(slow, queue("q", pop=0.9), CRITICAL) is True
    assert met(slow, queue("q", pop=1.0), CRITICAL) is False


def test_at_least_so_many_proves_more_but_never_less() -> None:
    few = AlertRule("few", "ready", warn=2000.0, below=True)
    some = queue("q", ready=figure(1000, at_least=True))
    assert met(DEEP, some, WARNING) is True
    assert met(DEEP, some, CRITICAL) is None
    assert met(few, some) is None
    assert met(replace(few, warn=500.0), some) is False


def test_what_is_not_known_is_neither_met_nor_not() -> None:
    found = evaluate_rule(DEEP, queue("q", ready=figure(None, "permission denied")), WARNING)
    assert (found.met, found.text) == (
        None,
        AlertText.FIGURE_UNKNOWN.render(figure="depth", reason="permission denied"),
    )


def test_nothing_waits_in_an_empty_queue() -> None:
    old = AlertRule("old", "oldest_seconds", warn=60.0)
    nothing = figure(None, "nothing is ready")
    assert met(old, queue("q", ready=0, oldest=nothing)) is False
    assert met(old, queue("q", ready=3, oldest=nothing)) is None


def test_a_verdict_meets_its_code_or_a_pattern_and_fine_ones_no_pattern() -> None:
    stuck = queue("q", verdict=Verdict("stuck in progress", "7 of 9", CRITICAL))
    slow = queue("q", verdict=Verdict("consumers fall behind", "growing 9/s", WARNING))
    every = AlertRule("any", verdicts=("*",))
    assert [met(every, stuck, CRITICAL), met(every, slow, CRITICAL), met(every, slow, WARNING)] == [True, False, True]
    assert met(every, queue("q")) is False
    assert met(AlertRule("exact", verdicts=("healthy",), severity=WARNING), queue("q")) is True
    assert met(AlertRule("own", verdicts=("consumers f*",), severity=CRITICAL), slow, CRITICAL) is True
    assert evaluate_rule(every, stuck, CRITICAL).text == "stuck in progress: 7 of 9"
    blind = queue("q", verdict=Verdict("cannot see", "denied", WARNING))
    assert met(AlertRule("no pops", verdicts=("no pops",)), blind) is None


def test_patterns_know_only_stars_and_question_marks() -> None:
    assert matches_pattern("[a]]b].[c d]", "[a]]b].[c d]")
    assert matches_pattern("[a]*", "[a]]b].[c d]")
    assert not matches_pattern("[a]", "a")
    assert matches_pattern("orders-?", "orders-1")


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("ready", 12_431, "12,431"),
        ("pop_rate", 4, "4.0/s"),
        ("fill", 0.76, "76 %"),
        ("oldest_seconds", 2, "2.0 s"),
        ("oldest_seconds", 845, "14 m 05 s"),
        ("oldest_seconds", 7_200, "2 h 00 m"),
        ("oldest_seconds", 90_000, "1 d 01 h"),
    ],
)
def test_values_are_said_with_their_unit(name: str, value: float, words: str) -> None:
    assert value_text(LIMIT_FIGURES[name], value) == words


# ------------------------------------------------------------------------------------------------------ over time


def test_an_alert_is_raised_after_its_hold_and_cleared_after_its_own() -> None:
    rule = replace(DEEP, hold_s=10.0, clear_s=4.0)
    deep, fine = queue("q", ready=500), queue("q", ready=5)
    assert follow((rule,), at(0, deep), at(9, deep)) == ()
    (raised,) = follow((rule,), at(0, deep), at(9, deep), at(10, deep))
    assert (raised.rule, raised.queue, raised.severity, raised.value) == ("deep", "q", WARNING, 500)
    assert raised.since_at == TAKEN_AT + 10
    assert raised.text == "depth 500, above 100"
    assert follow((rule,), at(0, deep), at(5, fine), at(10, deep)) == ()
    up = (at(0, deep), at(10, deep))
    assert follow((rule,), *up, at(12, fine), at(15, fine)) != ()
    assert follow((rule,), *up, at(12, fine), at(15, fine), at(16, fine)) == ()
    assert follow((rule,), *up, at(12, fine), at(15, deep), at(16, fine)) != ()


def test_a_figure_that_swings_around_its_limit_does_not_flap() -> None:
    swinging = [at(n, queue("q", ready=101 if n % 2 else 95)) for n in range(8)]
    assert len(follow((DEEP,), *swinging)) == 1
    assert follow((DEEP,), *swinging, at(9, queue("q", ready=90))) == ()
    assert follow((replace(DEEP, margin=0.0),), *swinging, at(9, queue("q", ready=100))) == ()


def test_the_worse_level_is_the_alert_and_it_has_lasted_since_the_first() -> None:
    steps = [at(0, queue("q", ready=500)), at(5, queue("q", ready=5000))]
    (alert,) = follow((DEEP,), *steps)
    assert (alert.severity, alert.since_at) == (CRITICAL, TAKEN_AT)
    (alert,) = follow((DEEP,), *steps, at(8, queue("q", ready=500)))
    assert (alert.severity, alert.since_at) == (WARNING, TAKEN_AT)


def test_what_cannot_be_told_leaves_an_alert_as_it_is() -> None:
    unknown = queue("q", ready=figure(None, "no answer"))
    deep = queue("q", ready=500)
    assert len(follow((DEEP,), at(0, deep), at(1, unknown), at(99, unknown))) == 1
    held = replace(DEEP, hold_s=5.0)
    assert len(follow((held,), at(0, deep), at(2, unknown), at(5, deep))) == 1
    assert follow((held,), at(0, deep), at(2, unknown), at(60, deep)) == ()


def test_a_verdict_is_not_over_while_its_evidence_is_read_anew_after_a_break() -> None:
    rule, history, memory = AlertRule("any", verdicts=("*",)), TargetHistory(), dict[LatchKey, Latch]()
    counters, found = COUNTERS, list[list[str]]()
    still = [*range(0, 31, 2), *range(100, 131, 2)]
    for number, second in enumerate([*still, *range(132, 150, 2)], 1):
        counters = moved(counters, 3, 3) if second > 130 else counters
        polled = replace(poll(number, 1000.0 + second, fifo(counters, held=())), writers=())
        memory = record_view((rule,), history.record_snapshot(polled), memory)
        found.append([alert.code for alert in raised_alerts(memory)])
    since = found.index(["no pops"])
    assert still[since] < 30
    assert all(codes == ["no pops"] for codes in found[since : len(still)])
    assert found[-1] == []


def test_slow_polls_still_add_up() -> None:
    rule = replace(DEEP, hold_s=30.0)
    slow = [replace(at(n * 60, queue("q", ready=500)), interval_s=60.0) for n in range(2)]
    assert len(follow((rule,), *slow)) == 1


def test_a_queue_that_is_gone_takes_its_alerts_with_it() -> None:
    deep = queue("q", ready=500)
    assert follow((DEEP,), at(0, deep), at(1, queue("other"))) == ()


def test_rules_are_about_the_targets_and_queues_they_name() -> None:
    both = (queue("orders", ready=500), queue("mails", ready=500))
    one = replace(DEEP, queues=("ord*",))
    assert [a.queue for a in follow((one,), at(0, *both))] == ["orders"]
    assert follow((replace(DEEP, targets=("elsewhere",)),), at(0, *both)) == ()
    assert len(follow((replace(DEEP, targets=("orders-*",)),), at(0, *both))) == 2


def test_a_lost_target_is_an_alert_of_rules_for_verdicts_until_it_answers() -> None:
    every = AlertRule("any", verdicts=("*",), hold_s=5.0)
    deep = queue("q", ready=500)
    memory = record_view((every, DEEP), at(0, deep), {})
    memory = record_loss((every, DEEP), "orders-prod", "connection refused", TAKEN_AT + 1, memory)
    memory = record_loss((every, DEEP), "orders-prod", "connection refused", TAKEN_AT + 7, memory)
    worst, other = raised_alerts(memory)
    assert (worst.queue, worst.severity, worst.text) == ("", CRITICAL, "unreachable: connection refused")
    assert (other.rule, other.queue) == ("deep", "q")
    assert [a.rule for a in raised_alerts(record_view((every, DEEP), at(8, deep), memory))] == ["deep"]


def test_changes_are_those_that_somebody_wants_to_hear_of() -> None:
    alert = Alert("r", "q", WARNING, 1.0, "depth 500", 500)
    worse = replace(alert, severity=CRITICAL)
    assert [c.turn for c in find_changes((), (alert,))] == [AlertEvent.RAISED]
    assert find_changes((alert,), (replace(alert, text="depth 501", value=501),)) == ()
    assert [c.turn for c in find_changes((alert,), (worse,))] == [AlertEvent.WORSE]
    assert [c.turn for c in find_changes((worse,), (alert,))] == [AlertEvent.BETTER]
    assert [(c.turn, c.alert) for c in find_changes((worse,), ())] == [(AlertEvent.CLEARED, worse)]


readings = st.lists(st.sampled_from([True, False, None]), min_size=1, max_size=40)
spans = st.integers(0, 6).map(float)


@given(readings, spans, spans)
def test_a_latch_turns_only_on_readings_that_lasted(
    given_readings: list[bool | None], hold: float, clear: float
) -> None:
    latch, known = Latch(), list[tuple[float, bool]]()
    for second, reading in enumerate(given_readings):
        before, now = latch.closed, float(second)
        latch = latch.apply_reading(RuleResult(reading, "w"), now, hold, clear, patience_s=100.0)
        if reading is not None:
            known.append((now, reading))
        wanted = hold if not before else clear
        lasted = []
        for moment, met_then in reversed(known):
            if met_then is before:
                break
            lasted.append(moment)
        should_turn = reading is not None and bool(lasted) and now - lasted[-1] >= wanted
        assert (latch.closed is not before) == should_turn


@given(st.lists(st.floats(0, 5000), min_size=1, max_size=30), st.floats(0, 0.9))
def test_a_raised_alert_has_a_reading_beyond_its_limit_and_none_clear_of_it_since(
    depths: list[float], margin: float
) -> None:
    rule = replace(DEEP, crit=None, margin=margin)
    raised = bool(follow((rule,), *(at(n, queue("q", ready=depth)) for n, depth in enumerate(depths))))
    beyond = [n for n, depth in enumerate(depths) if depth > 100]
    clear = [n for n, depth in enumerate(depths) if depth <= 100 - margin * 100]
    assert raised == bool(beyond and (not clear or beyond[-1] > clear[-1]))


@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from([WARNING, CRITICAL])), max_size=6),
    st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from([WARNING, CRITICAL])), max_size=6),
)
def test_changes_lead_from_what_was_to_what_is(
    was: list[tuple[str, Severity]], now: list[tuple[str, Severity]]
) -> None:
    before = {name: Alert("r", name, severity, 0.0, "") for name, severity in was}
    after = {name: Alert("r", name, severity, 0.0, "") for name, severity in now}
    for change in find_changes(before.values(), after.values()):
        if change.turn is AlertEvent.CLEARED:
            del before[change.alert.queue]
        else:
            before[change.alert.queue] = change.alert
    assert before == after


# ---------------------------------------------------------------------------------------------------- how written


def test_rules_are_read_with_their_units() -> None:
    old, slow, stuck = rules_from_list(
        [
            {
                "target": "shop*",
                "queue": ["orders", "mails"],
                "figure": "oldest",
                "warn": "2m",
                "crit": "10m",
                "for": "30s",
                "clear_for": "1m",
                "margin": 0.2,
            },
            {"name": "asleep", "figure": "pop_rate", "when": "below", "crit": 1},
            {"verdict": ["stuck*", "no pops"], "severity": "critical"},
        ],
        "f: alert",
    )
    assert old == AlertRule(
        "oldest (1)", "oldest_seconds", 120.0, 600.0, False, (), None, ("shop*",), ("orders", "mails"), 30.0, 60.0, 0.2
    )
    assert (slow.name, slow.below, slow.warn, slow.crit, slow.margin) == ("asleep", True, None, 1.0, 0.1)
    assert (stuck.verdicts, stuck.severity) == (("stuck*", "no pops"), CRITICAL)


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        ({}, pattern(RuleText.FIGURE_OR_VERDICT, where="")),
        ({"figure": "ready", "verdict": "*"}, pattern(RuleText.FIGURE_OR_VERDICT, where="")),
        (
            {"figure": "redy", "warn": 1},
            pattern(
                RuleText.NO_SUCH_FIGURE, where=".figure", name="redy", hint=KeyText.DID_YOU_MEAN.render(word="ready")
            ),
        ),
        ({"figure": "ready"}, pattern(RuleText.NEEDS_LIMIT, where="")),
        ({"figure": "ready", "warn": "many"}, pattern(RuleText.NOT_A_NUMBER, where=".warn", text="many")),
        ({"figure": "ready", "warn": -1}, pattern(RuleText.UNREACHABLE, where=".warn", value=-1, figure="depth")),
        ({"figure": "ready", "warn": True}, pattern(KeyText.NOT_A_NUMBER, path=".warn", kind=KeyText.BOOLEAN)),
        ({"figure": "oldest", "warn": "soon"}, r"\.warn: " + pattern(DurationText.NOT_A_DURATION, text="soon")),
        (
            {"figure": "fill", "warn": 90},
            pattern(RuleText.SHARE_ABOVE_ONE, where=".warn", figure="fill", share="a share from 0 to 1"),
        ),
        ({"figure": "ready", "warn": 9, "crit": 5}, pattern(RuleText.NEVER_WARNS, where="", side="below")),
        (
            {"figure": "ready", "warn": 5, "crit": 9, "when": "below"},
            pattern(RuleText.NEVER_WARNS, where="", side="above"),
        ),
        ({"figure": "ready", "warn": 5, "margin": 1}, pattern(RuleText.MARGIN_OUT_OF_RANGE, path=".margin")),
        (
            {"figure": "ready", "warn": 5, "for": "often"},
            r"\.for: " + pattern(DurationText.NOT_A_DURATION, text="often"),
        ),
        ({"figure": "ready", "warn": 5, "when": "over"}, pattern(KeyText.UNKNOWN_VALUE, path=".when", value="over")),
        ({"figure": "ready", "warn": 5, "severity": "critical"}, pattern(KeyText.UNKNOWN_KEY, path=".severity")),
        ({"verdict": "*", "warn": 5}, pattern(KeyText.UNKNOWN_KEY, path=".warn")),
        ({"verdict": "*", "severity": "bad"}, pattern(KeyText.UNKNOWN_VALUE, path=".severity", value="bad")),
        ({"verdict": ["stcuk*"]}, pattern(RuleText.NO_SUCH_VERDICT, where=".verdict", pattern="stcuk*")),
        (
            {"verdict": ["no pops", "Stuck in progress"]},
            pattern(
                RuleText.NO_SUCH_VERDICT,
                where=".verdict",
                pattern="Stuck in progress",
                hint=KeyText.DID_YOU_MEAN.render(word="stuck in progress"),
            ),
        ),
        ({"verdict": "paus*"}, pattern(RuleText.NO_SUCH_PROBLEM, where=".verdict", pattern="paus*")),
        ({"verdict": ["no pops", ""]}, pattern(KeyText.NOT_TEXTS, path=".verdict")),
        (
            {"figure": "ready", "warn": 5, "queues": "q"},
            pattern(KeyText.UNKNOWN_KEY, path=".queues", hint=KeyText.DID_YOU_MEAN.render(word="queue")),
        ),
    ],
)
def test_each_fault_of_a_rule_names_its_key(raw: dict[str, object], message: str) -> None:
    with pytest.raises(BadInput) as caught:
        rules_from_list([raw], "qmon.toml: alert")
    assert re.match(re.escape("qmon.toml: alert[1]") + message, str(caught.value))


@pytest.mark.parametrize("pattern", [*sorted(CODES), "*", "stuck*", "*pop*", "no ?ops"])
def test_a_pattern_that_a_verdict_can_match_is_accepted(pattern: str) -> None:
    (found,) = rules_from_list([{"verdict": pattern}], "qmon.toml: alert")
    assert any(verdict_meets_rule(found, code, Severity.CRITICAL, Severity.WARNING) for code in CODES)


def test_names_are_unique() -> None:
    same = {"name": "x", "figure": "ready", "warn": 1}
    with pytest.raises(BadInput, match=pattern(RuleText.SAME_NAME, path="alert[2].name", name="x")):
        rules_from_list([same, same], "alert")


def test_rules_of_the_command_line() -> None:
    none, deep, slow = rules_from_texts(["depth > 100", "pop_rate<2"], ["verdict = no pops"])
    assert (deep.figure, deep.warn, deep.crit, deep.below) == ("ready", 100.0, None, False)
    assert (slow.figure, slow.warn, slow.below) == ("pop_rate", 2.0, True)
    (both,) = rules_from_texts(["depth>100"], ["ready>1000"])
    assert (both.figure, both.warn, both.crit, both.hold_s, both.margin) == ("ready", 100.0, 1000.0, 0.0, 0.0)
    assert (none.verdicts, none.severity) == (("no pops",), CRITICAL)


@pytest.mark.parametrize(
    ("warn", "crit", "message"),
    [
        (["depth"], [], pattern(RuleText.NOT_A_RULE, where="--warn", text="depth")),
        (["depth=5"], [], pattern(RuleText.NOT_A_RULE, where="--warn", text="depth=5")),
        ([], ["verdict>5"], pattern(RuleText.NOT_A_RULE, where="--crit", text="verdict>5")),
        (
            [],
            ["depht>5"],
            pattern(
                RuleText.NO_SUCH_FIGURE, where="--crit", name="depht", hint=KeyText.DID_YOU_MEAN.render(word="depth")
            ),
        ),
        (["depth>5", "ready>6"], [], pattern(RuleText.TWO_LIMITS, where="--warn", figure="ready")),
        (
            ["depth>5"],
            ["depth>1"],
            pattern(
                RuleText.NEVER_WARNS,
                where=RuleText.BOTH_LIMITS.render(warn="--warn", crit="--crit", figure="ready"),
                side="below",
            ),
        ),
        (
            [],
            ["verdict=stuck in progres"],
            pattern(
                RuleText.NO_SUCH_VERDICT,
                where="--crit",
                pattern="stuck in progres",
                hint=KeyText.DID_YOU_MEAN.render(word="stuck in progress"),
            ),
        ),
        (
            ["verdict=no  pops"],
            [],
            pattern(
                RuleText.NO_SUCH_VERDICT,
                where="--warn",
                pattern="no  pops",
                hint=KeyText.DID_YOU_MEAN.render(word="no pops"),
            ),
        ),
        (["depth>1e99"], [], pattern(RuleText.UNREACHABLE, where="--warn", value=1e99)),
        (["depth>nan"], [], pattern(RuleText.UNREACHABLE)),
    ],
)
def test_faults_on_the_command_line(warn: list[str], crit: list[str], message: str) -> None:
    with pytest.raises(BadInput) as caught:
        rules_from_texts(warn, crit)
    assert re.match(message, str(caught.value))


def test_figures_of_the_view_are_what_rules_read() -> None:
    figures = {kind.field: Figure(3.0) for kind in LIMIT_FIGURES.values()}
    direct = {each.field: figures.pop(each.field) for each in DIRECT_FIGURES if each.field in figures}
    whole = replace(queue("q"), direct=direct, **figures)  # type: ignore[arg-type]
    for name in LIMIT_FIGURES:
        assert evaluate_rule(AlertRule("r", name, warn=0.5), whole, WARNING).value == 3.0
