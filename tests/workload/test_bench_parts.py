"""The parts of a bench: histograms, the gate, and the input it refuses before anything starts."""

from __future__ import annotations

import math
import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qmon.cli.commands.design.bench_text import bar_text, bench_object
from qmon.engines.sql import queries
from qmon.errors import BadInput
from qmon.workload.bench import histogram
from qmon.workload.bench.bench_plan import BenchPlan, BenchPlanText, Case, Part, choose_designs, producer_lead_limit
from qmon.workload.bench.bench_results import BenchResults, CaseResult, Conditions, Dequeue, Latency, Reads, Wait
from tests.facts import query
from tests.wordings import pattern

PLAN = BenchPlan(("naive", "ring"), batches=(1,), parts=(Part.HEALTHY, Part.OPEN_TRANSACTION))


def bucket(microseconds: float) -> int:
    """Return the bucket, from 0, of an operation of this duration, as defined by ``PER_OCTAVE``."""
    return min(histogram.BUCKETS - 1, math.floor(histogram.PER_OCTAVE * math.log2(1 + max(0.0, microseconds))))


def counted(times: list[float]) -> list[int]:
    counts = [0] * histogram.BUCKETS
    for each in times:
        counts[bucket(each)] += 1
    return counts


@given(st.lists(st.floats(1, 1e6), min_size=1, max_size=300), st.sampled_from([0.5, 0.9, 0.99, 1.0]))
def test_percentiles_are_those_of_the_samples_within_a_bucket(times: list[float], share: float) -> None:
    exact = sorted(times)[max(0, -int(-share * len(times) // 1) - 1)]
    found = histogram.percentile(counted(times), share)
    assert found is not None
    assert (1 + exact) / 1.0906 <= 1 + found * 1000 <= (1 + exact) * 1.0906


def test_percentiles_of_known_samples() -> None:
    counts = counted([10.0] * 98 + [1_000.0, 100_000.0])
    half, most, all_of_them = (histogram.percentile(counts, share) for share in (0.5, 0.99, 1.0))
    assert half == pytest.approx(0.010, rel=0.1)
    assert most == pytest.approx(1.0, rel=0.1)
    assert all_of_them == pytest.approx(100.0, rel=0.1)
    assert histogram.percentile([0] * histogram.BUCKETS, 0.5) is None


def test_histograms_come_as_arrays_and_add_up() -> None:
    one = histogram.from_server("{" + ",".join(["0", "3"] + ["0"] * 190) + "}")
    assert histogram.add_histograms([one, one, histogram.from_server(None)])[:3] == (0, 6, 0)


def loops() -> list[queries.SqlFile]:
    return [each for each in queries.all_files() if each.name.startswith("action/bench/") and "_loop" in each.name]


def test_the_server_counts_into_the_same_buckets(database: str) -> None:
    """The formula is taken from the files as written there. Times are below 0 if a clock was set back."""
    formulas = {
        re.sub(r"v_\w+ - v_\w+", "d", found)
        for file in loops()
        for found in re.findall(r"v_at := (least\(192, .*\));", file.file.read_text(encoding="utf-8"))
    }
    assert len(formulas) == 1
    times = [0, 2, 4, 5, 9, 100, 12_345, 999_999, 16_700_000, 99_000_000, -40]
    values = ", ".join(f"({time} * interval '1 microsecond')" for time in times)
    rows = query(database, f"SELECT {formulas.pop()} FROM (VALUES {values}) AS v(d)")
    assert [int(float(str(row[0]))) - 1 for row in rows] == [bucket(time) for time in times]


@pytest.mark.parametrize("batch", [1, 10, 100, 1_000])
@pytest.mark.parametrize("size", [None, 2, 16, 100, 10_000])
def test_the_gate_never_lets_a_ring_fill_and_always_lets_somebody_push(batch: int, size: int | None) -> None:
    unit, ahead = producer_lead_limit(PLAN, batch, size)
    assert unit >= 1
    assert ahead >= 1
    if size is not None:
        assert unit * ahead <= max(size // 2, unit)


@pytest.mark.parametrize(
    ("changes", "refused"),
    [
        ({"producers": 0}, BenchPlanText.SESSIONS.render(limit=500)),
        ({"consumers": 493}, BenchPlanText.SESSIONS.render(limit=500)),
        ({"seconds": 0.0}, BenchPlanText.SECONDS.render(seconds=0.0)),
        ({"message_bytes": 0}, BenchPlanText.MESSAGE_BYTES.render(bytes=0)),
        ({"batches": (1, 0)}, BenchPlanText.BATCH),
        ({"designs": ()}, BenchPlanText.NOTHING),
    ],
)
def test_a_plan_that_cannot_be_is_refused(changes: dict[str, object], refused: str) -> None:
    with pytest.raises(BadInput) as problem:
        replace(PLAN, **changes).check_possible()  # type: ignore[arg-type]
    assert str(problem.value) == refused


def test_designs_are_chosen_by_name_and_the_reference_comes_first() -> None:
    there = ("fifo", "naive", "ring")
    assert choose_designs((), there) == ("naive", "fifo", "ring")
    assert choose_designs(("ring", "naive", "ring"), there) == ("naive", "ring")
    with pytest.raises(BadInput, match=pattern(BenchPlanText.NO_DESIGN, design="rings", designs="fifo, naive, ring")):
        choose_designs(("rings",), there)


def test_each_part_runs_what_it_is_about() -> None:
    assert [(each.design, each.held) for each in PLAN.cases_under_load()] == [
        ("naive", False),
        ("ring", False),
        ("naive", True),
        ("ring", True),
    ]
    assert PLAN.cases_of_dequeue_part() == ()
    alone = BenchPlan(("batch_fast", "naive"), parts=(Part.DEQUEUE,))
    assert alone.cases_under_load() == ()
    assert alone.cases_of_dequeue_part() == (("batch_fast", 10), ("batch_fast", 100))


def outcome(design: str, rate: float, *, held: bool = False) -> CaseResult:
    return CaseResult(
        Case(design, 1, held),
        10.0,
        rate,
        rate,
        Latency(0.1, 2.0),
        Latency(0.2, 3.0),
        None,
        30.5,
        600.0,
        (Wait("CPU", 0.5),),
        160,
        12,
        None,
        1,
        1_000_000,
        0,
        0,
        0,
        timeline=(rate, rate),
    )


def report() -> BenchResults:
    healthy = (outcome("naive", 100.0), outcome("ring", 150.0))
    found = (*healthy, outcome("naive", 10.0, held=True), outcome("ring", 135.0, held=True))
    reads = Reads(60.0, 10.0, 20.0, 30.0)
    dequeues = (Dequeue("batch_fast", 10, 40_000, reads, reads, 4_000, 1.5),)
    return BenchResults(PLAN, Conditions("<shop> & co", "postgres", "18.6", {"fsync": "on"}, 1e5), found, dequeues)


def test_ratios_are_over_the_reference_of_the_same_part() -> None:
    made = report()
    assert [made.ratio(each) for each in made.outcomes] == [1.0, 1.5, 1.0, 13.5]
    assert [made.held_share(each) for each in made.outcomes] == [None, None, 0.1, 0.9]
    alone = replace(made, outcomes=(made.outcomes[1],))
    assert alone.ratio(alone.outcomes[0]) is None


def test_the_json_says_what_is_unknown_as_null() -> None:
    found = bench_object(report())
    assert found["schema"] == 1
    naive, ring = found["loads"][0], found["loads"][3]
    assert naive["hot_share"] is None
    assert (ring["design"], ring["held"], ring["times_naive"], ring["kept"]) == ("ring", True, 13.5, 0.9)
    assert found["dequeues"][0]["whole_total"] == 60.0
    assert found["dequeues"][0]["article"] == {"batch": 100, "logical_reads": 553, "lob_logical_reads": 56}


@pytest.mark.parametrize(("design", "told"), [("batch_single", (10, 1695, 675)), ("batch_split", (10, 1546, 380))])
def test_beside_a_dequeue_is_what_the_article_measured(design: str, told: tuple[int, ...]) -> None:
    (dequeue,) = report().dequeues
    (found,) = bench_object(replace(report(), dequeues=(replace(dequeue, design=design),)))["dequeues"]
    assert tuple(found["article"].values()) == told


@pytest.mark.parametrize(("share", "shown"), [(1.0, "████"), (0.5, "██"), (0.0, "▏"), (0.53125, "██▏")])
def test_bars_are_to_scale(share: float, shown: str) -> None:
    assert bar_text(share, 4) == shown
