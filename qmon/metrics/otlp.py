"""Sends metrics to OpenTelemetry by OTLP over HTTP: the same metrics and values as served, with the same omissions.

The format is OTLP 1.x, https://opentelemetry.io/docs/specs/otlp/: cumulative sums with their start, and gauges.
"""

from __future__ import annotations

import gzip
import ipaddress
import logging
import os
import socket
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Final
from urllib.parse import unquote, urlsplit

from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.metrics.v1.metrics_pb2 import AggregationTemporality, Metric, NumberDataPoint

from qmon import __version__
from qmon.errors import BadInput
from qmon.metrics.metric_list import METRICS
from qmon.metrics.metric_list import Metric as Listed
from qmon.metrics.target_readings import TargetReadings
from qmon.monitor.notify.web import post_request

_LOG: Final = logging.getLogger(__name__)

# The environment variable with headers to send, as `name=value,name=value`, values percent-encoded.
HEADERS: Final = "OTEL_EXPORTER_OTLP_HEADERS"
_PATH: Final = "/v1/metrics"
_TIMEOUT_S: Final = 10.0
_LONGEST_WAIT_S: Final = 300.0
_CLOSE_S: Final = 2.0

# Units as UCUM, which OpenTelemetry requires.
_UNITS: Final = {"": "1", "ratio": "1", "seconds": "s", "bytes": "By", "messages": "{message}", "sessions": "{session}"}

Series = tuple[str, tuple[str, ...]]


def endpoint_url(url: str, headers: Mapping[str, str]) -> str:
    """Return the URL to post to, adding the path if it is missing. Raises ``BadInput`` for an unusable URL."""
    try:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.port == 0:
            raise ValueError
    except ValueError:
        raise BadInput("--otlp must be the URL of a collector, such as http://127.0.0.1:4318") from None
    if parts.username is not None or parts.password is not None or parts.query or parts.fragment:
        raise BadInput(f"--otlp: the URL may have only an address and a path; put secrets into {HEADERS}")
    if headers and parts.scheme == "http" and not _is_local(parts.hostname):
        raise BadInput(f"--otlp: {HEADERS} would be sent unencrypted; use https://")
    return url.rstrip("/") + ("" if parts.path.strip("/") else _PATH)


def read_headers(environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return the headers set in the environment. Raises ``BadInput`` for an invalid one, without showing it."""
    found: dict[str, str] = {}
    for pair in filter(None, (each.strip() for each in environment.get(HEADERS, "").split(","))):
        name, is_there, value = pair.partition("=")
        name, value = name.strip(), unquote(value.strip())
        if not (
            is_there and name.replace("-", "").replace("_", "").isalnum() and name.isascii() and value.isprintable()
        ):
            raise BadInput(f"{HEADERS} must be name=value pairs separated by commas")
        found[name] = value
    return found


def _is_local(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class RequestBuilder:
    """Builds export requests from current readings. ``wall``: seconds since the epoch."""

    def __init__(self, targets: Sequence[TargetReadings], wall: Callable[[], float] = time.time) -> None:
        self._targets, self._wall = tuple(targets), wall
        self._totals: dict[Series, tuple[int, float]] = {}
        self._made_ns = int(wall() * 1e9)

    def build_request(self) -> ExportMetricsServiceRequest:
        """Return one request with all current readings."""
        now_ns = int(self._wall() * 1e9)
        metrics = {each.name: _empty_metric(each) for each in METRICS}
        for target in self._targets:
            for metric, values, value in target.current_readings():
                labels = zip(metric.labels, values, strict=True)
                point = NumberDataPoint(
                    time_unix_nano=now_ns,
                    as_double=value,
                    attributes=[
                        KeyValue(key=key, value=AnyValue(string_value=_valid_utf8(text))) for key, text in labels
                    ],
                )
                if metric.type == "counter":
                    point.start_time_unix_nano = self._series_start((metric.name, values), value, now_ns)
                    metrics[metric.name].sum.data_points.append(point)
                else:
                    metrics[metric.name].gauge.data_points.append(point)
        request = ExportMetricsServiceRequest()
        of_us = request.resource_metrics.add()
        for key, text in (
            ("service.name", "qmon"),
            ("service.version", __version__),
            ("service.instance.id", socket.gethostname()),
        ):
            of_us.resource.attributes.append(KeyValue(key=key, value=AnyValue(string_value=text)))
        scope = of_us.scope_metrics.add()
        scope.scope.name, scope.scope.version = "qmon", __version__
        scope.metrics.extend(each for each in metrics.values() if each.sum.data_points or each.gauge.data_points)
        return request

    def _series_start(self, series: Series, value: float, now_ns: int) -> int:
        """Return the start of a total in nanoseconds: the start of qmon, or when the total was last seen to restart."""
        since, before = self._totals.get(series, (self._made_ns, value))
        if value < before:
            since = now_ns
        self._totals[series] = (since, value)
        return since


def _empty_metric(listed: Listed) -> Metric:
    metric = Metric(name=listed.name, description=listed.help, unit=_UNITS[listed.unit])
    if listed.type == "counter":
        metric.sum.is_monotonic = True
        metric.sum.aggregation_temporality = AggregationTemporality.AGGREGATION_TEMPORALITY_CUMULATIVE
    return metric


def _valid_utf8(text: str) -> str:
    """Return the text as valid UTF-8. Names of queues may contain lone surrogates."""
    return text.encode("utf-8", "replace").decode()


class OtlpSender:
    """Posts every ``every_s`` seconds on its own thread, until closed.

    Rejected requests are not stored: the next one has all readings of its time, and totals continue. A failing or
    hanging collector causes one log line when this begins and one when it ends. Raises ``BadInput`` for an unusable
    URL.
    """

    def __init__(
        self, url: str, targets: Sequence[TargetReadings], every_s: float, *, timeout_s: float = _TIMEOUT_S
    ) -> None:
        own = read_headers()
        self._url = endpoint_url(url, own)
        self._headers = own | {
            "Content-Type": "application/x-protobuf",
            "Content-Encoding": "gzip",
            "User-Agent": f"qmon/{__version__}",
        }
        self._requests, self._every_s, self._timeout_s = RequestBuilder(targets), every_s, timeout_s
        self._failing = ""
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name="qmon-otlp", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop. Waits at most two seconds for a running request."""
        self._closing.set()
        self._thread.join(_CLOSE_S)

    def _run(self) -> None:
        wait_s = self._every_s
        while not self._closing.wait(wait_s):
            body = gzip.compress(self._requests.build_request().SerializeToString(), 1)
            answer = post_request(self._url, body, self._headers, self._timeout_s)
            wait_s = max(self._every_s, min(answer.after_s or 0.0, _LONGEST_WAIT_S))
            if answer.problem and answer.problem != self._failing:
                _LOG.warning("--otlp: the collector %s", answer.problem)
            elif self._failing and not answer.problem:
                _LOG.warning("--otlp: the collector accepts metrics again")
            self._failing = answer.problem
