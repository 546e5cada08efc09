"""Archiving: impact on producers and consumers that use all processors, in alternating windows."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from statistics import median

from qmon.model.layout.layout import Layout
from qmon.workload.load_driver import Load
from qmon.workload.load_plan import QueueLoad
from tests.benchmarks.queues import bench_server, bench_target, install_queues
from tests.benchmarks.results import Bound, Part
from tests.facts import query, wait_until

AT_LEAST = 0.98
# Messages pushed per second if processor time is to spare.
PACED = 500.0


def run(*, quick: bool = False) -> Part:
    """Compare windows with and without ``qmon design archive``, with two producers and two consumers, for two designs.

    Once at a rate that leaves processor time to spare, and once with producers and consumers at full speed, where any
    extra work costs them throughput. A window with archiving also catches up with the one before.
    """
    pairs, window_s = (2, 3.0) if quick else (6, 4.0)
    part = Part("archiving", {"pairs": pairs, "window_s": window_s, "producers": 2, "consumers": 2})
    with bench_server() as server:
        target, url = bench_target(server.url()), server.url()
        for layout in install_queues(target, ("batch_fast", "flag")):
            for rate in (PACED, None):
                with Load(target, [QueueLoad(layout, producers=2, consumers=2, rate=rate)]) as load:
                    time.sleep(3.0)
                    row = _row(load, layout, url, pairs, window_s)
                part.rows.append({"design": layout.design, "load": "paced" if rate else "as fast as it can"} | row)
                if rate:
                    what = f"{layout.design}: throughput with archiving over without, paced"
                    part.bounds.append(Bound(what, row["with over without (median)"], AT_LEAST, at_most=False))
    return part


def _row(load: Load, layout: Layout, url: str, pairs: int, window_s: float) -> dict[str, float]:
    found: dict[bool, list[float]] = {True: [], False: []}
    archived: list[float] = []
    for pair in range(pairs):
        for with_it in (pair % 2 == 0, pair % 2 == 1):
            if with_it:
                with _archiving(url, layout) as result:
                    found[True].append(_throughput(load, layout, window_s))
                archived.append(result["archive_rate"])
            else:
                found[False].append(_throughput(load, layout, window_s))
    ratios = [on / off for on, off in zip(found[True], found[False], strict=True)]
    return {
        "messages/s without (median)": median(found[False]),
        "archived/s meanwhile (median)": median(archived),
        "with over without (median)": median(ratios),
        "least": min(ratios),
        "most": max(ratios),
    }


def _throughput(load: Load, layout: Layout, window_s: float) -> float:
    """Return the messages pushed and popped per second in one window."""
    began = time.time()
    time.sleep(window_s)
    ended = time.time()
    wait_until(lambda: load.counts.last_at() >= ended)
    flow = load.counts.flow_between(began, ended)[layout.queue]
    return flow.push_rate + flow.pop_rate


@contextmanager
def _archiving(url: str, layout: Layout) -> Iterator[dict[str, float]]:
    """Run ``qmon design archive`` in the block; its output is in the result afterwards."""
    log = f'"{layout.table.schema}"."{layout.table.name}_archive_log"'
    before = query(url, f"SELECT count(*) FROM {log}")
    command = [sys.executable, "-m", "qmon", "design", "archive", url, layout.queue]
    result: dict[str, float] = {}
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        wait_until(lambda: query(url, f"SELECT count(*) FROM {log}") != before, what="it archives")
        yield result
        process.send_signal(signal.SIGINT)
        (rate,) = re.findall(r"\(([\d.,]+)/s\)", process.communicate(timeout=30)[0])
        result["archive_rate"] = float(rate.replace(",", ""))
