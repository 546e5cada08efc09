"""Notes about the figures of a report, and sentences that all its forms share."""

from __future__ import annotations

from qmon.pipeline.report.facts import QueueFacts, ReportFacts
from qmon.pipeline.report.formatting import moment_text, number_text
from qmon.pipeline.report.tables import outgrown_text


def scope_text(facts: ReportFacts) -> str:
    """Describe the time and the targets of the report."""
    targets = [each.target for each in facts.targets]
    some = ", ".join(targets[:5]) + (f" and {len(targets) - 5:,} more" if len(targets) > 5 else "")
    return f"{some}: {moment_text(facts.period.start)[:16]} to {moment_text(facts.period.end)[:16]} UTC"


def report_notes(facts: ReportFacts) -> list[str]:
    """Return notes about the figures, one line each."""
    found = [
        "Healthy: the share of the time watched in which no verdict was a warning or worse. Ages are of the oldest "
        "ready message; percentiles are weighted by time; a rate is messages over seconds read."
    ]
    if facts.left_out:
        found.append(f"{facts.left_out:,} queues with fewer messages are not shown; --queue shows any.")
    if facts.more_incidents:
        found.append(f"{facts.more_incidents:,} more incidents are not listed; a shorter time shows them.")
    if facts.baselines is None:
        found.append("What is usual is not known; qmon pipeline baselines works it out, of four weeks at least.")
    if facts.counts.get("bad"):
        found.append(f"{facts.counts['bad']:,} lines of the recordings could not be read; the lake keeps them apart.")
    return found


def outlook_text(queue_facts: QueueFacts) -> str:
    """Describe when the queue will be outgrown, in a sentence."""
    can = queue_facts.capacity
    if can.outgrown_days is None:
        return f"When it is outgrown: {can.why}."
    return f"Pushes grow by {number_text(can.growth)}/s a day: outgrown {outgrown_text(queue_facts)}."
