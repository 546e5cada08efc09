"""Converts the pipeline's report to the object that ``--output json`` prints."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from qmon.cli.reports.pipeline_reports import (
    BadLines,
    IncidentOperation,
    LookAt,
    PeriodIncident,
    PeriodOperation,
    QueueMessages,
    ServiceLevel,
    TargetCoverage,
    UnusualHours,
)
from qmon.model.report_shapes import fill
from qmon.model.status_report import iso

if TYPE_CHECKING:
    from qmon.pipeline.report.facts import QueueFacts, ReportFacts
    from qmon.pipeline.report.period import Coverage
    from qmon.pipeline.report.service_levels import Level
    from qmon.pipeline.report.unusual_hours import UnusualStretch

_TIMES: Final = tuple(f"{what}_{p}" for what in ("wait", "work") for p in ("p50", "p95", "p99"))


def report_object(facts: ReportFacts) -> dict[str, object]:
    """Return the report as a ``PeriodReport``."""
    from qmon.pipeline.report.headline import headline, healthy_share, things_to_look_at

    return {
        "schema": 1,
        "from_at": iso(facts.period.start),
        "until_at": iso(facts.period.end),
        "headline": headline(facts),
        "look_at": [fill(LookAt, each) for each in things_to_look_at(facts)],
        "healthy": healthy_share(facts),
        "levels": list(map(_level_object, facts.levels)),
        "queues": [_queue_object(each, facts) for each in facts.queues],
        "queues_left_out": facts.left_out,
        "unusual": [_unusual_object(each) for q in facts.queues for each in q.unusual],
        "incidents": [
            fill(
                PeriodIncident,
                row,
                start_at=iso(row["start_at"]),
                end_at=iso(row["end_at"]),
                codes=list(row["codes"]),
                ready_max=row["peak_ready"],
                operations=[fill(IncidentOperation, each) for each in row["operations"]],
            )
            for row in facts.incidents
        ],
        "incidents_left_out": facts.more_incidents,
        "operations": [fill(PeriodOperation, row, started_at=iso(row["started_at"])) for row in facts.operations],
        "coverage": list(map(_coverage_object, facts.targets)),
        "waits": [{"target": target, "wait": event, "sessions": count} for target, event, count in facts.waits],
        "messages": [
            fill(
                QueueMessages,
                row,
                **{f"{each}_seconds": row[each] for each in _TIMES},
            )
            for row in facts.messages
        ],
        "bad_lines": [
            fill(BadLines, row, first_day=str(row["first_day"]), last_day=str(row["last_day"])) for row in facts.bad
        ],
    }


def _queue_object(queue_facts: QueueFacts, facts: ReportFacts) -> dict[str, object]:
    from qmon.pipeline.report.facts import flow_rate, time_mean
    from qmon.pipeline.report.period import Trouble
    from qmon.pipeline.report.tables import counters_watched_share, watched_share

    before, none = queue_facts.before, Trouble(0.0, 0)
    trouble = facts.trouble.get(queue_facts.key, none)
    return {
        "target": queue_facts.target,
        "queue": queue_facts.queue,
        "watched": watched_share(queue_facts, facts),
        "counters_watched": counters_watched_share(queue_facts, facts),
        "incidents": trouble.incidents,
        "incident_seconds": trouble.seconds,
        "incident_before_seconds": None if before is None else facts.trouble_before.get(queue_facts.key, none).seconds,
        "push_rate": flow_rate(queue_facts.whole, "pushed"),
        "push_rate_before": None if before is None else flow_rate(before, "pushed"),
        "pop_rate": flow_rate(queue_facts.whole, "popped"),
        "pop_rate_best_hour": queue_facts.capacity.sustained,
        "push_rate_growth_per_day": queue_facts.capacity.growth,
        "outgrown_days": queue_facts.capacity.outgrown_days,
        "outgrown_earliest_days": queue_facts.capacity.earliest_days,
        "outgrown_latest_days": queue_facts.capacity.latest_days,
        "ready_mean": time_mean(queue_facts.whole, "ready"),
        "ready_p95": queue_facts.whole["ready_p95"],
        "ready_max": queue_facts.whole["ready_max"],
        **{f"oldest_{p}_seconds": queue_facts.whole[f"oldest_{p}"] for p in ("p50", "p95", "p99")},
        "oldest_p95_before_seconds": None if before is None else before["oldest_p95"],
    }


def _level_object(level: Level) -> ServiceLevel:
    asked = level.objective
    return fill(
        ServiceLevel,
        level,
        slo=asked.name,
        figure=asked.figure,
        below=asked.below,
        objective=asked.share,
        window_seconds=asked.window_s,
        counted_seconds=level.counted_s,
        kept=level.share,
        met=level.is_met,
        enough_data=level.has_enough_data,
    )


def _unusual_object(hours: UnusualStretch) -> UnusualHours:
    worst = hours.worst
    return fill(
        UnusualHours,
        hours,
        figure=worst.figure,
        start_at=iso(hours.start),
        end_at=iso(hours.end),
        value=worst.value,
        usual=worst.band.median,
        usual_low=worst.band.low,
        usual_high=worst.band.high,
    )


def _coverage_object(coverage: Coverage) -> TargetCoverage:
    return fill(
        TargetCoverage,
        coverage,
        watched=coverage.share,
        watched_seconds=coverage.seconds,
        longest_gap_seconds=coverage.gap_s,
        longest_gap_at=None if coverage.gap_at is None else iso(coverage.gap_at),
    )
