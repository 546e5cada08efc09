"""The report as one HTML file: no script, no network, readable on a phone."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from importlib.resources import files
from string import Template
from typing import Final

from qmon.pipeline.report.facts import QueueFacts, ReportFacts, Row, mean, rate
from qmon.pipeline.report.svg import plot
from qmon.pipeline.report.tables import ReportTable, incident_table, message_table, queue_table, wait_table, worst_table
from qmon.pipeline.report.text import change, moment, number, seconds

_PAGE: Final = "report.html"


def page(facts: ReportFacts) -> str:
    """The whole file as text."""
    period = facts.period
    title = f"Queues from {moment(period.start)[:16]} to {moment(period.end)[:16]} UTC"
    body = [f'<p class="soft">{escape(note)}</p>' for note in notes(facts)]
    body += [_table("Queues", queue_table(facts)), _table("Incidents", incident_table(facts))]
    if facts.waits:
        body.append(_table("Waits", wait_table(facts)))
    if facts.messages:
        body.append(_table("Archived messages", message_table(facts)))
    body += [_queue(each, facts) for each in facts.queues]
    form = files("qmon.pipeline").joinpath(_PAGE).read_text(encoding="utf-8")  # also out of a zip, on a cluster
    return Template(form).substitute(title=escape(title), body="\n".join(body))


def notes(facts: ReportFacts) -> list[str]:
    """What a reader must know about the figures, one line each."""
    found = [
        "Ages are of the oldest ready message; percentiles are weighted by time; a rate is messages over seconds read."
    ]
    if facts.left_out:
        found.append(f"{facts.left_out:,} queues with fewer messages are not shown; --queue shows any.")
    if facts.more_incidents:
        found.append(f"{facts.more_incidents:,} more incidents are not listed; a shorter time shows them.")
    if facts.counts.get("bad"):
        found.append(f"{facts.counts['bad']:,} lines of the recordings could not be read; the lake keeps them apart.")
    return found


def _queue(q: QueueFacts, facts: ReportFacts) -> str:
    whole, before, can = q.whole, q.before, q.capacity
    lines = [
        f"{number(whole['pushed'])} pushed, {number(whole['popped'])} popped in {seconds(whole['seconds'])} watched.",
        f"Best hour: {number(can.sustained)} popped/s. {outlook(q)}",
    ]
    if before is not None:
        lines.append(
            f"Against the week before: pushes {change(rate(whole, 'pushed'), rate(before, 'pushed'))}, "
            f"pops {change(rate(whole, 'popped'), rate(before, 'popped'))}, "
            f"p95 of the age {change(whole['oldest_p95'], before['oldest_p95'])}."
        )
    text = "".join(f"<p>{escape(line)}</p>" for line in lines)
    worst = _table("Hours with the oldest messages", worst_table(q), "h3") if q.worst else ""
    return f"<section><h2>{escape(q.target)} · {escape(q.queue)}</h2>{text}{_plots(q, facts)}{worst}</section>"


def outlook(q: QueueFacts) -> str:
    """When the queue will be outgrown, in a sentence."""
    can = q.capacity
    if can.outgrown_days is None:
        return f"When it is outgrown: {can.why}."
    growth = f"pushes grow by {number(can.growth)}/s a day"
    return f"{growth}: outgrown in {can.outgrown_days:,.0f} days." if can.outgrown_days else f"{growth}: outgrown now."


def _plots(q: QueueFacts, facts: ReportFacts) -> str:
    def points(figure: str) -> list[tuple[float, float | None]]:
        return [(row["start_at"], _value(row, figure)) for row in q.plot]

    axis = {"start": facts.period.start, "end": facts.period.end, "step_s": float(facts.step_s)}
    fine = any("oldest_p50" not in row for row in q.plot)  # minutes have no percentiles
    names = (("mean", "oldest"), ("highest", "oldest_max")) if fine else (("p50", "oldest_p50"), ("p95", "oldest_p95"))
    ages = [(name, points(figure)) for name, figure in names]
    drawn = (
        plot("Messages per second", [("pushed", points("pushed")), ("popped", points("popped"))], **axis),
        plot("Messages ready", [("mean", points("ready")), ("highest", points("ready_max"))], **axis),
        plot("Age, seconds", ages, **axis),
        plot("Messages in progress", [("mean", points("in_progress"))], **axis),
    )
    return f'<div class="plots">{"".join(drawn)}</div>'


def _value(row: Row, figure: str) -> float | None:
    if figure in ("pushed", "popped"):
        return rate(row, figure)
    if figure in ("ready", "oldest", "in_progress"):
        return mean(row, figure)
    value = row[figure]
    return None if value is None else float(value)


def _table(title: str, table: ReportTable, level: str = "h2") -> str:
    if not table.rows:
        return f'<{level}>{escape(title)}</{level}><p class="soft">none</p>'
    head = "".join(f"<th{_class(table, place)}>{escape(name)}</th>" for place, name in enumerate(table.headings))
    rows = "".join(f"<tr>{_cells(table, row)}</tr>" for row in table.rows)
    return f'<{level}>{escape(title)}</{level}><div class="wide"><table><tr>{head}</tr>{rows}</table></div>'


def _cells(table: ReportTable, row: Sequence[str]) -> str:
    """Each cell names its column: on a phone, where a row stands on several lines, there is no head above it."""
    return "".join(
        f'<td{_class(table, place)} data-h="{escape(table.headings[place])}">{escape(cell)}</td>'
        for place, cell in enumerate(row)
    )


def _class(table: ReportTable, place: int) -> str:
    if place == table.free:
        return ' class="t free"'
    return ' class="t"' if place in table.texts else ""
