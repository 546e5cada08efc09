"""Builds the text of a file with alerting rules for Prometheus from the list of metrics."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from qmon.metrics.metric_list import GAUGES, LAKE_AGE, UP, VERDICT
from qmon.recording.write.retention import ABANDONED_S

_HEAD: Final = """\
# Alerting rules for the metrics of qmon serve. The limits are examples: adjust them to your queues.
groups:
  - name: qmon
    rules:
"""


@dataclass(frozen=True, slots=True)
class AlertingRule:
    """One alerting rule. ``expression``: PromQL. ``hold``: how long the expression must be true, such as ``5m``.

    ``keep``: how long the alert continues after the expression has become false. This is needed because an unknown
    value has no series, although the problem may continue.
    """

    name: str
    expression: str
    hold: str
    severity: str
    summary: str
    keep: str = ""

    def yaml_lines(self) -> Iterator[str]:
        """Yield the lines of the rule in YAML. Texts are in single quotes and must not contain single quotes."""
        yield f"- alert: {self.name}"
        yield f"  expr: '{self.expression}'"
        yield f"  for: {self.hold}"
        if self.keep:
            yield f"  keep_firing_for: {self.keep}"
        yield f"  labels: {{ severity: {self.severity} }}"
        yield f"  annotations: {{ summary: '{self.summary}' }}"


_QUEUE: Final = "{{ $labels.queue }} of {{ $labels.target }}"
_VERDICT: Final = f"{_QUEUE}: {{{{ $labels.code }}}}"

# Metric of node_exporter, for files with qmon in their names.
_WRITTEN: Final = 'node_textfile_mtime_seconds{file=~".*qmon[^/]*[.]prom"}'
_KEEP: Final = "5m"

# All rules. Rules about verdicts report problems that qmon has found. The other rules have limits.
RULES: Final = (
    AlertingRule("QmonAbsent", f"absent({UP.name})", "5m", "critical", "Prometheus gets no metrics from qmon serve"),
    AlertingRule("QmonTargetLost", f"{UP.name} == 0", "2m", "critical", "{{ $labels.target }} is not polled"),
    AlertingRule(
        "QmonTextfileOld",
        f"time() - {_WRITTEN} > 180",
        "1m",
        "critical",
        "{{ $labels.file }} was last written {{ $value | humanizeDuration }} ago",
    ),
    AlertingRule(
        "QmonLakeOld",
        f"{LAKE_AGE.name} > {ABANDONED_S:.0f}",
        "5m",
        "warning",
        "{{ $labels.lake }} has read no recordings for {{ $value | humanizeDuration }}",
    ),
    AlertingRule(
        "QmonVerdictCritical", f'{VERDICT.name}{{severity="critical"}} == 1', "1m", "critical", _VERDICT, _KEEP
    ),
    AlertingRule("QmonVerdictWarning", f'{VERDICT.name}{{severity="warning"}} == 1', "5m", "warning", _VERDICT, _KEEP),
    AlertingRule(
        "QmonOldMessages",
        f"{GAUGES['oldest'].name} > 900",
        "5m",
        "warning",
        f"{_QUEUE}: the oldest message has waited for {{{{ $value | humanizeDuration }}}}",
        _KEEP,
    ),
    AlertingRule(
        "QmonDeadMessages",
        f"delta({GAUGES['dead'].name}[15m]) > 0",
        "0m",
        "warning",
        f"{_QUEUE}: messages became dead in the last 15 minutes",
    ),
    AlertingRule(
        "QmonRingFull",
        f"{GAUGES['fill'].name} > 0.9",
        "2m",
        "critical",
        f"{_QUEUE}: {{{{ $value | humanizePercentage }}}} of its slots are in use",
        _KEEP,
    ),
)


def rules_file() -> str:
    """Return the file for ``rule_files`` of Prometheus."""
    return _HEAD + "\n".join(f"      {line}" for rule in RULES for line in rule.yaml_lines()) + "\n"
