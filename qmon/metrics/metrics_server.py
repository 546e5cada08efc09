"""The HTTP server for Prometheus and dashboards. Requests cause no database queries."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
import ssl
import threading
import time
from collections.abc import Iterator, Sequence
from email.utils import formatdate
from http import HTTPStatus
from ipaddress import ip_address
from typing import Final

from prometheus_client.core import Metric as Family
from prometheus_client.exposition import choose_encoder
from prometheus_client.registry import Collector, CollectorRegistry

from qmon.errors import BadInput
from qmon.metrics.access import PasswordGate, Users
from qmon.metrics.connections import BACKLOG, BoundedListener, Client
from qmon.metrics.http_requests import Refused, Request, check_origin, read_request
from qmon.metrics.metric_list import METRICS
from qmon.metrics.target_readings import TargetReadings
from qmon.stream.sending import CLOCK_HEADER, STREAM_PATH, PollStream, stream_for

_LOG: Final = logging.getLogger(__name__)

# Seconds for a client to take an answer, or one line of a stream.
WRITE_S: Final = 10.0
_CLOSE_TIMEOUT_S: Final = 5.0
_TEXT: Final = "text/plain; charset=utf-8"

# Maximum clients that read streams.
MAX_STREAMS: Final = 32
_REFUSALS: Final = {
    401: "a name and a password are required",
    429: "too many wrong passwords from this address; try again in a minute",
    503: "too many password checks are pending; try again",
}


class ReadingsCollector(Collector):
    """Passes the readings of all targets to ``prometheus_client``."""

    def __init__(self, targets: Sequence[TargetReadings]) -> None:
        self._targets = tuple(targets)

    def collect(self) -> Iterator[Family]:
        """Yield all metrics with a known value."""
        families = {each.name: Family(each.name, each.help, each.type, each.unit) for each in METRICS}
        for target in self._targets:
            for metric, values, value in target.current_readings():
                name = f"{metric.name}_total" if metric.type == "counter" else metric.name
                families[metric.name].add_sample(name, dict(zip(metric.labels, values, strict=True)), value)
        yield from (family for family in families.values() if family.samples)


def registry_for(targets: Sequence[TargetReadings]) -> CollectorRegistry:
    """Return a ``prometheus_client`` registry for these targets."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(ReadingsCollector(targets))
    return registry


def parse_listen_address(listen: str, *, is_guarded: bool = False) -> tuple[str, int]:
    """Return host and port of ``127.0.0.1:9777`` or ``[::1]:9777``. Raises ``BadInput`` if it is invalid.

    ``is_guarded``: readers need an encrypted password. Otherwise only this machine's loopback addresses are accepted.
    """
    place, _, port = listen.rpartition(":")
    host = place.removeprefix("[").removesuffix("]")
    try:
        loopback, number = host == "localhost" or ip_address(host).is_loopback, int(port)
        if place != (f"[{host}]" if ":" in host else host):
            raise ValueError
    except ValueError:
        raise BadInput(f"--listen must be an address and a port, such as 127.0.0.1:9777, not {listen!r}") from None
    if not 0 <= number <= 65_535:
        raise BadInput(f"--listen: the port must be 0 to 65535, not {number}")
    if not loopback and not is_guarded:
        raise BadInput(
            f"--listen {listen}: access from other machines needs TLS and passwords: add --certificate, --key "
            "and --users"
        )
    return host, number


class MetricsServer:
    """Serves ``/metrics``, ``/stream``, ``/healthz`` and ``/readyz`` until closed.

    One thread serves all clients. Raises ``BadInput`` if the port is taken.

    Args:
        listen: address and port. Other than loopback addresses only with ``users`` and ``tls``.
        targets: the targets to serve.
        users: who may read metrics and target names. ``None``: everyone.
        tls: encrypts connections, unless it is ``None``.
        streams: the polls of the targets, for dashboards.
        hosts: names and addresses by which clients may reach this server, in addition to those it listens on.
    """

    def __init__(
        self,
        listen: str,
        targets: Sequence[TargetReadings],
        users: Users | None = None,
        tls: ssl.SSLContext | None = None,
        streams: Sequence[PollStream] = (),
        hosts: Sequence[str] = (),
    ) -> None:
        place = parse_listen_address(listen, is_guarded=users is not None and tls is not None)
        self._streams = streams
        try:
            family = socket.AF_INET6 if ":" in place[0] else socket.AF_INET
            listening = socket.create_server(place, family=family, backlog=BACKLOG)
        except OSError as problem:
            raise BadInput(f"--listen {listen}: {problem.strerror or problem}") from problem
        host, port = str(listening.getsockname()[0]), listening.getsockname()[1]
        self.url = f"{'http' if tls is None else 'https'}://{f'[{host}]' if ':' in host else host}:{port}/metrics"
        self._answers = _RequestHandler(targets, users, streams, frozenset(map(str.lower, hosts)))
        self._loop = asyncio.new_event_loop()
        self._serving = self._loop.create_task(
            BoundedListener(listening, tls, self._answers.serve_client).serve_forever()
        )
        self._thread = threading.Thread(target=self._run, name="qmon-metrics", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        with contextlib.closing(self._loop), contextlib.suppress(asyncio.CancelledError):
            self._loop.run_until_complete(self._serving)

    def close(self) -> None:
        """End the streams and close all connections."""
        for stream in self._streams:
            stream.close()
        self._answers.close()
        with contextlib.suppress(RuntimeError):  # the loop has ended
            self._loop.call_soon_threadsafe(self._serving.cancel)
        self._thread.join(_CLOSE_TIMEOUT_S)


class _RequestHandler:
    """Answers each request. Runs on the event loop's thread."""

    def __init__(
        self,
        targets: Sequence[TargetReadings],
        users: Users | None,
        streams: Sequence[PollStream],
        hosts: frozenset[str],
    ) -> None:
        self._targets = targets
        self._gate = PasswordGate(users) if users is not None else None
        self._streams = streams
        self._hosts = hosts
        self._registry = registry_for(targets)
        self._stream_readers = 0

    def close(self) -> None:
        if self._gate is not None:
            self._gate.close()

    async def serve_client(self, client: Client) -> None:
        """Read one request and answer it."""
        request: Request | None = None
        try:
            async with asyncio.timeout_at(client.deadline):
                request = await read_request(client.reader)
                await self._check_request(request, client)
        except Refused as refused:
            answer = _Response(refused.status, f"{refused.reason}\n".encode(), clock=True)
        else:
            if request.path == STREAM_PATH:
                await self._serve_stream(request, client)
                return
            answer = self._answer_request(request)
        await client.send_all(answer.bytes_for(request), WRITE_S)

    async def _check_request(self, request: Request, client: Client) -> None:
        """Raise ``Refused`` if this client may not have what it requests."""
        check_origin(request, client.local, self._hosts)
        if self._gate is None or request.path == "/healthz":
            return
        status = await self._gate.status_for(client.address, request.headers.get("authorization", ""))
        if status != 200:
            raise Refused(status, _REFUSALS[status])

    def _answer_request(self, request: Request) -> _Response:
        if request.path == "/healthz":
            return _Response(200, b"ok\n")
        if request.path == "/metrics":
            encode, content_type = choose_encoder(request.headers.get("accept", ""))
            return _Response(200, encode(self._registry), content_type)
        if request.path == "/readyz":
            polled = {target.name: target.is_live for target in self._targets}
            lines = (f"{name}: {'polled' if live else 'not polled'}\n" for name, live in polled.items())
            return _Response(200 if any(polled.values()) else 503, "".join(lines).encode())
        return _Response(404, b"/metrics, /stream, /healthz, /readyz\n")

    async def _serve_stream(self, request: Request, client: Client) -> None:
        """Send the lines of a stream until it ends or the client leaves. Drops a client that does not keep up."""
        try:
            stream = stream_for(self._streams, request.query)
        except BadInput as problem:
            await client.send_all(_Response(404, f"{problem}\n".encode(), clock=True).bytes_for(request), WRITE_S)
            return
        if self._stream_readers >= MAX_STREAMS:
            words = f"{MAX_STREAMS} clients are already connected, which is the limit\n".encode()
            await client.send_all(_Response(503, words, clock=True).bytes_for(request), WRITE_S)
            return
        self._stream_readers += 1
        client.is_kept = True
        try:
            await client.send_all(_Response(200, None, "application/jsonl", clock=True).bytes_for(request), WRITE_S)
            if request.method == "GET":
                async with contextlib.aclosing(stream.client_lines()) as lines:
                    async for line in lines:
                        await client.send_all(line, WRITE_S)
        except TimeoutError:
            _LOG.warning("%s: dropped the client at %s because it is too slow", stream.target, client.address)
            raise
        finally:
            self._stream_readers -= 1


class _Response:
    """An answer. ``body``: ``None`` if it follows until the connection is closed.

    ``clock``: include the clock by which polls are timed.
    """

    def __init__(self, status: int, body: bytes | None, content_type: str = _TEXT, *, clock: bool = False) -> None:
        self._body = body
        headers = {
            "Server": "qmon",
            "Date": formatdate(usegmt=True),
            "Connection": "close",
            "Content-Type": content_type,
            "X-Content-Type-Options": "nosniff",
        }
        if body is not None:
            headers["Content-Length"] = str(len(body))
        if status == 401:
            headers["WWW-Authenticate"] = 'Basic realm="qmon", charset="UTF-8"'
        if status == 405:
            headers["Allow"] = "GET, HEAD"
        if clock:
            headers[CLOCK_HEADER] = repr(time.monotonic())
        lines = [f"HTTP/1.1 {status} {HTTPStatus(status).phrase}", *(f"{name}: {headers[name]}" for name in headers)]
        self._head = "".join(f"{line}\r\n" for line in [*lines, ""]).encode("latin-1")

    def bytes_for(self, request: Request | None) -> bytes:
        """Return the bytes to send. A HEAD request gets no body."""
        bare = self._body is None or (request is not None and request.method == "HEAD")
        return self._head if bare else self._head + (self._body or b"")
