"""The report as one HTML file: no network access, readable on a phone and on paper.

The single script sorts tables and shows values at the pointer; everything is readable without it. The page allows only
that script, by its hash, so that the name of a queue can never run as one.
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

from qmon.pipeline.report.axis import Axis
from qmon.pipeline.report.facts import QueueFacts, ReportFacts, mean, rate
from qmon.pipeline.report.headline import Thing, headline, things
from qmon.pipeline.report.notes import length_of, notes, outlook
from qmon.pipeline.report.period import Key, Row
from qmon.pipeline.report.svg import Marks, PlotLines, plot
from qmon.pipeline.report.tables import INCIDENT, QUEUE, Cell, ReportTable, tables, worst_table
from qmon.pipeline.report.text import change, number, seconds
from qmon.pipeline.report.timeline import axis_of, marks_of, timeline

_NUMBER: Final = re.compile(
    r"\b\d[\d.,]*(?: (?:[dhms%]|\d\d)(?!\w))+|\b[A-Z][a-z]{2} \d{1,2} [A-Z][a-z]{2} \d\d:\d\d\b"
)
_PAGE: Final = "report.html"
_SCRIPT: Final = "report.js"
_SECTIONS: Final = {"level": "levels", "capacity": "capacity", "coverage": "coverage", "unusual": "unusual"}


def page(facts: ReportFacts) -> str:
    """Return the whole file as text."""
    anchors = {q.key: f"queue-{place}" for place, q in enumerate(facts.queues)}
    first = headline(facts)
    body = [f"<h1>{_unbroken(first)}</h1>", f'<p class="soft">{escape(length_of(facts))}</p>']
    if look := things(facts):
        items = "".join(f'<li><a href="#{_place(each, anchors)}">{_unbroken(each.text)}</a></li>' for each in look)
        body.append(f'<p class="soft">Look at:</p><ol>{items}</ol>')
    body += ['<h2 id="time">Time line</h2>', timeline(facts, anchors)]
    body += [_table(each, anchors) for each in tables(facts)]
    for target, queues in groupby(sorted(facts.queues, key=lambda q: q.target), key=lambda q: q.target):
        body.append(f"<h2>{escape(target)}</h2>")
        body += [_queue(each, facts, anchors[each.key]) for each in queues]
    body.append('<h2 id="notes">About the figures</h2>')
    body += [f'<p class="soft">{escape(note)}</p>' for note in notes(facts)]
    script = _carried(_SCRIPT)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return Template(_carried(_PAGE)).substitute(
        title=escape(first), body="\n".join(body), script=script, script_hash=f"sha256-{digest}"
    )


def _unbroken(text: str) -> str:
    """Escape a sentence and prevent line breaks between a number and its unit, or within a date."""
    return _NUMBER.sub(lambda found: found[0].replace(" ", "\N{NO-BREAK SPACE}"), escape(text))


def _carried(name: str) -> str:
    """Read a file next to the code, also from a zip on a cluster."""
    return files("qmon.pipeline").joinpath(name).read_text(encoding="utf-8")


def _place(thing: Thing, anchors: Mapping[Key, str]) -> str:
    """Return the anchor in the page for a thing to look at."""
    if thing.about == "incident":
        return f"incident-{thing.place}"
    queue = anchors.get((thing.target, thing.queue), "before")
    return queue if thing.about == "change" else _SECTIONS[thing.about]


def _queue(q: QueueFacts, facts: ReportFacts, anchor: str) -> str:
    whole, before = q.whole, q.before
    lines = [
        f"{number(whole['pushed'])} pushed, {number(whole['popped'])} popped in {seconds(whole['seconds'])} watched.",
        f"Best hour: {number(q.capacity.sustained)} popped/s. {outlook(q)}",
    ]
    if before is not None:
        lines.append(
            f"Against the time before: pushes {change(rate(whole, 'pushed'), rate(before, 'pushed'))}, "
            f"pops {change(rate(whole, 'popped'), rate(before, 'popped'))}, "
            f"p95 of the age {change(whole['oldest_p95'], before['oldest_p95'])}."
        )
    text = "".join(f"<p>{_unbroken(line)}</p>" for line in lines)
    worst = _table(worst_table(q), {}, "h4") if q.worst else ""
    return f'<section><h3 id="{anchor}">{escape(q.queue)}</h3>{text}{_plots(q, facts)}{worst}</section>'


def _plots(q: QueueFacts, facts: ReportFacts) -> str:
    def points(figure: str) -> dict[float, float | None]:
        return {row["start_at"]: _value(row, figure) for row in q.plot}

    def usual(figure: str) -> dict[float, tuple[float, float]]:
        if facts.baselines is None:
            return {}
        bands = ((row["start_at"], facts.baselines.band(q.target, q.queue, figure, row["start_at"])) for row in q.plot)
        return {at: (band.low, band.high) for at, band in bands if band is not None}

    axis, marks = axis_of(facts), marks_of(q, facts)
    drawn = (
        PlotLines(
            "Messages a second",
            (("pushed", points("pushed")), ("popped", points("popped"))),
            number,
            band=usual("push_rate"),
        ),
        PlotLines(
            "Messages ready", (("mean", points("ready")), ("highest", points("ready_max"))), number, band=usual("ready")
        ),
        PlotLines(
            "Age of the oldest",
            (("mean", points("oldest")), ("highest", points("oldest_max"))),
            seconds,
            ages=True,
            band=usual("oldest_s"),
        ),
        PlotLines("Messages in progress", (("mean", points("in_progress")),), number, band=usual("in_progress")),
    )
    trend = _growth(q)
    return f'<div class="plots">{"".join(plot(each, axis, marks) for each in drawn)}{trend}</div>'


def _growth(q: QueueFacts) -> str:
    """Plot the days, the band around their trend line, and the forecast, if there is one."""
    can, trend = q.capacity, q.capacity.trend
    if trend is None or not q.days or can.outgrown_days is None:
        return ""
    first, last = q.days[0][0], q.days[-1][0]
    ahead = min(can.latest_days or 0.0, 2.0 * (last - first))
    axis = Axis(first * _DAY_S, (last + 1 + ahead) * _DAY_S, _DAY_S)
    days = range(first, int(last + 1 + ahead) + 1)
    line = {day * _DAY_S: trend.at(day) for day in days}
    pushed = {day * _DAY_S: value for day, value in q.days}
    best = dict.fromkeys(line, can.sustained)
    drawn = PlotLines(
        "Pushes a second by day, and the best hour's pops",
        (("pushed", pushed), ("best hour", best)),
        number,
        band={at: (max(0.0, low), high) for at, (_, low, high) in line.items()},
        band_name="trend",
    )
    return plot(drawn, axis, Marks())


_DAY_S: Final = 86400.0


def _value(row: Row, figure: str) -> float | None:
    if figure in ("pushed", "popped"):
        return rate(row, figure)
    if figure in ("ready", "oldest", "in_progress"):
        return mean(row, figure)
    value = row[figure]
    return None if value is None else float(value)


def _table(table: ReportTable, anchors: Mapping[Key, str], level: str = "h2") -> str:
    name = f' id="{table.name}"' if level == "h2" else ""
    title = f"<{level}{name}>{escape(table.title)}</{level}>"
    if not table.rows:
        return f'{title}<p class="soft">none</p>'
    note = f'<p class="soft">{escape(table.note)}</p>' if table.note else ""
    grouped = table.rows_are == QUEUE
    columns = range(1 if grouped else 0, len(table.headings))
    head = "".join(f'<th scope="col"{_class(table, place)}>{escape(table.headings[place])}</th>' for place in columns)
    numbered = list(enumerate(table.rows))
    if not grouped:
        bodies = [_body(table, numbered, columns, anchors)]
    else:
        by_target = groupby(sorted(numbered, key=_target), key=_target)
        bodies = [_body(table, rows, columns, anchors, target) for target, rows in by_target]
    return f'{title}{note}<div class="wide"><table><thead><tr>{head}</tr></thead>{"".join(bodies)}</table></div>'


def _target(numbered: tuple[int, Sequence[Cell]]) -> str:
    return numbered[1][0].text


def _body(
    table: ReportTable,
    rows: Iterable[tuple[int, Sequence[Cell]]],
    columns: Sequence[int],
    anchors: Mapping[Key, str],
    target: str = "",
) -> str:
    """Return the rows of one target with its name above, or of all targets."""
    group = f'<tr class="of"><th scope="rowgroup" colspan="{len(columns)}">{escape(target)}</th></tr>' if target else ""
    return f"<tbody>{group}{''.join(_row(table, place, row, columns, anchors) for place, row in rows)}</tbody>"


def _row(
    table: ReportTable, number: int, row: Sequence[Cell], columns: Sequence[int], anchors: Mapping[Key, str]
) -> str:
    """Return one row. Each cell names its column, for phones, where a row takes several lines without a header."""
    at = {QUEUE: 1, INCIDENT: 3}.get(table.rows_are)
    link = anchors.get((row[at - 1].text, row[at].text)) if at is not None else None
    cells = []
    for place in columns:
        cell = row[place]
        text = escape(cell.text)
        shown = f'<a href="#{link}">{text}</a>' if place == at and link else text
        sorted_by = "" if place in table.texts and cell.value is None else f' data-s="{_plain(cell.value)}"'
        style = _class(table, place, cell.text if table.name == "levels" and cell.text in ("met", "missed") else "")
        cells.append(f'<td{style} data-h="{escape(table.headings[place])}"{sorted_by}>{shown}</td>')
    name = f' id="incident-{number}"' if table.rows_are == INCIDENT else ""
    return f"<tr{name}>{''.join(cells)}</tr>"


def _plain(value: float | None) -> str:
    return "" if value is None else f"{value:.10g}"


def _class(table: ReportTable, place: int, more: str = "") -> str:
    styles = ["t"] if place in table.texts else []
    styles += ["free"] if place == table.free else []
    styles += [more] if more else []
    return f' class="{" ".join(styles)}"' if styles else ""
