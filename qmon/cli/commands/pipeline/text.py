"""The pipeline's report on a terminal: the same tables as in the file, with plots made of blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from qmon.cli.output import clean, say, table
from qmon.model.text import sparkline

if TYPE_CHECKING:
    from qmon.pipeline.report.facts import QueueFacts, ReportFacts
    from qmon.pipeline.report.tables import ReportTable

_WIDTH: Final = 60


def show(facts: ReportFacts) -> None:
    """Print the report."""
    from qmon.pipeline.report.headline import headline, things
    from qmon.pipeline.report.notes import length_of, notes
    from qmon.pipeline.report.tables import tables, worst_table

    say(headline(facts))
    say(length_of(facts))
    for place, thing in enumerate(things(facts), 1):
        say(f"{place}. {thing.text}")
    for shown in tables(facts):
        _part(shown)
    for each in facts.queues:
        say(f"\n{clean(each.target)} · {clean(each.queue)}")
        _plots(each)
        if each.worst:
            _part(worst_table(each))
    say("")
    for note in notes(facts):
        say(note)


def _part(shown: ReportTable) -> None:
    say(f"\n{shown.title}")
    if shown.rows:
        rows = [[cell.text for cell in row] for row in shown.rows]
        table(shown.headings, rows, wrap=shown.free if shown.free >= 0 else None)
    else:
        say("none")


def _plots(q: QueueFacts) -> None:
    from qmon.pipeline.report.facts import mean, rate
    from qmon.pipeline.report.notes import outlook

    for name, values in (
        ("pushed/s", [rate(row, "pushed") for row in q.plot]),
        ("popped/s", [rate(row, "popped") for row in q.plot]),
        ("ready   ", [mean(row, "ready") for row in q.plot]),
        ("oldest  ", [row["oldest_max"] for row in q.plot]),
    ):
        say(f"{name} {blocks(values)}")
    say(outlook(q))


def blocks(values: list[float | None]) -> str:
    """Return a line of at most 60 blocks, each the maximum of its share of the values; blank if unknown."""
    each = max(1, -(-len(values) // _WIDTH))
    groups = [[v for v in values[at : at + each] if v is not None] for at in range(0, len(values), each)]
    highest = [max(group, default=None) for group in groups]
    return sparkline(highest, max((v for v in highest if v is not None), default=0.0))
