"""Contention: what qmon sees of the demo's queues while other programs take the processors, and how soon after."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from statistics import median, quantiles

from qmon.demo.runner import scene
from qmon.engines.base import Target
from qmon.model.figure import Figure
from qmon.model.verdicts.judge import CANNOT_TELL
from qmon.model.view import QueueView, View
from qmon.monitor.open import open_poller
from qmon.monitor.source import Event, Phase, SourceState
from qmon.monitor.state.target import TargetHistory
from tests.benchmarks.results import Bound, Part

LOOPS = (0, 4, 16)
OLD_AT_MOST = 0.02
BACK_S = 10.0
_INTERVAL_S = 1.0
_SETTLED_S = 20.0
_FIGURES = ("ready", "in_progress", "stuck", "oldest", "push_rate", "pop_rate", "gap")


@dataclass(slots=True)
class Watched:
    """What the polls of one stretch have shown."""

    views: list[View] = field(default_factory=list)
    late: int = 0
    lost: int = 0

    def figures(self) -> list[tuple[Figure, float]]:
        """Each figure that was shown, with the seconds after which it is three times as old as its cadence."""
        return [
            (figure, 3 * max(figure.every_s, view.server.observing.asked_s if view.server.observing else _INTERVAL_S))
            for view in self.views
            for queue in view.queues
            for figure in (getattr(queue, name) for name in _FIGURES)
            if figure.value is not None
        ]

    def throttled(self) -> list[int]:
        """How many probes were read less often, for each poll."""
        return [len(view.server.observing.throttled) for view in self.views if view.server.observing is not None]


def run(*, quick: bool = False) -> Part:
    """The demo's scene beside no, four and sixteen busy loops, ten minutes each; the polls at 1 s."""
    stretch_s = 60.0 if quick else 600.0
    part = Part("contention", {"queues": 16, "interval_s": _INTERVAL_S, "seconds each": stretch_s})
    with scene(quiet=True) as (target, _), watching(target) as watched:
        _pause(_SETTLED_S)
        for loops in LOOPS:
            with busy(loops):
                found = _stretch(watched, stretch_s)
            part.rows.append(_row(loops, found) | {"s until nothing is throttled": _back(watched)})
    for row in part.rows:
        beside = f"beside {row['busy loops']} busy loops"
        part.bounds += [
            Bound(f"share of figures older than three times their cadence {beside}", row["old"], OLD_AT_MOST),
            Bound(f"of these without a mark {beside}", row["old, unmarked"], 0),
            Bound(f"seconds until nothing is throttled {beside}", row["s until nothing is throttled"], BACK_S),
        ]
    return part


class Watch:
    """Keeps the views of a poller, from when it was last asked on."""

    def __init__(self) -> None:
        self.history = TargetHistory()
        self.now = Watched()
        self.lock = threading.Lock()

    def __call__(self, event: Event) -> None:
        with self.lock:
            if isinstance(event, SourceState):
                self.now.late += event.phase is Phase.LATE
                self.now.lost += event.phase is Phase.LOST
            else:
                self.now.views.append(self.history.add(event))

    def anew(self) -> Watched:
        """What was seen since the last call."""
        with self.lock:
            seen, self.now = self.now, Watched()
            return seen


@contextmanager
def watching(target: Target) -> Iterator[Watch]:
    """The poller, at the budget that it has by default."""
    poller, watch = open_poller(target, interval_s=_INTERVAL_S), Watch()
    poller.start(watch)
    try:
        yield watch
    finally:
        poller.close()


@contextmanager
def busy(loops: int) -> Iterator[None]:
    """So many programs that take all the processor time they get."""
    programs = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(loops)]
    try:
        yield
    finally:
        for program in programs:
            program.kill()
            program.wait()


def _stretch(watch: Watch, seconds: float) -> Watched:
    watch.anew()
    _pause(seconds)
    return watch.anew()


def _back(watch: Watch) -> float:
    """Seconds from now until a poll has nothing throttled; infinite after a minute."""
    began = time.monotonic()
    while time.monotonic() - began < 60.0:
        with watch.lock:
            newest = watch.now.views[-1] if watch.now.views else None
        if newest is not None and newest.server.observing is not None and not newest.server.observing.throttled:
            return time.monotonic() - began
        _pause(0.1)
    return float("inf")


def _row(loops: int, found: Watched) -> dict[str, float | int]:
    shown = found.figures()
    old = [figure for figure, limit in shown if figure.age_s > limit]
    unmarked = [figure for figure in old if not (figure.old or figure.estimated or figure.at_least)]
    slower = [view.server.observing.slower for view in found.views if view.server.observing is not None]
    costs = [view.server.observing.expected_ms for view in found.views if view.server.observing is not None]
    took = [view.server.server_ms for view in found.views if view.server.server_ms is not None]
    throttled = found.throttled()
    return {
        "busy loops": loops,
        "polls": len(found.views),
        "late": found.late,
        "lost": found.lost,
        "old": len(old) / len(shown) if shown else 1.0,
        "old, unmarked": len(unmarked),
        "cannot tell": _share(found, CANNOT_TELL),
        "throttled, median": median(throttled),
        "throttled, 90 %": quantiles(throttled, n=10)[-1],
        "cost ms, median": median(costs),
        "took ms, median": median(took),
        "slower, most": max(slower),
    }


def _share(found: Watched, code: str) -> float:
    queues: list[QueueView] = [queue for view in found.views for queue in view.queues]
    return sum(queue.verdict.code == code for queue in queues) / len(queues)


def _pause(seconds: float) -> None:
    threading.Event().wait(seconds)
