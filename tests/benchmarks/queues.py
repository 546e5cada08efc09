"""A server for benchmarks, and twelve queues on it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from statistics import median

from qmon.demo.embedded_server import EmbeddedServer
from qmon.engines.base import Bound, Session, Target
from qmon.engines.registry import engine_named
from qmon.engines.sql import queries
from qmon.engines.urls import read_url
from qmon.model.layout.layout import Layout
from qmon.model.snapshot import Snapshot
from qmon.monitor.open import open_poller
from qmon.monitor.source import Event, SourceState
from qmon.operate.install.install_queue import install_queue, read_installed_layouts

TWELVE = ("status",) * 4 + ("fifo",) * 3 + ("batch_fast",) * 2 + ("naive",) + ("ring",) * 2


# No fsync: the figures measure the processor, not the disk.
SETTINGS = {
    "shared_preload_libraries": "pg_stat_statements",
    "pg_stat_statements.track_planning": "on",
    "fsync": "off",
    "shared_buffers": "1GB",
    "max_wal_size": "8GB",
    "maintenance_work_mem": "256MB",
}


def bench_server(**settings: str) -> EmbeddedServer:
    return EmbeddedServer(settings=SETTINGS | settings)


def bench_target(url: str) -> Target:
    """Return the server as a target."""
    found = read_url(url, "bench")
    return Target("bench", found.engine, found.keywords, password=found.password)


def install_queues(
    target: Target, designs: tuple[str, ...] = TWELVE, ring_size: int = 20_000, first: int = 1
) -> list[Layout]:
    """Install a queue for each design in their own schema, named ``q1_design`` and so on from ``first``."""
    postgres = engine_named("postgres")
    connection = postgres.connect(target, Session("setup"))
    try:
        schema = queries.load_query("postgres", "control/create_schema", connection.version)
        if first == 1:
            connection.execute(Bound(queries.render(schema, {"schema": "bench"}, postgres)))
        return [
            install_queue(
                connection, postgres, design, schema="bench", queue=f"q{n}_{design}", ring_size=ring_size
            ).layout
            for n, design in enumerate(designs, first)
        ]
    finally:
        connection.close()


def installed_queues(target: Target) -> list[Layout]:
    """Return the queues installed there."""
    postgres = engine_named("postgres")
    connection = postgres.connect(target, Session("setup"))
    try:
        return list(read_installed_layouts(connection, postgres).values())
    finally:
        connection.close()


def polled(
    target: Target, polls: int, *, interval_s: float = 1.0, begin: Callable[[], None] | None = None
) -> list[Snapshot]:
    """Return this many snapshots of the real poller, after the polls that test its probes one by one."""
    taken: list[Snapshot] = []
    enough = threading.Event()

    def sink(event: Event) -> None:
        if isinstance(event, SourceState):
            return
        if len(taken) == 3 and begin is not None:
            begin()
        taken.append(event)
        if len(taken) >= polls + 3:
            enough.set()

    poller = open_poller(target, interval_s=interval_s)
    poller.start(sink)
    try:
        enough.wait((polls + 3) * interval_s * 4 + 60)
    finally:
        poller.close()
    return taken[3:]


def middle(snapshots: list[Snapshot]) -> float:
    """Return the median server time of a poll, in milliseconds."""
    return median(s.server_ms for s in snapshots if s.server_ms is not None)
