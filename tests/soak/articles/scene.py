"""The setting of a claim: a server, a fresh database for each claim, and counters."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

import pyodbc

from qmon.demo.embedded_server import EmbeddedServer
from qmon.model.layout.layout import Layout
from qmon.operate.install.install_queue import install_trial
from qmon.workload.bench.bench_plan import BenchPlan, Part
from qmon.workload.bench.bench_results import BenchResults
from qmon.workload.bench.run_bench import run_bench
from tests.contract.versions import PROGRAMS as PROGRAMS
from tests.facts import connected, query, wait_until
from tests.queues import BYTES, ENGINE, made, routine, target_of

SETTINGS: Final = {"autovacuum": "off", "synchronous_commit": "off", "deadlock_timeout": "200ms"}
LOCK_NOT_AVAILABLE: Final = "55P03"
_COUNTED: Final = """
    SELECT
        coalesce(sum(i.heap_blks_hit + i.heap_blks_read + coalesce(i.idx_blks_hit + i.idx_blks_read, 0)), 0),
        coalesce(sum(coalesce(i.toast_blks_hit + i.toast_blks_read + i.tidx_blks_hit + i.tidx_blks_read, 0)), 0),
        coalesce(sum(t.n_tup_upd), 0), coalesce(sum(t.n_tup_hot_upd), 0)
    FROM pg_stat_user_tables AS t JOIN pg_statio_user_tables AS i USING (relid)"""


@dataclass(frozen=True)
class Counted:
    """Touched pages of tables and indexes, and of payloads in TOAST; updates, and HOT updates."""

    pages: float
    payload: float
    updates: float
    hot: float


@dataclass(frozen=True)
class Queue:
    """An installed queue with its calls to push and pop; messages are text."""

    url: str
    layout: Layout

    @property
    def table(self) -> str:
        """Return the quoted name of its table."""
        return ENGINE.quote(self.layout.table.parts)

    def routine(self, verb: str) -> str:
        """Return the quoted name of one of its routines."""
        return routine(self.layout, verb)

    def _text(self, expression: str) -> str:
        return f"convert_to({expression}, 'UTF8')" if self.layout.design in BYTES else expression

    def push(self, session: pyodbc.Connection, *messages: str, more: str = "") -> None:
        """Push messages one by one; ``more``: arguments after the message."""
        for message in messages:
            asked = f"SELECT {self.routine('push')}({self._text('CAST(? AS text)')}{more})"
            assert session.execute(asked, message).fetchval() is not None

    def fill(self, count: int, payload: str = "'m' || n") -> None:
        """Push this number of messages in one transaction, in the order of n."""
        push = f"{self.routine('push')}({self._text(payload)})"
        query(self.url, f"SELECT count({push}) FROM (SELECT n FROM generate_series(1, {count}) AS n ORDER BY n) AS s")

    def pop(self, session: pyodbc.Connection, arguments: str = "") -> str | None:
        """Return the next message, if there is one."""
        text = "convert_from(payload, 'UTF8')" if self.layout.design in BYTES else "payload"
        row = session.execute(f"SELECT {text} FROM {self.routine('pop')}({arguments})").fetchone()
        return None if row is None else str(row[0])

    def taken(self, session: pyodbc.Connection) -> tuple[int, int]:
        """Pop the next message of a design that completes. Return its id and attempt."""
        row = session.execute(f"SELECT id, attempt FROM {self.routine('pop')}()").fetchone()
        return int(row[0]), int(row[1])

    def drained(self, session: pyodbc.Connection) -> list[str]:
        """Return all messages in the order of their pops."""
        return list(iter(lambda: self.pop(session) or "", ""))

    def waits(self, session: pyodbc.Connection) -> bool:
        """Return whether a pop waits for another session's lock.

        The caller commits or rolls back a pop that did not wait.
        """
        session.execute("SET lock_timeout = '300ms'")
        try:
            self.pop(session)
        except pyodbc.Error as error:
            if error.args[0] != LOCK_NOT_AVAILABLE:
                raise
            return True
        return False


class Scene:
    """A database on a server of one version."""

    def __init__(self, server: EmbeddedServer, version: str, url: str) -> None:
        self.server, self.version, self.url = server, version, url

    def queue(self, design: str, name: str = "", *, ring_size: int = 1000) -> Queue:
        """Install a queue, named like its design by default."""
        return Queue(self.url, made(self.url, design, name or design, ring_size=ring_size))

    @contextlib.contextmanager
    def sessions(self, count: int, *, autocommit: bool = False) -> Iterator[list[pyodbc.Connection]]:
        """Open this number of sessions, in transactions unless ``autocommit`` is set."""
        with contextlib.ExitStack() as stack:
            yield [stack.enter_context(connected(self.url, autocommit=autocommit)) for _ in range(count)]

    def number(self, sql: str, *values: object) -> float:
        """Return the only number in a statement's result."""
        return float(str(query(self.url, sql, *values)[0][0]))

    def counted(self, work: Callable[[pyodbc.Connection], object]) -> Counted:
        """Count the pages that ``work`` touches in its own session. No other session may be active."""
        before = self._counted()
        with connected(self.url) as session:
            pid = session.execute("SELECT pg_backend_pid()").fetchval()
            work(session)
        gone = "SELECT 1 FROM pg_stat_activity WHERE pid = ?"
        wait_until(lambda: not query(self.url, gone, pid), what="the session has ended and reported")
        return Counted(*(now - then for now, then in zip(self._counted(), before, strict=True)))

    def _counted(self) -> list[float]:
        (row,) = query(self.url, _COUNTED)
        return [float(str(value)) for value in row]

    def pops(self, queue: Queue, count: int) -> float:
        """Return pages per pop over ``count`` pops in their own session, whether they find a message or not."""
        return self.counted(lambda session: [queue.pop(session) for _ in range(count)]).pages / count

    def cycles(self, queue: Queue, count: int, payload: str = "") -> Counted:
        """Push and pop ``count`` messages of 300 characters one by one, each in its own transaction."""

        def work(session: pyodbc.Connection) -> None:
            for _ in range(count):
                queue.push(session, payload or "x" * 300)
                assert queue.pop(session) is not None

        return self.counted(work)

    def setting(self, **settings: str) -> None:
        """Change settings of the server and wait until sessions have them."""
        with connected(self.url) as admin:
            for name, value in settings.items():
                admin.execute(f"ALTER SYSTEM SET {name} = {value}")
            admin.execute("SELECT pg_reload_conf()")
        for name, value in settings.items():
            shown = "SELECT 1 FROM pg_settings WHERE name = ? AND setting = ?"
            wait_until(lambda a=shown, n=name, v=value: query(self.url, a, n, v), what=f"{name} is set")  # type: ignore[misc]

    def bench(self, designs: Sequence[str], seconds: float, *, held: bool = False, batch: int = 1) -> dict[str, float]:
        """Return cycles of push and pop per second by design, with 4 producers and 4 consumers; measured once per
        server."""
        return _bench(self.server, tuple(designs), seconds, held, batch)

    def dequeues(self) -> BenchResults:
        """Return the reads of batches of the batch designs, for messages up to 16,000 characters; measured once per
        server."""
        return _dequeues(self.server)


@cache
def _bench(
    server: EmbeddedServer, designs: tuple[str, ...], seconds: float, held: bool, batch: int
) -> dict[str, float]:
    part = Part.OPEN_TRANSACTION if held else Part.HEALTHY
    plan = BenchPlan(designs, 4, 4, seconds, batches=(batch,), ring_size=10_000, parts=(part,))
    report = run_bench(target_of(server.url()), plan, f"bench_{random.getrandbits(32):x}", install_trial)
    return {each.case.design: each.cycles_per_s for each in report.outcomes}


@cache
def _dequeues(server: EmbeddedServer) -> BenchResults:
    plan = BenchPlan(("batch_single", "batch_split", "batch_fast"), rows=2_000, parts=(Part.DEQUEUE,))
    return run_bench(target_of(server.url()), plan, f"bench_{random.getrandbits(32):x}", install_trial)


def version_of(bin_dir: Path | None, url: str) -> str:
    """Return the version, and the origin of the programs."""
    shown = str(query(url, "SHOW server_version")[0][0]).split()[0]
    return shown if bin_dir is None else f"{shown} of this machine"
