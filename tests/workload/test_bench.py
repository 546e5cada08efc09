"""The bench on a real server: it measures every design, counts correctly, and leaves nothing behind however it ends."""

from __future__ import annotations

import csv
import re
import signal
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from qmon.cli.commands.design.bench import BenchStartText, BenchText
from qmon.cli.commands.design.bench_text import BenchLineText
from qmon.demo.embedded_server import EmbeddedServer
from qmon.engines.base import Session, Target, Value
from qmon.errors import BadInput
from qmon.model.layout.layout import Layout
from qmon.operate.install.install_queue import available_designs, install_trial
from qmon.workload.bench.bench_plan import BenchPlan, BenchPlanText, Case, Part
from qmon.workload.bench.bench_results import BenchResults, CaseResult, Dequeue
from qmon.workload.bench.bench_site import BenchSite, new_schema_name, sweep_schema
from qmon.workload.bench.dequeue_part import measure_dequeue
from qmon.workload.bench.load_sessions import SLICE_S, LoadSessions, Slice
from qmon.workload.bench.loops import POPPED, PUSHED, make_loops
from qmon.workload.bench.measure import SAMPLE_EVERY_S, measure_case
from qmon.workload.bench.run_bench import BenchProgress, RunBenchText, find_leftovers, run_bench
from qmon.workload.workload_statements import WorkloadStatements
from tests.cli.calling import call, program, run, surroundings
from tests.facts import known, query, wait_until
from tests.queues import ENGINE, target_of
from tests.schemas import valid
from tests.wordings import has, pattern

ALL = available_designs(ENGINE)
SHORT = BenchPlan(
    ALL, producers=2, consumers=2, seconds=0.5, warm_up_s=0.25, batches=(1,), parts=(Part.HEALTHY,), rows=300
)


def traces(url: str) -> list[object]:
    """Return schemas and sessions of benches, and schemas of qmon."""
    schemas = query(url, "SELECT nspname FROM pg_namespace WHERE nspname LIKE 'qmon%'")
    sessions = query(url, "SELECT application_name FROM pg_stat_activity WHERE application_name LIKE 'qmon%bench%'")
    return [row[0] for row in (*schemas, *sessions)]


@pytest.fixture
def site(database: str) -> Iterator[BenchSite]:
    """An empty schema of a bench; its database is dropped afterwards."""
    connection = ENGINE.connect(target_of(database), Session("bench"))
    made = BenchSite(connection, ENGINE, target_of(database), new_schema_name())
    made.create_schema()
    yield made
    connection.close()


@pytest.fixture
def short_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    """Use the same number of slices in half the time: every session of a bench keeps a processor busy."""
    for module in ("load_sessions", "measure"):
        monkeypatch.setattr(f"qmon.workload.bench.{module}.SLICE_S", SLICE_S / 2)
    monkeypatch.setattr("qmon.workload.bench.measure.SAMPLE_EVERY_S", SAMPLE_EVERY_S / 4)
    monkeypatch.setattr("qmon.workload.bench.measure.EMPTY_S", 3 * SLICE_S / 2)


@pytest.mark.usefixtures("short_slices")
@pytest.mark.parametrize("design", ALL)
@pytest.mark.parametrize("batch", [1, 7])
def test_the_loops_count_what_the_tables_hold(site: BenchSite, design: str, batch: int) -> None:
    """Messages before and after are counted one by one: pushed minus popped messages equal the rows in the table."""
    layout = install_trial(site.connection, ENGINE, design, schema=site.schema, queue="q", ring_size=500)
    case = Case(design, batch, held=False)
    if not case.is_possible(layout):
        assert layout.routine_for("push_batch") is None
        return
    pushed = popped = loads = 0
    pushes, pops = list[Slice](), list[Slice]()
    while not popped:  # on a busy machine a slice may end before a consumer gets its turn
        for all_of_them, new in zip((pushes, pops), loaded(site, layout, case), strict=True):
            all_of_them += new
        loads += 1
        pushed, popped = (sum(each.messages for each in slices) for slices in (pushes, pops))
    done = pushes, pops
    cut = [each for slices in done for each in slices if each.messages and not sum(each.spent)]
    left = working(site, layout)
    assert cut or not left, "only a slice that a deadlock ended leaves a message in progress"
    assert pushed - popped - left == ready(site, layout)
    for slices in done:
        whole = [each for each in slices if each not in cut]
        timed = sum(sum(each.spent) for each in whole)
        assert timed == sum(each.messages for each in whole) if batch == 1 else cut or timed > 0
    assert pushed - popped <= 16 * 12 + (4 * 16 + 2 * batch) * loads  # the gate, and counts not reported yet
    for gate, messages in ((PUSHED, pushed), (POPPED, popped)):
        steps = query_of(site, f"SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM {{}}.{gate}")
        # Each of two sessions keeps a remainder of less than a step.
        assert 0 <= messages - 16 * int(str(steps)) < 16 * 2 * loads, gate


@pytest.mark.parametrize(("design", "batch"), [("fifo", 7), ("batch_fast", 7), ("status", 1)])
def test_what_was_committed_before_a_slice_failed_is_counted(site: BenchSite, design: str, batch: int) -> None:
    """Producers and consumers are cancelled in the middle of their slices, as a deadlock would end them."""
    layout = install_trial(site.connection, ENGINE, design, schema=site.schema, queue="q")
    cancel = (
        f"SELECT count(pg_cancel_backend(pid)) FROM pg_stat_activity WHERE application_name LIKE '{site.load_prefix}%'"
    )

    def middle(start_at: float) -> None:
        for moment in (0.4, 0.9):
            wait_until(lambda moment=moment: now(site) > start_at + moment * SLICE_S)  # type: ignore[misc]
            query_of(site, cancel)

    pushes, pops = loaded(site, layout, Case(design, batch, held=False), middle)
    pushed, popped = sum(each.messages for each in pushes), sum(each.messages for each in pops)
    cut = [each for each in (*pushes, *pops) if each.messages and not sum(each.spent)]
    if batch > 1:  # single pushes are not recorded: those of the interrupted slices are lost
        assert cut
        assert pushed - popped - working(site, layout) == ready(site, layout)
    else:
        assert any(each in cut for each in pops)


def loaded(
    site: BenchSite, layout: Layout, case: Case, meanwhile: Callable[[float], None] = lambda _: None
) -> tuple[list[Slice], list[Slice]]:
    """Return the work of two producers and two consumers in three slices."""
    loops = make_loops(site, layout, case)
    settings: dict[str, Value] = {"batch": case.batch, "unit": 16, "ahead": 10, "bytes": 50}
    with LoadSessions(site.connect_load, site.statement("salvage")) as sessions:
        sessions.connect_sessions("producer", 2, loops.push, settings)
        sessions.connect_sessions("consumer", 2, loops.pop, settings)
        start_at = now(site)
        sessions.start(start_at, 3)
        meanwhile(start_at)
        wait_until(lambda: not sessions.is_working)
    pushes, pops = ([each for one in kind for each in one.slices] for kind in (sessions.producers, sessions.consumers))
    return pushes, pops


def now(site: BenchSite) -> float:
    """Return seconds since the epoch on the server's clock."""
    ((at,),) = site.fetch_rows("clock")
    return float(str(at))


def ready(site: BenchSite, layout: Layout) -> int:
    """Return the number of ready messages, counted one by one."""
    if layout.design == "heap":
        return int(str(query_of(site, "SELECT count(*) FROM {}.q")))
    return WorkloadStatements(ENGINE, layout, site.connection.version).count_ready(site.connection)


def working(site: BenchSite, layout: Layout) -> int:
    """Return the number of messages in progress, counted one by one."""
    if layout.state is None or layout.state.in_progress is None:
        return 0
    column, state = ENGINE.quote((layout.state.column,)), int(layout.state.in_progress)
    return int(str(query_of(site, f"SELECT count(*) FROM {{}}.q WHERE {column} = {state}")))


def query_of(site: BenchSite, sql: str) -> object:
    from qmon.engines.base import Bound, Statement

    return site.connection.fetch(Bound(Statement("test", sql.format(site.schema), (), ()))).rows[0][0]


@pytest.mark.usefixtures("short_slices")
def test_every_design_is_measured_and_nothing_stays(database: str) -> None:
    found: list[CaseResult | Dequeue] = []
    told: list[BenchProgress] = []
    plan = replace(SHORT, producers=1, consumers=1, seconds=SLICE_S, warm_up_s=SLICE_S / 2)
    report = run_bench(target_of(database), plan, new_schema_name(), install_trial, told.append, found.append)
    assert [each.case.design for each in report.outcomes] == list(ALL)
    assert tuple(found) == report.outcomes
    for each in report.outcomes:
        assert each.cycles_per_s > 0, each.case
        assert each.errors == 0, (each.case, each.last_error)
        # A busy machine may not run the producer in a slice of a quarter of a second.
        assert (each.push is not None) is (each.pushed_per_s > 0), each.case
        assert each.pop is not None
        for latency in filter(None, (each.push, each.pop)):
            assert 0 < latency.p50_ms <= latency.p99_ms
        assert (each.complete is not None) is each.case.completes
        assert each.buffers_per_cycle is not None and each.buffers_per_cycle > 1
        assert each.wal_per_cycle is not None and each.wal_per_cycle > 100
        assert each.samples > 0
        assert sum(wait.share for wait in each.waits) == pytest.approx(1, abs=0.35)
        assert sum(each.timeline) / len(each.timeline) == pytest.approx(each.cycles_per_s)
        assert len(each.timeline) * each.slice_s == each.seconds
    assert sum(each.push is not None for each in report.outcomes) > len(ALL) / 2
    assert max(each.share for each in told) == 1.0
    assert report.conditions.empty_loops_per_s > max(each.cycles_per_s for each in report.outcomes)
    wait_until(lambda: not traces(database))


@pytest.mark.usefixtures("short_slices")
def test_a_held_transaction_is_held_for_the_whole_run(database: str) -> None:
    sql = (
        "SELECT extract(epoch FROM clock_timestamp() - xact_start)::float8 FROM pg_stat_activity"
        " WHERE state = 'idle in transaction' AND backend_xid IS NOT NULL AND application_name LIKE 'qmon%holder'"
    )
    ages: list[float] = []

    def look(_: BenchProgress) -> None:
        ages.extend(float(str(row[0])) for row in query(database, sql))

    plan = replace(SHORT, designs=("naive",), producers=1, consumers=1, parts=(Part.OPEN_TRANSACTION,))
    (found,) = run_bench(target_of(database), plan, new_schema_name(), install_trial, look).outcomes
    assert found.case.held
    assert found.dead_rows > 0
    assert len(ages) >= 3
    assert ages == sorted(ages)


@pytest.mark.usefixtures("short_slices")
def test_batches_are_left_out_where_a_design_has_none(database: str) -> None:
    plan = replace(SHORT, designs=("ring_classic", "naive"), producers=1, consumers=1, batches=(10,))
    report = run_bench(target_of(database), plan, new_schema_name(), install_trial)
    assert [each.case.design for each in report.outcomes] == ["naive"]
    assert report.without_batches == ("ring_classic",)


@pytest.mark.parametrize("design", ["batch_single", "batch_split", "batch_fast"])
def test_dequeues_pop_the_queue_empty_and_count_payloads_apart(site: BenchSite, design: str) -> None:
    plan = replace(SHORT, rows=205, payload_bytes=9_000)
    layout = install_trial(site.connection, ENGINE, design, schema=site.schema, queue="q")
    shares: list[float] = []
    found = measure_dequeue(site, plan, design, 10, layout, shares.append)
    assert found.batches == 21
    assert query_of(site, "SELECT count(*) FROM {}.q WHERE status = 1") == 205
    assert min(map(known, (found.whole.table, found.whole.index, found.whole.payload))) > 0
    assert known(found.whole.payload) > 10 * 2  # most payloads are stored separately, in some pieces each
    assert shares == sorted(shares)
    assert shares[-1] == 1.0


def test_what_fails_in_a_slice_is_counted_and_the_rest_goes_on(site: BenchSite) -> None:
    """Another session drops the table under a running bench."""
    layout = install_trial(site.connection, ENGINE, "naive", schema=site.schema, queue="q")
    gone: list[bool] = []

    def drop(over: float, _: float) -> None:
        if over > SLICE_S and not gone:
            gone.append(True)
            query_gone(site)

    found = measure_case(site, replace(SHORT, seconds=1.0), Case("naive", 1, held=False), layout, drop)
    assert found.errors > 0
    assert "does not exist" in found.last_error


def query_gone(site: BenchSite) -> None:
    from qmon.engines.base import Bound, Statement

    site.connection.execute(Bound(Statement("test", f"DROP TABLE {site.schema}.q CASCADE", (), ())))


def test_a_server_without_room_is_told_before_anything_is_made(database: str) -> None:
    plan = replace(SHORT, producers=150, consumers=150)
    with pytest.raises(BadInput, match=pattern(RunBenchText.CONNECTIONS, needed=302)):
        run_bench(target_of(database), plan, new_schema_name(), install_trial)
    assert traces(database) == []


def test_what_is_left_of_a_bench_is_known_by_its_comment(site: BenchSite, database: str) -> None:
    query(database, "CREATE SCHEMA qmon_bench_of_mine")
    assert find_leftovers(site.connection, ENGINE) == (site.schema,)
    sweep_schema(target_of(database), site.schema)
    sweep_schema(target_of(database), site.schema)  # twice is not an error
    assert find_leftovers(site.connection, ENGINE) == ()
    # The server still lists a session for a moment after it was closed.
    wait_until(lambda: traces(database) == ["qmon_bench_of_mine", "qmon bench"], what="only the bench is left")


LONG = (
    "--designs",
    "naive",
    "--producers",
    "2",
    "--consumers",
    "2",
    "--for",
    "60s",
    "--batch",
    "1",
)


@pytest.mark.parametrize(
    ("number", "code", "role"),
    [
        (signal.SIGINT, 130, "consumer"),
        (signal.SIGTERM, 143, "producer"),
        (signal.SIGHUP, 129, "producer"),
        (signal.SIGKILL, -9, "producer"),
    ],
)
def test_nothing_stays_however_the_program_ends(
    server: EmbeddedServer, database: str, number: signal.Signals, code: int, role: str
) -> None:
    """Producers run empty loops alone before the designs are measured."""
    command = program("design", "bench", database, *LONG)
    with subprocess.Popen(command, env=surroundings(), stderr=subprocess.DEVNULL, start_new_session=True) as process:
        at_work = (
            f"SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE '%load {role}' AND state = 'active'"
        )
        wait_until(lambda: int(str(query(database, at_work)[0][0])) >= 2)
        process.send_signal(number)
        assert process.wait(120) == code
    wait_until(lambda: not traces(database))


PAIR = ("--designs", "ring,naive", "--producers", "2", "--consumers", "2", "--for", "500ms", "--batch", "1")
RUNS = [("naive", False), ("ring", False), ("naive", True), ("ring", True)]


@pytest.mark.usefixtures("short_slices")
def test_the_command_prints_what_it_measured_and_writes_a_picture(
    database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One measurement with a short warm-up is printed in each format."""
    measured: list[BenchResults] = []

    def brief(target: Target, plan: BenchPlan, *rest: Any) -> BenchResults:
        if not measured:
            measured.append(run_bench(target, replace(plan, seconds=0.25, warm_up_s=0.125), *rest))
        else:
            for each in measured[0].outcomes:
                rest[-1](each)
        return measured[0]

    monkeypatch.setattr("qmon.workload.bench.run_bench.run_bench", brief)
    printed = dict[str, str]()
    for kind in ("table", "csv", "json"):
        made = call("design", "bench", database, *PAIR, "--output", kind)
        assert made.exit_code == 0, made.stderr
        assert has(made.stderr.splitlines()[0], BenchStartText.SCHEMA)
        assert len(re.findall(pattern(BenchLineText.LOAD), made.stderr)) == 4
        assert "\x1b" not in made.stdout + made.stderr
        printed[kind] = made.stdout
    header = next(line for line in printed["table"].splitlines() if line.startswith("DESIGN"))
    assert header.split()[:4] == ["DESIGN", "CYCLES/s", "×", "NAIVE"]
    rows = list(csv.DictReader(printed["csv"].splitlines()))
    assert [(row["design"], row["held"] == "true") for row in rows] == RUNS
    assert all(bool(row["kept_share"]) is (row["held"] == "true") and float(row["push_p50_ms"]) > 0 for row in rows)
    assert [(each["design"], each["held"]) for each in valid(printed["json"], "bench")["loads"]] == RUNS
    assert traces(database) == []


def test_the_program_measures_and_leaves_nothing(database: str) -> None:
    made = run("design", "bench", database, *PAIR, "--designs", "naive", "--output", "json")
    assert made.returncode == 0, made.stderr
    assert has(made.stderr.splitlines()[0], BenchStartText.SCHEMA)
    assert len(re.findall(pattern(BenchLineText.LOAD), made.stderr)) == 2
    assert "\x1b" not in made.stdout + made.stderr
    found = valid(made.stdout, "bench")
    assert [(each["design"], each["held"]) for each in found["loads"]] == [("naive", False), ("naive", True)]
    assert found["settings"]["fsync"] in ("on", "off")
    assert (found["plan"]["producers"], found["plan"]["seconds"]) == (2, 0.5)
    assert all(each["kept"] for each in found["loads"] if each["held"])
    assert traces(database) == []


@pytest.mark.parametrize(
    ("mark", "word"),
    [
        ("prod = true", pattern(BenchText.PROD, target="shop")),
        ("read_only = true", pattern(BenchText.READ_ONLY, target="shop")),
    ],
)
def test_a_target_that_is_not_to_be_loaded_is_refused(database: str, tmp_path: Path, mark: str, word: str) -> None:
    config = tmp_path / "qmon.toml"
    config.write_text(f'[target.shop]\nconnect = "{database}"\n{mark}\n')
    made = run("design", "bench", "shop", "--config", str(config), "--designs", "naive")
    assert made.returncode == 2
    assert re.search(word, made.stderr.splitlines()[-1])
    assert traces(database) == []


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--designs", "rings"), pattern(BenchPlanText.NO_DESIGN, design="rings")),
        (("--batch", "1,x"), pattern(BenchText.BATCHES)),
        (("--producers", "0"), "Invalid value for '--producers'"),
    ],
)
def test_what_cannot_be_is_one_line_and_nothing_is_made(database: str, arguments: tuple[str, ...], words: str) -> None:
    made = run("design", "bench", database, *arguments)
    assert made.returncode == 2
    assert re.search(words, made.stderr.splitlines()[-1])
    assert traces(database) == []
