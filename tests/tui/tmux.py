"""The dashboard in a real terminal, which tmux provides."""

from __future__ import annotations

import os
import re
import secrets
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import psutil

from qmon.texts import Text
from tests.facts import wait_until
from tests.wordings import has

ROOT = Path(__file__).parents[2]
PROGRAM = [sys.executable, "-m", "tests.tui.in_terminal"]


class Tmux:
    """A separate tmux server with one session that runs the program."""

    def __init__(self, *arguments: str, cells: int = 100, rows: int = 30, program: Sequence[str] = PROGRAM) -> None:
        self._socket = f"qmon-test-{secrets.token_hex(4)}"
        self.run("new-session", "-d", "-x", str(cells), "-y", str(rows), "-c", str(ROOT), "--", *program, *arguments)
        self.run("set-option", "-g", "remain-on-exit", "on")
        self.pid = int(self.run("list-panes", "-F", "#{pane_pid}"))

    def run(self, *command: str) -> str:
        """Run one tmux command and return its output."""
        done = subprocess.run(
            ["tmux", "-L", self._socket, "-f", os.devnull, *command],
            check=True,
            capture_output=True,
            text=True,
            timeout=120,
        )
        return done.stdout

    def keys(self, *keys: str) -> None:
        """Press keys."""
        self.run("send-keys", *keys)

    def screen(self) -> str:
        """Return the terminal's text, including lines scrolled away by its last message."""
        return self.run("capture-pane", "-p", "-S", "-5")

    def expect(self, text: str) -> None:
        """Wait until the terminal shows ``text``."""
        try:
            wait_until(lambda: text in self.screen(), what=f"{text!r} on the screen")
        except AssertionError as error:
            raise AssertionError(f"{error}\n{self.screen()}") from None

    def shows(self, text: Text, /, **fields: object) -> bool:
        """Return whether the terminal shows ``text``, also if it is wrapped in a frame."""
        unframed = re.sub("[\u2500-\u259f]", " ", self.screen())
        return has(unframed, text, **fields)

    def close(self) -> None:
        """End the server and all its programs."""
        subprocess.run(["tmux", "-L", self._socket, "kill-server"], check=False, capture_output=True, timeout=120)


def gone(pid: int) -> bool:
    """Return whether the process has ended; a zombie counts as ended."""
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True
