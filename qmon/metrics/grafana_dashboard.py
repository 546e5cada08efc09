"""Builds the text of a file with a Grafana dashboard from the list of metrics."""

from __future__ import annotations

import json
from typing import Any, Final

from qmon.metrics.metric_list import COUNTERS, GAUGES, QUEUE, UP, VERDICT, Metric

# Grafana's units, keyed by our units.
_UNITS: Final = {"messages": "short", "seconds": "s", "ratio": "percentunit", "bytes": "bytes", "sessions": "short"}
_SOURCE: Final = {"type": "prometheus", "uid": "${source}"}
_WIDTH: Final = 24
_HEIGHT: Final = 8


def promql_expression(metric: Metric) -> str:
    """Return PromQL for a metric, with the dashboard's variables. A counter is shown as a rate."""
    chosen = ", ".join(f'{label}=~"${label}"' for label in metric.labels if label in QUEUE)
    if metric.type == "counter":
        return f"rate({metric.name}_total{{{chosen}}}[$__rate_interval])"
    return f"{metric.name}{{{chosen}}}"


def dashboard_file() -> str:
    """Return the file to import into Grafana. It shows targets, verdicts, and graphs of the figures of queues."""
    panels = [
        _panel(0, UP, "state-timeline", "{{target}}", 0, 0, _WIDTH // 2),
        _panel(1, VERDICT, "state-timeline", "{{queue}}: {{code}}", _WIDTH // 2, 0, _WIDTH // 2),
    ]
    third = _WIDTH // 3
    for number, metric in enumerate((*COUNTERS.values(), *GAUGES.values())):
        x, y = number % 3 * third, (number // 3 + 1) * _HEIGHT
        panels.append(_panel(number + 2, metric, "timeseries", "{{target}} {{queue}}", x, y, third))
    made = {
        "title": "qmon",
        "uid": "qmon-queues",
        "tags": ["qmon"],
        "schemaVersion": 39,
        "refresh": "30s",
        "time": {"from": "now-1h", "to": "now"},
        "panels": panels,
        "templating": {"list": _variables()},
    }
    return json.dumps(made, indent=2) + "\n"


def _panel(number: int, metric: Metric, kind: str, legend: str, x: int, y: int, width: int) -> dict[str, Any]:
    rate = metric.type == "counter"
    words = metric.name.removeprefix("qmon_").removeprefix("queue_").removesuffix(f"_{metric.unit}").replace("_", " ")
    return {
        "id": number + 1,
        "type": kind,
        "title": f"{words} per second" if rate else words,
        "description": metric.help,
        "datasource": _SOURCE,
        "gridPos": {"x": x, "y": y, "w": width, "h": _HEIGHT},
        "fieldConfig": {"defaults": {"unit": "cps" if rate else _UNITS.get(metric.unit, "none")}, "overrides": []},
        "targets": [{"refId": "A", "datasource": _SOURCE, "expr": promql_expression(metric), "legendFormat": legend}],
    }


def _variables() -> list[dict[str, Any]]:
    """Return the selectors at the top of the dashboard: Prometheus data source, targets and queues."""
    queues = f'label_values({VERDICT.name}{{target=~"$target"}}, queue)'
    return [
        {"name": "source", "label": "Prometheus", "type": "datasource", "query": "prometheus"},
        *(
            {
                "name": name,
                "type": "query",
                "datasource": _SOURCE,
                "query": query,
                "refresh": 2,
                "multi": True,
                "includeAll": True,
                "allValue": ".*",
            }
            for name, query in (("target", f"label_values({UP.name}, target)"), ("queue", queues))
        ),
    ]
