"""Prints the output of commands: a table on a terminal, aligned plain text in a pipe, JSON, CSV, or progress."""

from __future__ import annotations

import csv
import dataclasses
import functools
import json
import os
import shutil
import sys
import types
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, Literal, NotRequired, Required, Union, get_args, get_origin, get_type_hints, is_typeddict

from qmon.cli.console import can_encode_all
from qmon.model.formatting import spreadsheet_safe

Format = Literal["table", "json", "csv"]

# Suffixes that the CSV header adds to fields whose names lack a unit. Rates are in messages per second.
_UNITS: Final = {
    **dict.fromkeys(("push_rate", "pop_rate", "complete_rate", "archive_rate"), "per_s"),
    **dict.fromkeys(("push_rate_before", "pop_rate_best_hour", "push_rate_growth_per_day"), "per_s"),
    **dict.fromkeys(("started_at", "ended_at", "kept_until", "until"), "epoch_s"),
    **dict.fromkeys(("fill", "confidence", "kept", "watched", "counters_watched"), "share"),
    "growth": "bytes_per_s",
    "wal_per_cycle": "bytes",
}


def clean_text(text: object) -> str:
    """Return text that is safe for a terminal: each unprintable character is replaced with its number."""
    return "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in str(text))


def text_width(text: str) -> int:
    """Return the number of terminal cells that the text takes."""
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def print_note(text: str) -> None:
    """Print a line on standard error, next to the output."""
    print(clean_text(text), file=sys.stderr, flush=True)


def print_output(text: str = "") -> None:
    """Print lines of output. The printed text is safe for a terminal."""
    print("\n".join(map(clean_text, text.split("\n"))))


def print_report(output_format: Format, report: Mapping[str, Any], kind: type, rows: str = "") -> None:
    """Print an object of the ``TypedDict`` ``kind`` as JSON or CSV.

    CSV contains the object's list ``rows`` or, if ``rows`` is empty, the object as one row. CSV has a header with units
    and no ``schema``. Unknown values are empty. Each field of a nested object has its own column (``verdict_code``).
    Lists and maps are written as JSON in one column.
    """
    if output_format == "json":
        print(_json_text(_to_builtins(report)))
    elif rows:
        _print_csv_lists([report], kind, rows)
    else:
        _print_csv(kind, [_to_builtins(report)])


def print_reports(output_format: Format, reports: Sequence[Mapping[str, Any]], kind: type, rows: str) -> None:
    """Print the objects of several targets: JSON with one line per object, CSV as rows with a ``target`` column."""
    if output_format == "csv":
        _print_csv_lists(reports, kind, rows, ("target",))
        return
    for each in reports:
        print(_json_text(_to_builtins(each)))


def _print_csv_lists(reports: Sequence[Mapping[str, Any]], kind: type, rows: str, first: Sequence[str] = ()) -> None:
    """Print the lists ``rows`` of all objects as CSV. Each row starts with the fields ``first`` of its object."""
    (row,) = get_args(get_type_hints(kind)[rows])
    plain = map(_to_builtins, reports)
    _print_csv(row, [{name: each[name] for name in first} | line for each in plain for line in each[rows]], first)


def _to_builtins(report: Mapping[str, Any]) -> Any:
    import msgspec

    return msgspec.to_builtins(report)


def _json_text(value: object) -> str:
    """Return one line of JSON. Unprintable characters are escaped, so that the text cannot control a terminal."""
    text = json.dumps(value, ensure_ascii=not can_encode_all(sys.stdout.encoding))
    return "".join(c if c.isprintable() else json.dumps(c)[1:-1] for c in text)


def _print_csv(kind: type, rows: Sequence[Mapping[str, Any]], first: Sequence[str] = ()) -> None:
    paths = [*((name,) for name in first), *_column_paths(kind)]
    lines = csv.writer(sys.stdout, lineterminator="\n")
    lines.writerow(column_header(*path) for path in paths)
    lines.writerows([_csv_field(functools.reduce(_nested_value, path, row)) for path in paths] for row in rows)


def column_header(*path: str) -> str:
    """Return the column name of a field, with its unit: ``pop_rate_per_s``."""
    return "_".join((*path, *filter(None, [_UNITS.get(path[-1])])))


def _nested_value(value: Any, name: str) -> Any:
    return None if value is None else value.get(name)


def _column_paths(kind: Any) -> Iterator[tuple[str, ...]]:
    """Yield the path to each field of a record, including the fields of nested records."""
    for name, hint in get_type_hints(kind).items():
        nested = next(filter(_is_record, _union_types(hint)), None)
        if nested is not None:
            yield from ((name, *path) for path in _column_paths(nested))
        elif name != "schema":
            yield (name,)


def _union_types(hint: Any) -> tuple[Any, ...]:
    """Return the types of a union, or the type itself."""
    return get_args(hint) if get_origin(hint) in (Union, types.UnionType, NotRequired, Required) else (hint,)


def _is_record(hint: Any) -> bool:
    return is_typeddict(hint) or dataclasses.is_dataclass(hint)


def _csv_field(value: object) -> object:
    if isinstance(value, str):
        return spreadsheet_safe(clean_text(value))
    return _json_text(value) if isinstance(value, bool | list | dict) else value


def is_on_terminal() -> bool:
    """Return true if standard output is a terminal."""
    return sys.stdout.isatty()


def print_table(headers: Sequence[str], rows: Sequence[Sequence[object]], *, wrap: int | None = None) -> None:
    """Print rows under headers. ``wrap``: the column that is wrapped on a narrow terminal."""
    cells = [[clean_text(cell) for cell in row] for row in rows]
    if is_on_terminal() and not os.environ.get("NO_COLOR"):
        _print_rich_table(headers, cells, wrap)
    else:
        _print_plain_table(headers, cells)


def _print_rich_table(headers: Sequence[str], cells: Sequence[Sequence[str]], wrap: int | None) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    shown = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for number, header in enumerate(headers):
        shown.add_column(Text(header), overflow="fold", no_wrap=number != wrap, ratio=1 if number == wrap else None)
    for row in cells:
        shown.add_row(*(Text(cell) for cell in row))
    Console(highlight=False, markup=False, emoji=False).print(shown)


def _print_plain_table(headers: Sequence[str], cells: Sequence[Sequence[str]]) -> None:
    lines = [list(headers), *(list(row) for row in cells)]
    widths = [max(text_width(line[number]) for line in lines) for number in range(len(headers))]
    for line in lines:
        padded = (cell + " " * (size - text_width(cell)) for cell, size in zip(line, widths, strict=True))
        print("  ".join(padded).rstrip())


class Meter:
    """Shows progress on standard error: one changing line on a terminal, otherwise a new line every few seconds.

    Args:
        every_s: seconds between two lines if standard error is not a terminal.
        at_once: print the first line immediately.

    Attributes:
        is_on_terminal: true if standard error is a terminal.
    """

    def __init__(self, every_s: float, *, at_once: bool = False) -> None:
        self._every_s = every_s
        self.is_on_terminal = sys.stderr.isatty()
        self._shown_s = -every_s if at_once else 0.0

    def show_progress(self, line: str, elapsed_s: float) -> None:
        """Show a progress line. ``elapsed_s``: seconds since the start."""
        if self.is_on_terminal:
            width = shutil.get_terminal_size().columns - 1
            print(f"\r{line[:width]}\x1b[K", end="", file=sys.stderr, flush=True)
        elif elapsed_s - self._shown_s >= self._every_s:
            self._shown_s = elapsed_s
            print(line, file=sys.stderr, flush=True)

    def clear_line(self) -> None:
        """Remove the changing line."""
        if self.is_on_terminal:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
