"""The HTTP server that Prometheus scrapes and dashboards read. Who asks costs the databases nothing."""

from __future__ import annotations

import contextlib
import logging
import socket
import ssl
import threading
import time
from collections.abc import Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_address
from typing import Any, Final

from prometheus_client.core import Metric as Family
from prometheus_client.exposition import choose_encoder
from prometheus_client.registry import Collector, CollectorRegistry

from qmon.errors import BadInput
from qmon.metrics.access import Users
from qmon.metrics.metrics import METRICS
from qmon.metrics.readings import TargetReadings
from qmon.stream.sending import CLOCK, PATH, Stream, stream_of

_LOG: Final = logging.getLogger(__name__)
_CLIENT_S: Final = 10.0
_TEXT: Final = "text/plain; charset=utf-8"
MOST_STREAMS: Final = 32
"""So many clients read streams at most."""


class Readings(Collector):
    """Hands what is known of all targets to ``prometheus_client``."""

    def __init__(self, targets: Sequence[TargetReadings]) -> None:
        self._targets = tuple(targets)

    def collect(self) -> Iterator[Family]:
        """All metrics of which something is known."""
        families = {each.name: Family(each.name, each.help, each.type, each.unit) for each in METRICS}
        for target in self._targets:
            for metric, values, value in target.now():
                name = f"{metric.name}_total" if metric.type == "counter" else metric.name
                families[metric.name].add_sample(name, dict(zip(metric.labels, values, strict=True)), value)
        yield from (family for family in families.values() if family.samples)


def registry_of(targets: Sequence[TargetReadings]) -> CollectorRegistry:
    """What ``prometheus_client`` writes of these."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(Readings(targets))
    return registry


def address(listen: str, *, guarded: bool = False) -> tuple[str, int]:
    """Host and port of ``127.0.0.1:9777`` or ``[::1]:9777``. Raises ``BadInput`` where it is none.

    ``guarded``: who reads needs a password, which is encrypted; else only this machine's own addresses are taken.
    """
    place, _, port = listen.rpartition(":")
    host = place.removeprefix("[").removesuffix("]")
    try:
        loopback, number = host == "localhost" or ip_address(host).is_loopback, int(port)
        if place != (f"[{host}]" if ":" in host else host):
            raise ValueError
    except ValueError:
        raise BadInput(f"--listen is an address and a port, such as 127.0.0.1:9777, not {listen!r}") from None
    if not 0 <= number <= 65_535:
        raise BadInput(f"--listen: a port is 0 to 65535, not {number}")
    if not loopback and not guarded:
        raise BadInput(
            f"--listen {listen}: other machines need TLS and a password: give --certificate, --key and --users"
        )
    return host, number


class MetricsServer:
    """Serves ``/metrics``, ``/stream``, ``/healthz`` and ``/readyz`` until closed.

    Raises ``BadInput`` where the port is taken.

    Args:
        listen: address and port; other than this machine's own only with ``users`` and ``tls``.
        targets: what is served.
        users: who may read metrics and targets' names; without them everybody.
        tls: encrypts, where there is one.
        streams: the polls of the targets, for dashboards.
    """

    def __init__(
        self,
        listen: str,
        targets: Sequence[TargetReadings],
        users: Users | None = None,
        tls: ssl.SSLContext | None = None,
        streams: Sequence[Stream] = (),
    ) -> None:
        place = address(listen, guarded=users is not None and tls is not None)
        self._streams = streams
        try:
            self._server = _Server(place, targets, users, tls, streams)
        except OSError as problem:
            raise BadInput(f"--listen {listen}: {problem.strerror or problem}") from problem
        host, port = str(self._server.server_address[0]), self._server.server_address[1]
        self.url = f"{'http' if tls is None else 'https'}://{f'[{host}]' if ':' in host else host}:{port}/metrics"
        self._thread = threading.Thread(target=self._server.serve_forever, name="qmon-metrics", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """End the streams; what else is being answered is left to itself."""
        for stream in self._streams:
            stream.close()
        self._server.shutdown()
        self._server.server_close()


class _Server(ThreadingHTTPServer):
    """With TLS the handshake is made by the thread of the request: who is slow there holds up nobody else."""

    def __init__(
        self, place: tuple[str, int], targets: Sequence[TargetReadings], users: Users | None,
        tls: ssl.SSLContext | None, streams: Sequence[Stream],
    ) -> None:  # fmt: skip
        self.targets, self.users, self.tls, self.streams = targets, users, tls, streams
        self.registry = registry_of(targets)
        self.free = threading.Semaphore(MOST_STREAMS)
        self.address_family = socket.AF_INET6 if ":" in place[0] else socket.AF_INET
        super().__init__(place, _Handler)

    def get_request(self) -> tuple[socket.socket, Any]:
        connection, client = super().get_request()
        if self.tls is None:
            return connection, client
        return self.tls.wrap_socket(connection, server_side=True, do_handshake_on_connect=False), client

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that goes away, or speaks no TLS, is no matter for standard error."""
        _LOG.debug("the metrics were asked for in vain by %s", client_address, exc_info=True)


class _Handler(BaseHTTPRequestHandler):
    """One request."""

    timeout = _CLIENT_S
    server: _Server

    def version_string(self) -> str:
        """The header ``Server``, without Python's version."""
        return "qmon"

    def do_HEAD(self) -> None:
        """As GET, without the body."""
        self.do_GET()

    def do_GET(self) -> None:
        """Answer it."""
        (path, _, query), users = self.path.partition("?"), self.server.users
        if path == "/healthz":
            self._answer(200, b"ok\n")
        elif users is not None and not users.allows(self.headers.get("Authorization", "")):
            self._answer(401, b"a name and a password are needed\n")
        elif path == "/metrics":
            encode, content_type = choose_encoder(self.headers.get("Accept", ""))
            self._answer(200, encode(self.server.registry), content_type)
        elif path == "/readyz":
            polled = {target.name: target.live for target in self.server.targets}
            lines = (f"{name}: {'polled' if live else 'not polled'}\n" for name, live in polled.items())
            self._answer(200 if any(polled.values()) else 503, "".join(lines).encode())
        elif path == PATH:
            self._answer_stream(query)
        else:
            self._answer(404, b"/metrics, /stream, /healthz, /readyz\n")

    def _answer_stream(self, query: str) -> None:
        """Write the lines of a stream until it or the client ends. A client that does not take them is dropped."""
        try:
            stream = stream_of(self.server.streams, query)
        except BadInput as problem:
            self._answer(404, f"{problem}\n".encode(), clock=True)
            return
        if not self.server.free.acquire(blocking=False):
            self._answer(503, f"{MOST_STREAMS} clients read streams already\n".encode(), clock=True)
            return
        try:
            self._begin(200, "application/jsonl", clock=True)
            if self.command == "HEAD":
                return
            with contextlib.closing(stream.lines()) as lines:
                for line in lines:
                    self.wfile.write(line)
        except TimeoutError:
            _LOG.warning("%s: a client at %s is too slow: dropped", stream.target, self.client_address[0])
        finally:
            self.server.free.release()

    def _answer(self, code: int, body: bytes, content_type: str = _TEXT, *, clock: bool = False) -> None:
        self._begin(code, content_type, len(body), clock=clock)
        if self.command != "HEAD":
            self.wfile.write(body)

    def _begin(self, code: int, content_type: str, length: int | None = None, *, clock: bool) -> None:
        """Write what stands before a body. ``clock``: with the time of the clock that polls are timed by."""
        self.send_response(code)
        self.send_header("Content-Type", content_type)
        if length is not None:
            self.send_header("Content-Length", str(length))
        if code == 401:
            self.send_header("WWW-Authenticate", 'Basic realm="qmon", charset="UTF-8"')
        if clock:
            self.send_header(CLOCK, repr(time.monotonic()))
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Scrapes are not logged."""
