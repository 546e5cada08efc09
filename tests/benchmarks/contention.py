"""Contention: qmon's figures of the demo's queues while other programs take the processors, and how old they get.

Separate queues get faults, one after the other. Each fault must be named in time, and no other verdict may be raised.
"""

from __future__ import annotations

import contextlib
import subprocess
import sys
import tempfile
import threading
import time
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median, quantiles
from typing import Final

from qmon.config.config_file import Settings
from qmon.demo.demo_runner import SETTINGS, run_scene_on
from qmon.demo.embedded_server import EmbeddedServer
from qmon.model.cost_budget import Budget
from qmon.model.figure import Figure
from qmon.model.layout.layout import Layout
from qmon.model.verdicts.judge import CANNOT_TELL
from qmon.model.verdicts.server_verdicts import HORIZON
from qmon.model.view import QueueView, View
from qmon.monitor.source import Phase
from tests.benchmarks.results import Bound, Part
from tests.facts import connected
from tests.laboratory import consumers, locks
from tests.laboratory.case import FINE, Outcome
from tests.laboratory.laboratory import Laboratory
from tests.queues import ENGINE

LOOPS: Final = (0, 4, 16)
INTERVAL_S: Final = Settings().interval_s
OLD_AT_MOST: Final = 0.02
BACK_S: Final = 10.0
# A stuck message, consumers that stop, a session that blocks.
CASES: Final = tuple(
    case
    for case in (*consumers.CASES, *locks.CASES)
    if case.cause in ("consumer crashed", "no consumers", "all rows held by a sleeper")
)
# The scene itself sometimes has a long open transaction, which may be reported for every queue.
_TRUE: Final = frozenset({HORIZON.code})
_STORY_S: Final = 240.0
# The scene's story restarts every `_STORY_S`. For its first `_TROUBLED_S` it has a fault that makes probes dearer.
_TROUBLED_S: Final = 150.0
_LOOK_S: Final = 0.25
_WORDS: Final = 12
_FIGURES: Final = ("ready", "in_progress", "stuck", "oldest", "push_rate", "pop_rate", "gap")


@dataclass(slots=True)
class Stretch:
    """The polls of one stretch and the outcomes of its faults."""

    views: list[View]
    late: int
    lost: int
    outcomes: list[Outcome] = field(default_factory=list)
    lies: list[str] = field(default_factory=list)

    def figures(self) -> list[tuple[Figure, float]]:
        """Return each figure shown, with the age in seconds at which it is three times its cadence old."""
        return [
            (figure, 3 * max(figure.every_s, view.server.observing.asked_s if view.server.observing else INTERVAL_S))
            for view in self.views
            for queue in view.queues
            for figure in (getattr(queue, name) for name in _FIGURES)
            if figure.value is not None
        ]

    def throttled(self) -> list[int]:
        """Return the number of throttled probes in each poll."""
        return [len(view.server.observing.throttled) for view in self.views if view.server.observing is not None]


def run(*, quick: bool = False) -> Part:
    """Run the demo's scene for ten minutes each with no, four and sixteen busy loops, polled as the demo polls it."""
    stretch_s = 60.0 if quick else 600.0
    part = Part("contention", {"queues": 16 + len(CASES), "interval_s": INTERVAL_S, "seconds each": stretch_s})
    with contextlib.ExitStack() as stack:
        server = stack.enter_context(EmbeddedServer(settings=SETTINGS))
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        stack.enter_context(run_scene_on(server, quiet=True))
        began = time.monotonic()
        lab = Laboratory(server, folder, CASES, (), budget=Budget(), interval_s=INTERVAL_S)
        stack.enter_context(lab.running())
        truth = stack.enter_context(Truth(server.url(), lab).looking())
        for loops in LOOPS:
            with busy(loops):
                found = _stretch(lab, stretch_s, began)
            found.lies += truth.lies(found.views)
            part.rows.append(_row(loops, found) | {"s until nothing is throttled": _back(lab)})
            part.conditions |= {f"wrong, {loops} loops": wrong} if (wrong := _wrong(found)) else {}
    for row in part.rows:
        beside = f"beside {row['busy loops']} busy loops"
        part.bounds += [
            Bound(f"share of figures older than three times their cadence {beside}", row["old"], OLD_AT_MOST),
            Bound(f"of these without a mark {beside}", row["old, unmarked"], 0),
            Bound(f"faults named more than two polls late {beside}", row["named late"], 0),
            Bound(f"verdicts that SQL, or what was injected, contradicts {beside}", row["lies"], 0),
            Bound(f"seconds until nothing is throttled {beside}", row["s until nothing is throttled"], BACK_S),
        ]
    return part


@contextlib.contextmanager
def busy(loops: int) -> Iterator[None]:
    """Run this many programs that use all the processor time they get."""
    programs = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(loops)]
    try:
        yield
    finally:
        for program in programs:
            program.kill()
            program.wait()


class Truth:
    """Reads continuously how long messages have been in progress, for each queue that has a column for it."""

    def __init__(self, url: str, lab: Laboratory) -> None:
        self._url = url
        self._lab = lab
        self._over = threading.Event()
        self._times: list[float] = []
        self._oldest: list[dict[str, float]] = []

    @contextlib.contextmanager
    def looking(self) -> Iterator[Truth]:
        """Read in a thread until the end of the block."""
        layouts = [q.layout for q in self._lab.watched.views[-1].queues]
        thread = threading.Thread(target=self._look, args=([each for each in layouts if _timed(each)],))
        thread.start()
        try:
            yield self
        finally:
            self._over.set()
            thread.join()

    def _look(self, layouts: list[Layout]) -> None:
        asked = " UNION ALL ".join(_oldest_sql(layout, number) for number, layout in enumerate(layouts))
        names = [layout.queue for layout in layouts]
        with connected(self._url) as connection:
            while not self._over.wait(_LOOK_S):
                rows = connection.execute(asked).fetchall()
                self._times.append(rows[0][2])
                self._oldest.append({names[at]: began for at, began, _ in rows if began is not None})

    def lies(self, views: list[View]) -> list[str]:
        """Return each poll that called a queue fine although the same message was stuck before and after the poll."""
        out = []
        for view in views:
            before = bisect_right(self._times, view.sampled_at) - 1
            after = bisect_left(self._times, view.sampled_at + view.server.client_ms / 1000)
            if before < 0 or after >= len(self._times):
                continue
            for queue in view.queues:
                began = self._oldest[before].get(queue.name)
                stuck = began is not None and self._times[before] - began > queue.layout.timeout_s
                if stuck and began == self._oldest[after].get(queue.name) and queue.verdict.code in FINE:
                    out.append(f"poll {view.sequence}: {queue.name} {queue.verdict.code}, in progress since {began}")
        return out


def _timed(layout: Layout) -> bool:
    return layout.state is not None and layout.state.in_progress is not None and layout.started_at is not None


def _oldest_sql(layout: Layout, number: int) -> str:
    """Return SQL for the queue's number, the earliest start of a message in progress, and the server's clock."""
    assert layout.state is not None
    assert layout.started_at is not None
    began, state = ENGINE.quote((layout.started_at,)), ENGINE.quote((layout.state.column,))
    return (
        f"SELECT {number}, extract(epoch FROM min({began}))::float8, extract(epoch FROM clock_timestamp())::float8"
        f" FROM {ENGINE.quote(layout.table.parts)} WHERE {state} = {layout.state.in_progress}"
    )


def _wrong(found: Stretch) -> list[str]:
    """Return the first faults as text."""
    faults = [
        f"{outcome.cause}: {fault}"
        for outcome in found.outcomes
        for fault in outcome.faults
        if not any(code in fault for code in _TRUE)
    ]
    return [*faults, *found.lies][:_WORDS]


def _stretch(lab: Laboratory, seconds: float, began: float) -> Stretch:
    """Inject all faults at the same time, again and again, for at least ``seconds``.

    The stretch ends in a part of the story without troubles: a held horizon and the dead rows behind it make probes
    dearer without any contention. ``began``: when the story began, by the monotonic clock.
    """
    views, states = len(lab.watched.views), len(lab.watched.states)
    outcomes: list[Outcome] = []
    until = time.monotonic() + seconds
    while time.monotonic() < until or (time.monotonic() - began) % _STORY_S < _TROUBLED_S:
        for case in lab.cases:
            lab.settle(case)
        outcomes += lab.run(lab.cases)
    phases = [state.phase for state in lab.watched.states[states:]]
    return Stretch(lab.watched.views[views:], phases.count(Phase.LATE), phases.count(Phase.LOST), outcomes)


def _back(lab: Laboratory) -> float:
    """Return the seconds until no probe is throttled; infinite after a minute."""
    began = time.monotonic()
    while time.monotonic() - began < 60.0:
        newest = lab.watched.views[-1]
        if newest.server.observing is not None and not newest.server.observing.throttled:
            return time.monotonic() - began
        lab.watched.view(timeout=60.0)
    return float("inf")


def _row(loops: int, found: Stretch) -> dict[str, float | int]:
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
        "faults": len(found.outcomes),
        "named late": sum(outcome.late_polls > 0 for outcome in found.outcomes),
        "lies": len(found.lies) + sum(len(set(outcome.besides) - _TRUE) for outcome in found.outcomes),
        "throttled, median": median(throttled),
        "throttled, 90 %": quantiles(throttled, n=10)[-1],
        "cost ms, median": median(costs),
        "took ms, median": median(took),
        "slower, most": max(slower),
    }


def _share(found: Stretch, code: str) -> float:
    queues: list[QueueView] = [queue for view in found.views for queue in view.queues]
    return sum(queue.verdict.code == code for queue in queues) / len(queues)
