"""Plots as inline SVG: lines over time, drawn without a script."""

from __future__ import annotations

from collections.abc import Sequence
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
    texts = "".join(f'<text x="{_LEFT - 5}" y="{y:.0f}" text-anchor="end">{short(v)}</text>' for v, y in labels)
    times = (
        f'<text x="{_LEFT}" y="{_HEIGHT - 5}">{moment(start)[:16]}</text>'
        f'<text x="{_WIDTH - 2}" y="{_HEIGHT - 5}" text-anchor="end">{moment(end)[:16]} UTC</text>'
    )
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
    placed = [
        f"{_LEFT + (at - start) / (end - start) * wide:.1f} {_TOP + (1 - value / top) * high:.1f}"
        for at, value in stretch
    ]
    return f"M{placed[0]}h1" if len(placed) == 1 else "M" + "L".join(placed)
