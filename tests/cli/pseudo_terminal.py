"""qmon on a pseudo-terminal."""

from __future__ import annotations

import os
import select
import subprocess
from pathlib import Path

from tests.cli.calling import ROOT, program, surroundings
from tests.facts import wait_until


class Terminal:
    """qmon on a pseudo-terminal, as in a user's terminal."""

    def __init__(self, *arguments: str, home: Path) -> None:
        import pty
        import termios

        self.leader, follower = pty.openpty()
        termios.tcsetwinsize(self.leader, (40, 120))
        environment = surroundings(XDG_CONFIG_HOME=str(home), XDG_STATE_HOME=str(home), TERM="xterm")
        self.process = subprocess.Popen(
            program(*arguments), cwd=ROOT, env=environment, stdin=follower, stdout=follower, stderr=follower
        )
        os.close(follower)
        self.seen = ""

    def read(self) -> str:
        """Return all output so far."""
        while select.select([self.leader], [], [], 0)[0]:
            try:
                self.seen += os.read(self.leader, 65_536).decode(errors="replace")
            except OSError:
                break
        return self.seen

    def expect(self, text: str, times: int = 1) -> None:
        """Wait until this text was printed this number of times."""
        wait_until(lambda: self.read().count(text) >= times, what=f"{text!r} in {self.seen!r}")

    def type(self, text: str) -> None:
        """Type a line."""
        os.write(self.leader, f"{text}\n".encode())

    def end(self) -> int:
        """Return its exit code."""
        wait_until(lambda: self.read() is not None and self.process.poll() is not None, what="the end")
        os.close(self.leader)
        return self.process.returncode
