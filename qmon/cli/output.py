"""What commands print: a table for people on a terminal, plain aligned text in a pipe, JSON, or progress."""

from __future__ import annotations

import json
import os
import shutil
import sys
import unicodedata
from collections.abc import Sequence
from typing import Any

from qmon.cli.console import says_all


def clean(text: object) -> str:
    """Text fit for a terminal: what is no printable character is shown as its number, so that no name can steer it."""
    return "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in str(text))


def width(text: str) -> int:
    """How many cells of a terminal the text takes."""
    return sum(
        0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text
    )  # fmt: skip


def note(text: str) -> None:
    """A line beside the output, on standard error."""
    print(clean(text), file=sys.stderr, flush=True)


def say(text: str = "") -> None:
    """Lines of output, fit for a terminal."""
    print("\n".join(map(clean, text.split("\n"))))


def json_object(value: Any) -> None:
    """One JSON object on one line. What is no printable character is escaped as JSON has it, on a terminal or not: it
    reads the same, and steers nothing."""
    text = json.dumps(value, ensure_ascii=not says_all(sys.stdout.encoding))
    print("".join(c if c.isprintable() else json.dumps(c)[1:-1] for c in text))


def on_terminal() -> bool:
    """Whether a person reads standard output."""
    return sys.stdout.isatty()


def table(headers: Sequence[str], rows: Sequence[Sequence[object]], *, wrap: int | None = None) -> None:
    """Print rows under headers. ``wrap``: the column that gives way on a narrow terminal."""
    cells = [[clean(cell) for cell in row] for row in rows]
    if on_terminal() and not os.environ.get("NO_COLOR"):
        _rich(headers, cells, wrap)
    else:
        _plain(headers, cells)


def _rich(headers: Sequence[str], cells: Sequence[Sequence[str]], wrap: int | None) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    shown = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for number, header in enumerate(headers):
        shown.add_column(Text(header), overflow="fold", no_wrap=number != wrap, ratio=1 if number == wrap else None)
    for row in cells:
        shown.add_row(*(Text(cell) for cell in row))
    Console(highlight=False, markup=False, emoji=False).print(shown)


def _plain(headers: Sequence[str], cells: Sequence[Sequence[str]]) -> None:
    lines = [list(headers), *(list(row) for row in cells)]
    widths = [max(width(line[number]) for line in lines) for number in range(len(headers))]
    for line in lines:
        padded = (cell + " " * (size - width(cell)) for cell, size in zip(line, widths, strict=True))
        print("  ".join(padded).rstrip())


class Meter:
    """Progress on standard error: one line that changes on a terminal, a line now and then elsewhere.

    Args:
        every_s: seconds between two lines where standard error is no terminal.
        at_once: the first of these is not waited for.

    Attributes:
        live: it is a terminal.
    """

    def __init__(self, every_s: float, *, at_once: bool = False) -> None:
        self._every_s = every_s
        self.live = sys.stderr.isatty()
        self._shown_s = -every_s if at_once else 0.0

    def show(self, line: str, elapsed_s: float) -> None:
        """Say how it stands, ``elapsed_s`` seconds after the beginning."""
        if self.live:
            width = shutil.get_terminal_size().columns - 1
            print(f"\r{line[:width]}\x1b[K", end="", file=sys.stderr, flush=True)
        elif elapsed_s - self._shown_s >= self._every_s:
            self._shown_s = elapsed_s
            print(line, file=sys.stderr, flush=True)

    def end(self) -> None:
        """Remove the line that changed."""
        if self.live:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
