"""The result of a check for a monitoring system: state, line, performance data."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qmon.model.alerts.alert_rules import AlertRule
from qmon.model.alerts.nagios import NagiosText, check_object, performance_data, plugin_line
from qmon.model.alerts.target_check import (
    CheckState,
    TargetCheckText,
    check_target,
    unknown_as_warning,
    unreadable_result,
)
from qmon.model.config_reader import KeyText
from qmon.model.figure import Severity, Verdict
from qmon.model.snapshot import ProbeFailure
from qmon.model.view import QueueView
from tests.tui.scripted import figure, queue, view
from tests.wordings import has

VALUE = r"(?:U|-?\d+(?:\.\d+)?(?:s|%)?)"
LIMIT = r"(?:~?:?-?\d+(?:\.\d+)?:?)?"
DATUM = re.compile(rf"'((?:[^'=]|'')+)'={VALUE}(?:;{LIMIT}(?:;{LIMIT}(?:;(?:0)?(?:;(?:100)?)?)?)?)?")
STUCK = Verdict("stuck in progress", "7 in progress for more than 5 m", Severity.CRITICAL)
OUTRUN = Verdict("consumers fall behind", "growing 216/s", Severity.WARNING)


def state(*queues: QueueView, rules: tuple[AlertRule, ...] = (), wanted: tuple[str, ...] = ()) -> CheckState:
    return check_target(view(queues), rules, wanted).state


def test_without_rules_the_severity_of_the_verdict_decides() -> None:
    assert state(queue("a")) is CheckState.OK
    assert state(queue("a"), queue("b", verdict=OUTRUN)) is CheckState.WARNING
    assert state(queue("a", verdict=STUCK), queue("b", verdict=OUTRUN)) is CheckState.CRITICAL
    paused = Verdict("paused", "by ada until 12:00", Severity.NOTICE)
    assert state(queue("a", verdict=paused)) is CheckState.OK
    assert state(queue("a", verdict=Verdict("cannot tell", "not counted yet", Severity.NOTICE))) is CheckState.UNKNOWN


def test_rules_decide_for_the_queues_they_are_about_and_verdicts_for_the_others() -> None:
    rule = AlertRule("deep", "ready", warn=100.0, queues=("a",))
    assert state(queue("a", ready=5, verdict=STUCK), rules=(rule,)) is CheckState.OK
    assert state(queue("a", ready=5), queue("b", verdict=STUCK), rules=(rule,)) is CheckState.CRITICAL
    assert state(queue("a", ready=500), queue("b", verdict=STUCK), rules=(rule,), wanted=("a",)) is CheckState.WARNING


def test_a_rule_for_this_target_that_names_no_queue_of_it_is_not_ok() -> None:
    there = view((queue("orders"),))
    misspelt = AlertRule("deep", "ready", warn=100.0, targets=(there.target,), queues=("ordrs",))
    found = check_target(there, (misspelt,))
    assert [(each.queue, each.state, each.rule) for each in found.problems] == [("ordrs", CheckState.UNKNOWN, "")]
    assert has(found.problems[0].text, KeyText.DID_YOU_MEAN, word="orders")
    for fine in ("ord*", "orders"):
        assert check_target(there, (replace(misspelt, queues=(fine,)),)).state is CheckState.OK
    anywhere = replace(misspelt, targets=("*",))
    assert check_target(there, (anywhere,)).state is CheckState.UNKNOWN
    assert check_target(there, (anywhere,), targets=(there.target,)).state is CheckState.UNKNOWN
    assert check_target(there, (anywhere,), targets=(there.target, "another")).state is CheckState.OK


def test_proven_trouble_counts_for_more_than_what_cannot_be_told() -> None:
    rule = AlertRule("deep", "ready", warn=100.0)
    blind = queue("a", ready=figure(None, "permission denied"))
    assert state(blind, queue("b"), rules=(rule,)) is CheckState.UNKNOWN
    assert state(blind, queue("b", ready=500), rules=(rule,)) is CheckState.WARNING


def test_a_figure_that_a_queue_cannot_have_is_missed_only_by_a_rule_that_names_it() -> None:
    flowing = queue("a")
    assert state(flowing, rules=(AlertRule("full", "fill", crit=0.9),)) is CheckState.OK
    assert state(flowing, rules=(AlertRule("full", "fill", crit=0.9, queues=("a",)),)) is CheckState.UNKNOWN
    hidden = queue("a", stuck=figure(None, "denied"), failures=(ProbeFailure("progress", "denied", "a"),))
    assert state(hidden, rules=(AlertRule("stuck", "stuck", crit=0.0),)) is CheckState.UNKNOWN


def test_no_queue_and_a_queue_that_is_not_there_are_unknown() -> None:
    assert not check_target(view((queue("orders"),)), (), ("ordres",)).is_undecided, "another poll does not help"
    assert plugin_line(check_target(view(()), ())) == NagiosText.LINE.render(
        state="UNKNOWN", summary=f"orders-prod: {TargetCheckText.NO_QUEUE_KNOWN}"
    )
    line = plugin_line(check_target(view((queue("orders"),)), (), ("ordres",)))
    assert line == NagiosText.LINE.render(
        state="UNKNOWN",
        summary="orders-prod: ordres: "
        + TargetCheckText.NO_SUCH_QUEUE.render(hint=KeyText.DID_YOU_MEAN.render(word="orders")),
    )


def test_the_line_says_the_worst_first_and_then_the_figures_with_units_and_limits() -> None:
    rules = (
        AlertRule("deep", "ready", warn=10_000.0, crit=50_000.0),
        AlertRule("old", "oldest_seconds", crit=600.0),
        AlertRule("slow", "pop_rate", warn=20.5, below=True),
        AlertRule("gap", "gap", warn=50.0),
        AlertRule("full", "fill", crit=0.9),
    )
    orders = queue("orders", "ring", ready=12_431, oldest=845.5, push=20.25, pop=20.0, gap=-24, fill=0.76)
    line = plugin_line(check_target(view((orders,)), rules))
    text, data = line.split(" | ")
    assert text == (
        NagiosText.LINE.render(
            state="CRITICAL",
            summary="orders-prod: orders: oldest 14 m 05 s, above 10 m 00 s; orders: depth 12,431, above 10,000; "
            "orders: pop_rate 20.0/s, below 20.5/s",
        )
    )
    assert data == (
        "'orders.depth'=12431;10000;50000;0 'orders.in_progress'=0;;;0 'orders.stuck'=0;;;0 "
        "'orders.oldest'=845.5s;;600;0 'orders.push_rate'=20.25;;;0 'orders.pop_rate'=20;20.5:;;0 "
        "'orders.complete_rate'=20;;;0 'orders.gap'=-24;~:50 'orders.fill'=76%;;90;0;100"
    )


def test_a_figure_that_is_not_known_is_u_where_it_should_be_there() -> None:
    data = list(performance_data(check_target(view((queue("a", push=None, ready=figure(None, "denied")),)), ())))
    assert {"'a.depth'=U;;;0", "'a.push_rate'=U;;;0"} <= set(data)
    assert not any("fill" in datum for datum in data)


@pytest.mark.parametrize(
    "name", ["it's", "a=b", "a|b", "a b", "\x1b[31mred\n", "請求書 🎉", '"; drop table x; --', "''"]
)
def test_no_name_breaks_the_form(name: str) -> None:
    line = plugin_line(check_target(view((queue(name, verdict=STUCK),)), ()))
    assert line.count("|") == 1
    assert line.isprintable()
    data = line.split(" | ")[1]
    assert "".join(f"{found[0]} " for found in DATUM.finditer(data)).strip() == data


@given(st.lists(st.text(min_size=1, max_size=8), min_size=1, max_size=5, unique=True), st.floats(0, 1e15))
def test_any_names_and_values_give_one_line_of_distinct_well_formed_data(names: list[str], value: float) -> None:
    outcome = check_target(view([queue(name, ready=value, oldest=value) for name in names]), ())
    line = plugin_line(outcome)
    assert line.count("|") == 1
    assert len(line.splitlines()) == 1
    data = list(performance_data(outcome))
    assert all(DATUM.fullmatch(datum) for datum in data)
    assert len({datum.rpartition("=")[0] for datum in data}) == len(data)
    assert "e+" not in "".join(datum.rpartition("=")[2] for datum in data)


def test_many_problems_are_cut_to_the_worst() -> None:
    line = plugin_line(check_target(view([queue(f"q{n}", verdict=STUCK) for n in range(30)]), ()))
    assert NagiosText.AND_MORE.render(count=22) in line


def test_a_queue_in_trouble_that_no_limit_is_about_is_not_called_fine() -> None:
    shallow = AlertRule("shallow", "ready", warn=100.0)
    ok = plugin_line(check_target(view((queue("a", ready=1, verdict=STUCK),)), (shallow,)))
    assert has(ok, NagiosText.LINE, state="OK")
    assert has(ok, NagiosText.QUEUES, count=1, plural="", state=NagiosText.WITHIN_LIMITS, ready=1)
    fine = plugin_line(check_target(view((queue("a", ready=1),)), (shallow,)))
    assert has(fine, NagiosText.QUEUES, count=1, plural="", state="fine", ready=1)


def test_as_an_object() -> None:
    outcome = check_target(view((queue("a", ready=500),)), (AlertRule("deep", "ready", warn=100.0),))
    told = check_object(outcome)
    assert (told["state"], told["exit_code"], dict(told["queues"][0])["ready"]) == ("warning", 1, 500)
    assert told["problems"] == [
        {"queue": "a", "state": "warning", "rule": "deep", "value": 500.0, "words": "depth 500, above 100"}
    ]
    lost = check_object(unreadable_result("shop", "connection refused"))
    assert (lost["exit_code"], lost["summary"], lost["sampled_at"]) == (3, "shop: connection refused", None)


def test_what_cannot_be_told_is_a_warning_where_that_is_asked_for_and_other_unknowns_stay() -> None:
    untold = Verdict("cannot tell", "stuck is unknown: no index", Severity.NOTICE)
    outcome = check_target(view((queue("a", verdict=untold),)), (), ("a", "b"))
    assert outcome.state is CheckState.UNKNOWN
    assert unknown_as_warning(outcome).state is CheckState.WARNING
    assert unknown_as_warning(unreadable_result("t", "no route")).state is CheckState.UNKNOWN


def test_a_queue_that_cannot_be_seen_is_critical_whatever_limits_there_are_but_for_a_rule_about_it() -> None:
    gone = queue("a", verdict=Verdict("cannot see", "there is no table a", Severity.CRITICAL))
    deep = AlertRule("deep", "ready", warn=100.0)
    known = AlertRule("known", verdicts=("cannot see",), severity=Severity.WARNING)
    assert state(gone) is CheckState.CRITICAL
    assert state(gone, rules=(deep,)) is CheckState.CRITICAL
    assert state(gone, rules=(deep, known)) is CheckState.WARNING
    registry = ProbeFailure("registry", "our role may not read it", grant="GRANT SELECT ON q TO me", gone=True)
    partly = replace(view((queue("b"),)), failures=(registry,))
    outcome = check_target(partly, ())
    assert outcome.state is CheckState.UNKNOWN
    assert "GRANT SELECT ON q TO me" in plugin_line(outcome)
    assert check_target(partly, (deep,)).state is CheckState.OK, "a limit for queues that are seen"
    assert check_target(partly, (), ["b"]).state is CheckState.OK, "a queue that is seen"
    untrusted = replace(partly, failures=(replace(registry, grant=""),))
    assert check_target(untrusted, (deep,)).state is CheckState.CRITICAL
