"""The files for Prometheus and Grafana: only served metrics, and checked by Prometheus' own tool."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from qmon.metrics.grafana_dashboard import dashboard_file
from qmon.metrics.metric_list import COUNTERS, GAUGES, METRICS
from qmon.metrics.prometheus_rules import RULES, rules_file
from tests.cli.calling import call

NAMES = {metric.name + "_total" * (metric.type == "counter") for metric in METRICS}
promtool = pytest.mark.skipif(shutil.which("promtool") is None, reason="Debian's package prometheus has promtool")
Q = {"target": "shop", "queue": "q"}
# For each rule: a series, minute by minute, that makes it fire within ten minutes; its labels; and its message.
FIRING = {
    "QmonAbsent": ("other", "1x10", {}, "Prometheus gets no metrics from qmon serve"),
    "QmonTargetLost": ("qmon_target_up", "0x10", {"target": "shop"}, "shop is not polled"),
    "QmonTextfileOld": (
        "node_textfile_mtime_seconds",
        "0x10",
        {"file": "/srv/metrics/qmon-shop.prom"},
        "/srv/metrics/qmon-shop.prom was last written 10m 0s ago",
    ),
    "QmonLakeOld": (
        "qmon_lake_batch_age_seconds",
        "90000x10",
        {"lake": "file:/lake"},
        "file:/lake has read no recordings for 1d 1h 0m 0s",
    ),
    "QmonVerdictCritical": ("qmon_verdict", "1x10", Q | {"severity": "critical", "code": "full"}, "q of shop: full"),
    "QmonVerdictWarning": ("qmon_verdict", "1x10", Q | {"severity": "warning", "code": "slow"}, "q of shop: slow"),
    "QmonOldMessages": (
        "qmon_queue_oldest_age_seconds",
        "901x10",
        Q,
        "q of shop: the oldest message has waited for 15m 1s",
    ),
    "QmonDeadMessages": (
        "qmon_queue_dead_messages",
        "0 0 3x8",
        Q,
        "q of shop: messages became dead in the last 15 minutes",
    ),
    "QmonRingFull": ("qmon_queue_fill_ratio", "0.95x10", Q, "q of shop: 95% of its slots are in use"),
}
# An arbitrary day.
QUIET = {
    "qmon_target_up": "1x10",
    'qmon_verdict{severity="notice", code="idle"}': "1x10",
    "qmon_queue_oldest_age_seconds": "900x10",
    "qmon_queue_dead_messages": "3x10",
    "qmon_queue_fill_ratio": "0.9x10",
    'node_textfile_mtime_seconds{file="/srv/qmon/mine.prom"}': "0x10",
    'node_textfile_mtime_seconds{file="/srv/qmon/qmon.prom"}': "0+60x10",
}


def drawn() -> list[str]:
    """The expressions of the dashboard."""
    return [target["expr"] for panel in json.loads(dashboard_file())["panels"] for target in panel["targets"]]


def used(text: str) -> set[str]:
    """The names of metrics in it."""
    return set(re.findall(r"\bqmon_\w+", text))


def test_rules_and_dashboard_have_only_metrics_that_are_served_and_the_dashboard_has_each_figure_of_a_queue() -> None:
    asked = {name for rule in RULES for name in used(rule.expression)}
    assert asked <= NAMES
    shown = {name for expression in drawn() for name in used(expression)}
    assert shown <= NAMES
    assert {each.name for each in GAUGES.values()} | {f"{each.name}_total" for each in COUNTERS.values()} <= shown
    panels = json.loads(dashboard_file())["panels"]
    places = [(panel["gridPos"]["x"], panel["gridPos"]["y"]) for panel in panels]
    assert len(set(places)) == len(places) == len({panel["id"] for panel in panels})


def test_they_are_written_by_a_command_that_needs_no_target() -> None:
    for option, text in (("rules", rules_file()), ("dashboard", dashboard_file())):
        done = call("serve", "--print", option)
        assert (done.exit_code, done.stdout) == (0, text)


def tool(folder: Path, text: str, *command: str) -> None:
    """Check a file with Prometheus' tool."""
    place = folder / "file.yml"
    place.write_text(text)
    done = subprocess.run(["promtool", *command, str(place)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@promtool
def test_prometheus_can_read_the_rules_and_what_the_dashboard_asks(tmp_path: Path) -> None:
    tool(tmp_path, rules_file(), "check", "rules", "--lint-fatal")
    variables = {"$__rate_interval": "1m", "$target": ".*", "$queue": ".*"}
    asked = drawn()
    for name, value in variables.items():
        asked = [expression.replace(name, value) for expression in asked]
    assert not [expression for expression in asked if "$" in expression]
    rules = [{"record": f"drawn:{number}", "expr": expression} for number, expression in enumerate(asked)]
    tool(tmp_path, json.dumps({"groups": [{"name": "drawn", "rules": rules}]}), "check", "rules")


@promtool
def test_each_rule_fires_when_it_should_and_none_on_a_day_like_any_other(tmp_path: Path) -> None:
    (tmp_path / "rules.yml").write_text(rules_file())
    assert set(FIRING) == {rule.name for rule in RULES}
    cases = [case({written(name, labels): values}, rule) for rule, (name, values, labels, _) in FIRING.items()]
    cases.append(case(QUIET))
    tool(tmp_path, json.dumps({"rule_files": ["rules.yml"], "tests": cases}), "test", "rules")


@promtool
def test_what_is_unknown_for_five_minutes_is_not_over_and_what_has_gone_for_longer_is(tmp_path: Path) -> None:
    (tmp_path / "rules.yml").write_text(rules_file())
    up, tests = {"qmon_target_up": "1x30"}, []
    for name in ("QmonVerdictCritical", "QmonVerdictWarning", "QmonOldMessages", "QmonRingFull"):
        metric, values, labels, _ = FIRING[name]
        given = {written(metric, labels): f"{values} stale"}
        tests += [case(up | given, name, "14m"), case(up | given, at="18m")]
    tool(tmp_path, json.dumps({"rule_files": ["rules.yml"], "tests": tests}), "test", "rules")


def written(name: str, labels: dict[str, str]) -> str:
    """Return a series in Prometheus' notation."""
    return name + "{" + ", ".join(f'{label}="{value}"' for label, value in labels.items()) + "}"


def case(given: dict[str, str], firing: str = "", at: str = "10m") -> dict[str, object]:
    """Return a test for Prometheus' tool: at that time, one of the rules fires, or none."""
    checked: list[dict[str, object]] = []
    for rule in RULES:
        alerts: list[dict[str, object]] = []
        if rule.name == firing:
            _, _, labels, summary = FIRING[firing]
            labels = labels | {"severity": rule.severity}
            alerts.append({"exp_labels": labels, "exp_annotations": {"summary": summary}})
        elif rule.name == "QmonAbsent" and "qmon_target_up" not in " ".join(given):
            continue
        checked.append({"eval_time": at, "alertname": rule.name, "exp_alerts": alerts})
    inputs = [{"series": name, "values": values} for name, values in given.items()]
    return {"interval": "1m", "input_series": inputs, "alert_rule_test": checked}
