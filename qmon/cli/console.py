"""Sets up the standard streams: handles limited encodings, closed streams, full disks and readers that have exited.

Characters that a console cannot show become similar ASCII characters, or their numbers.
"""

from __future__ import annotations

import codecs
import contextlib
import io
import os
import sys
from typing import IO, Final

from qmon.texts import Text


class ConsoleText(Text):
    """Why output cannot be written."""

    UNWRITABLE = "cannot write to standard output: {problem}"


_ASCII_BY_SIGNS: Final = {
    "–−─━┄‑": "-",
    "—": "--",
    "…": "...",
    "·•◦": ".",
    "×✕": "x",
    "→›▶": ">",
    "←‹": "<",
    "≥": ">=",
    "≤": "<=",
    "▲△↑▴": "^",
    "▽▼↓▾": "v",
    "±": "+-",
    "■█▇▆▅●◆▓": "#",
    "◇◌○": "o",
    "▄▃▒": "=",
    "▂▁░": "_",
    "│┃╵╸¦‖": "|",
    "└├": "+",
    "▏▎▍▌▋▊▉": "|",
    "⏎": "Enter",
    "↻": "@",
    "✓": "v",
    "⇥": "Tab",
    "µ": "u",
    "«»“”„": '"',
    "‘’": "'",
    "§": "S",
}
_ASCII: Final = {ord(sign): text for signs, text in _ASCII_BY_SIGNS.items() for sign in signs}
_HANDLER: Final = "qmon-signs"


# The exit code that a shell reports for a program ended by SIGPIPE.
_READER_GONE: Final = 128 + 13
_FAILED: Final = 1


class OutputLost(Exception):
    """Raised when standard output cannot be written, because its reader has exited or the disk is full.

    Attributes:
        exit_code: exit code of the command. 141 if the reader has exited (like SIGPIPE), otherwise 1.
    """

    def __init__(self, problem: OSError) -> None:
        super().__init__(ConsoleText.UNWRITABLE.render(problem=problem.strerror or problem))
        self.reader_gone = isinstance(problem, BrokenPipeError)
        self.exit_code = _READER_GONE if self.reader_gone else _FAILED


class _StandardOutput(io.TextIOWrapper):
    """Standard output that raises ``OutputLost``.

    ``OutputLost`` is not an ``OSError``, because other code catches ``OSError`` for its own files.
    """

    def write(self, text: str, /) -> int:
        try:
            return super().write(text)
        except OSError as problem:
            raise OutputLost(problem) from problem

    def flush(self) -> None:
        try:
            super().flush()
        except OSError as problem:
            raise OutputLost(problem) from problem


class _StandardError(io.TextIOWrapper):
    """Standard error that ignores write errors, because no other stream could report these errors."""

    def write(self, text: str, /) -> int:
        try:
            return super().write(text)
        except OSError:
            return len(text)

    def flush(self) -> None:
        with contextlib.suppress(OSError):
            super().flush()


def discard_output(stream: IO[str]) -> None:
    """Redirect ``stream``, including its buffered text, to the null device."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def prepare_streams() -> None:
    """Set up the standard streams of the program.

    A closed stream is opened as the null device. Otherwise the next opened file would get the stream's number, and
    printed text would go into that file. Printing never fails because of characters that a console cannot show.
    """
    _open_closed_streams()
    sys.stdout = _wrap_stream(_StandardOutput, sys.stdout)
    sys.stderr = _wrap_stream(_StandardError, sys.stderr)
    codecs.register_error(_HANDLER, _nearest_ascii)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and not can_encode_all(stream.encoding):
            stream.reconfigure(errors=_HANDLER)


def _open_closed_streams() -> None:
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        try:
            os.fstat(number)
        except OSError:
            opened = os.open(os.devnull, os.O_RDWR)
            if opened != number:
                os.dup2(opened, number)
                os.close(opened)
            os.set_inheritable(number, True)  # child processes inherit the standard streams
        if getattr(sys, name) is None:
            stream = open(number, mode, encoding="utf-8", closefd=False)  # noqa: SIM115 - it stays open
            setattr(sys, name, stream)
            setattr(sys, f"__{name}__", stream)


def _wrap_stream(kind: type[io.TextIOWrapper], stream: IO[str]) -> IO[str]:
    if not isinstance(stream, io.TextIOWrapper):
        return stream
    return kind(
        stream.buffer,
        encoding=stream.encoding,
        errors=stream.errors,
        line_buffering=stream.line_buffering,
        write_through=stream.write_through,
    )


def can_encode_all(encoding: str | None) -> bool:
    """Return true if a stream of this encoding can show every character."""
    return (encoding or "").lower().replace("-", "").replace("_", "").startswith("utf")


def _nearest_ascii(problem: UnicodeError) -> tuple[str, int]:
    if not isinstance(problem, UnicodeEncodeError):
        raise problem
    missing = problem.object[problem.start : problem.end]
    found = (_ASCII.get(ord(c)) or c.encode("ascii", "backslashreplace").decode() for c in missing)
    return "".join(found), problem.end
