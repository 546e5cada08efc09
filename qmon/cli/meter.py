"""Progress on standard error: one line that changes on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import shutil
import sys


class Meter:
    """One line of progress.

    Args:
        every_s: seconds between two lines where standard error is no terminal.
    """

    def __init__(self, every_s: float) -> None:
        self._every_s = every_s
        self._live = sys.stderr.isatty()
        self._told_s = 0.0

    def show(self, line: str, elapsed_s: float) -> None:
        """Say how it stands, ``elapsed_s`` seconds after the beginning."""
        if self._live:
            width = shutil.get_terminal_size().columns - 1
            print(f"\r{line[:width]}\x1b[K", end="", file=sys.stderr, flush=True)
        elif elapsed_s - self._told_s >= self._every_s:
            self._told_s = elapsed_s
            print(line, file=sys.stderr, flush=True)

    def end(self) -> None:
        """Leave the line that changed."""
        if self._live:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
