"""Upkeep faults whose verdict takes more than a minute; long form only."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator, Sequence

from qmon.model.layout.layout import Layout
from qmon.monitor.state.usage_track import ANALYZED_S
from tests.facts import connected
from tests.laboratory.case import Case
from tests.laboratory.laboratory import Laboratory
from tests.queues import ENGINE


@contextlib.contextmanager
def analyzed(lab: Laboratory, layout: Layout) -> Iterator[Sequence[str]]:
    """A script updates the statistics of the table every second."""
    over = threading.Event()

    def script() -> None:
        with connected(lab.url) as session:
            while not over.wait(1.0):
                session.execute(f"ANALYZE {ENGINE.quote(layout.table.parts)}")

    thread = threading.Thread(target=script)
    thread.start()
    try:
        yield (str(layout.table),)
    finally:
        over.set()
        thread.join()


CASES = (
    Case("statistics updated all the time", "statistics", "status", analyzed, reads_s=10.0, clears_s=ANALYZED_S + 1.0),
)
