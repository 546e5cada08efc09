"""Draws the timeline of a report: the incidents, operations, and gaps of each queue."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Final

from qmon.pipeline.report.axis import WIDTH, Axis
from qmon.pipeline.report.facts import QueueFacts, ReportFacts
from qmon.pipeline.report.formatting import day_time_text, duration_text
from qmon.pipeline.report.period import Key, Row
from qmon.pipeline.report.svg import Marks, Shade, axis_labels, day_lines, moment_line, shade_svg

_HEIGHT: Final = 20.0
_CRITICAL: Final = 3


def marks_for(queue_facts: QueueFacts, facts: ReportFacts) -> Marks:
    """Return the marks of a queue for the timeline and its plots: gaps, incidents, operations."""
    shades = [*_gap_shades(queue_facts, facts)]
    for place, row in enumerate(facts.incidents):
        if (row["target"], row["queue"]) == queue_facts.key:
            style = "crit" if row["severity"] >= _CRITICAL else "warn"
            title = (
                f"{row['cause']}, {duration_text(row['end_at'] - row['start_at'])} from "
                f"{day_time_text(row['start_at'])}"
            )
            shades.append(Shade(row["start_at"], row["end_at"], style, title, f"incident-{place}"))
    done = [
        (row["started_at"], _operation_title(row)) for row in facts.operations if _is_on_queue(row, queue_facts.key)
    ]
    return Marks(tuple(shades), tuple(done))


def timeline_html(facts: ReportFacts, anchors: Mapping[Key, str]) -> str:
    """Return a row for each queue with an incident or operation, grouped by target.

    ``anchors``: the anchors of the queues' sections.
    """
    axis = axis_for(facts)
    rows, target = [], None
    quiet = 0
    for q in sorted(facts.queues, key=lambda each: each.target):
        marks = marks_for(q, facts)
        if not marks.moments and all(each.style == "off" for each in marks.shades):
            quiet += 1
            continue
        if q.target != target:
            target = q.target
            rows.append(f'<div class="of">{escape(target)}</div>')
        drawn = [day_lines(axis, _HEIGHT), *(shade_svg(each, axis, _HEIGHT) for each in marks.shades)]
        drawn += [moment_line(at, title, axis, _HEIGHT) for at, title in marks.moments]
        rows.append(
            f'<a class="who" href="#{anchors[q.key]}">{escape(q.queue)}</a><svg viewBox="0 0 {WIDTH:g} {_HEIGHT:g}" '
            f'preserveAspectRatio="none" role="img" aria-label="{escape(q.queue, quote=True)}">{"".join(drawn)}</svg>'
        )
    if not rows:
        return '<p class="soft">No incidents and no operations.</p>'
    legend = "".join(
        f'<span class="k k{style}">{text}</span>'
        for style, text in (("warn", "warning"), ("crit", "critical"), ("op", "operation"), ("off", "not watched"))
    )
    more = (
        f"{quiet:,} other queues had no incidents and no operations."
        if quiet > 1
        else "One other queue had no incidents and no operations."
        if quiet
        else ""
    )
    return (
        f'<p class="soft">{legend}</p><div class="time">{"".join(rows)}'
        f'<div></div><div class="below">{axis_labels(axis)}</div></div><p class="soft">{more}</p>'
    )


def axis_for(facts: ReportFacts) -> Axis:
    """Return the axis of the period. Its end is never in the future."""
    return Axis(facts.period.start, facts.period.end, float(facts.step_s))


def _is_on_queue(row: Row, key: Key) -> bool:
    """Return true if an operation was on the queue or on its whole target."""
    return row["target"] == key[0] and row["queue"] in (None, "", key[1])


def _operation_title(row: Row) -> str:
    by = f" by {row['by']}" if row["by"] else ""
    return f"{row['kind']} {row['state']}{by}, {day_time_text(row['started_at'])}"


def _gap_shades(queue_facts: QueueFacts, facts: ReportFacts) -> list[Shade]:
    """Return the periods in which the queue was not watched, merged from minutes or hours."""
    step, period = float(facts.step_s), facts.period
    seen = {int((row["start_at"] - period.start) // step) for row in queue_facts.plot if row["seconds"] > 0}
    found: list[Shade] = []
    for place in range(int(-(-(period.end - period.start) // step))):
        if place in seen:
            continue
        start, end = period.start + place * step, min(period.end, period.start + (place + 1) * step)
        if found and found[-1].end == start:
            found[-1] = Shade(found[-1].start, end, "off", "not watched")
        else:
            found.append(Shade(start, end, "off", "not watched"))
    return found
