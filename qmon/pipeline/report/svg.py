"""Plots as SVG, drawn without a script: lines over time, and the parts that other pictures are made of."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from qmon.pipeline.report.text import moment, short

_WIDTH, _HEIGHT, _LEFT, _BOTTOM, _TOP = 640, 150, 64, 20, 8
_MOST_POINTS = 800

Points = Sequence[tuple[float, float | None]]


def plot(title: str, lines: Sequence[tuple[str, Points]], *, start: float, end: float, step_s: float) -> str:
    """One plot with a line a figure. A stretch that was not watched is a gap, never a line across.

    Args:
        title: what it shows, with the unit.
        lines: the name of each and its points: seconds since the epoch, value.
        start: where the axis begins, seconds since the epoch; ``end``: where it ends.
        step_s: how far apart neighbours are.
    """
    top = max((value for _, points in lines for _, value in points if value is not None), default=0.0) or 1.0
    parts = [_axes(top, start, end)]
    legend = []
    for place, (name, points) in enumerate(lines):
        paths = " ".join(_path(stretch, top, start, end) for stretch in _stretches(_thinned(points), step_s))
        parts.append(f'<path class="l{place}" d="{paths}"/>')
        legend.append(f'<span class="k{place}">{escape(name)}</span>')
    return (
        f"<figure><figcaption>{escape(title)} {' '.join(legend)}</figcaption>"
        f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{escape(title, quote=True)}">'
        f"{''.join(parts)}</svg></figure>"
    )


def _axes(top: float, start: float, end: float) -> str:
    base = _HEIGHT - _BOTTOM
    labels = [(top, _TOP + 8), (top / 2, (_TOP + base) / 2 + 4), (0.0, base)]
    texts = "".join(text(_LEFT - 5, round(y), short(v), end=True) for v, y in labels)
    times = text(_LEFT, _HEIGHT - 5, moment(start)[:16])
    times += text(_WIDTH - 2, _HEIGHT - 5, f"{moment(end)[:16]} UTC", end=True)
    rules = "".join(f'<path class="g" d="M{_LEFT} {y}H{_WIDTH}"/>' for y in (_TOP, (_TOP + base) // 2, base))
    return rules + texts + times


def _stretches(points: Points, step_s: float) -> list[list[tuple[float, float]]]:
    found: list[list[tuple[float, float]]] = []
    last = None
    for at, value in points:
        if value is None:
            last = None
            continue
        if last is None or at - last > 1.5 * step_s:
            found.append([])
        found[-1].append((at, value))
        last = at
    return found


def _thinned(points: Points) -> Points:
    """Every so many points the highest: peaks stay, and a report of months stays small."""
    each = -(-len(points) // _MOST_POINTS)
    if each <= 1:
        return points
    groups = [points[place : place + each] for place in range(0, len(points), each)]
    return [max(group, key=lambda point: -1.0 if point[1] is None else point[1]) for group in groups]


def _path(stretch: Sequence[tuple[float, float]], top: float, start: float, end: float) -> str:
    wide, high = _WIDTH - _LEFT, _HEIGHT - _BOTTOM - _TOP
    return path((_LEFT + (at - start) / (end - start) * wide, _TOP + (1 - value / top) * high) for at, value in stretch)


def text(x: float, y: float, content: str, style: str = "", *, end: bool = False) -> str:
    """A text that begins, or with ``end`` ends, at a place; ``style``: its class."""
    more = (f' class="{style}"' if style else "") + (' text-anchor="end"' if end else "")
    return f'<text x="{x:g}" y="{y:g}"{more}>{escape(content)}</text>'


def path(points: Iterable[tuple[float, float]]) -> str:
    """The data of a path through these points; of one alone a dot."""
    placed = [f"{x:.1f} {y:.1f}" for x, y in points]
    return f"M{placed[0]}h1" if len(placed) == 1 else "M" + "L".join(placed)
