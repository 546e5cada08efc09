"""The pipeline's report as the object that ``--output json`` prints."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qmon.model.report import iso

if TYPE_CHECKING:
    from qmon.pipeline.report.facts import QueueFacts, ReportFacts
    from qmon.pipeline.report.levels import Level
    from qmon.pipeline.report.period import Coverage
    from qmon.pipeline.report.unusual import Unusual


def as_object(facts: ReportFacts) -> dict[str, object]:
    """Return the report as a ``PeriodReport``."""
    from qmon.pipeline.report.headline import headline, healthy, things

    return {
        "schema": 1,
        "from_at": iso(facts.period.start),
        "until_at": iso(facts.period.end),
        "headline": headline(facts),
        "look_at": [
            {"about": each.about, "text": each.text, "target": each.target, "queue": each.queue or None}
            for each in things(facts)
        ],
        "healthy": healthy(facts),
        "levels": list(map(_level, facts.levels)),
        "queues": [_queue(each, facts) for each in facts.queues],
        "queues_left_out": facts.left_out,
        "unusual": [_unusual(each) for q in facts.queues for each in q.unusual],
        "incidents": [
            {
                "target": row["target"],
                "queue": row["queue"],
                "start_at": iso(row["start_at"]),
                "end_at": iso(row["end_at"]),
                "cause": row["cause"],
                "codes": list(row["codes"]),
                "proof": row["proof"],
                "ready_max": row["peak_ready"],
                "operations": [{name: each[name] for name in ("kind", "state", "by")} for each in row["operations"]],
            }
            for row in facts.incidents
        ],
        "incidents_left_out": facts.more_incidents,
        "operations": [
            {"target": row["target"], "queue": row["queue"] or None, "started_at": iso(row["started_at"])}
            | {name: row[name] for name in ("kind", "state", "by", "reason", "done")}
            for row in facts.operations
        ],
        "coverage": list(map(_coverage, facts.targets)),
        "waits": [{"target": target, "wait": event, "sessions": count} for target, event, count in facts.waits],
        "messages": [
            {"target": row["target"], "queue": row["queue"], "messages": row["messages"]}
            | {f"{what}_{p}_seconds": row[f"{what}_{p}"] for what in ("wait", "work") for p in ("p50", "p95", "p99")}
            | {"again": row["again"]}
            for row in facts.messages
        ],
    }


def _queue(q: QueueFacts, facts: ReportFacts) -> dict[str, object]:
    from qmon.pipeline.report.facts import mean, rate
    from qmon.pipeline.report.period import Trouble
    from qmon.pipeline.report.tables import counters_watched, watched

    before, none = q.before, Trouble(0.0, 0)
    trouble = facts.trouble.get(q.key, none)
    return {
        "target": q.target,
        "queue": q.queue,
        "watched": watched(q, facts),
        "counters_watched": counters_watched(q, facts),
        "incidents": trouble.incidents,
        "incident_seconds": trouble.seconds,
        "incident_before_seconds": None if before is None else facts.trouble_before.get(q.key, none).seconds,
        "push_rate": rate(q.whole, "pushed"),
        "push_rate_before": None if before is None else rate(before, "pushed"),
        "pop_rate": rate(q.whole, "popped"),
        "pop_rate_best_hour": q.capacity.sustained,
        "push_rate_growth_per_day": q.capacity.growth,
        "outgrown_days": q.capacity.outgrown_days,
        "outgrown_earliest_days": q.capacity.earliest_days,
        "outgrown_latest_days": q.capacity.latest_days,
        "ready_mean": mean(q.whole, "ready"),
        "ready_p95": q.whole["ready_p95"],
        "ready_max": q.whole["ready_max"],
        **{f"oldest_{p}_seconds": q.whole[f"oldest_{p}"] for p in ("p50", "p95", "p99")},
        "oldest_p95_before_seconds": None if before is None else before["oldest_p95"],
    }


def _level(each: Level) -> dict[str, object]:
    asked = each.objective
    return {
        "target": each.target,
        "queue": each.queue,
        "slo": asked.name,
        "figure": asked.figure,
        "below": asked.below,
        "objective": asked.share,
        "window_seconds": asked.window_s,
        "counted_seconds": each.counted_s,
        "kept": each.share,
        "met": each.met,
        "budget_left": each.budget_left,
        "burn_rate": each.burn_rate,
    }


def _unusual(each: Unusual) -> dict[str, object]:
    worst = each.worst
    return {
        "target": each.target,
        "queue": each.queue,
        "figure": worst.figure,
        "start_at": iso(each.start),
        "end_at": iso(each.end),
        "value": worst.value,
        "usual": worst.band.median,
        "usual_low": worst.band.low,
        "usual_high": worst.band.high,
    }


def _coverage(each: Coverage) -> dict[str, object]:
    return {
        "target": each.target,
        "watched": each.share,
        "watched_seconds": each.seconds,
        "longest_gap_seconds": each.gap_s,
        "longest_gap_at": None if each.gap_at is None else iso(each.gap_at),
    }
