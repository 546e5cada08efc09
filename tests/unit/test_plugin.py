"""What a look at a target says to a monitoring system: state, line, performance data."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qmon.model.alert_rules import AlertRule
from qmon.model.check import State, failed, judge
from qmon.model.plugin import check_object, performance, plugin_line
from qmon.model.snapshot import ProbeFailure
from qmon.model.view import QueueView, Severity, Verdict
from tests.tui.scripted import figure, queue, view

VALUE = r"(?:U|-?\d+(?:\.\d+)?(?:s|%)?)"
LIMIT = r"(?:~?:?-?\d+(?:\.\d+)?:?)?"
DATUM = re.compile(rf"'((?:[^'=]|'')+)'={VALUE}(?:;{LIMIT}(?:;{LIMIT}(?:;(?:0)?(?:;(?:100)?)?)?)?)?")
STUCK = Verdict("stuck in progress", "7 in progress for more than 5 m", Severity.CRITICAL)
OUTRUN = Verdict("pushers outrun poppers", "growing 216/s", Severity.WARNING)


def state(*queues: QueueView, rules: tuple[AlertRule, ...] = (), wanted: tuple[str, ...] = ()) -> State:
    return judge(view(queues), rules, wanted).state


def test_without_rules_the_severity_of_the_verdict_decides() -> None:
    assert state(queue("a")) is State.OK
    assert state(queue("a"), queue("b", verdict=OUTRUN)) is State.WARNING
    assert state(queue("a", verdict=STUCK), queue("b", verdict=OUTRUN)) is State.CRITICAL
    paused = Verdict("paused", "by ada until 12:00", Severity.NOTICE)
    assert state(queue("a", verdict=paused)) is State.OK
    assert state(queue("a", verdict=Verdict("unknown", "not counted yet", Severity.NOTICE))) is State.UNKNOWN


def test_rules_decide_for_the_queues_they_are_about_and_verdicts_for_the_others() -> None:
    rule = AlertRule("deep", "ready", warn=100.0, queues=("a",))
    assert state(queue("a", ready=5, verdict=STUCK), rules=(rule,)) is State.OK
    assert state(queue("a", ready=5), queue("b", verdict=STUCK), rules=(rule,)) is State.CRITICAL
    assert state(queue("a", ready=500), queue("b", verdict=STUCK), rules=(rule,), wanted=("a",)) is State.WARNING


def test_proven_trouble_counts_for_more_than_what_cannot_be_told() -> None:
    rule = AlertRule("deep", "ready", warn=100.0)
    blind = queue("a", ready=figure(None, "permission denied"))
    assert state(blind, queue("b"), rules=(rule,)) is State.UNKNOWN
    assert state(blind, queue("b", ready=500), rules=(rule,)) is State.WARNING


def test_a_figure_that_a_queue_cannot_have_is_missed_only_by_a_rule_that_names_it() -> None:
    flowing = queue("a")
    assert state(flowing, rules=(AlertRule("full", "fill", crit=0.9),)) is State.OK
    assert state(flowing, rules=(AlertRule("full", "fill", crit=0.9, queues=("a",)),)) is State.UNKNOWN
    hidden = queue("a", stuck=figure(None, "denied"), failures=(ProbeFailure("progress", "denied", "a"),))
    assert state(hidden, rules=(AlertRule("stuck", "stuck", crit=0.0),)) is State.UNKNOWN


def test_no_queue_and_a_queue_that_is_not_there_are_unknown() -> None:
    assert not judge(view((queue("orders"),)), (), ("ordres",)).undecided, "another poll does not help"
    assert plugin_line(judge(view(()), ())) == "QMON UNKNOWN - orders-prod: no queue is known here"
    line = plugin_line(judge(view((queue("orders"),)), (), ("ordres",)))
    assert line == "QMON UNKNOWN - orders-prod: ordres: there is no such queue; did you mean orders?"


def test_the_line_says_the_worst_first_and_then_the_figures_with_units_and_limits() -> None:
    rules = (
        AlertRule("deep", "ready", warn=10_000.0, crit=50_000.0),
        AlertRule("old", "oldest_seconds", crit=600.0),
        AlertRule("slow", "pop_rate", warn=20.5, below=True),
        AlertRule("gap", "gap", warn=50.0),
        AlertRule("full", "fill", crit=0.9),
    )
    orders = queue("orders", "ring", ready=12_431, oldest=845.5, push=20.25, pop=20.0, gap=-24, fill=0.76)
    line = plugin_line(judge(view((orders,)), rules))
    text, data = line.split(" | ")
    assert text == (
        "QMON CRITICAL - orders-prod: orders: oldest 14 m 05 s, above 10 m; "
        "orders: depth 12,431, above 10,000; orders: pop_rate 20.0/s, below 20.5/s"
    )
    assert data == (
        "'orders.depth'=12431;10000;50000;0 'orders.in_progress'=0;;;0 'orders.stuck'=0;;;0 "
        "'orders.oldest'=845.5s;;600;0 'orders.push_rate'=20.25;;;0 'orders.pop_rate'=20;20.5:;;0 "
        "'orders.complete_rate'=20;;;0 'orders.gap'=-24;~:50 'orders.fill'=76%;;90;0;100"
    )


def test_a_figure_that_is_not_known_is_u_where_it_should_be_there() -> None:
    data = list(performance(judge(view((queue("a", push=None, ready=figure(None, "denied")),)), ())))
    assert {"'a.depth'=U;;;0", "'a.push_rate'=U;;;0"} <= set(data)
    assert not any("fill" in datum for datum in data)


@pytest.mark.parametrize(
    "name", ["it's", "a=b", "a|b", "a b", "\x1b[31mred\n", "請求書 🎉", '"; drop table x; --', "''"]
)
def test_no_name_breaks_the_form(name: str) -> None:
    line = plugin_line(judge(view((queue(name, verdict=STUCK),)), ()))
    assert line.count("|") == 1
    assert line.isprintable()
    data = line.split(" | ")[1]
    assert "".join(f"{found[0]} " for found in DATUM.finditer(data)).strip() == data


@given(st.lists(st.text(min_size=1, max_size=8), min_size=1, max_size=5, unique=True), st.floats(0, 1e15))
def test_any_names_and_values_give_one_line_of_distinct_well_formed_data(names: list[str], value: float) -> None:
    outcome = judge(view([queue(name, ready=value, oldest=value) for name in names]), ())
    line = plugin_line(outcome)
    assert line.count("|") == 1
    assert len(line.splitlines()) == 1
    data = list(performance(outcome))
    assert all(DATUM.fullmatch(datum) for datum in data)
    assert len({datum.rpartition("=")[0] for datum in data}) == len(data)
    assert "e+" not in "".join(datum.rpartition("=")[2] for datum in data)


def test_many_problems_are_cut_to_the_worst() -> None:
    line = plugin_line(judge(view([queue(f"q{n}", verdict=STUCK) for n in range(30)]), ()))
    assert "; and 22 more" in line


def test_as_an_object() -> None:
    outcome = judge(view((queue("a", ready=500),)), (AlertRule("deep", "ready", warn=100.0),))
    told = check_object(outcome)
    assert (told["state"], told["exit_code"], told["queues"][0]["ready"]) == ("warning", 1, 500)
    assert told["problems"] == [
        {"queue": "a", "state": "warning", "rule": "deep", "value": 500.0, "words": "depth 500, above 100"}
    ]
    lost = check_object(failed("shop", "connection refused"))
    assert (lost["exit_code"], lost["summary"], lost["sampled_at"]) == (3, "shop: connection refused", None)
