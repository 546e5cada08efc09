"""The wording of alert rules, notices and checks."""

from __future__ import annotations

from typing import Any, Final

from qmon.model.alerts.alert_rules import AlertText
from qmon.model.alerts.nagios import NagiosText
from qmon.model.alerts.notice_formats import NoticeText
from qmon.model.alerts.rule_parser import RuleText
from qmon.model.alerts.target_check import TargetCheckText
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
        {"where": "qmon.toml: target.shop", "side": "producers"},
        "qmon.toml: target.shop: crit is producers warn, so qmon would never warn; change one of them",
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
        {"where": "qmon.toml: target.shop", "text": "idle in transaction, app"},
        "qmon.toml: target.shop: 'idle in transaction, app' is not a number",
    ),
    RuleText.UNREACHABLE: (
        {"where": "qmon.toml: target.shop", "value": 1234, "figure": "depth"},
        "qmon.toml: target.shop: 1234 can never be reached; depth is never below 0",
    ),
    RuleText.SHARE_ABOVE_ONE: (
        {"where": "qmon.toml: target.shop", "figure": "depth", "share": "98 %"},
        "qmon.toml: target.shop: depth is 98 %, so write 0.9 for 90 %",
    ),
    RuleText.TWO_LIMITS: (
        {"where": "qmon.toml: target.shop", "figure": "depth"},
        "qmon.toml: target.shop: there are two limits for depth on the same side",
    ),
    RuleText.BOTH_LIMITS: ({"warn": "--warn", "crit": "--crit", "figure": "depth"}, "--warn and --crit of depth"),
    RuleText.NOT_A_RULE: (
        {"where": "qmon.toml: target.shop", "text": "idle in transaction, app"},
        "qmon.toml: target.shop: 'idle in transaction, app' is not a rule: write depth>1000, oldest>10m, "
        "pop_rate<1 or 'verdict=no pops'",
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
    TargetCheckText.NO_QUEUE_KNOWN: (
        {},
        "no queue is known here; to be warned about a missing queue, name it in qmon.toml",
    ),
    TargetCheckText.NO_SUCH_QUEUE: ({"hint": "; did you mean jobs?"}, "there is no such queue; did you mean jobs?"),
    TargetCheckText.NO_SUCH_QUEUE_OF_ALERT: (
        {"alert": "deep", "hint": "; did you mean jobs?"},
        "the alert 'deep' names this queue, which does not exist; did you mean jobs?",
    ),
    NagiosText.LINE: ({"state": "on", "summary": "all fine"}, "QMON on - all fine"),
    NagiosText.MORE_TARGETS: ({"count": "1,200", "plural": "s"}, "; 1,200 more targets fine"),
    NagiosText.WITHIN_LIMITS: ({}, "within the requested limits"),
    NagiosText.QUEUES: (
        {"target": "the target", "count": "1,200", "plural": "s", "state": "on", "ready": 1234},
        "the target1,200 queues on, 1,234 ready",
    ),
    NagiosText.AND_MORE: ({"count": "1,200"}, "; and 1,200 more"),
    NoticeText.QUEUES: ({"count": "1,200"}, "1,200 queues"),
    NoticeText.ALERT: (
        {"name": "jobs", "event": "raised", "at": "2026-11-28 04:12:00 UTC", "since": "04:12:00 UTC"},
        "alert jobs, raised at 2026-11-28 04:12:00 UTC, since 04:12:00 UTC",
    ),
    NoticeText.CAUSE: ({"cause": "lock"}, "cause: lock"),
    NoticeText.QUEUES_LINE: ({"queues": "jobs, mails"}, "queues: jobs, mails"),
    NoticeText.AND_MORE: ({"count": "1,200"}, " and 1,200 more"),
}


@parametrized(WORDINGS)
def test_wording(text: Text, fields: dict[str, Any], sentence: str) -> None:
    assert text.render(**fields) == sentence
