"""Prints the pipeline's report on a terminal: the same tables as in the HTML file, and plots made of blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from qmon.cli.output import clean_text, print_output, print_table
from qmon.model.formatting import sparkline

if TYPE_CHECKING:
    from qmon.pipeline.report.facts import QueueFacts, ReportFacts
    from qmon.pipeline.report.tables import ReportTable

_WIDTH: Final = 60


def print_period(facts: ReportFacts) -> None:
    """Print the report."""
    from qmon.pipeline.report.headline import headline, things_to_look_at
    from qmon.pipeline.report.notes import report_notes, scope_text
    from qmon.pipeline.report.tables import report_tables, worst_table

    print_output(headline(facts))
    print_output(scope_text(facts))
    for place, thing in enumerate(things_to_look_at(facts), 1):
        print_output(f"{place}. {thing.text}")
    for shown in report_tables(facts):
        _print_table(shown)
    for each in facts.queues:
        print_output(f"\n{clean_text(each.target)} · {clean_text(each.queue)}")
        _print_plots(each)
        if each.worst:
            _print_table(worst_table(each))
    print_output("")
    for note in report_notes(facts):
        print_output(note)


def _print_table(shown: ReportTable) -> None:
    print_output(f"\n{shown.title}")
    if shown.rows:
        rows = [[cell.text for cell in row] for row in shown.rows]
        print_table(shown.headings, rows, wrap=shown.free if shown.free >= 0 else None)
    else:
        print_output("none")


def _print_plots(queue_facts: QueueFacts) -> None:
    from qmon.pipeline.report.facts import flow_rate, time_mean
    from qmon.pipeline.report.notes import outlook_text

    for name, values in (
        ("pushed/s", [flow_rate(row, "pushed") for row in queue_facts.plot]),
        ("popped/s", [flow_rate(row, "popped") for row in queue_facts.plot]),
        ("ready   ", [time_mean(row, "ready") for row in queue_facts.plot]),
        ("oldest  ", [row["oldest_max"] for row in queue_facts.plot]),
    ):
        print_output(f"{name} {block_line(values)}")
    print_output(outlook_text(queue_facts))


def block_line(values: list[float | None]) -> str:
    """Return a line of at most 60 blocks. Each shows the maximum of some consecutive values; it is blank if unknown."""
    each = max(1, -(-len(values) // _WIDTH))
    groups = [[v for v in values[at : at + each] if v is not None] for at in range(0, len(values), each)]
    highest = [max(group, default=None) for group in groups]
    return sparkline(highest, max((v for v in highest if v is not None), default=0.0))
