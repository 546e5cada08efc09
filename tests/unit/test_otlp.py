"""Metrics by OTLP, to a collector that decodes them, refuses, or hangs."""

from __future__ import annotations

import gzip
import logging
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest

from qmon.errors import BadInput
from qmon.metrics.metrics_server import registry_for
from qmon.metrics.otlp import HEADERS, OtlpSender, RequestBuilder, endpoint_url, read_headers
from qmon.metrics.target_readings import TargetReadings
from qmon.model.rates.flow import Flow
from tests.facts import wait_until
from tests.listener import Listener, listening
from tests.tui.scripted import Clock, figure, queue, view

pytestmark = pytest.mark.unit
NAME = 'a "b"\\c\n[d] 請求書 \ud800'
SHOWN = NAME.replace("\ud800", "?")
Points = dict[tuple[str, tuple[tuple[str, str], ...]], float]


def decoded(body: bytes) -> ExportMetricsServiceRequest:
    request = ExportMetricsServiceRequest()
    request.ParseFromString(gzip.decompress(body))
    return request


def points(request: ExportMetricsServiceRequest) -> Points:
    """Every value by the name Prometheus gives it, and its labels."""
    (of_us,) = request.resource_metrics
    found: Points = {}
    for metric in of_us.scope_metrics[0].metrics:
        name = f"{metric.name}_total" if metric.sum.data_points else metric.name
        for point in (*metric.sum.data_points, *metric.gauge.data_points):
            labels = tuple(sorted((each.key, each.value.string_value) for each in point.attributes))
            assert (name, labels) not in found
            found[name, labels] = point.as_double
    return found


def served(readings: TargetReadings) -> Points:
    """The same of what Prometheus scrapes."""
    return {
        (
            sample.name,
            tuple(sorted((key, text.replace("\ud800", "?")) for key, text in sample.labels.items())),
        ): sample.value
        for family in registry_for([readings]).collect()
        for sample in family.samples
    }


def known(pushed: float = 7.0) -> TargetReadings:
    """A target whose queue has a lower bound, something unknown, and pushes."""
    readings = TargetReadings("orders-prod", Clock())
    one = queue(NAME, ready=figure(7.0, at_least=True), in_progress=figure(None, "not read"))
    for moved in (None, pushed):
        flow = None if moved is None else Flow(moved, 0.0, None, moved)
        readings.record_view(view([replace(one, flow=flow)]))
    return readings


@contextmanager
def collector() -> Iterator[Listener]:
    with listening(decode=decoded) as listener:
        yield listener


def test_the_same_is_sent_as_is_served_and_what_is_unknown_is_absent() -> None:
    readings = known()
    sent, scraped = points(RequestBuilder([readings]).build_request()), served(readings)
    assert sent == scraped
    assert sent["qmon_queue_ready_messages", (("queue", SHOWN), ("target", "orders-prod"))] == 7.0
    assert sent["qmon_queue_pushed_messages_total", (("queue", SHOWN), ("target", "orders-prod"))] == 7.0
    assert "qmon_queue_in_progress_messages" not in {name for name, _ in sent}


def test_totals_say_since_when_they_count_and_begin_anew_where_they_fall() -> None:
    clock = Clock()
    targets = [known(7.0)]
    requests = RequestBuilder(targets, wall=clock)

    def pushed() -> Any:
        (found,) = [
            m for m in requests.build_request().resource_metrics[0].scope_metrics[0].metrics if "pushed" in m.name
        ]
        assert found.sum.is_monotonic and found.sum.aggregation_temporality == 2  # cumulative
        assert found.unit == "{message}"
        return found.sum.data_points[0]

    began = int(clock.now * 1e9)
    clock.now += 10
    assert (pushed().start_time_unix_nano, pushed().time_unix_nano) == (began, int(clock.now * 1e9))
    requests._targets = (known(3.0),)
    clock.now += 10
    assert (pushed().as_double, pushed().start_time_unix_nano) == (3.0, int(clock.now * 1e9))


def test_a_collector_that_refuses_and_hangs_gets_what_is_known_once_it_is_back(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.WARNING, "qmon.metrics.otlp")
    with collector() as listener:
        listener.answers.extend([503, 503, (429, {"Retry-After": "0"}), "hang", 400])
        sender = OtlpSender(listener.url(""), [known()], 0.02, timeout_s=0.3)
        try:
            wait_until(lambda: len(listener.taken) >= 2, what="it takes metrics again")
        finally:
            listener.released.set()
            sender.close()
        path, headers, _ = listener.seen[0]
        assert (path, headers["Content-Type"]) == ("/v1/metrics", "application/x-protobuf")
        assert points(listener.taken[0])["qmon_target_up", (("target", "orders-prod"),)] == 1.0
    said = [record.getMessage() for record in caplog.records]
    assert [line.split("collector ")[1].split(" ")[0] for line in said] == [
        "answered",
        "answered",
        "no",
        "answered",
        "accepts",
    ]
    assert "503" in said[0] and "429" in said[1] and "400" in said[3]


def test_headers_come_from_the_environment_and_are_in_no_line(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv(HEADERS, "Authorization=Bearer%20s3cret, x-tenant=7")
    with collector() as listener:
        listener.answers.append(401)
        sender = OtlpSender(listener.url("/otlp/v1/metrics"), [known()], 0.02)
        wait_until(lambda: listener.taken, what="it is taken")
        sender.close()
        path, sent, _ = listener.seen[0]
    headers = {name.lower(): value for name, value in sent.items()}
    assert (path, headers["authorization"], headers["x-tenant"]) == ("/otlp/v1/metrics", "Bearer s3cret", "7")
    assert "401" in caplog.text
    assert "s3cret" not in caplog.text


@pytest.mark.parametrize("url", ["", "collector:4318", "ftp://h/", "http://", "http://h:99999", "http://[::1"])
def test_what_is_no_url_of_a_collector(url: str) -> None:
    with pytest.raises(BadInput, match="--otlp must be the URL of a collector"):
        endpoint_url(url, {})


@pytest.mark.parametrize("url", ["https://anna:s3cret@h", "https://h/?key=s3cret", "https://h/#s3cret"])
def test_secrets_do_not_belong_into_the_url(url: str) -> None:
    with pytest.raises(BadInput, match=HEADERS) as refused:
        endpoint_url(url, {})
    assert "s3cret" not in str(refused.value)


def test_where_it_is_posted_to() -> None:
    assert endpoint_url("http://127.0.0.1:4318", {"a": "b"}) == "http://127.0.0.1:4318/v1/metrics"
    assert endpoint_url("https://h/", {"a": "b"}) == "https://h/v1/metrics"
    assert endpoint_url("https://h/own", {}) == "https://h/own"
    assert endpoint_url("http://collector:4318", {}) == "http://collector:4318/v1/metrics"
    with pytest.raises(BadInput, match="unencrypted"):
        endpoint_url("http://collector:4318", {"a": "b"})


@pytest.mark.parametrize("text", ["s3cret", "=s3cret", "a b=s3cret", "a=s3cret%0d%0aHost: x"])
def test_what_are_no_headers(text: str) -> None:
    with pytest.raises(BadInput, match="name=value") as refused:
        read_headers({HEADERS: text})
    assert "s3cret" not in str(refused.value)


def test_without_the_extra_one_line_says_what_adds_it() -> None:
    program = (
        "import sys; sys.modules['opentelemetry.proto.collector'] = None\n"
        "from qmon.cli import main\n"
        "sys.argv = ['qmon', 'serve', 'postgresql://h/d', '--otlp', 'http://127.0.0.1:1']; main()"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2, done.stderr
    assert "--otlp needs OpenTelemetry's messages" in done.stderr
    assert "opentelemetry-proto" in done.stderr
    assert len(done.stderr.splitlines()) == 1
