"""A whole bench: creates its schema, runs case after case in this schema, and drops it at the end."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Protocol

from qmon.engines.base import Bound, Connection, Engine, Session, Target
from qmon.engines.registry import engine_for
from qmon.errors import BadInput
from qmon.model.layout.layout import Layout
from qmon.texts import Text
from qmon.workload.bench.bench_plan import BenchPlan, Case
from qmon.workload.bench.bench_results import BenchResults, CaseResult, Conditions, Dequeue
from qmon.workload.bench.bench_site import BenchSite, bench_statement
from qmon.workload.bench.dequeue_part import measure_dequeue
from qmon.workload.bench.janitor import drop_schema_afterwards
from qmon.workload.bench.measure import measure_case, measure_empty_loop_rate


class RunBenchText(Text):
    """Why a bench cannot run."""

    POOLER = "a bench cannot run through a connection pooler: connect to the server directly"
    CONNECTIONS = (
        "the server allows {available} more connections, but the bench needs {needed}: use fewer producers and"
        " consumers, or raise the connection limit of the server"
    )


QUEUE = "q"


class InstallDesign(Protocol):
    """Creates the objects of a design. The implementation is ``qmon.operate.install.install_queue.install_trial``."""

    def __call__(
        self, connection: Connection, engine: Engine, design: str, *, schema: str, queue: str, ring_size: int
    ) -> Layout: ...


@dataclass(frozen=True, slots=True)
class BenchProgress:
    """The progress of a bench. ``description``: of the current run. ``share``: finished part of the run (0 to 1)."""

    number: int
    total: int
    description: str
    share: float
    cycles_per_s: float | None = None


def run_bench(
    target: Target,
    plan: BenchPlan,
    schema: str,
    place: InstallDesign,
    progress: Callable[[BenchProgress], None] = lambda _: None,
    finished: Callable[[CaseResult | Dequeue], None] = lambda _: None,
) -> BenchResults:
    """Run the plan in a new schema of this name. ``finished`` is called with each result.

    Raises ``BadInput`` if the plan is not possible or the server has no room for its sessions, and ``QmonError`` if the
    connection or a run fails. The schema no longer exists when this function returns or raises (including
    ``KeyboardInterrupt``). If this process is killed, the schema is dropped soon afterwards.
    """
    plan.check_possible()
    engine = engine_for(target)
    with contextlib.closing(engine.connect(target, Session("bench", writes=True))) as connection:
        if connection.is_pooled:
            raise BadInput(RunBenchText.POOLER)
        site = BenchSite(connection, engine, target, schema)
        known = read_conditions(site, plan)
        with drop_schema_afterwards(target, schema):
            site.create_schema()
            return _BenchRun(site, plan, place, progress, finished).run_all(known)


def find_leftovers(connection: Connection, engine: Engine) -> tuple[str, ...]:
    """Return the schemas of earlier benches that could not drop their schema, because their machine went down."""
    rows = connection.fetch(Bound(bench_statement(engine, "leftovers", connection.version))).rows
    return tuple(str(row[0]) for row in rows)


def read_conditions(site: BenchSite, plan: BenchPlan) -> Conditions:
    """Read the server's conditions before the bench creates objects.

    Raises ``BadInput`` if the server has no room for the sessions.
    """
    rows = site.connection.fetch(Bound(site.statement("conditions")))
    (row,) = rows.rows
    settings = {name: str(value) for name, value in zip(rows.columns, row, strict=True) if value is not None}
    version, room, needed = settings.pop("version", ""), int(settings.pop("room")), plan.producers + plan.consumers + 2
    if room < needed:
        raise BadInput(RunBenchText.CONNECTIONS.render(available=room, needed=needed))
    step = float(str(site.fetch_rows("clock_step")[0][0])) if site.has_statement("clock_step") else None
    return Conditions(site.target.name, site.engine.name, version, settings, 0.0, step)


@dataclass(slots=True)
class _BenchRun:
    """One bench in progress."""

    site: BenchSite
    plan: BenchPlan
    place: InstallDesign
    progress: Callable[[BenchProgress], None]
    finished: Callable[[CaseResult | Dequeue], None]
    number: int = 0
    without: dict[str, None] = field(default_factory=dict)

    def run_all(self, server_conditions: Conditions) -> BenchResults:
        """Run the whole plan."""
        server_conditions = replace(server_conditions, empty_loops_per_s=measure_empty_loop_rate(self.site, self.plan))
        outcomes = [found for case in self.plan.cases_under_load() if (found := self._run_load(case)) is not None]
        dequeues = [self._run_dequeue(design, batch) for design, batch in self.plan.cases_of_dequeue_part()]
        return BenchResults(self.plan, server_conditions, tuple(outcomes), tuple(dequeues), tuple(self.without))

    @property
    def total(self) -> int:
        """Number of runs."""
        return len(self.plan.cases_under_load()) + len(self.plan.cases_of_dequeue_part())

    def _install_fresh(self, design: str) -> Layout:
        """Create a new queue of this design in an otherwise empty schema."""
        self.site.drop_schema()
        self.site.create_schema()
        return self.place(
            self.site.connection,
            self.site.engine,
            design,
            schema=self.site.schema,
            queue=QUEUE,
            ring_size=self.plan.ring_size,
        )

    def _run_load(self, case: Case) -> CaseResult | None:
        self.number += 1
        layout = self._install_fresh(case.design)
        if not case.is_possible(layout):
            self.without[case.design] = None
            return None
        what = f"{case.design}, batches of {case.batch}" + (", with a transaction held open" if case.held else "")
        whole = self.plan.warm_up_s + self.plan.seconds

        def on_progress(over: float, rate: float) -> None:
            self.progress(BenchProgress(self.number, self.total, what, min(1.0, over / whole), rate))

        found = measure_case(self.site, self.plan, case, layout, on_progress)
        self.finished(found)
        return found

    def _run_dequeue(self, design: str, batch: int) -> Dequeue:
        self.number += 1
        layout = self._install_fresh(design)

        def on_progress(share: float) -> None:
            self.progress(BenchProgress(self.number, self.total, f"{design}, dequeue of {batch}", share))

        found = measure_dequeue(self.site, self.plan, design, batch, layout, on_progress)
        self.finished(found)
        return found
