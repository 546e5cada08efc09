"""The large plot of a queue: push and pop as lines over the depth as an area, with a time axis and a scale."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from qmon.model import text
from qmon.model.rates.series import Point
from qmon.model.text import BLOCKS, heights
from qmon.tui.plots.glyphs import BLANK, trace
from qmon.tui.plots.series import FEW, Values, highest, round_up, sample, samples, window
from qmon.tui.sanitize import pad, width
from qmon.tui.spans import Line, Span

_LEAST_WIDTH: Final = 40
_LEAST_LEFT: Final = 7
_HATCHED: Final = " " * 4 + "░" * 5
"""A cell of the area by the eighths it is filled to, without colour; with colour it is a block."""


def throughput(history: Sequence[Point], cells: int, rows: int, *, plain: bool = False) -> list[Line]:
    """``rows`` lines of ``cells`` cells: the last ten minutes, or what there is of them.

    The left scale is messages per second; the depth has its own scale and ends in its own figure on the right.
    ``plain`` draws pop dashed and the area light, since no colour tells them apart.
    """
    body = rows - 1
    if not history or body < 2 or cells < _LEAST_WIDTH:
        return []
    newest = history[-1]
    span_s = window(history)
    labels = [("push", newest.push_rate), ("pop", newest.pop_rate), ("depth", newest.ready)]
    right = max(width(_label(name, value)) for name, value in labels) + 1
    wide = 0
    while True:  # how wide the left scale is follows from its top, and that from the columns which are left
        left = max(_LEAST_LEFT, wide)
        columns = cells - left - right
        push, pop = samples(history, ("push_rate", "pop_rate"), 2 * columns, span_s)
        top = round_up(highest(push, pop))
        wide = len(text.rate(top)) + 2
        if wide <= left:
            break
    depth = sample(history, "ready", columns, span_s)
    depth_top = round_up(max(FEW, highest(depth)))
    scale = _scale(top, body, left)
    legend = _legend([(n, v, (depth_top if n == "depth" else top)) for n, v in labels], body, right)
    drawn = _draw(push, pop, depth, top, depth_top, body, plain)
    lines = [((scale[y], "muted"), ("│", "faint"), *drawn[y], *legend[y]) for y in range(body)]
    return [*lines, _time_axis(span_s, left, columns, right)]


def _label(name: str, value: float | None) -> str:
    write = text.count if name == "depth" else text.rate
    return f" {name} {text.UNKNOWN if value is None else write(value)}"


def _scale(top: float, body: int, left: int) -> list[str]:
    """The left scale: the top, the middle where there is room, and zero."""
    marks = {0: text.rate(top), body - 1: "0"}
    if body >= 7:
        marks[body // 2] = text.rate(top / 2)
    out = [pad(f"{marks.get(y, '')} ", left - 1, right=True) for y in range(body)]
    if body >= 4:
        out[1] = pad("/s ", left - 1, right=True)
    return out


def _legend(labels: Sequence[tuple[str, float | None, float]], body: int, right: int) -> list[Line]:
    """The name and the newest figure of each line, beside the line's end, moved apart where they would collide."""
    wanted = sorted(
        (body - 1 - round(min(1.0, value / top if value is not None and top else 0.0) * (body - 1)), name, value)
        for name, value, top in labels
    )
    rows: dict[int, Span] = {}
    free = 0
    for index, (row, name, value) in enumerate(wanted):
        row = min(max(row, free), body - len(wanted) + index)
        rows[row] = (pad(_label(name, value), right), "muted" if name == "depth" else name)
        free = row + 1
    return [(rows.get(y, (" " * right, "text")),) for y in range(body)]


def _draw(push: Values, pop: Values, depth: Values, top: float, depth_top: float, body: int, plain: bool) -> list[Line]:
    """The plot itself, row by row: lines in braille, and where there is none the area in blocks."""
    push_bits = trace(push, top, body)
    pop_bits = trace(pop, top, body, dashed=plain)
    area = heights(depth, depth_top, body * 8)
    shades = _HATCHED if plain else BLOCKS
    out = []
    for y in range(body):
        floor = (body - 1 - y) * 8
        levels = [0 if height <= floor else min(8, height - floor) for height in area]
        out.append(_row(push_bits[y], pop_bits[y], levels, "".join([shades[level] for level in levels])))
    return out


def _row(push: list[int], pop: list[int], levels: list[int], area: str) -> Line:
    """One row of the plot: the dots of the lines, and where there are none the area, filled up to its levels."""
    spans: list[Span] = []
    done = 0
    for x, (a, b) in enumerate(zip(push, pop, strict=True)):
        if not a | b:
            continue
        if done < x:
            spans.append((area[done:x], "area"))
        name = "push" if a.bit_count() >= b.bit_count() else "pop"
        tone = f"{name} on area" if levels[x] >= 5 else name
        symbol, done = chr(BLANK | a | b), x + 1
        if spans and spans[-1][1] == tone:
            symbol = spans.pop()[0] + symbol
        spans.append((symbol, tone))
    return (*spans, (area[done:], "area")) if done < len(area) else tuple(spans)


def _time_axis(span_s: float, left: int, columns: int, right: int) -> Line:
    """Times before the newest point: the whole span, its half, and 0."""
    start, half, end = f"−{text.whole_seconds(span_s)}", f"−{text.whole_seconds(span_s / 2)}", "0"
    middle = columns // 2
    line = pad(start, middle - len(half) // 2) + half
    line = pad(line, columns - len(end)) + end
    return ((" " * left, "text"), (line, "muted"), (" " * right, "text"))
