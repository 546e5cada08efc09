"""The wording of errors and results of alert rules."""

from __future__ import annotations

from typing import Any, Final

from qmon.model.alerts.alert_rules import AlertText
from qmon.model.alerts.rule_parser import RuleText
from qmon.model.texts import Text
from tests.texts.tables import Wordings, parametrized

WORDINGS: Final[Wordings] = {
    RuleText.SAME_NAME: (
        {"path": "qmon.toml: target.shop", "name": "jobs"},
        "qmon.toml: target.shop: an earlier alert is already named 'jobs'",
    ),
    RuleText.FIGURE_OR_VERDICT: (
        {"where": "qmon.toml: target.shop"},
        "qmon.toml: target.shop: needs figure or verdict, but not both",
    ),
    RuleText.MARGIN_OUT_OF_RANGE: (
        {"path": "qmon.toml: target.shop"},
        "qmon.toml: target.shop: must be from 0 to less than 1",
    ),
    RuleText.NEEDS_LIMIT: ({"where": "qmon.toml: target.shop"}, "qmon.toml: target.shop: needs warn, crit or both"),
    RuleText.NEVER_WARNS: (
        {"where": "qmon.toml: target.shop", "side": "below"},
        "qmon.toml: target.shop: crit is below warn, so qmon would never warn; change one of them",
    ),
    RuleText.NO_SUCH_PROBLEM: (
        {"where": "qmon.toml: target.shop", "pattern": "stcuk*"},
        "qmon.toml: target.shop: 'stcuk*' matches no verdict that is a warning or worse; write the full "
        "name of the verdict",
    ),
    RuleText.NO_SUCH_VERDICT: (
        {"where": "qmon.toml: target.shop", "pattern": "stcuk*", "hint": "; did you mean jobs?"},
        "qmon.toml: target.shop: there is no verdict 'stcuk*'; did you mean jobs?",
    ),
    RuleText.NO_SUCH_FIGURE: (
        {"where": "qmon.toml: target.shop", "name": "jobs", "hint": "; did you mean jobs?"},
        "qmon.toml: target.shop: 'jobs' is not a figure; did you mean jobs?",
    ),
    RuleText.NOT_A_NUMBER: (
        {"where": "qmon.toml: target.shop", "text": "soon"},
        "qmon.toml: target.shop: 'soon' is not a number",
    ),
    RuleText.UNREACHABLE: (
        {"where": "qmon.toml: target.shop", "value": 7, "figure": "depth"},
        "qmon.toml: target.shop: 7 can never be reached; depth is never below 0",
    ),
    RuleText.SHARE_ABOVE_ONE: (
        {"where": "qmon.toml: target.shop", "figure": "depth", "share": "a share from 0 to 1"},
        "qmon.toml: target.shop: depth is a share from 0 to 1, so write 0.9 for 90 %",
    ),
    RuleText.TWO_LIMITS: (
        {"where": "qmon.toml: target.shop", "figure": "depth"},
        "qmon.toml: target.shop: there are two limits for depth on the same side",
    ),
    RuleText.BOTH_LIMITS: ({"warn": "--warn", "crit": "--crit", "figure": "depth"}, "--warn and --crit of depth"),
    RuleText.NOT_A_RULE: (
        {"where": "qmon.toml: target.shop", "text": "soon"},
        "qmon.toml: target.shop: 'soon' is not a rule: write depth>1000, oldest>10m, pop_rate<1 or 'verdict=no pops'",
    ),
    AlertText.NO_LIMIT: ({}, "no limit"),
    AlertText.NO_READING: ({}, "no reading"),
    AlertText.FIGURE_UNKNOWN: ({"figure": "depth", "reason": "not read"}, "depth is not known: not read"),
    AlertText.NO_SUCH_TARGET: (
        {"name": "jobs", "targets": "shop", "hint": "; did you mean jobs?"},
        "the alert 'jobs' applies to no target: no target is called shop; did you mean jobs?",
    ),
    AlertText.NO_SUCH_QUEUE: (
        {"name": "jobs", "queue": "orders", "hint": "; did you mean jobs?"},
        "the alert 'jobs' names a queue that does not exist: orders; did you mean jobs?",
    ),
}


@parametrized(WORDINGS)
def test_wording(text: Text, fields: dict[str, Any], sentence: str) -> None:
    assert text.render(**fields) == sentence
