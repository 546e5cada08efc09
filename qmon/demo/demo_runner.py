"""The demo: an embedded PostgreSQL with queues under load. Without a screen, the demo prints figures.

With a screen, the command line adds the dashboard. The server's guardian and the workers notice the end of this process
and remove everything.
"""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from qmon.demo.demo_texts import DemoProgressText, DemoServerText
from qmon.demo.embedded_server import EmbeddedServer
from qmon.demo.scene import PARTS, SCHEMA, healthy_loads
from qmon.demo.story import Story
from qmon.engines.base import Bound, Connection, Session, Target
from qmon.engines.registry import engine_named
from qmon.engines.sql import queries
from qmon.engines.urls import read_url
from qmon.errors import ConnectionFailed
from qmon.model.cost_budget import UNLIMITED
from qmon.model.layout.layout import Layout
from qmon.model.status_report import status_object
from qmon.model.view import QueueView, View
from qmon.monitor.open import open_poller
from qmon.monitor.source import Event, SourceState
from qmon.monitor.state.target_history import TargetHistory
from qmon.operate.install.install_queue import install_queue
from qmon.system import wait_for_event
from qmon.workload.committed_counts import CommittedCounts
from qmon.workload.load_driver import Load
from qmon.workload.workload_statements import WorkloadStatements

NAME: Final = "demo"
INTERVAL_S: Final = 1.0
SETTINGS: Final = {
    "shared_preload_libraries": "pg_stat_statements",
    "synchronous_commit": "off",
    "autovacuum_naptime": "15s",
    "max_wal_size": "256MB",
    "wal_level": "minimal",
    "max_wal_senders": "0",
}


class Scene(NamedTuple):
    """A running scene: the server as a target, its load, and the story of faults."""

    target: Target
    load: Load
    story: Story


@contextlib.contextmanager
def run_scene(*, tour: bool = False) -> Iterator[Scene]:
    """Run the server with the scene's queues under load. At the end, everything is stopped and removed.

    ``tour``: faults occur one at a time, each until the user has fixed it. Raises ``BadInput`` if the server's programs
    are missing, and ``ConnectionFailed`` if the server does not start.
    """
    with EmbeddedServer(settings=SETTINGS) as server, run_scene_on(server, tour=tour) as made:
        yield made


@contextlib.contextmanager
def run_scene_on(server: EmbeddedServer, *, quiet: bool = False, tour: bool = False) -> Iterator[Scene]:
    """Run the scene's queues under load on a server with the settings in ``SETTINGS``."""
    _print_progress(DemoProgressText.INSTALLING, quiet)
    target = demo_target(server.url())
    layouts = _install_queues(target)
    with (
        Load(target, healthy_loads(layouts)) as load,
        Story(target, layouts, load, server.folder / "operations.jsonl", tour=tour) as story,
    ):
        _print_progress(DemoProgressText.UNDER_LOAD, quiet)
        yield Scene(target, load, story)


def demo_target(url: str) -> Target:
    """Return the demo's server as a target."""
    found = read_url(url, NAME)
    return Target(NAME, found.engine, found.keywords, password=found.password, environment="demo")


def run_headless(seconds: float) -> tuple[View, dict[str, Any]]:
    """Run the scene for some seconds without a screen.

    Returns qmon's last view, and the view as a status report. The field ``workload`` of the report contains the counts
    of the load, keyed by queue.
    """
    with run_scene() as (target, load, _):
        views = _watch_target(target, seconds)
        view = views[-1]
        wait_until_counted(load.counts, view.sampled_at)
        report = status_object(view)
        report["workload"] = {queue.name: _workload_figures(queue, view, load.counts) for queue in view.queues}
    return view, report


def wait_until_counted(counts: CommittedCounts, at: float) -> None:
    """Wait until the load has counted up to a time (seconds since the epoch)."""
    pause = threading.Event()
    while counts.last_at() < at:
        pause.wait(0.02)


def _install_queues(target: Target) -> dict[str, Layout]:
    chosen = engine_named("postgres")
    with contextlib.closing(chosen.connect(target, Session("setup"))) as connection:
        schema = queries.load_query(chosen.name, "control/create_schema", connection.version)
        connection.execute(Bound(queries.render(schema, {"schema": SCHEMA}, chosen)))
        layouts = {}
        for part in PARTS:
            made = install_queue(
                connection,
                chosen,
                part.design,
                schema=SCHEMA,
                queue=part.queue,
                ring_size=part.ring_size,
                timeout_s=part.timeout_s,
                owner_held_while_working=True,
            )
            layouts[part.queue] = made.layout
            _fill_backlog(connection, WorkloadStatements(chosen, made.layout, connection.version), part.backlog)
        return layouts


def _fill_backlog(connection: Connection, statements: WorkloadStatements, backlog: int) -> None:
    if not backlog:
        return
    with connection.transaction():
        bound: Bound = statements.bind("push", {"payload": "backlog"})
        for _ in range(backlog):
            connection.fetch(bound)


def _watch_target(target: Target, seconds: float) -> list[View]:
    history, views, problems = TargetHistory(), list[View](), list[str]()

    def sink(event: Event) -> None:
        if isinstance(event, SourceState):
            problems.append(event.reason)
        else:
            views.append(history.record_snapshot(event))

    poller = open_poller(target, interval_s=INTERVAL_S, budget=UNLIMITED)
    poller.start(sink)
    try:
        wait_for_event(threading.Event(), seconds)
    finally:
        poller.close()
    if not views:
        problem = problems[-1] if problems else DemoServerText.NO_ANSWER
        raise ConnectionFailed(DemoServerText.CANNOT_WATCH.render(problem=problem))
    return views


def _workload_figures(queue: QueueView, view: View, counts: CommittedCounts) -> dict[str, Any]:
    """Return the load's counts over the window of qmon's rates, and the depth when the view was made."""
    depth = counts.depth_at(queue.name, view.sampled_at)
    if queue.window_s is None:
        return {"push_rate": None, "pop_rate": None, "depth": round(depth)}
    flow = counts.flow_between(view.sampled_at - queue.window_s, view.sampled_at)[queue.name]
    return {"push_rate": round(flow.push_rate, 4), "pop_rate": round(flow.pop_rate, 4), "depth": round(depth)}


def _print_progress(text: str, quiet: bool) -> None:
    if not quiet:
        print(f"qmon demo: {text}", file=sys.stderr)
