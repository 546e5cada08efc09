"""The usual range for an hour of the week, and values outside it."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from qmon.model.baseline_bands import Baseline, Baselines, UsualText, find_anomalies, recent_mean
from qmon.model.evidence import QueueEvidence, TargetEvidence
from qmon.model.figure import Figure
from qmon.model.series import Point
from qmon.model.sessions.clients import ClientsSeen
from qmon.model.verdicts import judge_queue
from tests.unit.rule_inputs import FINE, LAYOUT, POLL

BERLIN = ZoneInfo("Europe/Berlin")
TUESDAY = datetime(2026, 11, 17, 14, 30, tzinfo=BERLIN).timestamp()
TUE_14 = 24 + 14


def known(median: float, mad: float = 1.0, weeks: int = 9, *, figure: str = "ready", hour: int = TUE_14) -> Baselines:
    """Return the baseline of one figure of shop's mails for one hour of the week, in Berlin time."""
    return Baselines(
        {"shop": {"mails": {figure: {hour: Baseline(median, mad, weeks)}}}}, "UTC", {"shop": "Europe/Berlin"}
    )


def history(ready: float, *, seconds: int = 600, last: float | None = None) -> list[Point]:
    """A point every two seconds up to Tuesday 14:30."""
    points = [Point(TUESDAY - back, ready, 4.0, 4.0, None, 0.0, None) for back in range(seconds, -1, -2)]
    if last is not None:
        points[-1] = Point(TUESDAY, last, 4.0, 4.0, None, 0.0, None)
    return points


def nightly(drains: bool = True, pops_per_s: float = 0.0) -> Baselines:
    """Return the baselines of a queue that fills from 8:00 to 20:00 and is drained from 2:00 to 3:00 each night."""

    def depth(hour: int) -> float:
        day = hour % 24
        if not drains or day < 2:
            return 12_000.0
        return 1000.0 * min(day - 7.5, 12.0) if day >= 8 else 0.0

    ready = {hour: Baseline(depth(hour), 50.0, 9) for hour in range(168)}
    pops = {hour: Baseline(3.3 if drains and hour % 24 == 2 else pops_per_s, 0.0, 9) for hour in range(168)}
    return Baselines({"t": {"mails": {"ready": ready, "pop_rate": pops}}})


def codes(baselines: Baselines, hour: int, ready: float, consumers: ClientsSeen | None = None) -> set[str]:
    """Return the verdicts on a queue with this depth whose messages are only pushed, on a Tuesday at this hour."""
    at = datetime(2026, 11, 17, hour, 30, tzinfo=UTC).timestamp()
    given = replace(
        FINE,
        ready=Figure(ready),
        in_progress=Figure(0.0),
        pop_rate=Figure(0.0),
        net_rate=50.0,
        layout=LAYOUT,
        snapshot=replace(POLL, sampled_at=at),
        target=TargetEvidence(baselines=baselines),
        queue=QueueEvidence(consumers=consumers),
    )
    _, spans = judge_queue(given, at, {})
    return {verdict.code for verdict in judge_queue(given, at + 60.0, spans)[0]}


@pytest.mark.parametrize("consumers", [None, ClientsSeen(0, 0, "routine"), ClientsSeen(2, 2, "routine")])
def test_a_backlog_that_is_drained_every_night_is_healthy_by_day(consumers: ClientsSeen | None) -> None:
    for hour in range(8, 24):
        usual_ready = 1000.0 * min(hour - 7.5, 12.0)
        assert codes(nightly(), hour, usual_ready, consumers) == {"healthy"}, hour
        assert codes(nightly(), hour, 0.5 * usual_ready, consumers) == {"healthy"}, "fewer than usual"
        assert codes(nightly(), hour, 2.5 * usual_ready + 1000, consumers).isdisjoint({"healthy"}), "more than usual"
        assert codes(Baselines(), hour, usual_ready, consumers).isdisjoint({"healthy"}), "no baselines"


def test_a_night_without_the_usual_drain_is_a_verdict() -> None:
    assert "no pops" in codes(nightly(), 5, 12_000.0)
    assert "no pops" in codes(nightly(), 2, 12_000.0), "messages are usually popped in this hour"
    assert "no pops" in codes(nightly(drains=False), 14, 12_000.0), "a backlog that never goes away"
    assert "no pops" in codes(nightly(pops_per_s=1.0), 14, 6500.0), "messages are usually popped in this hour"


def test_a_usual_backlog_shows_when_it_is_drained() -> None:
    at = datetime(2026, 11, 17, 14, 30, tzinfo=UTC).timestamp()
    found = nightly().usual_backlog("t", "mails", 6500.0, at)
    assert found is not None
    assert (found.band.hour, found.drained) == ("Tue 14:00", "Wed 02:00")


def test_the_hour_is_that_of_the_targets_clock() -> None:
    band = known(100.0, 10.0).band_at("shop", "mails", "ready", TUESDAY)
    assert band is not None
    assert (band.hour, band.median, band.weeks) == ("Tue 14:00", 100.0, 9)
    assert band.high - 100.0 == pytest.approx(3 * 1.4826 * 10.0) == 100.0 - band.low
    for at in (TUESDAY + 3600, TUESDAY - 86_400):
        assert known(100.0).band_at("shop", "mails", "ready", at) is None


def test_the_hour_follows_summer_time() -> None:
    """14:30 local time is 12:30 UTC in summer and 13:30 UTC in winter: the same hour of the week."""
    summer = datetime(2026, 7, 14, 14, 30, tzinfo=BERLIN).timestamp()
    assert (summer - TUESDAY) % 86_400 != 0
    assert known(100.0).band_at("shop", "mails", "ready", summer) is not None


def test_few_weeks_say_nothing() -> None:
    assert known(100.0, weeks=3).band_at("shop", "mails", "ready", TUESDAY) is None
    assert known(100.0, weeks=4).band_at("shop", "mails", "ready", TUESDAY) is not None
    assert find_anomalies(known(100.0, weeks=3), "shop", "mails", history(9_000.0)) == ()


def test_a_band_is_never_a_hair_nor_below_zero() -> None:
    empty = known(0.0, 0.0).band_at("shop", "mails", "ready", TUESDAY)
    assert empty is not None and (empty.low, empty.high) == (0.0, 10.0)
    steady = known(1_000.0, 0.0).band_at("shop", "mails", "ready", TUESDAY)
    assert steady is not None and (steady.low, steady.high) == (750.0, 1_250.0)


@pytest.mark.parametrize(
    ("figure", "least"),
    [("in_progress", 10.0), ("oldest_s", 5.0), ("push_rate", 1.0), ("pop_rate", 1.0), ("complete_rate", 1.0)],
)
def test_of_a_figure_that_is_mostly_nothing_a_little_is_usual(figure: str, least: float) -> None:
    band = known(0.0, 0.0, figure=figure).band_at("shop", "mails", figure, TUESDAY)
    assert band is not None and (band.low, band.high) == (0.0, least)


@pytest.mark.parametrize(
    ("median", "now", "words", "brief"),
    [
        (100.0, 310.0, UsualText.MULTIPLE.render(times="3.1", hour="Tue 14:00"), UsualText.TIMES.render(times="3.1")),
        (100.0, 20.0, UsualText.MULTIPLE.render(times="0.20", hour="Tue 14:00"), UsualText.TIMES.render(times="0.20")),
        (10.0, 9_990.0, UsualText.MULTIPLE.render(times="999", hour="Tue 14:00"), UsualText.TIMES.render(times="999")),
        (0.0, 500.0, UsualText.MEDIAN.render(hour="Tue 14:00", median="0"), UsualText.UNUSUALLY_MUCH),
        (1_200.0, 0.0, UsualText.MEDIAN.render(hour="Tue 14:00", median="1,200"), UsualText.UNUSUALLY_LITTLE),
    ],
)
def test_the_words(median: float, now: float, words: str, brief: str) -> None:
    (found,) = find_anomalies(known(median), "shop", "mails", history(now))
    assert (found.text, found.short_text) == (words, brief)
    assert found.is_above is (now > median)


def test_what_is_usual_is_not_marked() -> None:
    for ready in (100.0, 76.0, 124.0):
        assert find_anomalies(known(100.0), "shop", "mails", history(ready)) == ()
    assert find_anomalies(known(100.0), "shop", "other", history(900.0)) == ()
    assert find_anomalies(known(100.0), "elsewhere", "mails", history(900.0)) == ()
    assert find_anomalies(known(100.0), "shop", "mails", []) == ()


def test_one_burst_is_not_marked_and_neither_is_one_quiet_poll() -> None:
    assert find_anomalies(known(100.0), "shop", "mails", history(100.0, last=2_000.0)) == ()
    assert find_anomalies(known(100.0), "shop", "mails", history(400.0, last=100.0)) == ()
    assert find_anomalies(known(100.0), "shop", "mails", history(400.0, last=2.0)) == ()


def test_nothing_is_said_before_a_minute_was_watched() -> None:
    assert find_anomalies(known(100.0), "shop", "mails", history(400.0, seconds=58)) == ()
    assert len(find_anomalies(known(100.0), "shop", "mails", history(400.0, seconds=60))) == 1


def test_means_are_weighted_by_time_and_reach_back_five_minutes() -> None:
    points = [
        Point(at, value, None, None, None, None, None) for at, value in ((0, 7.0), (100, 7.0), (390, 20.0), (400, 40.0))
    ]
    assert recent_mean(points, "ready") == pytest.approx((290 * 20.0 + 10 * 40.0) / 300)
    assert recent_mean(points, "push_rate") is None


def test_the_farthest_out_comes_first() -> None:
    both = Baselines(
        {
            "shop": {
                "mails": {
                    "ready": {TUE_14: Baseline(100.0, 1.0, 5)},
                    "push_rate": {TUE_14: Baseline(400.0, 1.0, 5)},
                }
            }
        },
        "Europe/Berlin",
    )
    assert [each.figure for each in find_anomalies(both, "shop", "mails", history(9_000.0))] == ["ready", "push_rate"]
