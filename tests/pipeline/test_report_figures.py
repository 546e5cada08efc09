"""The report's figures: problems, coverage, service levels, unusual hours, growth, and their descriptions."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from statistics import linear_regression
from typing import Any

import pytest

from qmon.cli.commands.pipeline.pipeline import PipelineText, describe_unsealed_segments
from qmon.config.slo import Objective
from qmon.model.baseline_bands import Baseline, Baselines
from qmon.pipeline.report.axis import WIDTH, Axis, scale_values
from qmon.pipeline.report.facts import choose_queues
from qmon.pipeline.report.headline import HeadlineText, LookText, headline, healthy_share, things_to_look_at
from qmon.pipeline.report.period import Coverage, Period, Trouble, coverage_by_target, trouble_by_queue
from qmon.pipeline.report.report_formatting import change_text, good_share_text
from qmon.pipeline.report.service_levels import Level, sort_by_budget
from qmon.pipeline.report.tables import TableText, level_table
from qmon.pipeline.report.unusual_hours import SUMS, UnusualText, find_unusual_hours
from qmon.pipeline.rollup.capacity import GrowthTrend, NoForecastText, estimate_capacity
from tests.pipeline import reference
from tests.pipeline.comparing import START
from tests.pipeline.pages import TARGET, hostile_facts
from tests.wordings import has

HOUR = 3600.0
MONDAY = datetime.fromisoformat("2026-11-16T00:00:00+00:00").timestamp()
OBJECTIVE = Objective("fresh", "oldest_seconds", 120.0, 0.99, 7 * 86400.0)


def test_time_in_incidents_equals_plain_python() -> None:
    rng, period = random.Random(7), Period(START, START + 86400)
    rows = []
    for _ in range(60):
        start = START + rng.uniform(-40000, 100000)
        rows.append(
            {"target": "t", "queue": rng.choice("abc"), "start_at": start, "end_at": start + rng.uniform(0, 9000)}
        )
    found = trouble_by_queue(rows, period)
    wanted = reference.troubled(rows, period.start, period.end)
    assert {key: each.incidents for key, each in found.items()} == {key: n for key, (_, n) in wanted.items()}
    assert {key: each.seconds for key, each in found.items()} == pytest.approx({k: s for k, (s, _) in wanted.items()})


def test_coverage_has_the_longest_gap_of_whole_hours() -> None:
    period = Period(MONDAY, MONDAY + 10.5 * HOUR)
    seen = {("a", MONDAY + n * HOUR): 3000.0 for n in (0, 1, 5, 9)} | {
        ("b", MONDAY + n * HOUR): HOUR for n in range(10)
    }
    least, most = coverage_by_target(seen | {("b", MONDAY + 10 * HOUR): 1800.0}, period)
    assert (least.target, least.seconds, least.gap_s, least.gap_at) == ("a", 12000.0, 3 * HOUR, MONDAY + 2 * HOUR)
    assert least.share == pytest.approx(12000 / 37800)
    assert most == Coverage("b", 37800.0, 1.0)


def level(counted_s: float, bad_s: float, last_s: float = 0.0, last_bad_s: float = 0.0, name: str = "q") -> Level:
    """Return a queue's service level, measured against 99 %."""
    return Level(OBJECTIVE, "shop", name, counted_s, bad_s, last_s, last_bad_s)


def test_a_budget_is_the_share_of_watched_time_that_may_be_bad() -> None:
    half = level(100_000.0, 500.0, 50_000.0, 1000.0)
    assert (half.share, half.budget_s, half.budget_left, half.is_met) == pytest.approx((0.995, 1000.0, 0.5, True))
    assert half.burn_rate == pytest.approx(2.0)
    over, unseen = level(100_000.0, 1500.0, name="over"), level(0.0, 0.0, name="unseen")
    assert over.budget_left == pytest.approx(-0.5) and over.is_met is False
    assert (unseen.share, unseen.budget_left, unseen.is_met, unseen.burn_rate) == (None, None, None, None)
    assert sort_by_budget([unseen, half, over]) == (over, half, unseen)
    assert half.goal == "oldest < 2m for 99 % of 7d"
    assert not half.has_enough_data and level(4 * 86400.0, 0.0).has_enough_data
    facts = replace(hostile_facts(), levels=(half, unseen, level(4 * 86400.0, 0.0)))
    assert [row[4].text for row in level_table(facts).rows] == [
        TableText.TOO_LITTLE_DATA.render(state="met"),
        "not known",
        "met",
    ]


def test_a_run_tells_when_open_segments_are_sealed(tmp_path: Path) -> None:
    folder = tmp_path / "target=a" / "date=2026-11-21"
    folder.mkdir(parents=True)
    for name in ("_20261121T101500Z-0123456789ab-0001", "20261121T091500Z-0123456789ab-0001"):
        (folder / f"{name}.jsonl.zst").write_bytes(b"x")
    at = datetime.fromisoformat("2026-11-21T10:20:00+00:00").timestamp()
    (growing,) = describe_unsealed_segments(tmp_path, at)
    assert growing == PipelineText.OPEN_SEGMENTS.render(
        segments="1 open segment", at=datetime(2026, 11, 21, 11, tzinfo=UTC)
    )
    (late,) = describe_unsealed_segments(tmp_path, at + HOUR)
    assert late == PipelineText.LATE_SEGMENTS.render(segments="1 segment")
    (folder / "_20261121T101500Z-0123456789ab-0001.jsonl.zst").unlink()
    assert describe_unsealed_segments(tmp_path, at) == []


def test_queues_with_problems_are_shown_before_busy_queues() -> None:
    def sums(pushed: float, oldest: float | None = 1.0) -> dict[str, Any]:
        return {"pushed": pushed, "oldest_p95": oldest}

    whole = {("a", "q"): sums(9000.0), ("b", "q"): sums(1.0), ("c", "q"): sums(2.0), ("d", "q"): sums(3.0, 50.0)}
    lost = {("b", "q"): Trouble(60.0, 1), ("gone", "q"): Trouble(90.0, 1)}
    missed = Level(OBJECTIVE, "c", "q", 1000.0, 20.0, 0.0, 0.0)
    before = {("d", "q"): sums(3.0, 10.0), ("a", "q"): sums(1.0, None)}
    wanted = [("b", "q"), ("c", "q"), ("d", "q"), ("a", "q")]
    assert choose_queues(whole, before, lost, [missed]) == wanted
    assert choose_queues(whole, before, lost, [missed], most=2) == wanted[:2]
    assert choose_queues(whole, {}, {}, [])[0] == ("a", "q")


def test_unusual_hours_equal_plain_python() -> None:
    rng = random.Random(3)
    usual = Baselines({"shop": {"orders": {"push_rate": {h: Baseline(10.0, 1.0, 5) for h in range(0, 168, 2)}}}})
    rows: list[dict[str, Any]] = []
    for n in range(168):
        seconds = rng.choice([3600.0, 1900.0, 1000.0, 0.0])
        rows.append(
            dict.fromkeys(name for names in SUMS.values() for name in names)
            | {
                "start_at": MONDAY + n * HOUR,
                "pushed": rng.choice([2.0, 10.0, 13.0, 40.0]) * seconds,
                "flow_s": seconds,
            }
        )
    reach = 3 * 1.4826
    out = {
        row["start_at"]: row["pushed"] / row["flow_s"]
        for row in rows
        if row["start_at"] // HOUR % 2 == MONDAY // HOUR % 2
        and row["flow_s"] >= 1800
        and abs(row["pushed"] / row["flow_s"] - 10) > reach
    }
    found = find_unusual_hours(usual, "shop", "orders", rows)
    assert {each.start: each.worst.value for each in found} == pytest.approx(out)
    distances = sorted((abs(value - 10) / reach for value in out.values()), reverse=True)
    assert [each.distance for each in found] == pytest.approx(distances)
    assert (
        find_unusual_hours(usual, "shop", "mails", rows)
        == find_unusual_hours(Baselines(), "shop", "orders", rows)
        == ()
    )


def test_hours_in_a_row_on_one_side_are_one_stretch_told_by_the_worst() -> None:
    usual = Baselines({"shop": {"orders": {"ready": {h: Baseline(100.0, 1.0, 5) for h in range(168)}}}})
    depths = (100, 300, 800, 300, 100, 20, 500)
    none = dict.fromkeys(name for names in SUMS.values() for name in names)
    rows = [
        none | {"start_at": MONDAY + n * HOUR, "ready_s": depth * HOUR, "ready_known_s": HOUR}
        for n, depth in enumerate(depths)
    ]
    found = find_unusual_hours(usual, "shop", "orders", rows)
    assert [((each.start - MONDAY) / HOUR, (each.end - MONDAY) / HOUR, each.description) for each in found] == [
        (1.0, 4.0, UnusualText.TIMES_USUAL.render(figure="ready", ratio="8")),
        (6.0, 7.0, UnusualText.TIMES_USUAL.render(figure="ready", ratio="5")),
        (5.0, 6.0, UnusualText.TIMES_USUAL.render(figure="ready", ratio="0.20")),
    ]


def test_the_band_around_growth_is_where_its_ends_reach_the_best_hour() -> None:
    rng = random.Random(5)
    days = [(20_000 + n, 50 + 2 * n + rng.gauss(0, 4)) for n in range(21)]
    trend = GrowthTrend.fit(days)
    slope, intercept = linear_regression(*zip(*days, strict=True))
    assert (trend.slope, trend.rate_on(20_030)[0]) == pytest.approx((slope, intercept + slope * 20_030))
    reached = trend.day_reaching(200.0)
    assert reached is not None
    line, early, late = reached
    assert trend.rate_on(line)[0] == pytest.approx(200.0)
    assert trend.rate_on(early)[2] == pytest.approx(200.0) and trend.rate_on(late)[1] == pytest.approx(200.0)
    found = estimate_capacity(200.0, days)
    assert (found.earliest_days, found.outgrown_days, found.latest_days) == pytest.approx(
        (early - 20_020, line - 20_020, late - 20_020)
    )
    noisy = estimate_capacity(200.0, [(n, 50 + 0.01 * n + rng.gauss(0, 20)) for n in range(21)])
    assert noisy.outgrown_days is None and noisy.why in (
        NoForecastText.UNCERTAIN,
        NoForecastText.NO_GROWTH,
    )


def test_the_headline_says_how_the_time_was() -> None:
    facts = hostile_facts()
    lost = sum(each.seconds for each in facts.trouble.values())
    assert healthy_share(facts) == pytest.approx(1 - lost / facts.watched_s)
    text = headline(facts)
    assert has(
        text,
        HeadlineText.HEALTHY_FOR,
        queues=HeadlineText.QUEUES.render(count=19),
        share=good_share_text(healthy_share(facts)),
        incidents=HeadlineText.INCIDENTS.render(count=12),
    )
    one = replace(
        facts,
        queues=facts.queues[4:5],
        left_out=0,
        incidents=facts.incidents[4:5],
        watched_s=21600.0,
        trouble={(TARGET, "orders"): Trouble(300.0, 1)},
        targets=(Coverage(TARGET, 21600.0, 1.0),),
    )
    assert headline(one) == HeadlineText.HEALTHY_FOR.render(
        queues="orders",
        were="was",
        share="98.6 %",
        incidents=HeadlineText.ONE_INCIDENT,
        longest=HeadlineText.THE_INCIDENT.render(
            queue="orders", cause="consumers fall behind", duration="5 m 00 s", start="Sat 24 Oct 23:44"
        ),
    )
    calm = replace(one, incidents=(), trouble={}, levels=(), queues=(replace(one.queues[0], unusual=()),))
    assert headline(calm) == HeadlineText.ALWAYS_HEALTHY.render(queues="orders", were="was")
    assert healthy_share(calm) == 1.0
    assert has(headline(replace(calm, watched_s=0.0)), HeadlineText.NOT_WATCHED)


def test_things_to_look_at_are_of_several_kinds_and_no_queue_twice() -> None:
    facts = hostile_facts()
    found = things_to_look_at(facts)
    assert [each.about for each in found] == ["level", "incident", "coverage"]
    assert len({(each.target, each.queue) for each in found}) == 3
    worst = max(facts.levels, key=lambda each: each.bad_s)
    assert facts.levels[found[0].place] == worst
    assert found[0].text == LookText.MISSED.render(
        queue=f"{TARGET} · {worst.queue}", goal="oldest < 2m for 99 % of 28d", share="97.8 %", over="4 m 00 s"
    )
    calm = replace(facts, levels=(), incidents=(), trouble={}, targets=())
    quiet = replace(calm, queues=tuple(replace(q, unusual=(), before=None) for q in facts.queues))
    assert things_to_look_at(quiet) == ()


@pytest.mark.parametrize("length_s", [1800.0, 6 * HOUR, 86400.0, 7 * 86400.0, 30 * 86400.0, 400 * 86400.0])
def test_an_axis_has_few_ticks_at_round_times_and_none_beyond_its_end(length_s: float) -> None:
    axis = Axis(MONDAY + 1234, MONDAY + 1234 + length_s, 3600.0)
    ticks = axis.ticks()
    assert 1 <= len(ticks) <= 9
    assert all(0 <= x < WIDTH and (label == "") == (x > 0.9 * WIDTH) for x, label in ticks)


def test_ticks_of_a_week_are_its_days() -> None:
    labels = [label for _, label in Axis(MONDAY, MONDAY + 7 * 86400, HOUR).ticks()]
    assert labels == ["Mon 16", "Tue 17", "Wed 18", "Thu 19", "Fri 20", "Sat 21", "Sun 22"]


@pytest.mark.parametrize("highest", [0.0, 0.003, 0.7, 1.0, 9.9, 42.0, 100.0, 1234.0, 7e6, 86400.0 * 100])
def test_a_scale_is_round_and_holds_the_highest(highest: float) -> None:
    for ages in (False, True):
        values = scale_values(highest, ages=ages)
        assert highest <= values[-1][0] * (1 + 1e-9) and values[0] == (0.0, "0")
        assert all(len(label) <= 6 for _, label in values)


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (1.0, "100 %"),
        (0.99999999, "99.999 %"),
        (0.9999, "99.99 %"),
        (0.992, "99.2 %"),
        (0.9999 - 1, "-1 %"),
        (0.99, "99 %"),
        (0.8999, "89 %"),
        (0.0, "0 %"),
        (None, "–"),
    ],
)
def test_a_share_is_never_rounded_up_to_all(share: float | None, text: str) -> None:
    assert good_share_text(share) == text


def test_a_change_is_in_per_cent_of_what_was_before() -> None:
    found = [
        change_text(*each) for each in ((3.0, 2.0), (1.999, 2.0), (30.0, 0.2), (1.0, 0.0), (0.0, 0.0), (None, 1.0))
    ]
    assert found == ["+50 %", "±0 %", "+14,900 %", "from 0", "±0 %", "–"]
