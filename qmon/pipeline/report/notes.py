"""Notes about the figures of a report, and sentences that all formats of the report share."""

from __future__ import annotations

from typing import Final

from qmon.pipeline.report.facts import QueueFacts, ReportFacts
from qmon.pipeline.report.report_formatting import moment_text, number_text
from qmon.pipeline.report.tables import outgrown_text
from qmon.texts import Text


class ReportNoteText(Text):
    """Notes about the figures, and sentences that all formats of the report share."""

    SCOPE = "{targets}: {start} to {end} UTC"
    AND_MORE = "{targets} and {count:,} more"
    FIGURES = (
        "Healthy: the share of the watched time without a warning or worse. An age is the age of the oldest ready "
        "message. Percentiles are weighted by time. Rates are messages divided by the seconds covered by counters."
    )
    QUEUES_LEFT_OUT = (
        "{count:,} queues with fewer problems and messages are not shown; show them with --target or --queue."
    )
    INCIDENTS_LEFT_OUT = "{count:,} more incidents are not listed; choose a shorter period to see them."
    NO_BASELINE = "No baseline yet: run qmon pipeline baselines when the lake has at least four weeks of data."
    NO_FORECAST = "No forecast: {reason}."
    GROWTH = "Pushes grow by {growth}/s per day and reach the best hour {time}."


# Maximum number of targets to name.
_MAX_TARGETS: Final = 5


def scope_text(facts: ReportFacts) -> str:
    """Describe the time and the targets of the report."""
    targets = [each.target for each in facts.targets]
    some = ", ".join(targets[:_MAX_TARGETS])
    if len(targets) > _MAX_TARGETS:
        some = ReportNoteText.AND_MORE.render(targets=some, count=len(targets) - _MAX_TARGETS)
    return ReportNoteText.SCOPE.render(
        targets=some, start=moment_text(facts.period.start)[:16], end=moment_text(facts.period.end)[:16]
    )


def report_notes(facts: ReportFacts) -> list[str]:
    """Return notes about the figures, one line each."""
    notes = [ReportNoteText.FIGURES.render()]
    if facts.left_out:
        notes.append(ReportNoteText.QUEUES_LEFT_OUT.render(count=facts.left_out))
    if facts.more_incidents:
        notes.append(ReportNoteText.INCIDENTS_LEFT_OUT.render(count=facts.more_incidents))
    if facts.baselines is None:
        notes.append(ReportNoteText.NO_BASELINE.render())
    return notes


def outlook_text(queue_facts: QueueFacts) -> str:
    """Return a sentence about when the push rate of the queue will reach its best pop rate."""
    can = queue_facts.capacity
    if can.outgrown_days is None:
        return ReportNoteText.NO_FORECAST.render(reason=can.why)
    return ReportNoteText.GROWTH.render(growth=number_text(can.growth), time=outgrown_text(queue_facts))
