"""Shows the server's reports about long waits of sessions, newest first, with two lines per report."""

from __future__ import annotations

from collections.abc import Sequence

from qmon.model import formatting
from qmon.model.samples.deadlock_samples import BlockedReport
from qmon.model.texts import Text
from qmon.tui import figures
from qmon.tui.sanitize import clean
from qmon.tui.spans import Line, cut_line


class ReportText(Text):
    """The texts about the reports."""

    THE_LAST = "the last {count}"
    WAITED = "waited {duration} for"


def reports_summary(reports: Sequence[BlockedReport]) -> str:
    """Return the text for the panel's title."""
    return ReportText.THE_LAST.render(count=len(reports)) if len(reports) > 1 else ""


def report_lines(reports: Sequence[BlockedReport], cells: int, rows: int) -> list[Line]:
    """Return the panel in at most ``rows`` lines."""
    out: list[Line] = []
    for report in reports:
        when = figures.moment_text(report.at, seconds=True)
        who = f"session {report.session}{_application_suffix(report.application)}"
        whom = f"session {report.blocker}{_application_suffix(report.blocker_application)}"
        out.append(
            cut_line(
                (
                    (f" {when} ", "muted"),
                    (who, "strong"),
                    (f" {ReportText.WAITED.render(duration=formatting.duration(report.waited_s))} ", "text"),
                    (whom, "strong"),
                    (f", {clean(report.blocker_state)}" if report.blocker_state else "", "accent"),
                ),
                cells,
            )
        )
        said = " ".join(report.statement.split()), " ".join(report.blocker_statement.split())
        told = f"{clean(said[0])} · {clean(said[1])}" if said[1] else clean(said[0])
        if told:
            out.append(cut_line(((f" {told}", "muted"),), cells))
    return out[:rows]


def _application_suffix(application: str) -> str:
    return f" ({clean(application)})" if application else ""
