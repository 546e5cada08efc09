"""Draws plots as SVG without a script: lines over time, the baseline band, incidents, operations and gaps.

A picture contains no text, because the browser stretches it to the width of the page. The labels are outside of the
picture, so that they stay readable on a phone. The script of the page reads ``data-`` attributes to show the values at
the pointer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Final

from qmon.pipeline.report.axis import WIDTH, Axis, scale_values

HEIGHT: Final = 100.0

# Maximum points of a line. If there are more points, groups of points are replaced by the maximum of each group.
_MAX_POINTS: Final = 800

# Values keyed by the start of each step, in seconds since the epoch.
Values = Mapping[float, float | None]


@dataclass(frozen=True, slots=True)
class Shade:
    """A shaded period. ``style``: its CSS class. ``title``: its tooltip. ``link``: its target."""

    start: float
    end: float
    style: str
    title: str = ""
    link: str = ""


@dataclass(frozen=True, slots=True)
class Marks:
    """The marks in all plots of a queue."""

    shades: tuple[Shade, ...] = ()
    moments: tuple[tuple[float, str], ...] = ()


@dataclass(frozen=True, slots=True)
class PlotLines:
    """One plot: the values of each line (keyed by name), the baseline band, and the format of the values."""

    title: str
    lines: tuple[tuple[str, Values], ...]
    value_text: Callable[[float | None], str]
    ages: bool = False
    band: Mapping[float, tuple[float, float]] = field(default_factory=dict)
    band_name: str = "usual"


def plot_svg(drawn: PlotLines, axis: Axis, marks: Marks) -> str:
    """Return the picture with its scale, days and legend. The line has a gap for time that was not watched."""
    grids = [(name, _grid_values(values, axis)) for name, values in drawn.lines]
    step_s = _step_seconds(axis)
    known = [value for _, grid in grids for value in grid if value is not None]
    usual = {at: band for at, band in drawn.band.items() if axis.start - axis.step_s < at < axis.end}
    ticks = scale_values(max([*known, *(high for _, high in usual.values())], default=0.0), ages=drawn.ages)
    top = ticks[-1][0]
    parts = [f'<path class="g" d="M0 {_y_position(value, top):g}H{WIDTH:g}"/>' for value, _ in ticks]
    parts += [day_lines(axis), *(shade_svg(each, axis) for each in marks.shades)]
    parts += [
        f'<path class="band" d="{_band_path(stretch, top, axis)}"/>' for stretch in _band_runs(usual, axis.step_s)
    ]
    parts += [moment_line(at, title, axis) for at, title in marks.moments]
    keys = []
    for place, (name, grid) in enumerate(grids):
        data = "|".join("" if value is None else drawn.value_text(value) for value in grid)
        path = " ".join(_line_path(stretch, top, axis, step_s) for stretch in _known_runs(grid))
        parts.append(f'<path class="l{place}" data-n="{escape(name)}" data-v="{escape(data)}" d="{path}"/>')
        keys.append(f'<span class="k k{place}">{escape(name)}</span>')
    keys += [f'<span class="k kband">{drawn.band_name}</span>'] if usual else []
    labels = "".join(
        f'<span style="top:{_y_position(value, top):g}%">{escape(label)}</span>' for value, label in reversed(ticks)
    )
    return (
        f"<figure><figcaption>{escape(drawn.title)} {' '.join(keys)}</figcaption>"
        f'<div class="plot"><div class="y">{labels}</div>'
        f'<svg viewBox="0 0 {WIDTH:g} {HEIGHT:g}" preserveAspectRatio="none" role="img" '
        f'aria-label="{escape(drawn.title, quote=True)}" data-start="{axis.start:.0f}" data-step="{step_s:.0f}" '
        f'data-end="{axis.end:.0f}">{"".join(parts)}</svg>{axis_labels(axis)}</div></figure>'
    )


def axis_labels(axis: Axis) -> str:
    """Return the labels of days or hours below a picture."""
    labels = (f'<span style="left:{x / WIDTH:.2%}">{escape(label)}</span>' for x, label in axis.ticks() if label)
    return f'<div class="x">{"".join(labels)}</div>'


def day_lines(axis: Axis, high: float = HEIGHT) -> str:
    """Return vertical lines where days or hours begin."""
    data = "".join(f"M{x:g} 0V{high:g}" for x, _ in axis.ticks())
    return f'<path class="g" d="{data}"/>' if data else ""


def shade_svg(marked: Shade, axis: Axis, high: float = HEIGHT) -> str:
    """Return a shaded period, wide enough to be visible."""
    x, until = axis.x(marked.start), axis.x(marked.end)
    wide = max(until - x, 0.3 if marked.style == "off" else 2.5)
    x = min(x, WIDTH - wide)
    title = f"<title>{escape(marked.title)}</title>" if marked.title else ""
    drawn = f'<rect class="{marked.style}" x="{x:g}" y="0" width="{wide:g}" height="{high:g}">{title}</rect>'
    return f'<a href="#{escape(marked.link, quote=True)}">{drawn}</a>' if marked.link else drawn


def moment_line(at: float, title: str, axis: Axis, high: float = HEIGHT) -> str:
    """Return the mark of an operation."""
    return f'<path class="op" d="M{axis.x(at):g} 0V{high:g}"><title>{escape(title)}</title></path>'


def _step_seconds(axis: Axis) -> float:
    """Return the seconds per point of the plot.

    If the axis has too many steps, each point covers several steps.
    """
    count = (axis.end - axis.start) / axis.step_s
    return axis.step_s * max(1, -(-count // _MAX_POINTS))


def _grid_values(values: Values, axis: Axis) -> list[float | None]:
    """Return the maximum known value of each step, from the start of the axis."""
    step_s = _step_seconds(axis)
    found: list[float | None] = [None] * int(-(-(axis.end - axis.start) // step_s))
    for at, value in values.items():
        place = int((at - axis.start) // step_s)
        if value is not None and 0 <= place < len(found):
            before = found[place]
            found[place] = value if before is None else max(before, value)
    return found


def _known_runs(grid: Sequence[float | None]) -> list[list[tuple[int, float]]]:
    found: list[list[tuple[int, float]]] = []
    last = -2
    for place, value in enumerate(grid):
        if value is None:
            continue
        if last != place - 1:
            found.append([])
        found[-1].append((place, value))
        last = place
    return found


def _y_position(value: float, top: float) -> float:
    return round(HEIGHT - value / top * HEIGHT, 2)


def _line_path(stretch: Sequence[tuple[int, float]], top: float, axis: Axis, step_s: float) -> str:
    """Return a path with each value in the middle of its step. A single value becomes a dot."""
    return path_data((axis.x(axis.start + (place + 0.5) * step_s), _y_position(value, top)) for place, value in stretch)


def path_data(points: Iterable[tuple[float, float]]) -> str:
    """Return the data of a path through these points. A single point becomes a dot."""
    placed = [f"{x:g} {y:g}" for x, y in points]
    return f"M{placed[0]}h1" if len(placed) == 1 else "M" + "L".join(placed)


def _band_runs(usual: Mapping[float, tuple[float, float]], step_s: float) -> list[list[tuple[float, float, float]]]:
    found: list[list[tuple[float, float, float]]] = []
    last = float("-inf")
    for at, (low, high) in sorted(usual.items()):
        if at - last > 1.5 * step_s:
            found.append([])
        found[-1].append((at, low, high))
        last = at
    return found


def _band_path(stretch: Sequence[tuple[float, float, float]], top: float, axis: Axis) -> str:
    """Return the outline of a band with one level per hour."""
    up = [(axis.x(each), _y_position(high, top)) for at, _, high in stretch for each in (at, at + axis.step_s)]
    down = [
        (axis.x(each), _y_position(low, top)) for at, low, _ in reversed(stretch) for each in (at + axis.step_s, at)
    ]
    return path_data([*up, *down]) + "Z"
