"""``qmon serve``: cost of polling, scrapes and ten dashboards that read from it, with 12 and 200 queues."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.request import Request, urlopen

import psutil

from qmon.workload.load_driver import Load
from qmon.workload.load_plan import QueueLoad
from tests.benchmarks.queues import TWELVE, bench_server, bench_target, install_queues
from tests.benchmarks.results import Bound, Part
from tests.benchmarks.usage import processor_s

MANY = 200
DASHBOARDS = 10
SHARE = 0.05
MEGABYTES = 100.0
# Seconds of polling that use as much processor time as one scrape.
SCRAPE = 3.0
_OPENMETRICS = {"Accept": "application/openmetrics-text; version=1.0.0"}
_MORE = ("status", "fifo", "batch_fast", "naive")


def run(*, quick: bool = False) -> Part:
    """Poll a server every 2 s with twelve busy queues, then with 188 more that are idle."""
    seconds, scrapes, many = (4.0, 10, 20) if quick else (60.0, 100, MANY)
    part = Part("serve", {"interval_s": 2.0, "seconds each": seconds, "scrapes": scrapes, "dashboards": DASHBOARDS})
    with bench_server() as server:
        target = bench_target(server.url())
        layouts = install_queues(target, ring_size=200)
        with Load(target, [QueueLoad(layout, rate=5, pop_rate=6, own_processes=False) for layout in layouts]):
            part.rows.append({"queues": len(TWELVE)} | _served(server.url(), seconds, scrapes))
            designs = (_MORE * many)[: many - len(TWELVE)]
            install_queues(target, designs, ring_size=200, first=len(TWELVE) + 1)
            part.rows.append({"queues": many} | _served(server.url(), seconds, scrapes))
    most = part.rows[-1]
    part.bounds = [
        Bound(f"share of a processor, {most['queues']} queues", most["share"], SHARE),
        Bound("megabytes", most["MB"], MEGABYTES),
        Bound("a scrape, in seconds of polling", most["scrape ms"] / 1000 / most["share"], SCRAPE),
    ]
    return part


def _served(url: str, seconds: float, scrapes: int) -> dict[str, float]:
    """Return the shares of one processor and megabytes (PSS) without and with dashboards, and the cost of a scrape."""
    with _serving(url) as (process, address):
        sent = _scrape(address)
        alone_s, elapsed_s = _used(process, seconds)
        row = {"share": alone_s / elapsed_s, "MB": _megabytes(process)}
        began, used = time.monotonic(), processor_s(process.pid)
        for _ in range(scrapes):
            _scrape(address)
        used = processor_s(process.pid) - used - row["share"] * (time.monotonic() - began)
        row |= {"scrape ms": 1000 * used / scrapes, "scrape kB": sent / 1000}
        with _reading(address):
            beside_s, elapsed_s = _used(process, seconds)
            return row | {"with dashboards, share": beside_s / elapsed_s, "with dashboards, MB": _megabytes(process)}


@contextmanager
def _serving(url: str) -> Iterator[tuple[psutil.Process, str]]:
    """Yield the program once it has polled, and its address."""
    command = [sys.executable, "-m", "qmon", "serve", url, "--listen", "127.0.0.1:0"]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as child:
        try:
            assert child.stderr is not None
            address = child.stderr.readline().split("serving ")[1].split("/metrics")[0]
            while _scrape(address) < 5000:  # the first poll has not ended yet
                time.sleep(0.2)
            yield psutil.Process(child.pid), address
        finally:
            child.terminate()
            child.wait(30)


def _scrape(address: str) -> int:
    with urlopen(Request(f"{address}/metrics", headers=_OPENMETRICS), timeout=60) as answer:  # noqa: S310
        return len(answer.read())


@contextmanager
def _reading(address: str) -> Iterator[None]:
    """Simulate dashboards: each client reads the stream."""
    streams = [urlopen(f"{address}/stream", timeout=60) for _ in range(DASHBOARDS)]  # noqa: S310
    over = threading.Event()

    def read(number: int) -> None:
        with contextlib.suppress(OSError, ValueError):
            while not over.is_set() and streams[number].readline():
                pass

    threads = [threading.Thread(target=read, args=(number,), daemon=True) for number in range(DASHBOARDS)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        over.set()
        for thread in threads:
            thread.join()
        for stream in streams:
            stream.close()


def _used(process: psutil.Process, seconds: float) -> tuple[float, float]:
    """Return the processor time used, and the time that passed, in seconds."""
    began, used = time.monotonic(), processor_s(process.pid)
    time.sleep(seconds)
    return processor_s(process.pid) - used, time.monotonic() - began


def _megabytes(process: psutil.Process) -> float:
    return float(process.memory_full_info().pss) / 1e6
