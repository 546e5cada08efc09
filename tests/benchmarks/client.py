"""Client: processor time and memory of the whole dashboard with twelve queues, and the time until it shows figures.

Processor time is that of the process with all its threads; ``split`` shows how a tick spends it.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from qmon.workload.load_driver import Load
from qmon.workload.load_plan import QueueLoad
from tests.benchmarks.queues import bench_server, bench_target, install_queues
from tests.benchmarks.results import Bound, Part
from tests.benchmarks.split import PARTS
from tests.benchmarks.terminal import InTerminal

AT_1S = 0.035
AT_2S = 0.02
QUIET = 0.005
MEGABYTES = 65.0
GROWTH_MB = 1.0
_IMPORTS = "import textual.app, pyodbc, typer"
_FIRST = "q1_status"
_WARM_S = 480.0


@dataclass(frozen=True, slots=True)
class Seen:
    """One run: share of a core, milliseconds of a tick by part; ticks, painted ticks, ticks with a throttled probe."""

    core: float
    parts: dict[str, float]
    ticks: int
    drawn: int
    throttled: int


def run(*, quick: bool = False) -> Part:
    """Five runs of a minute each at 1 s and 2 s under load, and at 1 s without load: 120×40, 20/s in each queue."""
    runs, minute = (1, 6.0) if quick else (5, 60.0)
    part = Part("client", {"queues": 12, "columns": 120, "lines": 40, "minute_s": minute, "runs": runs})
    with bench_server() as server:
        url, target = server.url(), bench_target(server.url())
        layouts = install_queues(target)
        quiet = [_ticks(url, 1, minute) for _ in range(runs)]
        loads = [QueueLoad(layout, rate=20, pop_rate=22, keeper=layout.design == "batch_fast") for layout in layouts]
        with Load(target, loads):
            _settle(minute / 6)
            busy = {interval: [_ticks(url, interval, minute) for _ in range(runs)] for interval in (1, 2)}
            first = [(_seconds([sys.executable, "-c", _IMPORTS]), _painted(url)) for _ in range(runs)]
            memory = _memory(url, _WARM_S)
    part.rows = [_row("1 s, nothing changes", quiet), _row("1 s", busy[1]), _row("2 s", busy[2])]
    imports, painted = (median(each) for each in zip(*first, strict=True))
    painted_all = [seen for found in (*busy.values(), quiet) for seen in found]
    part.bounds = [
        Bound("share of a core at 1 s", median(seen.core for seen in busy[1]), AT_1S),
        Bound("share of a core at 2 s", median(seen.core for seen in busy[2]), AT_2S),
        Bound("share of a core where nothing changes", median(seen.core for seen in quiet), QUIET),
        Bound("ticks not painted", sum(max(0, seen.ticks - seen.drawn) for seen in painted_all), 0),
        Bound("ticks with something throttled", sum(seen.throttled for seen in painted_all), 0),
        Bound("megabytes (PSS) with an hour's history", memory[0], MEGABYTES),
        Bound("megabytes grown in the second hour", memory[1] - memory[0], GROWTH_MB),
        Bound(f"first figures, seconds (imports alone {imports:.2f})", painted, 1.2 * imports + 0.5),
    ]
    return part


def _row(what: str, found: Sequence[Seen]) -> dict[str, Any]:
    cores = [100 * seen.core for seen in found]
    row = {"what": what, "% of a core": f"{median(cores):.2f} ({min(cores):.2f}–{max(cores):.2f})"}
    for name in (*PARTS, "paint", "rest"):
        row[f"{name} ms"] = f"{median(seen.parts[name] for seen in found):.2f}"
    return row


@contextmanager
def _dashboard(url: str, interval: int) -> Iterator[tuple[InTerminal, Path]]:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "split"
        program = [sys.executable, "-m", "tests.benchmarks.split", str(file)]
        with InTerminal([*program, "connect", url, "--interval", f"{interval}s"]) as terminal:
            terminal.wait_for(_FIRST)
            yield terminal, file


def _ticks(url: str, interval: int, minute_s: float) -> Seen:
    with _dashboard(url, interval) as (terminal, file):
        _settle(minute_s / 4)
        before, at = _told(terminal, file, 1), time.perf_counter()
        _settle(minute_s)
        after, seconds = _told(terminal, file, 2), time.perf_counter() - at
    spent = {name: after[name] - before[name] for name in after}
    parts = {name: 1000 * spent[name] / spent["views"] for name in (*PARTS, "paint", "whole")}
    parts["rest"] = 2 * parts["whole"] - sum(parts.values())
    drawn, throttled = int(spent["drawn"]), int(spent["throttled"])
    return Seen(spent["whole"] / seconds, parts, int(spent["views"]), drawn, throttled)


def _painted(url: str) -> float:
    with InTerminal([sys.executable, "-m", "qmon", "connect", url, "--interval", "1s"]) as terminal:
        return terminal.wait_for(_FIRST)


def _memory(url: str, warm_s: float) -> tuple[float, float]:
    """Return the megabytes after one and two hours of polls. ``warm_s``: seconds to fill the paint caches first."""
    with _dashboard(url, 1) as (terminal, file):
        _settle(warm_s)
        found = []
        for hour in (1, 2):
            _told(terminal, file, hour, signal.SIGUSR2)
            _settle(5.0)
            found.append(terminal.process.memory_full_info().pss / 1e6)
        return found[0], found[1]


def _told(terminal: InTerminal, file: Path, lines: int, by: signal.Signals = signal.SIGUSR1) -> dict[str, float]:
    """Return the numbers that the program writes when it gets the signal."""
    terminal.process.send_signal(by)
    until = time.monotonic() + 600
    while not file.exists() or len(written := file.read_text(encoding="utf-8").splitlines()) < lines:
        if time.monotonic() > until:
            raise TimeoutError("the program does not tell what it has spent")
        _settle(0.02)
    found: dict[str, float] = json.loads(written[lines - 1])
    return found


def _seconds(command: list[str]) -> float:
    began = time.perf_counter()
    subprocess.run(command, check=True)
    return time.perf_counter() - began


def _settle(seconds: float) -> None:
    threading.Event().wait(seconds)
