"""The last hour of a queue: slow leaks, steady load, bursts, and messages that take longer."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

import pytest

from qmon.model.figure import Figure
from qmon.model.forecast import Forecast, ForecastText, Trend
from qmon.model.formatting import time_of_day
from qmon.model.sessions.clients import ClientsSeen
from qmon.model.trend import Rise, Silence, Slower, TrendText
from qmon.model.verdicts import judge_queue
from qmon.model.verdicts.flow_verdicts import FlowText
from qmon.monitor.state.trends import SilenceTrack, TrendTrack
from tests.unit.rule_inputs import FINE, client
from tests.wordings import has, pattern

pytestmark = pytest.mark.unit

Seen = tuple[Rise | None, Slower | None]
Depth = Callable[[float], float]


def hours(
    depth: Depth,
    age: Callable[[float], float | None],
    minutes: int,
    takes_s: Depth = lambda _: 0.5,
    popped_per_s: float | None = 20.0,
) -> Iterator[Seen]:
    """Yield the findings of each poll, every 10 s, for a queue that pops 20 messages per second by default."""
    track = TrendTrack()
    for second in range(0, 60 * minutes, 10):
        yield track.record_poll(
            1000.0 + second,
            depth(second),
            age(second),
            working=20 * takes_s(second),
            finished_per_s=popped_per_s,
            popped_per_s=popped_per_s,
        )


def leak(second: float) -> float:
    return 600 + 0.733 * second + random.Random(second).uniform(-20, 20)


def test_a_slow_leak_is_found_within_half_an_hour_and_stays_found() -> None:
    found = [rise for rise, _ in hours(leak, lambda second: 8 + second / 8, 120)]
    first = next(place for place, rise in enumerate(found) if rise is not None)
    assert first < 6 * 30
    assert all(found[first:])
    last = found[-1]
    assert last is not None
    assert last.now > last.before + 2000
    assert 3000 < last.over_s <= 3700


def test_a_leak_without_ages_is_found_by_what_the_consumers_need_for_it() -> None:
    found = [rise for rise, _ in hours(lambda second: 4 * leak(second), lambda _: None, 40)]
    assert found[-1] is not None
    assert found[-1].age_before_s is None


@pytest.mark.parametrize("age", [lambda second: 8 + second / 2, lambda _: None], ids=["ages", "no ages"])
def test_without_rates_a_backlog_that_rises_is_found_in_minutes(age: Callable[[float], float | None]) -> None:
    found = [rise for rise, _ in hours(lambda second: 600 + 3 * second, age, 12, popped_per_s=None)]
    first = next(place for place, rise in enumerate(found) if rise is not None)
    assert first < 6 * 8
    steady = hours(lambda second: 900 + 300 * (second % 120 < 60), age, 30, popped_per_s=None)
    assert all(rise is None for rise, _ in steady)


@pytest.mark.parametrize(
    ("depth", "age"),
    [
        (lambda second: 900 + 300 * (second % 600 < 120), lambda _: 70.0),
        (lambda second: max(0.0, 20_000 - 10 * second), lambda second: 600 - second / 10),
        (lambda second: 20 + second / 60, lambda second: 8 + second / 60),
        (lambda second: 200 + second / 4, lambda second: 10.0),
        (lambda second: 600 + second if second < 3000 else 3600 - 4 * (second - 3000), lambda second: 90 + second),
    ],
    ids=["bursts", "a batch that drains", "few messages", "short waits", "falls again"],
)
def test_what_is_no_leak_is_not_found(depth: Depth, age: Depth) -> None:
    assert [rise for rise, _ in hours(depth, age, 60)][-1] is None


def test_a_gap_makes_it_begin_anew() -> None:
    track, found = TrendTrack(), list[tuple[float, Rise | None]]()
    for second in range(0, 4800, 20):
        at = second + (600.0 if second >= 2400 else 0.0)
        rise, _ = track.record_poll(at, leak(at), 8 + at / 8, working=None, finished_per_s=None, popped_per_s=20.0)
        found.append((second, rise))
    assert [second for second, rise in found if rise is None and second > 2380][-1] >= 2400 + 1200
    assert found[118][1] is not None
    assert found[-1][1] is not None


def test_messages_that_take_longer_are_named_with_the_minute_it_began() -> None:
    found = [slower for _, slower in hours(lambda _: 5.0, lambda _: 1.0, 30, lambda s: 0.05 if s < 1200 else 2.5)]
    assert not any(found[: 6 * 20])
    last = found[-1]
    assert last is not None
    assert (last.before_s, last.now_s) == pytest.approx((0.05, 2.5))
    assert abs(last.since_at - 2200.0) <= 60
    assert re.match(pattern(TrendText.EACH_TAKES, now="2.5 s"), last.text)


def test_messages_that_always_took_long_are_not_slower() -> None:
    assert not any(slower for _, slower in hours(lambda _: 5.0, lambda _: 1.0, 60, lambda _: 300.0))


def times(takes: Callable[[int], float], ids: Callable[[int], Mapping[str, int] | None]) -> list[Slower | None]:
    """Return the slowdowns of 20 minutes with a poll per second, in which two messages per second are finished.

    ``takes``: seconds that a message takes. ``ids``: the messages in progress in a poll.
    """
    track = TrendTrack()
    return [
        track.record_poll(
            1000.0 + second,
            0.0,
            None,
            working=2 * takes(second),
            finished_per_s=2.0,
            popped_per_s=2.0,
            ids=ids(second),
        )[1]
        for second in range(1200)
    ]


def test_messages_that_all_take_longer_are_a_verdict_with_the_connections_of_the_consumers() -> None:
    found = times(lambda second: 0.05 if second < 600 else 0.5, lambda second: {str(second): 1})
    (first, *_) = (second for second, slower in enumerate(found) if slower is not None and slower.is_sure)
    assert first < 600 + 75
    assert all(slower is not None and slower.is_sure for slower in found[first:]), "also while a minute begins"
    slower = found[-1]
    assert slower is not None
    assert (slower.before_s, slower.now_s) == pytest.approx((0.05, 0.5), rel=0.2)
    assert slower.since_at == pytest.approx(1600.0, abs=60.0)

    def proof(*starts: float | None) -> str:
        sessions = tuple(replace(client(session, 1.0), started_at=start) for session, start in enumerate(starts))
        consumers = ClientsSeen(len(sessions), 0, "routine", sessions=sessions)
        given = replace(FINE, queue=replace(FINE.queue, slower=slower, consumers=consumers))
        _, spans = judge_queue(given, 0.0, {})
        return next(each.proof for each in judge_queue(given, 5.0, spans)[0] if each.code == "messages take longer")

    assert proof() == proof(1500.0, 1590.0) == proof(1590.0, None) == slower.text
    since = time_of_day(1590.0)
    assert proof(1595.0, 1590.0) == FlowText.CONSUMERS_NEW.render(slower=slower.text, since=since)


@pytest.mark.parametrize(
    ("takes", "ids"),
    [
        (lambda second: 0.05 if second < 600 else 0.55, lambda second: {str(second) if second < 600 else "7": 1}),
        (lambda second: 0.05 if second < 600 else 0.5, lambda _: None),
        (lambda second: 0.1 if second < 600 else 0.45, lambda second: {str(second): 1}),
        (lambda second: 0.001 if second < 600 else 0.01, lambda _: {}),
    ],
    ids=["a single message", "messages are unknown", "less than five times", "seen too rarely"],
)
def test_other_slowdowns_are_no_verdict(
    takes: Callable[[int], float], ids: Callable[[int], Mapping[str, int] | None]
) -> None:
    for slower in times(takes, ids):
        given = replace(FINE, queue=replace(FINE.queue, slower=slower))
        _, spans = judge_queue(given, 0.0, {})
        assert "messages take longer" not in {verdict.code for verdict in judge_queue(given, 60.0, spans)[0]}


def test_the_verdict_and_the_forecast_tell_of_the_leak() -> None:
    rise, slower = Rise(600, 5876, 8.0, 960.0, 3600.0), Slower(0.05, 2.5, 0.0)
    given = replace(FINE, ready=Figure(5876.0), net_rate=0.1, queue=replace(FINE.queue, rise=rise, slower=slower))
    _, spans = judge_queue(given, 0.0, {})
    (verdict,), _ = judge_queue(given, 60.0, spans)
    assert verdict.code == "consumers fall behind"
    assert verdict.proof.startswith(
        FlowText.READY_ROSE.render(
            before=600,
            now=5876,
            ages=FlowText.AGES.render(before="8.0 s", now="16 m 00 s"),
            over="1 h 00 m",
        )
        + "; "
    )
    assert has(verdict.proof, TrendText.EACH_TAKES, now="2.5 s", before="50 ms")
    forecast = Forecast(Trend.DRAINING, 900.0, 10.0, -4.0, "drains in 15 m").or_growth_of_last_hour(rise)
    assert (forecast.trend, forecast.text) == (Trend.GROWING, ForecastText.GROWING.render(rate="1.5"))


def silences(pushes: Callable[[int], float | None], minutes: int) -> list[tuple[int, Silence | None]]:
    """Return the findings of each poll, every 2 s."""
    track = SilenceTrack()
    return [(second, track.record_poll(1000.0 + second, pushes(second))) for second in range(0, 60 * minutes, 2)]


def test_a_busy_queue_that_gets_nothing_is_silent_within_half_a_minute_until_it_gets_something() -> None:
    found = silences(lambda second: 0.0 if 900 < second < 1200 else 18.0, 25)
    silent = [second for second, silence in found if silence is not None]
    assert silent == list(range(silent[0], 1200, 2))
    assert 930 <= silent[0] <= 934
    silence = dict(found)[1100]
    assert silence is not None
    assert (silence.silent_s, silence.before_per_s) == pytest.approx((200.0, 9.0), rel=0.1)


def test_a_silence_goes_on_after_an_hour() -> None:
    found = dict(silences(lambda second: 0.0 if second > 900 else 18.0, 90))
    late = found[89 * 60]
    assert late is not None
    assert late.silent_s == pytest.approx(89 * 60 - 900, abs=2)


@pytest.mark.parametrize(
    "pushes",
    [
        lambda second: 40.0 if second % 300 < 20 else 0.0,
        lambda second: 1.0 if second % 50 == 0 and second < 1500 else 0.0,
        lambda second: 18.0 if second < 400 else 0.0,
        lambda second: None if 900 < second < 1300 else 18.0,
        lambda second: 0.0 if second % 120 >= 80 else 18.0,
    ],
    ids=["bursts", "rare", "not busy for long", "not known", "a break every two minutes"],
)
def test_what_is_no_silence_is_not_found(pushes: Callable[[int], float | None]) -> None:
    limit = 1540 if pushes(50) == 1.0 else 1800
    assert not [second for second, silence in silences(pushes, 30) if silence is not None and second < limit]


def test_fewer_pushes_towards_the_night_are_no_silence() -> None:
    dice = random.Random(7)
    for _ in range(20):
        found = silences(lambda second: float(dice.random() < 2 ** (-second / 600)), 120)
        assert not any(silence for _, silence in found)


def test_the_verdict_names_the_rollbacks() -> None:
    target = replace(FINE.target, rollbacks=7.2)
    given = replace(FINE, target=target, queue=replace(FINE.queue, silence=Silence(131.0, 9.5)))
    (verdict,), _ = judge_queue(given, 0.0, {})
    assert (verdict.code, verdict.proof) == (
        "no pushes",
        FlowText.NO_PUSHES.render(silent="2 m 11 s", before="9.5", rollbacks=FlowText.ROLLBACKS.render(rate=7.2)),
    )
