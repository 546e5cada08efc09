"""The wording of alert rules, notices and checks."""

from __future__ import annotations

from typing import Any, Final

from qmon.model.alerts.alert_rules import AlertText
from qmon.model.alerts.nagios import NagiosText
from qmon.model.alerts.notice_formats import NoticeText
from qmon.model.alerts.rule_parser import RuleText
from qmon.model.alerts.target_check import TargetCheckText
from qmon.texts import Text
from tests.texts.tables import Wordings, parametrized

WORDINGS: Final[Wordings] = {
    RuleText.SAME_NAME: (
        {"path": "/etc/qmon.toml: alert[2].name", "name": "deep"},
        "/etc/qmon.toml: alert[2].name: an earlier alert is already named 'deep'",
    ),
    RuleText.FIGURE_OR_VERDICT: (
        {"where": "/etc/qmon.toml: alert[1]"},
        "/etc/qmon.toml: alert[1]: needs figure or verdict, but not both",
    ),
    RuleText.MARGIN_OUT_OF_RANGE: (
        {"path": "/etc/qmon.toml: alert[1].margin"},
        "/etc/qmon.toml: alert[1].margin: must be from 0 to less than 1",
    ),
    RuleText.NEEDS_LIMIT: ({"where": "/etc/qmon.toml: alert[1]"}, "/etc/qmon.toml: alert[1]: needs warn, crit or both"),
    RuleText.NEVER_WARNS: (
        {"where": "/etc/qmon.toml: alert[1]", "side": "below"},
        "/etc/qmon.toml: alert[1]: crit is below warn, so qmon would never warn; change one of them",
    ),
    RuleText.NO_SUCH_PROBLEM: (
        {"where": "/etc/qmon.toml: alert[1].verdict", "pattern": "heal*"},
        "/etc/qmon.toml: alert[1].verdict: 'heal*' matches no verdict that is a warning or worse; "
        "write the full name of the verdict",
    ),
    RuleText.NO_SUCH_VERDICT: (
        {"where": "/etc/qmon.toml: alert[1].verdict", "pattern": "no pop", "hint": "; did you mean no pops?"},
        "/etc/qmon.toml: alert[1].verdict: there is no verdict 'no pop'; did you mean no pops?",
    ),
    RuleText.NO_SUCH_FIGURE: (
        {"where": "/etc/qmon.toml: alert[1].figure", "name": "reday", "hint": "; did you mean ready?"},
        "/etc/qmon.toml: alert[1].figure: 'reday' is not a figure; did you mean ready?",
    ),
    RuleText.NOT_A_NUMBER: ({"where": "--warn", "text": "many"}, "--warn: 'many' is not a number"),
    RuleText.UNREACHABLE: (
        {"where": "--warn", "value": -1.0, "figure": "ready"},
        "--warn: -1 can never be reached; ready is never below 0",
    ),
    RuleText.SHARE_ABOVE_ONE: (
        {"where": "--warn", "figure": "fill", "share": "a share from 0 to 1"},
        "--warn: fill is a share from 0 to 1, so write 0.9 for 90 %",
    ),
    RuleText.TWO_LIMITS: (
        {"where": "--warn", "figure": "ready"},
        "--warn: there are two limits for ready on the same side",
    ),
    RuleText.BOTH_LIMITS: ({"warn": "--warn", "crit": "--crit", "figure": "ready"}, "--warn and --crit of ready"),
    RuleText.NOT_A_RULE: (
        {"where": "--warn", "text": "ready"},
        "--warn: 'ready' is not a rule: write depth>1000, oldest>10m, pop_rate<1 or 'verdict=no pops'",
    ),
    AlertText.NO_LIMIT: ({}, "no limit"),
    AlertText.NO_READING: ({}, "no reading"),
    AlertText.FIGURE_UNKNOWN: (
        {"figure": "ready", "reason": "not read in this poll"},
        "ready is not known: not read in this poll",
    ),
    AlertText.NO_SUCH_TARGET: (
        {"name": "deep", "targets": "shp", "hint": "; did you mean shop?"},
        "the alert 'deep' applies to no target: no target is called shp; did you mean shop?",
    ),
    AlertText.NO_SUCH_QUEUE: (
        {"name": "deep", "queue": "order", "hint": "; did you mean orders?"},
        "the alert 'deep' names a queue that does not exist: order; did you mean orders?",
    ),
    TargetCheckText.NO_QUEUE_KNOWN: (
        {},
        "no queue is known here; to be warned about a missing queue, name it in qmon.toml",
    ),
    TargetCheckText.NO_SUCH_QUEUE: ({"hint": "; did you mean orders?"}, "there is no such queue; did you mean orders?"),
    TargetCheckText.NO_SUCH_QUEUE_OF_ALERT: (
        {"alert": "deep", "hint": "; did you mean orders?"},
        "the alert 'deep' names this queue, which does not exist; did you mean orders?",
    ),
    NagiosText.LINE: (
        {"state": "OK", "summary": "shop: 3 queues fine, 1,234 ready"},
        "QMON OK - shop: 3 queues fine, 1,234 ready",
    ),
    NagiosText.MORE_TARGETS: ({"count": 3, "plural": "s"}, "; 3 more targets fine"),
    NagiosText.WITHIN_LIMITS: ({}, "within the requested limits"),
    NagiosText.QUEUES: (
        {"target": "shop: ", "count": 3, "plural": "s", "state": "fine", "ready": 1234.0},
        "shop: 3 queues fine, 1,234 ready",
    ),
    NagiosText.AND_MORE: ({"count": 3}, "; and 3 more"),
    NoticeText.QUEUES: ({"count": 3}, "3 queues"),
    NoticeText.ALERT: (
        {"name": "deep", "event": "raised", "at": "2026-11-28T04:12:00.000Z", "since": "2026-11-28T04:11:40.000Z"},
        "alert deep, raised at 2026-11-28T04:12:00.000Z, since 2026-11-28T04:11:40.000Z",
    ),
    NoticeText.CAUSE: ({"cause": "the log"}, "cause: the log"),
    NoticeText.QUEUES_LINE: ({"queues": "mails, orders"}, "queues: mails, orders"),
    NoticeText.AND_MORE: ({"count": 3}, " and 3 more"),
}


@parametrized(WORDINGS)
def test_wording(text: Text, fields: dict[str, Any], sentence: str) -> None:
    assert text.render(**fields) == sentence
