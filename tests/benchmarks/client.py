"""Client: processor and memory of the whole dashboard with twelve busy queues, and how soon it shows figures."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from statistics import median

from qmon.workload.load import Load
from qmon.workload.plan import QueueLoad
from tests.benchmarks.queues import bench_server, bench_target, install_queues
from tests.benchmarks.results import Bound, Part
from tests.benchmarks.terminal import InTerminal

AT_1S = 0.08
AT_2S = 0.04
MEGABYTES = 100.0
GROWTH_MB = 2.0
_IMPORTS = "import textual, pyodbc, typer"


@dataclass(frozen=True, slots=True)
class Seen:
    """One run of the dashboard: share of a core after the first minute, megabytes at its beginning and its end."""

    core: float
    first_mb: float
    last_mb: float
    painted_s: float


def run(*, quick: bool = False) -> Part:
    """Five minutes at 1 s and two at the default 2 s, 120×40, twelve queues at 20 messages per second each."""
    minute = 6.0 if quick else 60.0
    part = Part("client", {"queues": 12, "columns": 120, "lines": 40, "minute_s": minute})
    with bench_server() as server:
        target = bench_target(server.url())
        layouts = install_queues(target)
        loads = [QueueLoad(layout, rate=20, pop_rate=22, keeper=layout.design == "batch_fast") for layout in layouts]
        imports = median(_seconds([sys.executable, "-c", _IMPORTS]) for _ in range(5))
        with Load(target, loads):
            _settle(minute / 6)
            seen = {f"{n} s": _dashboard(server.url(), n, minutes, minute) for n, minutes in ((1, 5), (2, 2))}
    for interval, found in seen.items():
        part.rows.append(
            {
                "interval": interval,
                "share of a core": found.core,
                "MB after a minute": found.first_mb,
                "MB at the end": found.last_mb,
                "first figures s": found.painted_s,
                "imports alone s": imports,
            }
        )
    one, two = seen["1 s"], seen["2 s"]
    part.bounds = [
        Bound("share of a core at 1 s", one.core, AT_1S),
        Bound("share of a core at 2 s", two.core, AT_2S),
        Bound("megabytes", max(one.last_mb, two.last_mb), MEGABYTES),
        Bound("megabytes grown from the first minute to the fifth", one.last_mb - one.first_mb, GROWTH_MB),
        Bound("first figures, seconds", max(one.painted_s, two.painted_s), 1.5 * imports + 1.0),
    ]
    return part


def _dashboard(url: str, interval: int, minutes: int, minute_s: float) -> Seen:
    command = [sys.executable, "-m", "qmon", "connect", url, "--interval", f"{interval}s"]
    with InTerminal(command) as terminal:
        painted = terminal.wait_for("q1_status")
        _settle(minute_s)
        first_mb, before, began = _megabytes(terminal), _processor(terminal), time.perf_counter()
        _settle(minute_s * (minutes - 1))
        core = (_processor(terminal) - before) / (time.perf_counter() - began)
        return Seen(core, first_mb, _megabytes(terminal), painted)


def _processor(terminal: InTerminal) -> float:
    times = terminal.process.cpu_times()
    return float(times.user + times.system)


def _megabytes(terminal: InTerminal) -> float:
    return float(terminal.process.memory_info().rss) / 1e6


def _seconds(command: list[str]) -> float:
    began = time.perf_counter()
    subprocess.run(command, check=True)
    return time.perf_counter() - began


def _settle(seconds: float) -> None:
    threading.Event().wait(seconds)
