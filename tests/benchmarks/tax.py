"""Tax: what watching costs a load that takes all the processor there is, measured in alternating windows of one run."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from statistics import median

from qmon.workload.load import Load
from qmon.workload.plan import QueueLoad
from tests.benchmarks.queues import bench_server, bench_target, install_queues
from tests.benchmarks.results import Bound, Part
from tests.benchmarks.terminal import InTerminal

POLLER_AT_LEAST = 0.98
DASHBOARD_AT_LEAST = 0.94
Watch = Callable[[], AbstractContextManager[object]]


def run(*, quick: bool = False) -> Part:
    """Fifteen pairs of windows with and without the poller alone, then with and without the whole dashboard, at 1 s."""
    pairs, window_s = (3, 3.0) if quick else (15, 6.0)
    part = Part("tax", {"pairs": pairs, "window_s": window_s, "interval_s": 1.0, "queues": 4})
    with bench_server() as server:
        target = bench_target(server.url())
        layouts = install_queues(target, ("fifo", "status", "naive", "batch_fast"))
        loads = [QueueLoad(layout, pushers=1, poppers=2, keeper=layout.design == "batch_fast") for layout in layouts]
        with Load(target, loads) as load:
            _settle(3.0)
            watches: dict[str, tuple[Watch, float]] = {
                "poller alone": (lambda: _poller(server.url()), POLLER_AT_LEAST),
                "whole dashboard, 120×40": (lambda: _dashboard(server.url()), DASHBOARD_AT_LEAST),
            }
            for what, (watch, limit) in watches.items():
                ratios, without = [], []
                for pair in range(pairs):
                    order: list[Watch] = [nullcontext, watch] if pair % 2 else [watch, nullcontext]
                    found = {each: _throughput(load, each, window_s) for each in order}
                    ratios.append(found[watch] / found[nullcontext])
                    without.append(found[nullcontext])
                part.rows.append(
                    {
                        "watched by": what,
                        "messages/s without (median)": median(without),
                        "with over without (median)": median(ratios),
                        "least": min(ratios),
                        "most": max(ratios),
                    }
                )
                part.bounds.append(Bound(f"throughput with {what} over without", median(ratios), limit, at_most=False))
    return part


def _throughput(load: Load, watch: Watch, window_s: float) -> float:
    """Messages pushed and popped per second, all queues, over one window."""
    with watch():
        began = time.time()
        _settle(window_s)
        ended = time.time()
    while load.counts.last_at() < ended:
        _settle(0.05)
    flows = load.counts.between(began, ended).values()
    return sum(flow.push_rate + flow.pop_rate for flow in flows)


@contextmanager
def _poller(url: str) -> Iterator[None]:
    command = [sys.executable, "-m", "tests.benchmarks.poll_only", url]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        yield
        process.terminate()


@contextmanager
def _dashboard(url: str) -> Iterator[None]:
    with InTerminal([sys.executable, "-m", "qmon", "connect", url, "--interval", "1s"]) as terminal:
        terminal.wait_for("q1_fifo")
        yield


def _settle(seconds: float) -> None:
    threading.Event().wait(seconds)
