"""The pipeline's report on a terminal: the same tables as in the file, and the plots as blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from qmon.cli.output import clean, say, table
from qmon.model.text import sparkline

if TYPE_CHECKING:
    from qmon.pipeline.report.facts import QueueFacts, ReportFacts
    from qmon.pipeline.report.tables import ReportTable

_WIDTH: Final = 60


def show(facts: ReportFacts) -> None:
    """Print it."""
    from qmon.pipeline.report.html import notes
    from qmon.pipeline.report.tables import incident_table, message_table, queue_table, wait_table, worst_table
    from qmon.pipeline.report.text import moment

    say(f"Queues from {moment(facts.period.start)[:16]} to {moment(facts.period.end)[:16]} UTC")
    for note in notes(facts):
        say(note)
    _part("Queues", queue_table(facts))
    _part("Incidents", incident_table(facts))
    if facts.waits:
        _part("Waits", wait_table(facts))
    if facts.messages:
        _part("Archived messages", message_table(facts))
    for each in facts.queues:
        say(f"\n{clean(each.target)} · {clean(each.queue)}")
        _plots(each)
        if each.worst:
            _part("Hours with the oldest messages", worst_table(each))


def _part(title: str, shown: ReportTable) -> None:
    say(f"\n{title}")
    if shown.rows:
        table(shown.headings, shown.rows, wrap=shown.free if shown.free >= 0 else None)
    else:
        say("none")


def _plots(q: QueueFacts) -> None:
    from qmon.pipeline.report.facts import mean, rate
    from qmon.pipeline.report.html import outlook

    for name, values in (
        ("pushed/s", [rate(row, "pushed") for row in q.plot]),
        ("popped/s", [rate(row, "popped") for row in q.plot]),
        ("ready   ", [mean(row, "ready") for row in q.plot]),
        ("age p95 ", [row["oldest_p95"] for row in q.plot])
        if all("oldest_p95" in row for row in q.plot)  # minutes have no percentiles
        else ("oldest  ", [row["oldest_max"] for row in q.plot]),
    ):
        say(f"{name} {blocks(values)}")
    say(outlook(q))


def as_object(facts: ReportFacts) -> dict[str, object]:
    """The report as a ``PeriodReport``."""
    from qmon.model.report import iso

    return {
        "schema": 1,
        "from_at": iso(facts.period.start),
        "until_at": iso(facts.period.end),
        "queues": [_queue(each) for each in facts.queues],
        "queues_left_out": facts.left_out,
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
        "waits": [{"target": target, "wait": event, "sessions": count} for target, event, count in facts.waits],
        "messages": [
            {"target": row["target"], "queue": row["queue"], "messages": row["messages"]}
            | {f"{what}_{p}_seconds": row[f"{what}_{p}"] for what in ("wait", "work") for p in ("p50", "p95", "p99")}
            | {"again": row["again"]}
            for row in facts.messages
        ],
    }


def _queue(q: QueueFacts) -> dict[str, object]:
    from qmon.pipeline.report.facts import mean, rate

    return {
        "target": q.target,
        "queue": q.queue,
        "push_rate": rate(q.whole, "pushed"),
        "push_rate_week_before": None if q.before is None else rate(q.before, "pushed"),
        "pop_rate": rate(q.whole, "popped"),
        "pop_rate_best_hour": q.capacity.sustained,
        "push_rate_growth_per_day": q.capacity.growth,
        "outgrown_days": q.capacity.outgrown_days,
        "ready_mean": mean(q.whole, "ready"),
        "ready_p95": q.whole["ready_p95"],
        "ready_max": q.whole["ready_max"],
        **{f"oldest_{p}_seconds": q.whole[f"oldest_{p}"] for p in ("p50", "p95", "p99")},
    }


def blocks(values: list[float | None]) -> str:
    """A line of blocks, at most sixty: each the highest of its share; a blank where nothing is known."""
    each = max(1, -(-len(values) // _WIDTH))
    groups = [[v for v in values[at : at + each] if v is not None] for at in range(0, len(values), each)]
    highest = [max(group, default=None) for group in groups]
    return sparkline(highest, max((v for v in highest if v is not None), default=0.0))
