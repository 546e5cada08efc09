"""Many queues: cost of 10, 100 and 1,000 of them for the server, the wire and the client, and age of the figures."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from unittest.mock import patch

import psutil

from qmon.demo.embedded_server import EmbeddedServer
from qmon.model.cost_budget import Budget
from qmon.model.snapshot import Snapshot
from qmon.model.view import View
from qmon.monitor.open import open_poller
from qmon.monitor.poll.collector import Collector
from qmon.monitor.poll.runner import MOST_TRIPS
from qmon.monitor.poll.turns import EVERY_S
from qmon.monitor.source import Event, ReadScope, SourceState
from qmon.monitor.state.target_history import TargetHistory
from qmon.workload.load_driver import Load
from qmon.workload.load_plan import QueueLoad
from tests.benchmarks.queues import bench_server, bench_target, install_queues
from tests.benchmarks.results import Bound, Part
from tests.benchmarks.terminal import InTerminal
from tests.benchmarks.wire import Wire, relayed
from tests.facts import connected

COUNTS = (10, 100, 1000)
SERVER = 0.05
CLIENT = 0.15
MEGABYTES = 150.0
LONGEST_MS = 2000.0
# Round trips beyond those of the runner: preparing recurring statements and asking which session blocks which.
TRIPS = MOST_TRIPS + 5
_TEN = ("status", "fifo", "batch_fast", "naive", "status", "fifo", "status", "ring", "fifo", "naive")
_BUSY = 10
_INTERVAL_S = 1.0
_BUDGET = 0.05
_ROLE = "watcher"
_SHOWN = 25
_FIGURES = ("ready", "in_progress", "stuck", "oldest", "push_rate", "pop_rate", "gap")


@dataclass(slots=True)
class Watch:
    """Folds a poller's snapshots, and keeps the round trips and the age of the oldest figure of each poll."""

    wire: Wire
    began: float = field(default_factory=time.monotonic)
    first_s: float | None = None
    all_s: float | None = None
    trips: list[int] = field(default_factory=list)
    ages: list[float] = field(default_factory=list)
    server_ms: list[float] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    throttled: int = 0
    polls: int = 0
    _history: TargetHistory = field(default_factory=TargetHistory)

    def __call__(self, event: Event) -> None:
        if isinstance(event, SourceState):
            return
        view = self._history.record_snapshot(event)
        self.polls += 1
        self.names = [queue.name for queue in view.queues]
        known = [queue for queue in view.queues if queue.ready.value is not None]
        now = time.monotonic() - self.began
        self.first_s = now if known and self.first_s is None else self.first_s
        self.all_s = now if len(known) == len(view.queues) and self.all_s is None else self.all_s
        self.ages.append(_oldest(view))
        self.server_ms += [] if event.server_ms is None else [event.server_ms]
        self.throttled = 0 if view.server.observing is None else len(view.server.observing.throttled)


@contextmanager
def _counted(watch: Watch) -> Iterator[None]:
    """Count the round trips of each poll, without those for reading the catalog between polls."""
    collect = Collector.collect

    def counted(self: Collector, sequence: int, interval_s: float, focus: ReadScope) -> Snapshot:
        before = watch.wire.trips
        try:
            return collect(self, sequence, interval_s, focus)
        finally:
            watch.trips.append(watch.wire.trips - before)

    with patch.object(Collector, "collect", counted):
        yield


def _oldest(view: View) -> float:
    figures = ((view.since_read_s(queue), getattr(queue, name)) for queue in view.queues for name in _FIGURES)
    return max((s + f.age_s for s, f in figures if f.value is not None and not f.every_s), default=0.0)


def run(*, quick: bool = False) -> Part:
    """Add queues to one server; measure the poller by itself, then the dashboard, for half a minute each."""
    counts, seconds = ((10, 70), 8.0) if quick else (COUNTS, 30.0)
    part = Part("many", {"interval_s": _INTERVAL_S, "budget": _BUDGET, "seconds each": seconds, "rows shown": _SHOWN})
    with bench_server(**{"pg_stat_statements.max": "50000"}) as server, TemporaryDirectory() as folder:
        target = bench_target(server.url())
        with connected(server.url()) as connection:
            connection.execute("CREATE EXTENSION pg_stat_statements")
            connection.execute(f"CREATE ROLE {_ROLE} SUPERUSER LOGIN")
        settings = Path(folder, "qmon.toml")
        settings.write_text(f"[settings]\nbudget_percent = {_BUDGET * 100:g}\n", encoding="utf-8")
        layouts = install_queues(target, _TEN, ring_size=200)
        with Load(target, [QueueLoad(layout, rate=2, pop_rate=3, own_processes=False) for layout in layouts[:_BUSY]]):
            there = len(_TEN)
            for count in counts:
                install_queues(target, _TEN * ((count - there) // len(_TEN)), ring_size=200, first=there + 1)
                there = count
                part.rows.append(
                    {"queues": count} | _polled(server, count, seconds) | _shown(server, settings, seconds)
                )
    part.bounds = _bounds(part.rows)
    return part


def _bounds(rows: list[dict[str, float]]) -> list[Bound]:
    most = rows[-1]
    bounds = [
        Bound(f"share of a processor on the server, {most['queues']} queues", most["server, share"], SERVER),
        Bound("share of a processor of the client", most["client, share"], CLIENT),
        Bound("megabytes of the client", most["client, MB"], MEGABYTES),
        Bound("most round trips of a poll, the first ones too", max(row["trips, most"] for row in rows), TRIPS),
        Bound("longest statement, the first ones too, ms", max(row["longest ms"] for row in rows), LONGEST_MS),
        Bound("age of the oldest figure, s", max(row["oldest figure s"] for row in rows), EVERY_S + _INTERVAL_S),
        Bound("first figures, as a share of the time until all are there", most["first s"] / most["all s"], 0.5),
    ]
    for few, more in pairwise(rows):
        times = more["queues"] / few["queues"]
        for what in ("server, share", "client, share", "client, MB", "kB sent a poll", "buffers a poll"):
            bounds.append(
                Bound(f"{what}: growth from {few['queues']} to {more['queues']} queues", more[what] / few[what], times)
            )
    return bounds


def _polled(server: EmbeddedServer, count: int, seconds: float) -> dict[str, float]:
    """Measure the poller by itself from the connection on, through a relay that counts."""
    with connected(server.url()) as facts, relayed(server.socket_dir) as wire:
        facts.execute("SELECT pg_stat_statements_reset()")
        url = wire.through(server.url(user=_ROLE), server.socket_dir)
        poller, watch = open_poller(bench_target(url), interval_s=_INTERVAL_S, budget=Budget(_BUDGET)), Watch(wire)
        with _counted(watch), closing(poller):
            poller.start(watch)
            until = time.monotonic() + 120
            while watch.all_s is None and time.monotonic() < until:
                _pause(0.1)
            poller.set_focus(ReadScope(visible=frozenset(watch.names[:_SHOWN])))
            # By then recurring statements are prepared, and costs are known.
            _pause(3 * EVERY_S if count > _SHOWN else seconds)
            before, polls, sent, received = _cost(facts), watch.polls, wire.sent, wire.received
            old = len(watch.ages)
            _pause(seconds)
            after, polls = _cost(facts), watch.polls - polls
            took = after.at - before.at
        return {
            "first s": watch.first_s or float("inf"),
            "all s": watch.all_s or float("inf"),
            "server ms a poll": 1000 * (after.processor_s - before.processor_s) / polls,
            "server, share": (after.processor_s - before.processor_s) / took,
            "buffers a poll": (after.buffers - before.buffers) / polls,
            "statements a poll": (after.calls - before.calls) / polls,
            "trips, median": median(watch.trips[-polls:]),
            "trips, most": max(watch.trips),
            "kB sent a poll": (wire.sent - sent) / polls / 1000,
            "kB received a poll": (wire.received - received) / polls / 1000,
            "longest ms": after.longest_ms,
            "oldest figure s": max(watch.ages[old:]),
            "throttled": watch.throttled,
        }


@dataclass(frozen=True, slots=True)
class _Cost:
    at: float
    processor_s: float
    buffers: int
    calls: int
    longest_ms: float


def _cost(facts: object) -> _Cost:
    """Return the cost of qmon so far: processor time of its current sessions, and all statements of its role."""
    fetch = facts.execute  # type: ignore[attr-defined]
    pids = fetch("SELECT pid FROM pg_stat_activity WHERE application_name LIKE 'qmon %' AND usename = ?", _ROLE)
    times = [psutil.Process(pid).cpu_times() for (pid,) in pids.fetchall()]
    calls, buffers, longest = fetch(
        "SELECT sum(s.calls)::bigint, sum(s.shared_blks_hit + s.shared_blks_read)::bigint, "
        "max(s.max_exec_time + s.max_plan_time)::float8 FROM pg_stat_statements AS s "
        "JOIN pg_roles AS r ON r.oid = s.userid WHERE r.rolname = ?",
        _ROLE,
    ).fetchone()
    return _Cost(time.monotonic(), sum(t.user + t.system for t in times), buffers, calls, longest)


def _shown(server: EmbeddedServer, settings: Path, seconds: float) -> dict[str, float]:
    """Measure processor time and memory of the dashboard, once all queues have been read."""
    command = [sys.executable, "-m", "qmon", "connect", server.url(user=_ROLE), "--interval", f"{_INTERVAL_S:g}s"]
    with InTerminal([*command, "--config", str(settings)]) as terminal:
        painted = terminal.wait_for("q10")
        _pause(3 * EVERY_S)
        before, began = terminal.process.cpu_times(), time.monotonic()
        _pause(seconds)
        after, took = terminal.process.cpu_times(), time.monotonic() - began
        used = (after.user + after.system) - (before.user + before.system)
        return {
            "painted s": painted,
            "client, share": used / took,
            "client, MB": terminal.process.memory_info().rss / 1e6,
        }


def _pause(seconds: float) -> None:
    threading.Event().wait(seconds)
