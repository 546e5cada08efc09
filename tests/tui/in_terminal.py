"""A small program for tests in a real terminal: the dashboard over artificial figures, new ones twice a second.

With ``reading`` as its argument, a thread never ends. With ``stuck``, the source stops inside its second poll for ever.
With ``broken`` and a file, it writes many log lines there from a thread, until the fold fails. With ``deaf``, reading
the terminal fails at the first key.
"""

from __future__ import annotations

import itertools
import logging
import sys
import time
from pathlib import Path
from threading import Event, Thread

from textual.drivers.linux_driver import LinuxDriver
from textual.events import Key
from textual.message import Message

from qmon import log
from qmon.model.snapshot import Snapshot
from qmon.model.view import View
from qmon.monitor.source import Sink
from qmon.tui import run
from qmon.tui.driver import TerminalDriver
from qmon.tui.watched_target import DashboardTarget
from tests.tui.scripted import Scripted, later_view

LOG = logging.getLogger("qmon.test")


class Living(Scripted):
    """Gives new figures from a thread of its own."""

    stuck = broken = False

    def start(self, sink: Sink) -> None:
        """Begin."""
        super().start(sink)
        self.over = Event()
        Thread(target=self._poll, daemon=True).start()

    def _poll(self) -> None:
        for sequence in itertools.count(1):
            self.give(later_view(sequence, taken_at=time.monotonic()))
            if self.stuck and sequence == 2:
                Event().wait()
            LOG.error("a line for the log alone")
            logging.getLogger("asyncio").error("a line of another")
            if self.over.wait(0.5):
                return

    def fold(self, snapshot: Snapshot) -> View:
        """Return the view, unless broken."""
        if self.broken and snapshot.sequence == 6:
            raise ValueError(f"no number: {'pay' + 'load'!r}")
        return super().fold(snapshot)

    def close(self) -> None:
        """End, unless stuck."""
        if self.stuck:
            Event().wait()
        self.over.set()


def deaf(driver: LinuxDriver, message: Message) -> None:
    """Fail at a key."""
    if isinstance(message, Key):
        raise RuntimeError("no terminal")


if __name__ == "__main__":
    source = Living()
    source.stuck, source.broken = "stuck" in sys.argv, "broken" in sys.argv
    if "reading" in sys.argv:
        Thread(target=Event().wait).start()
    if "deaf" in sys.argv:
        TerminalDriver.process_message = deaf  # type: ignore[assignment,method-assign]
    with log.log_to_file(Path(sys.argv[-1]), logging.DEBUG if source.broken or "deaf" in sys.argv else None):
        code = run([DashboardTarget(source, source.fold, prod=True)])
    sys.stdout.write(f"left with {code}\n")
    sys.exit(code)
