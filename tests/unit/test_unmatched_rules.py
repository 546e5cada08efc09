"""Alerts that can never be raised, because no target or queue has the given name."""

from __future__ import annotations

import pytest

from qmon.model.alerts.alert_rules import AlertRule, AlertText, unmatched_queue_lines, unmatched_target_lines
from qmon.model.config_reader import KeyText

TARGETS = ("shop", "crm")
QUEUES = {"shop": ("jobs", "mails"), "crm": ("payslips",)}


def rule(*, target: str = "*", queue: str = "*") -> AlertRule:
    return AlertRule("deep", "ready", warn=1.0, targets=(target,), queues=(queue,))


@pytest.mark.parametrize(
    ("target", "hint"),
    [("shpo", KeyText.DID_YOU_MEAN.render(word="shop")), ("nowhere*", KeyText.CHOOSE_FROM.render(words="crm, shop"))],
)
def test_a_target_that_nothing_is_called(target: str, hint: str) -> None:
    (line,) = unmatched_target_lines([rule(target=target)], TARGETS)
    assert line == AlertText.NO_SUCH_TARGET.render(name="deep", targets=target, hint=hint)


@pytest.mark.parametrize("target", ["shop", "sh*", "*", "?rm"])
def test_a_target_that_is_there(target: str) -> None:
    assert [*unmatched_target_lines([rule(target=target)], TARGETS)] == []


@pytest.mark.parametrize(
    ("target", "queue", "lines"),
    [
        (
            "*",
            "jbos",
            [AlertText.NO_SUCH_QUEUE.render(name="deep", queue="jbos", hint=KeyText.DID_YOU_MEAN.render(word="jobs"))],
        ),
        (
            "shop",
            "pay*",
            [
                AlertText.NO_SUCH_QUEUE.render(
                    name="deep", queue="pay*", hint=KeyText.CHOOSE_FROM.render(words="jobs, mails")
                )
            ],
        ),
        ("*", "pay*", []),
        ("*", "*", []),
        ("shop", "jobs", []),
        ("shpo", "jbos", []),  # the missing target is reported elsewhere
    ],
)
def test_a_queue_is_missing_if_no_target_of_the_rule_has_it(target: str, queue: str, lines: list[str]) -> None:
    assert [*unmatched_queue_lines([rule(target=target, queue=queue)], QUEUES, TARGETS)] == lines


def test_nothing_is_said_while_a_target_of_the_rule_was_not_read() -> None:
    read = {"shop": QUEUES["shop"]}
    assert [*unmatched_queue_lines([rule(queue="payslips")], read, TARGETS)] == []
    assert len([*unmatched_queue_lines([rule(target="shop", queue="payslips")], read, TARGETS)]) == 1
