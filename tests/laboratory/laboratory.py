"""The laboratory: its own PostgreSQL, a queue for each case under live load, and the real poller and History."""

from __future__ import annotations

import contextlib
import random
import re
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final

from qmon.demo.embedded_server import EmbeddedServer
from qmon.engines.registry import engine_for
from qmon.model.cost_budget import Budget
from qmon.model.figure import Verdict
from qmon.model.layout.layout import Layout
from qmon.model.verdicts import HEALTHY
from qmon.model.view import View
from qmon.monitor.catalog.resolve import resolve_queues
from qmon.operate.context import OperatorContext
from qmon.operate.install.control_setup import plan_control_setup, run_setup
from qmon.operate.install.install_queue import install_queue
from qmon.workload.load_driver import Load
from qmon.workload.load_plan import QueueLoad
from tests.contract.operating import desk_at
from tests.contract.watching import ROOMY, UsualFigures, Watched, connect, target_of, watching
from tests.facts import query, wait_until
from tests.laboratory.case import FINE, LOAD, Case, Outcome
from tests.laboratory.foretold import DRAINED, Foretold, foretold_live
from tests.laboratory.runs import Run
from tests.queues import BYTES, routine

SETTINGS: Final = {"synchronous_commit": "off", "autovacuum_naptime": "5s", "max_connections": "150"}
INTERVAL_S: Final = 1.0
# A forecast of a run is taken this many seconds after all queues are warm.
FORETOLD_AFTER_S: Final = 12.0
_WARM_POLLS: Final = 3
_GIVE_UP_POLLS: Final = 12
_TWO: Final = 2


class Laboratory:
    """Watched queues under load. Several threads may inject faults, each into its own queue."""

    def __init__(
        self,
        server: EmbeddedServer,
        folder: Path,
        cases: Sequence[Case],
        witnesses: Sequence[str],
        drains: Sequence[Run] = (),
        budget: Budget = ROOMY,
        interval_s: float = INTERVAL_S,
        usual: UsualFigures | None = None,
    ) -> None:
        """``witnesses``: designs that get one queue each without faults; ``drains``: runs that drain at the same time.

        ``budget``: what polling may cost the server; ``interval_s``: seconds between polls; ``usual``: baselines of the
        queues.
        """
        self.server, self.url = server, server.url()
        self.target = target_of(self.url)
        self.context: OperatorContext = desk_at(self.url, folder)
        self.cases = tuple(cases)
        self.witnesses = tuple(f"witness_{design}" for design in witnesses)
        self.drains = tuple(drains)
        self.budget = budget
        self.interval_s = interval_s
        self.usual = usual
        # Returns why SQL contradicts an unexpected verdict on a queue, or an empty text. By default, each is wrong.
        self.contradiction: Callable[[View, str, str], str] = lambda view, queue, code: "unexpected"
        self.layouts: dict[str, Layout] = {}
        self.consumers: dict[str, Load] = {}
        self._storms: list[tuple[float, float, str]] = []
        self._from: dict[str, int] = {}
        self._configured: list[Layout] = []
        self._designs = dict(zip(self.witnesses, witnesses, strict=True))

    @contextlib.contextmanager
    def running(self) -> Iterator[None]:
        """Install everything, put it under load and watch it."""
        self._install()
        loads = [
            self._load(case.queue, {**case.load, **({"consumers": 0} if case.own_processes else {})})
            for case in self.cases
        ]
        loads += [self._load(name, {"own_processes": False}) for name in self.witnesses]
        loads += [self._load(run.name, self._drain(run)) for run in self.drains]
        with contextlib.ExitStack() as stack:
            self.load = stack.enter_context(Load(self.target, loads))
            stack.callback(self._stop_consumers)
            for case in self.cases:
                if case.own_processes:
                    self.start_consumers(case)
            watch = watching(self._watcher(), self._configured, self.interval_s, self.budget, self.usual)
            self.watched: Watched = stack.enter_context(watch)
            self._warm_up()
            yield

    def start_consumers(self, case: Case) -> None:
        """Start separate consumers for a case that needs them."""
        self.consumers[case.queue] = Load(self.target, [self._load(case.queue, {**case.load, "producers": 0})])
        self.consumers[case.queue].start()

    def _stop_consumers(self) -> None:
        for each in self.consumers.values():
            each.stop()

    def _load(self, queue: str, more: Mapping[str, Any]) -> QueueLoad:
        names = {f"{role}_application": f"{queue} {role}" for role in ("producer", "consumer")}
        return QueueLoad(self.layouts[queue], **{**LOAD, **names, **more})

    def _drain(self, run: Run) -> Mapping[str, Any]:
        """Push the backlog of a draining run and return its load."""
        text = "convert_to('backlog', 'UTF8')" if run.design in BYTES else "'backlog'"
        push = f"{routine(self.layouts[run.name], 'push')}({text})"
        query(self.url, f"SELECT count({push}) FROM generate_series(1, {run.backlog})")
        rate, pop_rate = run.rates(0.0, random.Random(0))
        return {"own_processes": False, "rate": rate, "pop_rate": pop_rate, **run.load}

    def case(self, layout: Layout) -> Case:
        """Return the case of this queue."""
        return next(case for case in self.cases if case.queue == layout.queue)

    def session(self, layout: Layout, role: str) -> int:
        """Return the process id of the only producer or consumer session of a queue."""
        asked = "SELECT pid FROM pg_stat_activity WHERE application_name = ?"
        ((pid,),) = query(self.url, asked, f"{layout.queue} {role}"[:63])
        return int(str(pid))

    def _install(self) -> None:
        connection, engine = connect(self.url), engine_for(self.target)
        try:
            for case in self.cases:
                made = install_queue(
                    connection,
                    engine,
                    case.design,
                    schema="public",
                    queue=case.queue,
                    ring_size=case.ring_size,
                    timeout_s=case.timeout_s,
                    owner_held_while_working=True,
                    max_attempts=case.max_attempts,
                )
                self.layouts[case.queue] = self._with_error(self._with_priority(made.layout, case.priority), case.error)
                if case.configured:
                    self._configured.append(self.layouts[case.queue])
            for name, design in [*self._designs.items(), *((run.name, run.design) for run in self.drains)]:
                self.layouts[name] = install_queue(connection, engine, design, schema="public", queue=name).layout
        finally:
            connection.close()

    def _with_priority(self, layout: Layout, column: str) -> Layout:
        """Return the layout, with a priority column as the user would configure it if the case needs one."""
        if not column:
            return layout
        query(self.url, f"ALTER TABLE {layout.table} ADD COLUMN {column} smallint NOT NULL DEFAULT 1")
        query(self.url, f"CREATE INDEX ON {layout.table} ({column}, id) WHERE status = 1")
        return replace(layout, priority=column)

    def _with_error(self, layout: Layout, column: str) -> Layout:
        """Return the layout, with a column for errors as the user would configure it if the case needs one."""
        if not column:
            return layout
        query(self.url, f"ALTER TABLE {layout.table} ADD COLUMN {column} text")
        return replace(layout, error=column)

    def _watcher(self) -> str:
        """Return the URL of a role that has only the monitoring rights from ``qmon setup``."""
        connection, engine = connect(self.url), engine_for(self.target)
        try:
            facts = resolve_queues(connection, engine, []).facts.values()
            done = run_setup(
                connection,
                plan_control_setup(connection, engine, "monitor", [i for each in facts for i in each.object_ids]),
            )
        finally:
            connection.close()
        assert not [each.problem for each in done if each.problem]
        query(self.url, "CREATE ROLE watcher LOGIN IN ROLE qmon_monitor")
        return self.server.url(user="watcher")

    def _warm_up(self) -> None:
        """Wait until every queue has moved and is fine."""

        def warm(view: View) -> bool:
            return all(
                (q := view.queue(name)) and q.verdict.code in FINE and q.push_rate.value and q.pop_rate.value
                for name in self.layouts
            )

        self.watched.view(warm, polls=_WARM_POLLS)
        self.began = len(self.watched.views)

    # ----------------------------------------------------------------------------------------------------- verdicts

    def verdicts(self, view: View, queue: str) -> dict[str, Verdict]:
        """Return all verdicts on a queue by code, the worst first."""
        found = view.queue(queue)
        if found is None:  # found again, but this role may not read it
            return {"not watched": Verdict("not watched", "")}
        return {verdict.code: verdict for verdict in found.verdicts}

    def since(self, at: float) -> list[View]:
        """Return the views of the polls that began at ``at`` (seconds since the epoch) or later."""
        return [view for view in self.watched.views if view.sampled_at >= at]

    def poll(self, at: float, number: int = 1) -> View:
        """Wait for the poll with this number since ``at``."""
        limit = max(0.0, at - time.time()) + 60 + number * self.interval_s * 5
        wait_until(lambda: len(self.since(at)) >= number, limit, what=f"poll {number}")
        return self.since(at)[number - 1]

    # ------------------------------------------------------------------------------------------------------ a case

    def run(self, cases: Sequence[Case], *, again: bool = False) -> list[Outcome]:
        """Inject all cases at the same time and return the outcome of each.

        ``again``: run a failed case a second time and use that outcome. Other work on the machine sometimes delays a
        poll or a fault.
        """
        with ThreadPoolExecutor(max(1, len(cases)), thread_name_prefix="case") as pool:
            return list(pool.map(partial(self._tried, again=again), cases))

    def in_turn(self, cases: Sequence[Case], *, again: bool = False) -> list[Outcome]:
        """Inject the cases one after the other and return the outcome of each. ``again``: as in ``run``."""
        return [self._tried(case, again=again) for case in cases]

    def _tried(self, case: Case, *, again: bool) -> Outcome:
        outcome = self.one(case)
        if not outcome.faults or not again:
            return outcome
        print(f"{case.cause} runs again: {'; '.join(outcome.faults)}")
        self.settle(case)
        return self.one(case)

    def settle(self, case: Case) -> None:
        """Wait until the queue is fine again, and ignore its earlier verdicts."""
        self.watched.view(lambda view: FINE.issuperset(self.verdicts(view, case.queue)), polls=_TWO, timeout=150)
        self._from[case.queue] = len(self.watched.views)

    def one(self, case: Case) -> Outcome:
        """Inject the fault, wait for the verdict, cure the fault, and wait until the verdict is gone."""
        layout, started = self.layouts[case.queue], time.time()
        with case.fault(self, layout) as culprits:
            at = time.time()
            # The first poll can see the evidence; the hold time begins there.
            due_at = self.poll(at).sampled_at + case.hold_s + case.reads_s
            due = self.verdicts(self.poll(due_at, _TWO), case.queue)
            late, named = self._named(case, at, due_at)
            wrong = [f"said {' and '.join(due)} when it was due"] if late else []
            wrong += [self._evidence(case, at)] if late else []
            if named is not None:
                wrong += [f"named {late} polls late"] if late else []
                wrong += self._wrong_while_there(case, at, named.sampled_at, culprits)
        cured = time.time() + case.clears_s
        after = self.poll(cured, _TWO)
        until, left = after.sampled_at, self.verdicts(after, case.queue).get(case.verdict)
        if left is not None:
            wrong.append(f"still said two polls after the cure: {left.proof}")
        if case.everywhere:
            self._storms.append((started, until, case.verdict))
        besides = self._besides(case.queue, started, until, case.true_too | {case.verdict})
        wrong += [f"said besides: {code}: {proof}" for code, proof in besides.items()]
        told = due.get(case.verdict) or next(iter(due.values()))
        return Outcome(
            case.cause,
            case.verdict,
            told.code,
            told.proof,
            named.sampled_at - at if named else None,
            late,
            tuple(besides),
            tuple(wrong),
        )

    def _evidence(self, case: Case, at: float) -> str:
        """Mark each poll since the fault: ``+`` if the rule had evidence, ``-`` if not (its hold time starts again)."""
        read = zip(self.watched.views, self.watched.evidence, strict=False)
        had = [case.verdict in codes.get(case.queue, ()) for view, codes in read if view.sampled_at >= at]
        marks = "".join("+" if each else "-" for each in had)
        return f"evidence in the polls since the fault: {marks}, to be held for {case.hold_s:g} s"

    def _wrong_while_there(self, case: Case, at: float, named_at: float, culprits: Sequence[str]) -> list[str]:
        """Check that the verdict stays as long as the fault, and that its proof names the culprits."""
        wrong = dict[str, None]()
        for number in range(1, 2 + _TWO):
            said = self.verdicts(self.poll(named_at, number), case.queue)
            if case.verdict not in said:
                shown = " and ".join(f"{code} ({verdict.proof})" for code, verdict in said.items())
                told = f"said {shown} {number - 1} polls later, with the fault still there"
                wrong |= dict.fromkeys((told, self._evidence(case, at)))
                continue
            proof = said[case.verdict].proof
            wrong |= dict.fromkeys(
                f"the proof does not name {one!r}: {proof}" for one in culprits if not re.search(one, proof)
            )
        return list(wrong)

    def _named(self, case: Case, at: float, due_at: float) -> tuple[int, View | None]:
        """Return how many polls late the verdict was raised, and the first view with it."""
        for number in range(1, _TWO + _GIVE_UP_POLLS + 1):
            self.poll(due_at, number)
            hit = next((v for v in self.since(at) if case.verdict in self.verdicts(v, case.queue)), None)
            if hit is not None:
                return max(0, number - _TWO), hit
        return _GIVE_UP_POLLS, None

    def _besides(self, queue: str, started: float, until: float, true: frozenset[str]) -> dict[str, str]:
        """Return the false verdicts on a queue with their proofs. ``true`` are correct between the two moments."""
        wrong = dict[str, str]()
        for view in self.watched.views[self._from.get(queue, self.began) :]:
            allowed = FINE | true if started <= view.sampled_at <= until else FINE
            allowed |= {code for start, end, code in self._storms if start <= view.sampled_at <= end}
            for code, verdict in self.verdicts(view, queue).items():
                if code not in allowed and (why := self.contradiction(view, queue, code)):
                    wrong[code] = f"{verdict.proof} ({why})"
        return wrong

    def foretold(self) -> list[Foretold]:
        """Wait until the draining runs are empty; return their forecasts and what happened."""
        names = [run.name for run in self.drains]

        def drained(view: View) -> bool:
            return all((queue := view.queue(name)) and (queue.ready.value or 0) <= DRAINED for name in names)

        if not any(drained(view) for view in self.watched.views):
            self.watched.view(drained)
        return [foretold_live(name, self.watched.views[self.began :], FORETOLD_AFTER_S) for name in names]

    def undisturbed(self) -> list[Outcome]:
        """Return the verdicts on the queues without faults."""
        out = []
        for name in self.witnesses:
            wrong = self._besides(name, 0.0, 0.0, frozenset())
            told = tuple(f"{name}: said {code}: {proof}" for code, proof in wrong.items())
            out.append(Outcome("nothing", HEALTHY, next(iter(wrong), HEALTHY), besides=tuple(wrong), faults=told))
        return out


@contextlib.contextmanager
def laboratory(
    cases: Sequence[Case],
    witnesses: Sequence[str],
    settings: Mapping[str, str] | None = None,
    drains: Sequence[Run] = (),
    bin_dir: Path | None = None,
    usual: UsualFigures | None = None,
) -> Iterator[Laboratory]:
    """Run a laboratory and remove it at the end of the block. ``settings``: of the server.

    ``bin_dir``: the PostgreSQL programs to use; by default those of the package. ``usual``: baselines of the queues.
    """
    set_to = {**SETTINGS, **(settings or {})}
    with EmbeddedServer(bin_dir=bin_dir, settings=set_to) as server, tempfile.TemporaryDirectory() as folder:
        made = Laboratory(server, Path(folder), cases, witnesses, drains, usual=usual)
        with made.running():
            yield made
