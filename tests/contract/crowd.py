"""A server with many sessions and queues, to measure the cost of watching it. Tests use it briefly, the soak longer."""

from __future__ import annotations

import contextlib
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import median

from qmon.demo.embedded_server import EmbeddedServer
from qmon.model.layout.layout import Layout, ObjectName, StateColumn
from qmon.model.view import View
from tests.contract.watching import Watched
from tests.facts import connected, query, wait_until

_MAKE = """
DO $$ BEGIN FOR n IN 1..{queues} LOOP
    EXECUTE format('CREATE TABLE q%s (id bigserial PRIMARY KEY, at timestamptz NOT NULL DEFAULT now(), '
        'state int NOT NULL DEFAULT 0, started_at timestamptz, payload text)', n);
    EXECUTE format('CREATE INDEX ON q%s (id) WHERE state = 0', n);
    EXECUTE format('CREATE INDEX ON q%s (started_at) WHERE state = 1', n);
    EXECUTE format('INSERT INTO q%s (payload, state, started_at) SELECT ''x'', n / 900, now() '
        'FROM generate_series(1, 900 + 20 * (%s %% 5)) AS n', n, n);
END LOOP; END $$
"""
_HOLD = """
import sys
from tests.facts import connected
import contextlib
with contextlib.ExitStack() as stack:
    for _ in range(int(sys.argv[2])):
        stack.enter_context(connected(sys.argv[1])).execute("SET application_name = 'shop'")
    print("there", flush=True)
    sys.stdin.read()
"""


@contextlib.contextmanager
def crowded(sessions: int, queues: int, processes: int = 3) -> Iterator[tuple[str, list[Layout]]]:
    """Yield a server with this many idle sessions, held by a few processes, and queues of 899 ready messages each."""
    settings = {"fsync": "off", "autovacuum": "off", "max_connections": str(sessions + 40), "shared_buffers": "64MB"}
    with contextlib.ExitStack() as stack:
        server = stack.enter_context(EmbeddedServer(settings=settings))
        url = server.url()
        query(url, _MAKE.format(queues=queues))
        query(url, "VACUUM ANALYZE")
        each = [sessions // processes + (n < sessions % processes) for n in range(processes)]
        held = [
            subprocess.Popen([sys.executable, "-c", _HOLD, url, str(n)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            for n in each
        ]
        for process in held:
            stack.callback(process.communicate)
        for process in held:
            assert process.stdout is not None
            assert process.stdout.readline() == b"there\n"
        yield url, [_layout(f"q{n}") for n in range(1, queues + 1)]


def _layout(name: str) -> Layout:
    return Layout(
        name,
        "status",
        ObjectName("public", name),
        id="id",
        state=StateColumn("state", ready=0, in_progress=1),
        started_at="started_at",
        enqueued_at="at",
        payload="payload",
    )


@dataclass(frozen=True)
class Costs:
    """The server time of each of the last polls, in milliseconds."""

    views: tuple[View, ...]

    @property
    def each(self) -> list[float]:
        return [view.server.server_ms for view in self.views if view.server.server_ms is not None]

    @property
    def usual(self) -> float:
        return median(self.each) if self.each else float("inf")


def last_polls(watched: Watched, polls: int, after: int) -> Costs:
    """Skip ``after`` polls with a known cost, then return the costs of the next ``polls`` of them."""

    def measured() -> list[View]:
        known = [view for view in watched.views if view.server.server_ms is not None]
        return known[-polls:] if len(known) >= after + polls else []

    return Costs(tuple(wait_until(measured, 120, what=f"{after + polls} polls whose cost is known")))


def touch(url: str, queues: int) -> None:
    """Push one message into each queue."""
    with connected(url) as connection:
        for n in range(1, queues + 1):
            connection.execute(f"INSERT INTO q{n} (payload) VALUES ('new')")
