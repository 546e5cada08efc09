"""The bench on every engine: its counters match the tables, every design is measured, and everything is removed."""

from __future__ import annotations

import pytest

from qmon.engines.base import Value
from qmon.operate.install.install_queue import available_designs, install_trial
from qmon.workload.bench.bench_plan import BenchPlan, Case
from qmon.workload.bench.bench_site import BenchSite, new_schema_name, sweep_schema
from qmon.workload.bench.load_sessions import LoadSessions
from qmon.workload.bench.loops import make_loops
from qmon.workload.bench.run_bench import find_leftovers, run_bench
from qmon.workload.workload_statements import WorkloadStatements
from tests.contract.anywhere import Place
from tests.facts import known, wait_until

LIGHT = ("batch_fast",)


@pytest.mark.heavy
def test_the_loops_of_every_design_count_what_its_tables_hold(place: Place) -> None:
    """Each session works through two slices. Failed work is rolled back and counted as failed."""
    with place.opened("bench") as connection:
        site = BenchSite(connection, place.engine, place.target, new_schema_name())
        site.create_schema()
        assert find_leftovers(connection, place.engine) == (site.schema,)
        for design in available_designs(place.engine):
            for batch in (1, 7):
                case = Case(design, batch, held=False)
                site.drop_schema()
                site.create_schema()
                layout = install_trial(connection, place.engine, design, schema=site.schema, queue="q", ring_size=500)
                if not case.is_possible(layout):
                    continue
                loops = make_loops(site, layout, case)
                settings: dict[str, Value] = {"batch": batch, "unit": 16, "ahead": 10, "bytes": 50}
                with LoadSessions(site.connect_load, site.salvage_statement) as sessions:
                    sessions.connect_sessions("producer", 2, loops.push, settings)
                    sessions.connect_sessions("consumer", 2, loops.pop, settings)
                    sessions.start(float(str(site.fetch_rows("clock")[0][0])), 2)
                    wait_until(lambda: not sessions.is_working)  # called here
                    sessions.raise_broken()
                pushed, popped = (
                    sum(each.messages for session in side for each in session.slices)
                    for side in (sessions.producers, sessions.consumers)
                )
                wrong = [each.last_error for each in sessions.all_sessions if each.errors]
                assert popped > 0, (design, batch, wrong)
                left = WorkloadStatements(place.engine, layout, connection.version).count_ready(connection)
                assert pushed - popped == left or wrong, (design, batch)
                assert all("deadlock" in each for each in wrong), (design, batch, wrong)
        sweep_schema(place.target, site.schema)
        assert find_leftovers(connection, place.engine) == ()


@pytest.mark.once
def test_designs_are_measured_side_by_side_and_nothing_is_left(place: Place, *, whole: bool) -> None:
    designs = available_designs(place.engine) if whole else LIGHT
    plan = BenchPlan(
        designs,
        producers=2,
        consumers=2,
        seconds=0.25,
        warm_up_s=0.25,
        batches=(1,),
        ring_size=500,
        rows=120,
        payload_bytes=9_000,
    )
    report = run_bench(place.target, plan, new_schema_name(), install_trial)
    assert [(each.case.design, each.case.held) for each in report.outcomes] == [
        (design, held) for held in (False, True) for design in designs
    ]
    for each in report.outcomes:
        assert each.cycles_per_s > 0, each
        assert each.push is not None
        assert known(each.buffers_per_cycle) > 0
        assert known(each.wal_per_cycle) > 0
        assert (each.server is not None) == place.sqlserver
        if each.server is not None:
            assert known(each.server.transactions_per_s) > 0
            assert known(each.server.batches_per_s) > 0
    for found in report.dequeues:
        assert found.batches >= plan.rows // found.batch
        assert known(found.whole.total) > 0
        assert known(found.whole.payload) > 0
    assert len(report.dequeues) == (6 if whole else 2)
    assert report.conditions.engine == place.engine.name
    assert (report.conditions.clock_step_us is not None) == place.sqlserver
    with place.opened() as connection:
        assert find_leftovers(connection, place.engine) == ()
