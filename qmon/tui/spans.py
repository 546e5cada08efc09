"""Lines that consist of spans. Panels write such lines, and widgets draw them.

A span is a text with the name of its tone. Widths are in terminal cells. In functions that return lines, ``cells`` is
the width and ``rows`` is the height.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from qmon.tui.sanitize import clean, shorten_words, text_width

Span = tuple[str, str]
Line = tuple[Span, ...]

# Width of the names at the left of entries, in cells.
LABEL_CELLS: Final = 10


@dataclass(frozen=True, slots=True)
class LinePart:
    """A part of a line. Narrow lines drop the parts with the greatest ``rank`` first."""

    spans: Line
    rank: int = 0

    @classmethod
    def from_text(cls, text: str, tone: str = "text", rank: int = 0) -> LinePart:
        """Build a part with one span."""
        return cls(((text, tone),), rank)


def line_width(line: Iterable[Span]) -> int:
    """Return the width of a line in cells."""
    texts = [text for text, _ in line]
    joined = "".join(texts)
    return len(joined) if joined.isascii() else sum(map(text_width, texts))


def cut_line(line: Iterable[Span], cells: int) -> Line:
    """Return at most ``cells`` cells of a line, cut between two words, with an ellipsis if the line was cut."""
    line = tuple(line)
    if line_width(line) <= cells:
        return line
    kept: list[Span] = []
    left = cells
    for text, tone in line:
        taken = text_width(text)
        if taken >= left:  # the line continues, or the span does not fit, so two extra blanks force an ellipsis
            kept.append((shorten_words(f"{text}  ", left), tone))
            break
        kept.append((text, tone))
        left -= taken
    return tuple(kept)


def fit_parts(parts: Sequence[LinePart], cells: int, gap: str = "   ") -> Line:
    """Join the parts with ``gap`` into one line. Parts of the greatest rank are dropped until the line fits."""
    kept = [part for part in parts if part.spans]
    room = len(gap)
    while len(kept) > 1 and sum(line_width(p.spans) for p in kept) + room * (len(kept) - 1) > cells:
        worst = max(p.rank for p in kept)
        last = max(i for i, p in enumerate(kept) if p.rank == worst)
        del kept[last]
    joined: list[Span] = []
    for part in kept:
        if joined:
            joined.append((gap, "text"))
        joined.extend(part.spans)
    return cut_line(joined, cells)


def wrap_parts(parts: Sequence[LinePart], cells: int, gap: str = "   ") -> list[Line]:
    """Join the parts with ``gap`` into as few lines as possible, in order. No part is dropped; a long part is cut."""
    rows: list[list[LinePart]] = []
    for part in parts:
        if rows and line_width(fit_parts([*rows[-1], part], 10_000, gap)) <= cells:
            rows[-1].append(part)
        else:
            rows.append([part])
    return [fit_parts(row, cells, gap) for row in rows]


def spread_parts(left: Sequence[LinePart], right: Sequence[LinePart], cells: int, gap: str = "   ") -> Line:
    """Return one line with parts at both ends. The parts at the left must fit next to the parts at the right."""
    end = fit_parts(right, cells, "  ")
    room = cells - line_width(end) - (2 if end else 0)
    start = fit_parts(left, max(0, room), gap)
    if not end:
        return start
    return (*start, (" " * (cells - line_width(start) - line_width(end)), "text"), *end)


def wrap_text(text: str, first_cells: int, other_cells: int, lines: int) -> list[str]:
    """Break ``text`` at blanks into at most ``lines`` lines.

    The first line has ``first_cells`` cells, and each other line has ``other_cells`` cells.
    """
    words, out, room = text.split(" "), [""], first_cells
    for index, word in enumerate(words):
        candidate = f"{out[-1]} {word}" if out[-1] else word
        if text_width(candidate) <= room or not out[-1]:
            out[-1] = candidate
        elif len(out) < lines:
            out.append(word)
            room = other_cells
        else:
            out[-1] = f"{out[-1]} {' '.join(words[index:])}"
            break
    return [shorten_words(line, first_cells if i == 0 else other_cells) for i, line in enumerate(out)]


def entry_lines(name: str, text: str, cells: int, tone: str = "text", most: int = 4) -> list[Line]:
    """Return a name with a text next to it. The text is broken into at most ``most`` lines."""
    if not text:
        return []
    room = max(10, cells - LABEL_CELLS - 2)
    pieces = wrap_text(clean(text), room, room, most)
    return [
        ((f" {name if index == 0 else '':<{LABEL_CELLS}}", "muted"), (piece, tone))
        for index, piece in enumerate(pieces)
    ]
