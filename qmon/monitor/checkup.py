"""Runs every probe once by itself, to say which work, how long they take, and what is missing for those that do not."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from qmon.engines.base import Connection, Engine, Value
from qmon.engines.rows import records
from qmon.errors import PermissionMissing, QueryFailed
from qmon.model.client_samples import ClientSample
from qmon.model.horizon_samples import HorizonSample, VersionStoreSample
from qmon.model.layout import Layout
from qmon.model.procedure_samples import NamingSample, ReadsSample
from qmon.model.samples import (
    BlockingSample,
    ClockSample,
    CostSample,
    CounterSample,
    ServerSample,
    WaitSample,
    WriterSample,
)
from qmon.model.server_counters import ServerCounters
from qmon.model.use_samples import UseSample
from qmon.model.wait_samples import LatchSample, WaitTotal
from qmon.monitor.fragments import Fragments
from qmon.monitor.jobs import Book, Job
from qmon.monitor.queue_probes import QueueProbes, Spec
from qmon.monitor.resolve import resolve

_TARGET = (
    ("clock", ClockSample),
    ("server", ServerSample),
    ("waits", WaitSample),
    ("blocking", BlockingSample),
    ("writers", WriterSample),
    ("cost", CostSample),
    ("clients", ClientSample),
    ("horizon", HorizonSample),
    ("version_store", VersionStoreSample),
    ("procedures", ReadsSample),
    ("server_counters", ServerCounters),
    ("wait_totals", WaitTotal),
    ("latches", LatchSample),
)

_VALUES: Final = {"limit": 200, "chars": 200}
"""Only what a probe declares is bound."""


@dataclass(frozen=True, slots=True)
class Check:
    """One line of a checkup.

    ``queue`` is empty for the target as a whole. ``ms``: how long the probe took, seen from here; ``None`` where it did
    not run. ``problem``: what is wrong, empty where it works. ``grant``: the statement that would help, or empty.
    ``expected``: the layout rules the figure out, which is no fault.
    """

    probe: str
    queue: str = ""
    ms: float | None = None
    problem: str = ""
    grant: str = ""
    expected: bool = False


def checkup(connection: Connection, engine: Engine, configured: Sequence[Layout]) -> list[Check]:
    """Every probe of the target and of each of its queues, run once.

    Raises ``ConnectionLost``, and what reading the catalogue raises.
    """
    book = Book(engine, connection.version)
    values: dict[str, Value] = {**_VALUES, "tables": engine.ids(()), "procedures": engine.ids((0,))}
    checks = [_run(connection, book.job(name, kind, values)) for name, kind in _TARGET if book.has(name)]
    began = time.perf_counter()
    resolved = resolve(connection, engine, configured)
    checks.append(Check("catalogue", ms=(time.perf_counter() - began) * 1000))
    checks += [Check(p.probe, p.queue, problem=p.reason, grant=p.grant) for p in resolved.problems]
    for layout in resolved.layouts:
        facts = resolved.facts[layout.queue]
        probes = QueueProbes(Book(engine, connection.version), layout, facts)
        tables = [i for i in (facts.table_id, facts.data_table_id) if i is not None]
        jobs = book.of_tables("counters", CounterSample, tables) + book.of_tables("uses", UseSample, tables)
        if not layout.routines and book.has("routines_of_tables"):
            found = _run(connection, book.job("routines_of_tables", NamingSample, {"tables": engine.ids(tables)}))
            # only an owner of the database has that right by itself, and one figure of one screen needs it
            checks.append(replace(found, queue=layout.queue, expected=bool(found.grant)))
        checks += [_run(connection, replace(job, queue=layout.queue)) for job in jobs]
        checks += [_run(connection, job) for job in probes.jobs(time.monotonic(), 1, 10)]
        checks += _fragmentation(connection, engine, book, Spec(layout, facts))
        checks += _ruled_out(layout.queue, facts.slow)
        checks += _ruled_out(layout.queue, facts.unknown)
    return checks


def _ruled_out(queue: str, reasons: Mapping[str, str]) -> Iterator[Check]:
    for figure, reason in reasons.items():
        yield Check(f"({figure})", queue, problem=reason, expected=True)


def _fragmentation(connection: Connection, engine: Engine, book: Book, spec: Spec) -> Iterator[Check]:
    """Of one index, where the engine has such a reading."""
    fragments = Fragments(engine)
    if fragments.able:
        yield _timed("fragmentation", spec.layout.queue, lambda: fragments.read(connection, book, spec))


def _run(connection: Connection, job: Job) -> Check:
    return _timed(job.probe, job.queue, lambda: records(job.record, connection.fetch(job.bound)))


def _timed(probe: str, queue: str, read: Callable[[], object]) -> Check:
    began = time.perf_counter()
    try:
        read()
    except QueryFailed as problem:
        grant = problem.grant if isinstance(problem, PermissionMissing) else ""
        return Check(probe, queue, problem=str(problem), grant=grant)
    return Check(probe, queue, ms=(time.perf_counter() - began) * 1000)
