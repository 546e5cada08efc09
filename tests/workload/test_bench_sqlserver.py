"""The bench on SQL Server, tested without a server: the statements it sends, and its results from the answers."""

from __future__ import annotations

import math
import re
import struct
from dataclasses import replace
from typing import Final

import pytest

from qmon.cli.commands.design.bench_text import BenchLineText, bench_object, print_bench
from qmon.engines.sql import queries
from qmon.engines.sqlserver.sqlserver_engine import AZURE, SqlServer
from qmon.errors import BadInput
from qmon.workload.bench import histogram, measure
from qmon.workload.bench.bench_plan import BenchPlan, Case, Part
from qmon.workload.bench.bench_results import BenchResults, ServerCounts
from qmon.workload.bench.bench_site import SiteText, check_version
from qmon.workload.bench.dequeue_part import measure_dequeue
from qmon.workload.bench.load_sessions import SLICE_S
from qmon.workload.bench.loops import make_loops, pop_result_type_file
from qmon.workload.bench.run_bench import read_conditions
from tests.replayed import BIG, Row, emptied, full
from tests.wordings import pattern
from tests.workload.answering import DESIGNS, layout_of, parameters, procedure
from tests.workload.benching import site

ENGINE: Final = SqlServer()
PLAN: Final = BenchPlan(
    ("naive", "ring", "status"),
    producers=1,
    consumers=1,
    seconds=1.0,
    warm_up_s=0.0,
    batches=(1,),
    parts=(Part.HEALTHY, Part.OPEN_TRANSACTION),
)


def test_both_engines_are_asked_alike() -> None:
    ours, theirs = (
        {
            file.name.removeprefix("action/bench/")
            for file in queries.all_files()
            if file.engine == engine and file.name.startswith("action/bench/")
        }
        for engine in ("sqlserver", "postgres")
    )
    assert ours - theirs == {"clock_step", "found", "found_attempt", "found_title", "pop_ring_loop"}
    assert theirs - ours == {"message_type", "salvage"}
    postgres, server = (queries.load_query(engine, "action/bench/call", (16, 0)) for engine in queries.ENGINES)
    assert server.columns[: len(postgres.columns)] == postgres.columns


def test_a_server_without_sequences_is_refused() -> None:
    check_version(ENGINE, (11, 0))
    with pytest.raises(BadInput, match=pattern(SiteText.NO_SEQUENCES, major=10, minor=50)):
        check_version(ENGINE, (10, 50))


@pytest.mark.parametrize("version", [(11, 0), (17, 0), (AZURE, 0)])
@pytest.mark.parametrize("design", DESIGNS)
def test_the_loops_call_what_a_design_has_and_take_what_it_returns(design: str, version: tuple[int, int]) -> None:
    layout, seen = layout_of(design, version[0]), 0
    for batch in (1, 7):
        case = Case(design, batch, held=False)
        if not case.is_possible(layout):
            continue
        at, driver = site(version)
        make_loops(at, layout, case)
        for text in driver.sent:
            for name, given in re.findall(r"^\s+EXEC (\S+?)((?: @\w+.*)?);$", text, re.MULTILINE):
                verb = next(verb for verb, routine in layout.routines if ENGINE.quote(routine.parts) == name)
                taken = parameters(procedure(design, verb, version[0]))
                named = re.findall(r"@(\w+) =", given)
                assert set(named) <= taken.keys()
                obliged = {
                    one for one in taken if not re.search(rf"@{one} [^,\n]*=", procedure(design, verb, version[0]).text)
                }
                assert obliged <= {*named, *([next(iter(taken))] if given.startswith(" @message,") else [])}
                assert (" OUTPUT" in given) <= ("@quiet = 1" in given)
                seen += 1
        (taker,) = [text for text in driver.sent if "[bench_pop]" in text]
        if "DECLARE @found" in taker:
            made = next(text for text in driver.sent if "CREATE TYPE [qmon_bench_1].[bench_found]" in text)
            verb = "pop" if batch == 1 else "pop_batch"
            columns = procedure(design, verb, version[0]).columns
            assert re.findall(r"^    (\w+) +\S", made, re.MULTILINE) == list(columns)
            assert ("[varbinary](max)" in made) == layout.traits.binary
            assert pop_result_type_file(ENGINE, version, layout, verb) in {"found", "found_attempt", "found_title"}
    assert seen >= 2


def test_what_is_popped_into_a_table_does_not_do_that_itself_and_rolls_nothing_back() -> None:
    """Errors 8164 and 3915: neither is allowed within INSERT … EXEC.

    One rollback is left, which the locks make impossible.
    """
    rolled = set()
    for design in DESIGNS:
        layout = layout_of(design)
        for query in queries.design_files("sqlserver", design, (11, 0)):
            body = re.sub(r"--[^\n]*", "", query.text)
            assert not re.search(r"INSERT INTO [^;]*?\)\s+EXEC\b", body), query.name
            if re.search(r"\bROLLBACK\b", body) and layout.routine_for("pop") is not None:
                rolled.add(query.name)
    assert rolled == {"design/batch_single/09_pop_batch", "design/batch_split/09_pop_batch"}


def test_the_buckets_are_those_of_the_other_engine_and_come_as_bytes() -> None:
    texts = [
        file.file.read_text("utf-8")
        for file in queries.all_files()
        if file.engine == "sqlserver" and file.name.startswith("action/bench/") and file.name.endswith("_loop")
    ]
    assert len(texts) == 8
    for text in texts:
        assert text.count("FLOOR(11.54156 * LOG(1.0 + CASE") == text.count(" = STUFF(@") >= 1
    for time in (0, 2, 4, 9, 100, 12_345, 999_999, 15_000_000):
        bucket = math.floor(11.54156 * math.log(1.0 + time))
        assert bucket == min(191, math.floor(8 * math.log2(1 + time)))
    assert math.floor(11.54156 * math.log(1.0 + 15_000_000)) < histogram.BUCKETS
    assert histogram.from_server(struct.pack(">192i", *range(192))) == tuple(range(192))


@pytest.mark.parametrize("version", [(11, 0), (13, 0), (15, 0), (16, 0), (AZURE, 0)])
@pytest.mark.parametrize("row", [full, emptied])
def test_typed_rows_become_a_report(
    version: tuple[int, int], row: Row, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    at, _ = site(version, row)
    monkeypatch.setattr(measure, "SAMPLE_EVERY_S", 0.001)
    layout = layout_of("status", version[0])
    plan = replace(PLAN, designs=("status",), seconds=4 * SLICE_S, parts=(Part.OPEN_TRANSACTION,))
    found = measure.measure_case(at, plan, Case("status", 1, held=True), layout, lambda *_: None)
    assert (found.cycles_per_s, found.pushed_per_s, found.missed) == (160.0, 160.0, 16)
    assert found.errors == 8
    assert found.last_error.startswith("Transaction was chosen")
    assert found.pop is not None
    assert found.pop.p50_ms == pytest.approx(histogram.bucket_start_us(60.5) / 1000, rel=0.1)
    assert found.complete is None
    assert (found.hot_share, found.vacuums) == (None, None)
    counted = found.server
    assert isinstance(counted, ServerCounts)
    assert counted.page_latches_per_cycle is not None
    assert (counted.batches_per_s is None) == (row is emptied)
    assert (found.wal_per_cycle is None) == (row is emptied)
    assert found.dead_rows >= (BIG if row is full else 0)
    print_bench(report := BenchResults(plan, read_conditions(at, plan), (found,), ()))
    said = capsys.readouterr().out
    assert said.startswith("SQL Server ")
    assert "recovery_model " in said.splitlines()[0]
    assert BenchLineText.CLOCK_STEP.render(step="16 ms") in said
    header = next(line for line in said.splitlines() if "ROOT LATCHES" in line)
    assert "HOT" not in said
    assert header.split()[:3] == ["DESIGN", "PAGES", "SPLITS"]
    assert bench_object(report)["loads"][0]["server"]["page_splits_per_cycle"] == counted.page_splits_per_cycle


def test_a_dequeue_reads_what_the_procedures_have_read() -> None:
    at, _ = site()
    found = measure_dequeue(at, replace(PLAN, rows=205), "batch_fast", 10, layout_of("batch_fast"), lambda _: None)
    assert found.batches == 22  # each statement increases the totals by one, and every pop returns one message
    assert found.whole.total is not None
    assert found.whole.total > 0
    assert (found.whole.table, found.whole.index) == (None, None)
