"""Writes the report as one HTML file that needs no network access and is readable on a phone and on paper.

The single script sorts tables and shows values at the pointer. The page is readable without the script. The page allows
only a script with this script's hash, so that the name of a queue can never run as a script.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from importlib.resources import files
from itertools import groupby
from string import Template
from typing import Final

from qmon.pipeline.report.axis import WIDTH, Axis
from qmon.pipeline.report.facts import QueueFacts, ReportFacts, flow_rate, time_mean
from qmon.pipeline.report.headline import Thing, headline, things_to_look_at
from qmon.pipeline.report.notes import outlook_text, report_notes, scope_text
from qmon.pipeline.report.period import Key, Row
from qmon.pipeline.report.report_formatting import change_text, day_time_text, duration_text, number_text
from qmon.pipeline.report.svg import Marks, PlotLines, Shade, axis_labels, day_lines, moment_line, plot_svg, shade_svg
from qmon.pipeline.report.tables import INCIDENT, QUEUE, Cell, ReportTable, report_tables, worst_table
from qmon.texts import Text


class PageText(Text):
    """Sentences that only the page contains."""

    LOOK_AT = "Look at:"
    MOVED = "{pushed} pushed, {popped} popped in {duration} of watching."
    BEST_HOUR = "Best hour: {rate} popped/s. {outlook}"
    COMPARED = "Compared with the previous period: pushes {pushes}, pops {pops}, p95 age {age}."
    PLOT_FLOW = "Messages per second"
    PLOT_READY = "Messages ready"
    PLOT_AGE = "Age of the oldest ready message"
    PLOT_IN_PROGRESS = "Messages in progress"
    PLOT_GROWTH = "Pushes per second by day, and pops of the best hour"
    INCIDENT = "{cause}, {duration} from {start}"
    NOTHING = "No incidents and no operations."
    ONE_OTHER = "One other queue had no incidents and no operations."
    OTHERS = "{count:,} other queues had no incidents and no operations."


_NUMBER: Final = re.compile(
    r"\b\d[\d.,]*(?: (?:[dhms%]|\d\d)(?!\w))+|\b[A-Z][a-z]{2} \d{1,2} [A-Z][a-z]{2} \d\d:\d\d\b"
)
_PAGE: Final = "report.html"
_SCRIPT: Final = "report.js"
_SECTIONS: Final = {"level": "levels", "capacity": "capacity", "coverage": "coverage", "unusual": "unusual"}


def report_page(facts: ReportFacts) -> str:
    """Return the whole HTML file as text."""
    anchors = {q.key: f"queue-{place}" for place, q in enumerate(facts.queues)}
    first = headline(facts)
    body = [f"<h1>{_escape_unbroken(first)}</h1>", f'<p class="soft">{escape(scope_text(facts))}</p>']
    if look := things_to_look_at(facts):
        items = "".join(
            f'<li><a href="#{_anchor_for(each, anchors)}">{_escape_unbroken(each.text)}</a></li>' for each in look
        )
        body.append(f'<p class="soft">{PageText.LOOK_AT}</p><ol>{items}</ol>')
    body += ['<h2 id="time">Incidents over time</h2>', timeline_html(facts, anchors)]
    body += [_table_html(each, anchors) for each in report_tables(facts)]
    for target, queues in groupby(sorted(facts.queues, key=lambda queue: queue.target), key=lambda queue: queue.target):
        body.append(f"<h2>{escape(target)}</h2>")
        body += [_queue_section(each, facts, anchors[each.key]) for each in queues]
    body.append('<h2 id="notes">About the figures</h2>')
    body += [f'<p class="soft">{escape(note)}</p>' for note in report_notes(facts)]
    script = _read_resource(_SCRIPT)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return Template(_read_resource(_PAGE)).substitute(
        title=escape(first), body="\n".join(body), script=script, script_hash=f"sha256-{digest}"
    )


def _escape_unbroken(text: str) -> str:
    """Escape a sentence, and prevent line breaks between a number and its unit and within a date."""
    return _NUMBER.sub(lambda found: found[0].replace(" ", "\N{NO-BREAK SPACE}"), escape(text))


def _read_resource(name: str) -> str:
    """Return the text of a file of this package. Works even if the package is in a zip file, as on a cluster."""
    return files("qmon.pipeline").joinpath(name).read_text(encoding="utf-8")


def _anchor_for(thing: Thing, anchors: Mapping[Key, str]) -> str:
    """Return the anchor of the part of the page that shows a thing to look at."""
    if thing.about == "incident":
        return f"incident-{thing.place}"
    queue = anchors.get((thing.target, thing.queue), "before")
    return queue if thing.about == "change" else _SECTIONS[thing.about]


def _queue_section(queue_facts: QueueFacts, facts: ReportFacts, anchor: str) -> str:
    whole, before = queue_facts.whole, queue_facts.before
    lines = [
        PageText.MOVED.render(
            pushed=number_text(whole["pushed"]),
            popped=number_text(whole["popped"]),
            duration=duration_text(whole["seconds"]),
        ),
        PageText.BEST_HOUR.render(rate=number_text(queue_facts.capacity.sustained), outlook=outlook_text(queue_facts)),
    ]
    if before is not None:
        lines.append(
            PageText.COMPARED.render(
                pushes=change_text(flow_rate(whole, "pushed"), flow_rate(before, "pushed")),
                pops=change_text(flow_rate(whole, "popped"), flow_rate(before, "popped")),
                age=change_text(whole["oldest_p95"], before["oldest_p95"]),
            )
        )
    text = "".join(f"<p>{_escape_unbroken(line)}</p>" for line in lines)
    worst = _table_html(worst_table(queue_facts), {}, "h4") if queue_facts.worst else ""
    return (
        "<section><h3 "
        f'id="{anchor}">{escape(queue_facts.queue)}</h3>{text}{_plot_figures(queue_facts, facts)}{worst}</section>'
    )


def _plot_figures(queue_facts: QueueFacts, facts: ReportFacts) -> str:
    def points(figure: str) -> dict[float, float | None]:
        return {row["start_at"]: _plotted_value(row, figure) for row in queue_facts.plot}

    def usual(figure: str) -> dict[float, tuple[float, float]]:
        if facts.baselines is None:
            return {}
        bands = (
            (row["start_at"], facts.baselines.band_at(queue_facts.target, queue_facts.queue, figure, row["start_at"]))
            for row in queue_facts.plot
        )
        return {at: (band.low, band.high) for at, band in bands if band is not None}

    axis, marks = axis_for(facts), timeline_marks_for(queue_facts, facts)
    drawn = (
        PlotLines(
            PageText.PLOT_FLOW,
            (("pushed", points("pushed")), ("popped", points("popped"))),
            number_text,
            band=usual("push_rate"),
        ),
        PlotLines(
            PageText.PLOT_READY,
            (("mean", points("ready")), ("highest", points("ready_max"))),
            number_text,
            band=usual("ready"),
        ),
        PlotLines(
            PageText.PLOT_AGE,
            (("mean", points("oldest")), ("highest", points("oldest_max"))),
            duration_text,
            ages=True,
            band=usual("oldest_s"),
        ),
        PlotLines(
            PageText.PLOT_IN_PROGRESS, (("mean", points("in_progress")),), number_text, band=usual("in_progress")
        ),
    )
    trend = _growth_plot(queue_facts)
    return f'<div class="plots">{"".join(plot_svg(each, axis, marks) for each in drawn)}{trend}</div>'


def _growth_plot(queue_facts: QueueFacts) -> str:
    """Plot the days, the band around their trend line, and the forecast, if there is one."""
    can, trend = queue_facts.capacity, queue_facts.capacity.trend
    if trend is None or not queue_facts.days or can.outgrown_days is None:
        return ""
    first, last = queue_facts.days[0][0], queue_facts.days[-1][0]
    ahead = min(can.latest_days or 0.0, 2.0 * (last - first))
    axis = Axis(first * _DAY_S, (last + 1 + ahead) * _DAY_S, _DAY_S)
    days = range(first, int(last + 1 + ahead) + 1)
    line = {day * _DAY_S: trend.rate_on(day) for day in days}
    pushed = {day * _DAY_S: value for day, value in queue_facts.days}
    best = dict.fromkeys(line, can.sustained)
    drawn = PlotLines(
        PageText.PLOT_GROWTH,
        (("pushed", pushed), ("best hour", best)),
        number_text,
        band={at: (max(0.0, low), high) for at, (_, low, high) in line.items()},
        band_name="trend",
    )
    return plot_svg(drawn, axis, Marks())


_DAY_S: Final = 86400.0


def _plotted_value(row: Row, figure: str) -> float | None:
    if figure in ("pushed", "popped"):
        return flow_rate(row, figure)
    if figure in ("ready", "oldest", "in_progress"):
        return time_mean(row, figure)
    value = row[figure]
    return None if value is None else float(value)


def _table_html(table: ReportTable, anchors: Mapping[Key, str], level: str = "h2") -> str:
    name = f' id="{table.name}"' if level == "h2" else ""
    title = f"<{level}{name}>{escape(table.title)}</{level}>"
    if not table.rows:
        return f'{title}<p class="soft">none</p>'
    note = f'<p class="soft">{escape(table.note)}</p>' if table.note else ""
    grouped = table.rows_are == QUEUE
    columns = range(1 if grouped else 0, len(table.headings))
    head = "".join(
        f'<th scope="col"{_class_attribute(table, place)}>{escape(table.headings[place])}</th>' for place in columns
    )
    numbered = list(enumerate(table.rows))
    if not grouped:
        bodies = [_table_body(table, numbered, columns, anchors)]
    else:
        by_target = groupby(sorted(numbered, key=_row_target), key=_row_target)
        bodies = [_table_body(table, rows, columns, anchors, target) for target, rows in by_target]
    return f'{title}{note}<div class="wide"><table><thead><tr>{head}</tr></thead>{"".join(bodies)}</table></div>'


def _row_target(numbered: tuple[int, Sequence[Cell]]) -> str:
    return numbered[1][0].text


def _table_body(
    table: ReportTable,
    rows: Iterable[tuple[int, Sequence[Cell]]],
    columns: Sequence[int],
    anchors: Mapping[Key, str],
    target: str = "",
) -> str:
    """Return the rows of one target below the target's name, or the rows of all targets."""
    group = f'<tr class="of"><th scope="rowgroup" colspan="{len(columns)}">{escape(target)}</th></tr>' if target else ""
    return f"<tbody>{group}{''.join(_row_html(table, place, row, columns, anchors) for place, row in rows)}</tbody>"


def _row_html(
    table: ReportTable, number: int, row: Sequence[Cell], columns: Sequence[int], anchors: Mapping[Key, str]
) -> str:
    """Return one row.

    Each cell contains the name of its column, because a phone shows a row as several lines without a header.
    """
    at = {QUEUE: 1, INCIDENT: 3}.get(table.rows_are)
    link = anchors.get((row[at - 1].text, row[at].text)) if at is not None else None
    cells = []
    for place in columns:
        cell = row[place]
        text = escape(cell.text)
        shown = f'<a href="#{link}">{text}</a>' if place == at and link else text
        sorted_by = "" if place in table.texts and cell.value is None else f' data-s="{_sort_value(cell.value)}"'
        style = _class_attribute(
            table, place, cell.text if table.name == "levels" and cell.text in ("met", "missed") else ""
        )
        cells.append(f'<td{style} data-h="{escape(table.headings[place])}"{sorted_by}>{shown}</td>')
    name = f' id="incident-{number}"' if table.rows_are == INCIDENT else ""
    return f"<tr{name}>{''.join(cells)}</tr>"


def _sort_value(value: float | None) -> str:
    return "" if value is None else f"{value:.10g}"


def _class_attribute(table: ReportTable, place: int, more: str = "") -> str:
    styles = ["t"] if place in table.texts else []
    styles += ["free"] if place == table.free else []
    styles += [more] if more else []
    return f' class="{" ".join(styles)}"' if styles else ""


_ROW_HEIGHT: Final = 20.0
_CRITICAL: Final = 3


def timeline_marks_for(queue_facts: QueueFacts, facts: ReportFacts) -> Marks:
    """Return the marks of a queue for the timeline and its plots: gaps, incidents, operations."""
    shades = [*_gap_shades(queue_facts, facts)]
    for place, row in enumerate(facts.incidents):
        if (row["target"], row["queue"]) == queue_facts.key:
            style = "crit" if row["severity"] >= _CRITICAL else "warn"
            lasted, at = duration_text(row["end_at"] - row["start_at"]), day_time_text(row["start_at"])
            title = PageText.INCIDENT.render(cause=row["cause"], duration=lasted, start=at)
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
        marks = timeline_marks_for(q, facts)
        if not marks.moments and all(each.style == "off" for each in marks.shades):
            quiet += 1
            continue
        if q.target != target:
            target = q.target
            rows.append(f'<div class="of">{escape(target)}</div>')
        drawn = [day_lines(axis, _ROW_HEIGHT), *(shade_svg(each, axis, _ROW_HEIGHT) for each in marks.shades)]
        drawn += [moment_line(at, title, axis, _ROW_HEIGHT) for at, title in marks.moments]
        rows.append(
            f'<a class="who" href="#{anchors[q.key]}">{escape(q.queue)}</a>'
            f'<svg viewBox="0 0 {WIDTH:g} {_ROW_HEIGHT:g}" preserveAspectRatio="none"'
            f' role="img" aria-label="{escape(q.queue, quote=True)}">{"".join(drawn)}</svg>'
        )
    if not rows:
        return f'<p class="soft">{PageText.NOTHING}</p>'
    legend = "".join(
        f'<span class="k k{style}">{text}</span>'
        for style, text in (("warn", "warning"), ("crit", "critical"), ("op", "operation"), ("off", "not watched"))
    )
    more = PageText.OTHERS.render(count=quiet) if quiet > 1 else str(PageText.ONE_OTHER) if quiet else ""
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
