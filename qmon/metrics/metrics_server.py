"""The HTTP server for Prometheus and dashboards. Requests cause no database queries."""

from __future__ import annotations

import contextlib
import logging
import ssl
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, Protocol

from prometheus_client.core import Metric as Family
from prometheus_client.exposition import choose_encoder
from prometheus_client.registry import Collector, CollectorRegistry

from qmon.errors import BadInput
from qmon.metrics.access import Users
from qmon.metrics.connections import ClientConnection
from qmon.metrics.guarded_server import WRITE_S, AccessGuard, GuardedServer
from qmon.metrics.http_requests import Request, Response
from qmon.metrics.metric_list import METRICS, Metric
from qmon.metrics.target_readings import TargetReadings
from qmon.stream.sending import STREAM_PATH, PollStream, stream_for
from qmon.texts import Text

_LOG: Final = logging.getLogger(__name__)

# Maximum number of clients that read streams.
MAX_STREAMS: Final = 32


class StreamLimitText(Text):
    """Why a stream is refused."""

    TOO_MANY = "{count} clients are already connected, which is the limit"


class Readings(Protocol):
    """Something with metrics: a target, or the lakes."""

    def current_readings(self) -> Iterable[tuple[Metric, tuple[str, ...], float]]:
        """Return the metrics with a known value, with the values of their labels."""


class ReadingsCollector(Collector):
    """Provides the readings of all targets and lakes to ``prometheus_client``."""

    def __init__(self, targets: Sequence[Readings]) -> None:
        self._targets = tuple(targets)

    def collect(self) -> Iterator[Family]:
        """Yield all metrics with a known value."""
        families = {each.name: Family(each.name, each.help, each.type, each.unit) for each in METRICS}
        for target in self._targets:
            for metric, values, value in target.current_readings():
                name = f"{metric.name}_total" if metric.type == "counter" else metric.name
                families[metric.name].add_sample(name, dict(zip(metric.labels, values, strict=True)), value)
        yield from (family for family in families.values() if family.samples)


def registry_for(targets: Sequence[Readings]) -> CollectorRegistry:
    """Return a ``prometheus_client`` registry for these targets and lakes."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(ReadingsCollector(targets))
    return registry


class MetricsServer:
    """Serves ``/metrics``, ``/stream``, ``/healthz`` and ``/readyz`` until closed.

    Raises ``BadInput`` if another program uses the port.

    Args:
        listen: address and port. Addresses other than loopback need ``users`` and ``tls``.
        targets: the targets to serve.
        users: the users that may read metrics and target names. ``None``: everyone.
        tls: encrypts connections, unless it is ``None``.
        streams: the polls of the targets, for dashboards.
        hosts: further names and addresses by which clients may reach this server, in addition to the addresses on which
            it listens.
        lakes: the lakes that read the recordings of the targets.
    """

    def __init__(
        self,
        listen: str,
        targets: Sequence[TargetReadings],
        users: Users | None = None,
        tls: ssl.SSLContext | None = None,
        streams: Sequence[PollStream] = (),
        hosts: Sequence[str] = (),
        lakes: Sequence[Readings] = (),
    ) -> None:
        self._streams = streams
        handler = _RequestHandler(targets, streams, lakes)
        guard = AccessGuard(users, tls, hosts)
        self._server = GuardedServer("--listen", listen, guard, handler.answer, public_paths=("/healthz",))
        self.url = f"{self._server.url}/metrics"

    def close(self) -> None:
        """End the streams and close all connections."""
        for stream in self._streams:
            stream.close()
        self._server.close()


class _RequestHandler:
    """Answers each request. Runs on the event loop's thread."""

    def __init__(
        self, targets: Sequence[TargetReadings], streams: Sequence[PollStream], lakes: Sequence[Readings]
    ) -> None:
        self._targets = targets
        self._streams = streams
        self._registry = registry_for([*targets, *lakes])
        self._stream_readers = 0

    async def answer(self, request: Request, client: ClientConnection) -> None:
        """Answer a request that has passed the checks."""
        if request.path == STREAM_PATH:
            await self._serve_stream(request, client)
        else:
            await client.send_all(self._answer_request(request).bytes_for(request), WRITE_S)

    def _answer_request(self, request: Request) -> Response:
        if request.path == "/healthz":
            return Response(200, b"ok\n")
        if request.path == "/metrics":
            encode, content_type = choose_encoder(request.headers.get("accept", ""))
            return Response(200, encode(self._registry), content_type)
        if request.path == "/readyz":
            polled = {target.name: target.is_live for target in self._targets}
            lines = (f"{name}: {'polled' if live else 'not polled'}\n" for name, live in polled.items())
            return Response(200 if any(polled.values()) else 503, "".join(lines).encode())
        return Response(404, b"/metrics, /stream, /healthz, /readyz\n")

    async def _serve_stream(self, request: Request, client: ClientConnection) -> None:
        """Send the lines of a stream until it ends or the client disconnects. Drop a client that reads too slowly."""
        try:
            stream = stream_for(self._streams, request.query)
        except BadInput as problem:
            await client.send_all(Response(404, f"{problem}\n".encode(), clock=True).bytes_for(request), WRITE_S)
            return
        if self._stream_readers >= MAX_STREAMS:
            words = f"{StreamLimitText.TOO_MANY.render(count=MAX_STREAMS)}\n".encode()
            await client.send_all(Response(503, words, clock=True).bytes_for(request), WRITE_S)
            return
        self._stream_readers += 1
        client.is_kept = True
        try:
            await client.send_all(Response(200, None, "application/jsonl", clock=True).bytes_for(request), WRITE_S)
            if request.method == "GET":
                async with contextlib.aclosing(stream.client_lines()) as lines:
                    async for line in lines:
                        await client.send_all(line, WRITE_S)
        except TimeoutError:
            _LOG.warning("%s: dropped the client at %s because it is too slow", stream.target, client.address)
            raise
        finally:
            self._stream_readers -= 1
