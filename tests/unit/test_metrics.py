"""Metrics: those served for a view, absent ones, and totals that never fall."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from prometheus_client.openmetrics.exposition import generate_latest
from prometheus_client.openmetrics.parser import text_string_to_metric_families
from prometheus_client.registry import CollectorRegistry

from qmon import bundled
from qmon.errors import BadInput
from qmon.metrics.guarded_server import parse_listen_address
from qmon.metrics.metric_list import AGE, AT_LEAST, METRICS, POLL_AGE, UP, VERDICT
from qmon.metrics.metrics_server import ReadingsCollector
from qmon.metrics.target_readings import TargetReadings
from qmon.metrics.textfile import TextfileText, TextFileWriter
from qmon.model.figure import Severity, Verdict
from qmon.model.rates.flow import MovedMessages
from qmon.model.samples.broker_samples import BrokerQueueSample
from qmon.model.service_broker import BrokerQueue, BrokerView
from qmon.model.standby import Standby
from qmon.monitor.source import Phase, SourceState
from qmon.monitor.state.queue_track import RATES_FOLLOW
from tests.facts import wait_until
from tests.needs import posix
from tests.tui.scripted import TAKEN_AT, Clock, figure, queue, view
from tests.wordings import pattern

NAME = 'a "b"\\c\n[d]'
Key = tuple[str, ...]


def scraped(readings: TargetReadings) -> dict[Key, float]:
    """Return the values that a scraper reads, by name, queue and figure."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(ReadingsCollector([readings]))
    text = generate_latest(registry).decode()  # type: ignore[no-untyped-call]
    families = text_string_to_metric_families(text)  # type: ignore[no-untyped-call]
    return {
        (sample.name, *(sample.labels[each] for each in ("queue", "figure") if each in sample.labels)): sample.value
        for family in families
        for sample in family.samples
    }


def test_what_is_unknown_or_old_is_absent_and_a_lower_bound_is_marked() -> None:
    readings = TargetReadings("orders-prod", Clock())
    old = replace(figure(4.0), old=True, age_s=90.0)
    of_a_part = figure(0.0).as_lower_bound("row level security")
    one = queue(NAME, ready=figure(7.0, at_least=True), in_progress=figure(None, "not read"), stuck=old)
    readings.record_view(view([replace(one, dead=of_a_part, moved=None)]))
    found = scraped(readings)
    assert found["qmon_queue_ready_messages", NAME] == 7.0
    assert found[AT_LEAST.name, NAME, "ready"] == 1.0
    assert found[AGE.name, NAME, "ready"] == pytest.approx(0.4)
    absent = {f"qmon_queue_{name}_messages" for name in ("in_progress", "stuck", "dead")}
    assert not {key[0] for key in found} & {*absent, "qmon_queue_pushed_messages_total"}


def test_totals_never_fall_and_nothing_is_counted_twice() -> None:
    readings = TargetReadings("orders-prod", Clock())
    polls = (MovedMessages(10.0, 6.0, None), None, MovedMessages(-1.0, 2.0, None), MovedMessages(5.0, 0.0, None))
    totals = []
    for moved in polls:
        readings.record_view(view([replace(queue("q"), moved=moved)]))
        found = scraped(readings)
        totals.append((found["qmon_queue_pushed_messages_total", "q"], found["qmon_queue_popped_messages_total", "q"]))
    assert totals == [(10.0, 6.0), (10.0, 6.0), (10.0, 8.0), (14.0, 8.0)], "a decrease is made up for first"
    assert ("qmon_queue_completed_messages_total", "q") not in scraped(readings)


def test_a_counter_begins_at_0_before_anything_moves_and_only_where_it_will_be_known() -> None:
    readings = TargetReadings("orders-prod", Clock())
    first = replace(
        queue("q"), moved=None, push_rate=figure(None, min(RATES_FOLLOW)), complete_rate=figure(None, "no column")
    )
    readings.record_view(view([first]))
    found = scraped(readings)
    assert found["qmon_queue_pushed_messages_total", "q"] == 0.0
    assert ("qmon_queue_completed_messages_total", "q") not in found


def test_a_counter_is_absent_while_it_is_not_known_whether_anything_moves_and_goes_on_afterwards() -> None:
    readings = TargetReadings("orders-prod", Clock())
    pushed = ("qmon_queue_pushed_messages_total", "q")
    moved = replace(queue("q"), moved=MovedMessages(3.0, 1.0, 1.0))
    uncounted = replace(queue("q", push=None), moved=None)
    found = []
    for each in (moved, uncounted, replace(uncounted, push_rate=figure(None, min(RATES_FOLLOW))), moved):
        readings.record_view(view([each]))
        found.append(scraped(readings).get(pushed))
    assert found == [3.0, None, 3.0, 6.0]
    now = view([moved])
    readings.record_view(replace(now, server=replace(now.server, standby=Standby(0.0, False))))
    assert pushed not in scraped(readings)


def test_of_a_lost_or_silent_target_only_that_it_is_and_the_age_of_its_last_poll_are_served() -> None:
    clock = Clock()
    readings = TargetReadings("orders-prod", clock)
    assert scraped(readings) == {(UP.name,): 0.0}
    moved = replace(queue("q"), moved=MovedMessages(3.0, 1.0, 1.0))
    readings.record_view(view([moved]))
    assert scraped(readings)[UP.name,] == 1.0
    assert readings.is_live
    readings.record_event(SourceState("orders-prod", Phase.LOST, "gone"))
    assert set(scraped(readings)) == {(UP.name,), (POLL_AGE.name,)}
    readings.record_view(view([moved]))
    assert scraped(readings)["qmon_queue_pushed_messages_total", "q"] == 6.0, "the total continues from its last value"
    clock.now = TAKEN_AT + 60.0
    assert set(scraped(readings)) == {(UP.name,), (POLL_AGE.name,)}
    assert not readings.is_live


def test_names_follow_the_conventions_and_the_manual_has_each() -> None:
    folder = bundled.bundled_folder("docs")
    assert folder is not None
    page = (folder / "metrics.md").read_text("utf-8")
    for metric in METRICS:
        assert not metric.unit or metric.name.endswith(f"_{metric.unit}")
        name = metric.name + "_total" * (metric.type == "counter")
        assert f"| `{name}` | {metric.type} | {', '.join(metric.labels)} | {metric.help} |" in page
    assert page.count("| `qmon_") == len(METRICS) == len({metric.name for metric in METRICS})


@pytest.mark.parametrize(
    "listen", ["0.0.0.0:9777", "192.0.2.1:80", "9777", "127.0.0.1", "127.0.0.1:x", "::1:9777", "localhost:-1"]
)
def test_other_addresses_are_refused(listen: str) -> None:
    with pytest.raises(BadInput, match="--listen"):
        parse_listen_address(listen)
    assert parse_listen_address("127.0.0.1:9777") == ("127.0.0.1", 9777)
    assert parse_listen_address("[::1]:9777") == ("::1", 9777)


@posix  # prometheus_client replaces it depending on os.name, which is not simulated
def test_a_file_for_node_exporter_is_what_is_known_and_goes_with_us(tmp_path: Path) -> None:
    readings, path = TargetReadings("orders-prod", Clock()), tmp_path / "qmon.prom"
    for wrong, fault in (
        (tmp_path / "qmon.txt", TextfileText.ENDS_IN_PROM),
        (tmp_path / "none" / "qmon.prom", TextfileText.UNWRITABLE),
    ):
        with pytest.raises(BadInput, match=pattern(fault, path=wrong)):
            TextFileWriter(wrong, [readings], 0.01)
    file = TextFileWriter(path, [readings], 0.01)
    assert 'qmon_target_up{target="orders-prod"} 0.0' in path.read_text()
    readings.record_view(view([queue(NAME, ready=figure(7.0))]))
    wait_until(lambda: "qmon_queue_ready_messages{" in path.read_text(), 30.0, what="the figures in the file")
    file.close()
    assert list(tmp_path.iterdir()) == []


def test_verdicts_of_service_broker_are_served_each_once() -> None:
    off = BrokerQueueSample(501, "dbo", "q", 12, True, False, True, "", 5, True)
    found = Verdict("queue disabled", "receive is off", Severity.CRITICAL)
    broker = BrokerView(
        (BrokerQueue(off, None, figure(12.0), found),), figure(None, "not read"), None, None, None, False, 0.0
    )
    readings, one = TargetReadings("orders-prod", Clock()), view([replace(queue("dbo.q"), verdicts=(found,))])
    readings.record_view(replace(one, server=replace(one.server, broker=broker)))
    assert [reading[1:] for reading in readings.current_readings() if reading[0] is VERDICT] == [
        (("orders-prod", "dbo.q", "queue disabled", "critical"), 1.0),
        (("orders-prod", "sys.transmission_queue", "cannot tell", "notice"), 1.0),
    ]


@pytest.mark.parametrize(("interval_s", "fresh_s"), [(1.0, 10.0), (20.0, 60.0)])
def test_figures_are_served_for_ten_seconds_or_three_polls(interval_s: float, fresh_s: float) -> None:
    clock = Clock()
    readings = TargetReadings("orders-prod", clock)
    readings.record_view(replace(view(), interval_s=interval_s))
    clock.now = TAKEN_AT + fresh_s
    assert readings.is_live
    clock.now += 0.1
    assert not readings.is_live
