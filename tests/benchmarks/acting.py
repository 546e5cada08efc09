"""Acting: impact on eight consumers of requeueing and purging a million messages, compared with one plain statement.

Each run has a fresh server and queue, filled in the same way: ready messages, and before them in pop order the same
number in progress (requeue) or of ready messages from a faulty producer (purge). Consumers pop, work for 10 ms and
complete, before, during and after the action.
"""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO

from qmon.demo.embedded_server import EmbeddedServer
from qmon.engines.base import Session
from qmon.model.layout.layout import Layout
from qmon.model.operation_records import Choice, OwnerState
from qmon.operate.context import OperatorContext, Permission
from qmon.operate.install.install_queue import install_queue
from qmon.operate.operator import Operator
from qmon.operate.run.running_operation import PreparedAction
from tests.benchmarks.results import Bound, Part
from tests.facts import connected, odbc
from tests.queues import ENGINE, opened, routine, target_of

CONSUMERS = 8
WORK_S = 0.01
P99_AT_MOST = 2.0
Do = Callable[[], int]


@dataclass(frozen=True)
class Case:
    """One action: SQL that fills the queue, the plain statement, and the function that prepares qmon's action."""

    name: str
    fill: str
    plain: str
    prepare: Callable[[Operator, Layout], PreparedAction]


CASES = {
    "requeue": Case(
        "requeue",
        "UPDATE orders SET status = 2, started_at = now() - interval '1 h', owner = '1/1' WHERE id <= {count}",
        "UPDATE orders SET status = 1, started_at = NULL, owner = NULL WHERE status = 2 AND owner = '1/1'",
        lambda operator, layout: operator.requeue(layout, Choice(owner_states=frozenset(OwnerState))),
    ),
    "purge": Case(
        "purge",
        "UPDATE orders SET enqueued_at = now() - interval '1 h' WHERE id > {count}",
        "DELETE FROM orders WHERE status = 1 AND enqueued_at < now() - interval '30 min'",
        lambda operator, layout: operator.purge(layout, Choice(state="ready", older_than_s=1800)),
    ),
}


def run(*, quick: bool = False) -> Part:
    """Run both actions, each with qmon and with the plain statement: 15 minutes, or two minutes if ``quick``."""
    return _part("acting", tuple(CASES), quick)


def run_requeue(*, quick: bool = False) -> Part:
    """Run only the requeue, with qmon and with the plain statement."""
    return _part("acting-requeue", ("requeue",), quick)


def run_purge(*, quick: bool = False) -> Part:
    """Run only the purge, with qmon and with the plain statement."""
    return _part("acting-purge", ("purge",), quick)


def _part(name: str, cases: tuple[str, ...], quick: bool) -> Part:
    count = 50_000 if quick else 1_000_000
    part = Part(name, {"consumers": CONSUMERS, "work_s": WORK_S, "messages": count})
    for case in cases:
        one(part, CASES[case], count, 8.0 if quick else 12.0)
    return part


def one(
    part: Part, case: Case, count: int, alone_s: float, ways: tuple[str, ...] = ("qmon", "plain statement")
) -> None:
    """Measure consumers before, during and after qmon's action, then on a fresh queue with the plain statement."""
    for way in ways:
        with EmbeddedServer(settings={"shared_buffers": "512MB", "max_wal_size": "4GB"}) as server:
            layout = _filled(server.url(), case, count)
            with TemporaryDirectory() as folder, _consumers(server.url(), layout) as pops:
                url = server.url()
                do = _by_qmon(url, layout, case, Path(folder)) if way == "qmon" else _plainly(url, case)
                began = time.time()
                threading.Event().wait(alone_s)
                acted = time.time()
                done = do()
                ended = time.time()
                threading.Event().wait(alone_s)
                found = pops()
        before = sorted(taken for at, taken in found if began + 1 <= at < acted)
        during = sorted(taken for at, taken in found if acted <= at < ended)
        after = sorted(taken for at, taken in found if ended + 1 <= at < ended + alone_s)
        ratio = _at(during, 0.99) / _at(before, 0.99)
        part.rows.append(
            {
                "action": case.name,
                "by": way,
                "messages": done,
                "seconds": ended - acted,
                "pops/s before": len(before) / (alone_s - 1),
                "pops/s during": len(during) / (ended - acted),
                "p50 ms before": 1e3 * _at(before, 0.5),
                "p50 ms during": 1e3 * _at(during, 0.5),
                "p99 ms before": 1e3 * _at(before, 0.99),
                "p99 ms during": 1e3 * _at(during, 0.99),
                "p99 ms after": 1e3 * _at(after, 0.99),
                "worst ms during": 1e3 * during[-1],
                "p99 ratio": ratio,
            }
        )
        if way == "qmon":
            part.bounds.append(Bound(f"p99 of pops during a {case.name} over before", ratio, P99_AT_MOST))


def _at(values: list[float], share: float) -> float:
    return values[min(len(values) - 1, int(share * len(values)))]


def _filled(url: str, case: Case, count: int) -> Layout:
    with opened(url) as connection:
        made = install_queue(connection, ENGINE, "status", schema="public", queue="orders").layout
    with connected(url) as raw:
        raw.execute("ALTER TABLE orders SET (autovacuum_enabled = off)")
        raw.execute(
            "INSERT INTO orders (status, attempts, message) SELECT 1, 1, convert_to(repeat('x', 100), 'UTF8')"
            f" FROM generate_series(1, {count} + greatest(100000, {count} / 5))"
        )
        raw.execute(case.fill.format(count=count if case.name == "requeue" else max(100_000, count // 5)))
        raw.execute("ALTER TABLE orders RESET (autovacuum_enabled)")
        raw.execute("VACUUM (ANALYZE) orders")
        raw.execute("CHECKPOINT")
    assert made.owner is not None
    return replace(made, owner=replace(made.owner, held_while_working=True))


def _by_qmon(url: str, layout: Layout, case: Case, folder: Path) -> Do:
    target = target_of(url)
    context = OperatorContext(
        lambda purpose: ENGINE.connect(target, Session(purpose, statement_timeout_s=60, lock_timeout_s=5)),
        ENGINE,
        target,
        "bench",
        audit=folder / "operations.jsonl",
    )

    def do() -> int:
        prepared = case.prepare(Operator(context), layout)
        permission = Permission("a measurement", layout.queue)
        return prepared.apply(permission, lambda now: None, lambda: False).done

    return do


def _plainly(url: str, case: Case) -> Do:
    def do() -> int:
        with connected(url) as raw:
            return int(raw.execute(case.plain).rowcount)

    return do


@contextlib.contextmanager
def _consumers(url: str, layout: Layout) -> Iterator[Callable[[], list[tuple[float, float]]]]:
    told = {
        "connection": odbc(url),
        "pop": f"SELECT id, attempt FROM {routine(layout, 'pop')}()",
        "complete": f"SELECT {routine(layout, 'complete')}(?, ?)",
        "work_s": WORK_S,
    }
    command = [sys.executable, "-m", "tests.benchmarks.consumer"]
    running = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(CONSUMERS)
    ]
    try:
        for each in running:
            _pipe(each.stdin).write(json.dumps(told) + "\n")
            _pipe(each.stdin).flush()
        for each in running:
            assert _pipe(each.stdout).readline() == "ready\n"

        def stop() -> list[tuple[float, float]]:
            for each in running:
                _pipe(each.stdin).close()
            return [(at, taken) for each in running for at, taken in json.loads(_pipe(each.stdout).readline())]

        yield stop
    finally:
        for each in running:
            each.kill()
            each.wait()


def _pipe(pipe: IO[str] | None) -> IO[str]:
    assert pipe is not None
    return pipe
