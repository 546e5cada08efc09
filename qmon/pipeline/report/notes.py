"""Notes about the figures of a report, and sentences that all formats of the report share."""

from __future__ import annotations

from qmon.pipeline.report.facts import QueueFacts, ReportFacts
from qmon.pipeline.report.report_formatting import moment_text, number_text
from qmon.pipeline.report.tables import outgrown_text


def scope_text(facts: ReportFacts) -> str:
    """Describe the time and the targets of the report."""
    targets = [each.target for each in facts.targets]
    some = ", ".join(targets[:5]) + (f" and {len(targets) - 5:,} more" if len(targets) > 5 else "")
    return f"{some}: {moment_text(facts.period.start)[:16]} to {moment_text(facts.period.end)[:16]} UTC"


def report_notes(facts: ReportFacts) -> list[str]:
    """Return notes about the figures, one line each."""
    found = [
        "Healthy: the share of the watched time without a warning or worse. An age is the age of the oldest ready "
        "message. Percentiles are weighted by time. Rates are messages divided by the seconds covered by counters."
    ]
    if facts.left_out:
        found.append(
            f"{facts.left_out:,} queues with fewer problems and messages are not shown; "
            "show them with --target or --queue."
        )
    if facts.more_incidents:
        found.append(f"{facts.more_incidents:,} more incidents are not listed; choose a shorter period to see them.")
    if facts.baselines is None:
        found.append("No baseline yet: run qmon pipeline baselines when the lake has at least four weeks of data.")
    return found


def outlook_text(queue_facts: QueueFacts) -> str:
    """Return a sentence about when the push rate of the queue will reach its best pop rate."""
    can = queue_facts.capacity
    if can.outgrown_days is None:
        return f"No forecast: {can.why}."
    return f"Pushes grow by {number_text(can.growth)}/s per day and reach the best hour {outgrown_text(queue_facts)}."
