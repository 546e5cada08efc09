"""Tax: cost of watching for a load that uses all processors, measured in alternating windows of one run.

In the windows with qmon, this counts the processor time and buffers of qmon's connections on the server and the
processor time of its process, and compares them with those of the load in the same windows. It does not count work
of the server for all sessions (writing the log, checkpoints, vacuum; shown in a row of its own), the last half
second of a process, and the kernel's work outside of processes. qmon writes nothing, so it adds nothing to the log.
The check is the throughput with qmon divided by the throughput without: it includes all of that, but scatters more.
"""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from math import sqrt
from statistics import mean, stdev
from typing import Final

from qmon.workload.load_driver import Load
from qmon.workload.load_plan import QueueLoad
from tests.benchmarks.queues import bench_server, bench_target, install_queues
from tests.benchmarks.results import Bound, Part
from tests.benchmarks.terminal import InTerminal
from tests.benchmarks.usage import LOAD, QMON, SERVER, ServerUsage, processor_s

# What polling may cost the server, in per cent of one processor (docs/performance.md).
BUDGET: Final = 1.0
CLIENT: Final = 8.0
THROUGHPUT: Final = 0.94
# qmon reads everything in its first twelve polls, which are not measured.
_SETTLED_S: Final = 15.0
# Student's t for 97.5 %, by degrees of freedom from 1 on.
_T: Final = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145)
_NOBODY: Final = "nobody"
_SERVER: Final = "server, % of a processor"
_CLIENT: Final = "client, % of a processor"
_THROUGHPUT: Final = "throughput, with over without"
# Starts qmon and yields its process id, or `None` if it is not started.
Watch = Callable[[], AbstractContextManager[int | None]]


@dataclass(frozen=True, slots=True)
class Window:
    """Resources used in one window, per second: processor seconds, buffers, messages."""

    qmon: float
    load: float
    server: float
    qmon_client: float
    load_client: float
    qmon_pages: float
    load_pages: float
    messages: float

    @property
    def of_load(self) -> float:
        """Messages per processor second of the load, server and client. Other programs do not change it."""
        return self.messages / (self.load + self.load_client)


@dataclass(frozen=True, slots=True)
class Interval:
    """The mean of some values and its 95 % interval."""

    mean: float
    low: float
    high: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Interval:
        """Compute them from independent values, one for each start of qmon."""
        middle, half = mean(values), _T[len(values) - 2] * stdev(values) / sqrt(len(values))
        return cls(middle, middle - half, middle + half)


def run(*, quick: bool = False) -> Part:
    """Run eight rounds of three windows of 16 s, at 1 s: no watcher, the poller alone, the whole dashboard.

    qmon starts again for each window. The order changes from round to round.
    """
    rounds, window_s, settled_s = (3, 5.0, 5.0) if quick else (8, 16.0, _SETTLED_S)
    part = Part("tax", {"rounds": rounds, "window_s": window_s, "interval_s": 1.0, "queues": 4})
    found: dict[str, list[Window]] = {_NOBODY: [], "poller": [], "dashboard, 120×40": []}
    with bench_server() as server:
        target, url = bench_target(server.url()), server.url()
        watches: dict[str, Watch] = dict(
            zip(found, (nullcontext, lambda: _poller(url), lambda: _dashboard(url)), strict=True)
        )
        layouts = install_queues(target, ("fifo", "status", "naive", "batch_fast"))
        loads = [
            QueueLoad(layout, producers=1, consumers=2, keeper=layout.design == "batch_fast") for layout in layouts
        ]
        with Load(target, loads) as load, ServerUsage(url, server.pid) as usage:
            _settle(3.0)
            for number in range(rounds):
                names = list(watches)
                for name in names[number % 3 :] + names[: number % 3]:
                    with watches[name]() as process:
                        _settle(settled_s if process is not None else 1.0)
                        found[name].append(_window(load, usage, process, window_s))
    nobody = found.pop(_NOBODY)
    for who, windows in found.items():
        figures = _figures(windows, nobody)
        part.rows += [
            {"watched by": who, "figure": what, "mean": each.mean, "95 % from": each.low, "to": each.high}
            for what, each in figures.items()
        ]
        part.bounds += [
            Bound(f"{who}: lower end of {_SERVER}", figures[_SERVER].low, BUDGET),
            Bound(f"{who}: lower end of {_CLIENT}", figures[_CLIENT].low, CLIENT),
            Bound(f"{who}: upper end of {_THROUGHPUT}", figures[_THROUGHPUT].high, THROUGHPUT, at_most=False),
        ]
    return part


def _figures(windows: Sequence[Window], nobody: Sequence[Window]) -> dict[str, Interval]:
    pairs = list(zip(windows, nobody, strict=True))
    return {
        what: Interval.of(values)
        for what, values in {
            _SERVER: [100 * w.qmon for w in windows],
            "server, % of the load's": [100 * w.qmon / w.load for w in windows],
            "server's own processes, % of a processor, with less without": [
                100 * (w.server - n.server) for w, n in pairs
            ],
            _CLIENT: [100 * w.qmon_client for w in windows],
            "client, % of the load's": [100 * w.qmon_client / w.load_client for w in windows],
            "pages/s": [w.qmon_pages for w in windows],
            "pages, % of the load's": [100 * w.qmon_pages / w.load_pages for w in windows],
            _THROUGHPUT: [w.messages / n.messages for w, n in pairs],
            "the same, per second of the load's processors": [w.of_load / n.of_load for w, n in pairs],
        }.items()
    }


def _window(load: Load, usage: ServerUsage, process: int | None, window_s: float) -> Window:
    clients = load.pids
    began, before = time.time(), usage.now()
    load_s, qmon_s = processor_s(*clients), processor_s(process) if process is not None else 0.0
    _settle(window_s)
    ended, used = time.time(), usage.now().since(before)
    load_s = processor_s(*clients) - load_s
    qmon_s = processor_s(process) - qmon_s if process is not None else 0.0
    while load.counts.last_at() < ended:
        _settle(0.05)
    flows = load.counts.flow_between(began, ended).values()
    took = ended - began
    return Window(
        qmon=used.seconds[QMON] / took,
        load=used.seconds[LOAD] / took,
        server=used.seconds[SERVER] / took,
        qmon_client=qmon_s / took,
        load_client=load_s / took,
        qmon_pages=used.pages[QMON] / took,
        load_pages=used.pages[LOAD] / took,
        messages=sum(flow.push_rate + flow.pop_rate for flow in flows),
    )


@contextmanager
def _poller(url: str) -> Iterator[int]:
    command = [sys.executable, "-m", "tests.benchmarks.poll_only", url]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()  # the first poll
        yield process.pid
        process.terminate()


@contextmanager
def _dashboard(url: str) -> Iterator[int]:
    with InTerminal([sys.executable, "-m", "qmon", "connect", url, "--interval", "1s"]) as terminal:
        terminal.wait_for("q1_fifo")
        yield terminal.process.pid


def _settle(seconds: float) -> None:
    threading.Event().wait(seconds)
