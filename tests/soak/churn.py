"""Five hundred tables are created and dropped for an hour: the memory of a watching qmon reaches a plateau."""

from __future__ import annotations

import gc
import os
import time
from pathlib import Path
from statistics import median
from typing import Final

from qmon.demo.embedded_server import EmbeddedServer
from qmon.model.view import View
from qmon.monitor.background import catalog_reading
from tests.contract.tables import QUEUE
from tests.contract.watching import watching
from tests.facts import query

TABLES: Final = 500
_AT_ONCE: Final = 10
_RESOLVE_S: Final = 5.0
# Long enough for a busy machine to show a table: this test is about memory.
_PATIENCE_S: Final = 300.0
# Memory in the last quarter of the time may be at most this multiple of memory in the second one.
_GROWTH: Final = 1.02


def plateau(minutes: float) -> str:
    """Watch tables found by their shape while they are created and dropped, ``TABLES`` at a time. Return a summary.

    Raises ``AssertionError`` if memory still grows after the first quarter.
    """
    catalog_reading.EVERY_S = _RESOLVE_S  # type: ignore[misc]
    made, sizes, began = 0, list[tuple[float, float]](), time.monotonic()
    with EmbeddedServer(settings={"fsync": "off"}) as server, watching(server.url(), interval_s=1.0) as watched:
        query(server.url(), f"CREATE TABLE stays_queue {QUEUE}")
        while (spent := time.monotonic() - began) < 60 * minutes:
            names = [f"churn_{(made + number) % TABLES}_queue" for number in range(_AT_ONCE)]
            for name in names:
                query(server.url(), f"CREATE TABLE {name} {QUEUE}; INSERT INTO {name} (status) VALUES ('ready')")
            made += len(names)
            there = names[-1]
            watched.view(lambda view, name=there: not _gone(view, name), timeout=_PATIENCE_S)  # type: ignore[misc]
            watched.view(polls=2, timeout=_PATIENCE_S)
            query(server.url(), f"DROP TABLE {', '.join(names)}")
            watched.view(lambda view, name=there: _gone(view, name), timeout=_PATIENCE_S)  # type: ignore[misc]
            del watched.views[:-1]
            gc.collect()
            sizes.append((spent, _megabytes()))
    second = median(size for at, size in sizes if 15 <= at / minutes < 30)
    last = median(size for at, size in sizes if at / minutes >= 45)
    line = f"churn: {made:,} tables made and dropped in {minutes:g} m; {second:.1f} MB at first, {last:.1f} at the end"
    assert last <= _GROWTH * second, f"{line}: it still grows"
    return line


def _gone(view: View, name: str) -> bool:
    """Return whether a queue cannot be seen any more; the last ones stay on the screen as such."""
    queue = view.queue(name)
    return queue is None or queue.verdict.code == "cannot see"


def _megabytes() -> float:
    """Return the memory of this process that is in use."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6
