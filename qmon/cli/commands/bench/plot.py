"""Draws a bench as SVG, alone or in an HTML page: bars per design, and the rate over time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path
from typing import Final, Literal

from qmon.cli.choosing import ENGINES
from qmon.errors import BadInput
from qmon.workload.bench.results import CaseResult, Report

Kind = Literal["svg", "html"]

_NAME: Final = 130
_WIDE: Final = 480
_LINE: Final = 220
_ROW: Final = 16
_GAP: Final = 10
_MARGIN: Final = 24
_STYLE: Final = (
    "text{font:12px sans-serif;fill:#222}.title{font-weight:bold}.small{font-size:10px;fill:#666}"
    ".healthy{fill:#2a78b5}.held{fill:#d9822b}.line{fill:none;stroke-width:1.5}"
    "@media (prefers-color-scheme:dark){text{fill:#ddd}.small{fill:#aaa}}"
)
_COLOUR: Final = {False: "#2a78b5", True: "#d9822b"}


def kind_of(place: Path) -> Kind:
    """Return the kind of drawing for a file name. Raises ``BadInput`` if it is neither .svg nor .html."""
    match place.suffix.lower():
        case ".svg":
            return "svg"
        case ".html" | ".htm":
            return "html"
    raise BadInput(f"--plot draws an .svg or an .html file, not {place.name!r}")


def draw(report: Report, kind: Kind) -> str:
    """Return the picture as text."""
    out: list[str] = []
    y = _MARGIN
    conditions = ", ".join(f"{name} {value}" for name, value in report.conditions.settings.items())
    out.append(
        _text(
            _MARGIN,
            y,
            f"{report.conditions.target}, {ENGINES[report.conditions.engine]} {report.conditions.version}",
            "title",
        )
    )
    out.append(_text(_MARGIN, y + 16, f"{report.plan.pushers} + {report.plan.poppers} sessions; {conditions}", "small"))
    y += 48
    for batch in report.plan.batches:
        found = [each for each in report.outcomes if each.case.batch == batch]
        if found:
            y = _block(out, y, f"cycles per second, {batch} at a time", found) + _MARGIN
    if report.dequeues:
        y = _dequeues(out, y, report) + _MARGIN
    width = _MARGIN * 2 + _NAME + _WIDE + _LINE + 100
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {y}" width="{width}" height="{y}">'
        f"<style>{_STYLE}</style>{''.join(out)}</svg>"
    )
    if kind == "svg":
        return svg
    return f"<!doctype html><meta charset=utf-8><title>qmon bench</title>{svg}"


def _block(out: list[str], y: int, title: str, found: Sequence[CaseResult]) -> int:
    """Draw bars and lines of one batch size. Returns the y coordinate of its end."""
    out.append(_text(_MARGIN, y, title, "title"))
    out.append(_text(_MARGIN + _NAME, y, "blue: healthy; orange: with a transaction held open", "small"))
    out.append(_text(_MARGIN + _NAME + _WIDE + 90, y, "over the run", "small"))
    y += 10
    top = max(each.cycles_per_s for each in found) or 1.0
    for design in dict.fromkeys(each.case.design for each in found):
        own = [each for each in found if each.case.design == design]
        out.append(_text(_MARGIN, y + 12, design))
        peak = max(max(each.timeline, default=0.0) for each in own) or 1.0
        for number, each in enumerate(own):
            shown = "held" if each.case.held else "healthy"
            out.append(_bar(y + number * _ROW, each.cycles_per_s / top, f"{each.cycles_per_s:,.0f}", shown))
            out.append(_curve(y, len(own) * _ROW, each.timeline, peak, _COLOUR[each.case.held]))
        y += len(own) * _ROW + _GAP
    return y


def _dequeues(out: list[str], y: int, report: Report) -> int:
    out.append(_text(_MARGIN, y, "buffers touched for one batch", "title"))
    y += 10
    for batch in dict.fromkeys(each.batch for each in report.dequeues):
        own = [each for each in report.dequeues if each.batch == batch]
        top = max(each.whole.total or 0.0 for each in own) or 1.0
        for each in own:
            total = each.whole.total or 0.0
            out.append(_text(_MARGIN, y + 12, f"{each.design} of {batch}"))
            out.append(_bar(y, total / top, f"{total:,.0f}" if total else "not known", "healthy"))
            y += _ROW
        y += _GAP
    return y


def _bar(y: float, share: float, label: str, style: str) -> str:
    x, wide = _MARGIN + _NAME, max(1.0, share * _WIDE)
    box = f'<rect class="{style}" x="{x}" y="{y + 2:g}" width="{wide:.1f}" height="{_ROW - 3}"/>'
    return box + _text(x + wide + 4, y + 12, label, "small")


def _text(x: float, y: float, content: str, style: str = "") -> str:
    """Return a text element that begins at a point. ``style``: its class."""
    more = f' class="{style}"' if style else ""
    return f'<text x="{x:g}" y="{y:g}"{more}>{escape(content)}</text>'


def _path(points: Iterable[tuple[float, float]]) -> str:
    return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points)


def _curve(y: float, high: float, values: Sequence[float], top: float, colour: str) -> str:
    if len(values) < 2:
        return ""
    x = _MARGIN + _NAME + _WIDE + 90
    points = (
        (x + number * _LINE / (len(values) - 1), y + high - value / top * (high - 2))
        for number, value in enumerate(values)
    )
    return f'<path class="line" stroke="{colour}" d="{_path(points)}"/>'
