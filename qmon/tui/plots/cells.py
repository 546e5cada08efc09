"""Combines the dots of several lines and filled areas into the cells of a plot."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import Final

from qmon.tui.plots.glyphs import BLANK, Bits, lowest_rows
from qmon.tui.spans import Line, Span

FILLED: Final = " "
# A filled cell: `FILLED` with colours, `HATCHED` without.
HATCHED: Final = "░"
_EMPTY: Final[Span] = (" ", "text")


@dataclass(frozen=True, slots=True)
class Layer:
    """The dots of one line, and its tone."""

    bits: Bits
    tone: str


def area_below(bits: Bits) -> list[int]:
    """Return, for each column, the first row that is filled below a line."""
    return [row + 1 for row in lowest_rows(bits)]


def paint_layers(
    layers: Sequence[Layer],
    fill: Sequence[int],
    rows: int,
    *,
    plain: bool,
    until: Sequence[int] = (),
    together: int = 1,
) -> list[Line]:
    """Return the cells, row by row. If layers overlap in a cell, the first layer is in front.

    ``together``: the dots of this many first layers are combined within a cell. The cell gets the tone of the layer
    that has most dots in the cell. ``fill``: the first filled row of each column. The area ends at the bottom, or, if
    ``until`` is given, before the row in ``until``.
    """
    filled = (HATCHED if plain else FILLED, "area")
    out: list[Line] = []
    for y in range(rows):
        if until:
            inside = [first <= y < last for first, last in zip(fill, until, strict=True)]
        else:
            inside = [first <= y for first in fill]
        dots = [layer.bits[y] for layer in layers]
        dotted = {x for row in dots if any(row) for x, bits in enumerate(row) if bits}
        if inside and not dotted and not any(inside):
            out.append(((_EMPTY[0] * len(inside), _EMPTY[1]),))
            continue
        cells = [filled if each else _EMPTY for each in inside]
        for x in dotted:
            symbol, tone = _cell_dots(layers, [row[x] for row in dots], together)
            cells[x] = (symbol, f"{tone} on area" if inside[x] and not plain else tone)
        out.append(tuple(join_spans(cells)))
    return out


def _cell_dots(layers: Sequence[Layer], dots: Sequence[int], together: int) -> Span:
    """Return the dots of the front layers in one cell, with the tone of the layer that has most of these dots."""
    bits, first, most = 0, 0, 0
    for place, each in enumerate(dots[:together]):
        bits |= each
        if each.bit_count() > most:
            first, most = place, each.bit_count()
    if not bits:
        first = next(place for place, each in enumerate(dots) if each)
        bits = dots[first]
    return chr(BLANK | bits), layers[first].tone


def join_spans(cells: Iterable[Span]) -> list[Span]:
    """Merge neighbouring spans of the same tone into one span."""
    return [("".join([text for text, _ in same]), tone) for tone, same in groupby(cells, itemgetter(1))]
