"""A small program for the tests in a real terminal: the dashboard over figures made by hand, new ones twice a second.

With ``stuck`` as its argument, the source stops inside its second poll for ever, and cannot be closed either.
"""

from __future__ import annotations

import itertools
import sys
import time
from threading import Event, Thread

from qmon.monitor.source import Sink
from qmon.tui import run
from tests.tui.scripted import Scripted, later_view


class Living(Scripted):
    """Gives new figures from a thread of its own."""

    stuck = False

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
            if self.over.wait(0.5):
                return

    def close(self) -> None:
        """End, unless stuck."""
        if self.stuck:
            Event().wait()
        self.over.set()


if __name__ == "__main__":
    source = Living()
    source.stuck = "stuck" in sys.argv
    code = run(source, source.fold, prod=True)
    sys.stdout.write(f"left with {code}\n")
    sys.exit(code)
