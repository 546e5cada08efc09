"""qmon with its own processor time split into parts: ``python -m tests.benchmarks.split FILE connect URL …``.

At each SIGUSR1 it appends a line of JSON to the file: processor seconds so far, by part of a tick. At each SIGUSR2 it
folds the next poll as the newest of an hour of polls, a second apart, and appends the same line.
"""

from __future__ import annotations

import json
import signal
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from qmon.model.snapshot import Snapshot
from qmon.model.view import View
from qmon.monitor.state.target_history import TargetHistory
from qmon.recording.history.in_memory import InMemoryHistory

HOUR_S: Final = 3600
PARTS = ("driver", "collect", "fold", "judge")
_spent = dict.fromkeys(PARTS, 0.0)
_counts = {"views": 0, "drawn": 0, "throttled": 0}
_within = threading.local()


def timed(owner: Any, name: str, part: str) -> None:
    """Time a function of the owner, without the parts within it."""
    call = getattr(owner, name)

    def timing(*args: Any, **kwargs: Any) -> Any:
        inner, _within.spent = getattr(_within, "spent", 0.0), 0.0
        began = time.thread_time()
        try:
            return call(*args, **kwargs)
        finally:
            took = time.thread_time() - began
            _spent[part] += took - _within.spent
            _within.spent = inner + took

    setattr(owner, name, timing)


def counted(owner: Any, name: str, what: str, when: Callable[..., bool] = lambda *_: True) -> None:
    """Count the calls of a function."""
    call = getattr(owner, name)

    def counting(*args: Any, **kwargs: Any) -> Any:
        found = call(*args, **kwargs)
        _counts[what] += when(found)
        return found

    setattr(owner, name, counting)


def hours(wanted: threading.Event, file: Path) -> None:
    """Fold an hour of polls before the next one, if ``wanted`` is set."""
    fold, remember = TargetHistory.record_snapshot, InMemoryHistory.record_view
    far = [0.0]
    memories: list[InMemoryHistory] = []

    def ahead(seconds: float) -> Callable[[], float]:
        return lambda: time.time() + seconds

    def at(snapshot: Snapshot, moved: float) -> Snapshot:
        server = replace(snapshot.server, now_at=snapshot.server.now_at + moved)
        return replace(snapshot, sampled_at=snapshot.sampled_at + moved, server=server)

    def folding(history: TargetHistory, snapshot: Snapshot) -> View:
        if wanted.is_set():
            wanted.clear()
            for second in range(HOUR_S):
                view = fold(history, at(snapshot, far[0] + second))
                for memory in memories:
                    memory.clock = ahead(far[0] + second)
                    remember(memory, view)
            far[0] += HOUR_S
            report(file)
        return fold(history, at(snapshot, far[0]))

    def remembering(memory: InMemoryHistory, view: View) -> None:
        memories[:] = [memory]
        remember(memory, view)

    setattr(TargetHistory, "record_snapshot", folding)  # noqa: B010  # mypy takes no method that is assigned
    setattr(InMemoryHistory, "record_view", remembering)  # noqa: B010


def report(file: Path) -> None:
    """Append the times so far; the main thread paints."""
    paint = time.clock_gettime(time.pthread_getcpuclockid(threading.main_thread().ident or 0))
    found = {**_spent, "paint": paint, "whole": time.process_time(), **_counts}
    with file.open("a", encoding="utf-8") as out:
        out.write(json.dumps(found) + "\n")


def measure() -> None:
    """Time and count the functions of qmon in this process."""
    from qmon.engines.odbc import OdbcConnection
    from qmon.model.verdicts import judge_queue
    from qmon.monitor.poll.collector import Collector
    from qmon.monitor.state import queue_track
    from qmon.tui.overview.overview_screen import OverviewScreen

    timed(OdbcConnection, "_call_driver", "driver")
    timed(Collector, "collect", "collect")
    timed(queue_track, judge_queue.__name__, "judge")
    timed(TargetHistory, "record_snapshot", "fold")
    counted(TargetHistory, "record_snapshot", "views")
    counted(TargetHistory, "record_snapshot", "throttled", lambda view: bool(view.server.observing.throttled))
    counted(OverviewScreen, "draw_figures", "drawn")


def main() -> None:
    """Run qmon with the arguments after the file."""
    from qmon.cli import main as qmon

    file = Path(sys.argv.pop(1))
    wanted = threading.Event()
    hours(wanted, file)
    measure()
    signal.signal(signal.SIGUSR1, lambda *_: report(file))
    signal.signal(signal.SIGUSR2, lambda *_: wanted.set())
    qmon()


if __name__ == "__main__":
    main()
