"""Healthy, bursty, mixed load over all designs: any verdict is a test failure."""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from qmon.demo.embedded_server import EmbeddedServer
from qmon.engines.registry import engine_for
from qmon.operate.install.install_queue import install_queue
from qmon.workload.load_driver import Load
from qmon.workload.load_plan import PlannedFault, QueueLoad
from tests.contract.watching import Watched, connect, target_of, watching
from tests.laboratory.case import FINE
from tests.laboratory.laboratory import SETTINGS
from tests.laboratory.runs import Rates, Run, bursty, nightly, noisy, pausing, steady
from tests.queues import DESIGNS

INTERVAL_S: Final = 1.0
# Producers and consumers on a good day: bursts of 36/s, consumers that poll every few seconds, quiet nights.
_STYLES: Final[Mapping[str, Rates]] = {
    "steady": steady(10, 40),
    "noisy": noisy(10, 40, 0.9),
    "bursty": bursty(6, 40, 12, 2),
    "pausing": pausing(6, 30, 6, 4),
    "nightly": nightly(12, 40, 900),
}
_MORE: Final[Mapping[str, Any]] = {
    "keeper": True,
    "requeue_after_s": 20.0,
    "message_bytes": 200,
    "own_processes": False,
}
# Settings for one design. A ring without turns would lose a number with each rollback, so nothing is rolled back there.
_OWN: Final[Mapping[str, Mapping[str, Any]]] = {
    "status": {"work_s": 0.02, "fail_share": 0.05, "consumers": 2},
    "fifo": {"rollback_share": 0.2, "consumers": 2},
    "heap": {"fail_share": 0.1},
    "batch_fast": {"batch": 10},
    "batch_single": {"batch": 5},
    "naive": {"rollback_share": 0.1, "producers": 2},
}


def runs() -> list[Run]:
    """Give the designs the load styles in turn, so that each style is used several times."""
    styles = list(_STYLES.values())
    return [
        Run(f"calm_{design}", design, 0, styles[number % len(styles)], {**_MORE, **_OWN.get(design, {})})
        for number, design in enumerate(DESIGNS)
    ]


@dataclass
class Calm:
    """The verdicts of a healthy run: how often each was raised over all queues and polls, and the false ones."""

    polls: int = 0
    said: Counter[str] = field(default_factory=Counter)
    false: dict[tuple[str, str], str] = field(default_factory=dict)

    def __str__(self) -> str:
        counts = ", ".join(f"{code} {count}" for code, count in self.said.most_common())
        wrong = "".join(f"\n  {queue}: {code}: {proof}" for (queue, code), proof in self.false.items())
        return f"healthy load, {self.polls} polls: {counts}{wrong}"


def calm(seconds: float, *, faults: Sequence[PlannedFault] = (), starts: int = 1) -> Calm:
    """Load all designs for ``seconds`` and return the verdicts raised once the rates are known.

    ``starts``: how many times qmon starts to watch, each for the same share of the time.
    """
    with EmbeddedServer(settings=SETTINGS) as server:
        url = server.url()
        target, loads, connection = target_of(url), [], connect(url)
        for run in runs():
            made = install_queue(
                connection,
                engine_for(target),
                run.design,
                schema="public",
                queue=run.name,
                timeout_s=30.0,
                owner_held_while_working=True,
            )
            push, pop = run.rates(0.0, random.Random(0))
            loads.append(QueueLoad(made.layout, **{"rate": push, "pop_rate": pop, **run.load}))
        connection.close()
        found, all_runs = Calm(), {run.name: run for run in runs()}
        with Load(target, loads, faults) as load:
            for start in range(starts):
                with watching(url, interval_s=INTERVAL_S) as watched:
                    watched.view(polls=2)
                    drive(load, all_runs, seconds / starts, start * seconds / starts)
                    _count(watched, found)
        return found


def _count(watched: Watched, found: Calm) -> None:
    for view in watched.views[2:]:
        found.polls += 1
        for queue in view.queues:
            for verdict in queue.verdicts:
                found.said[verdict.code] += 1
                if verdict.code not in FINE:
                    found.false.setdefault((queue.name, verdict.code), verdict.proof)


def drive(load: Load, runs: Mapping[str, Run], seconds: float, from_s: float = 0.0) -> None:
    """Set the rates of the workers each second. ``from_s``: how long they have already worked."""
    chances = {queue: random.Random(queue) for queue in runs}
    told: dict[tuple[str, str], float] = {}
    began, pause = time.monotonic(), threading.Event()
    while (t := time.monotonic() - began) < seconds:
        for queue, run in runs.items():
            push, pop = run.rates(from_s + t, chances[queue])
            if told.get((queue, "push")) != push:
                load.change_members(queue, "producer", rate=push)
            if told.get((queue, "pop")) != pop:
                load.change_members(queue, "consumer", rate=pop)
            told[queue, "push"], told[queue, "pop"] = push, pop
        pause.wait(max(0.0, 1.0 - (time.monotonic() - began - t)))
