"""The HTTP server that Prometheus scrapes. A scrape reads memory only, so it costs the databases nothing."""

from __future__ import annotations

import logging
import socket
import ssl
import threading
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

_LOG: Final = logging.getLogger(__name__)
_CLIENT_S: Final = 10.0


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
    """Serves ``/metrics``, ``/healthz`` and ``/readyz`` until closed. Raises ``BadInput`` where the port is taken.

    Args:
        listen: address and port; other than this machine's own only with ``users`` and ``tls``.
        targets: what is served.
        users: who may read metrics and targets' names; without them everybody.
        tls: encrypts, where there is one.
    """

    def __init__(
        self,
        listen: str,
        targets: Sequence[TargetReadings],
        users: Users | None = None,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        registry = registry_of(targets)

        class Handler(BaseHTTPRequestHandler):
            timeout = _CLIENT_S

            def do_GET(self) -> None:
                path = self.path.partition("?")[0]
                if path == "/healthz":
                    self._answer(200, b"ok\n")
                elif users is not None and not users.allows(self.headers.get("Authorization", "")):
                    self._answer(401, b"a name and a password are needed\n")
                elif path == "/metrics":
                    encode, content_type = choose_encoder(self.headers.get("Accept", ""))
                    self._answer(200, encode(registry), content_type)
                elif path == "/readyz":
                    polled = {target.name: target.live for target in targets}
                    lines = (f"{name}: {'polled' if live else 'not polled'}\n" for name, live in polled.items())
                    self._answer(200 if any(polled.values()) else 503, "".join(lines).encode())
                else:
                    self._answer(404, b"/metrics, /healthz, /readyz\n")

            def _answer(self, code: int, body: bytes, content_type: str = "text/plain; charset=utf-8") -> None:
                self.send_response(code)
                self.send_header("Content-Type", content_type)
                self.send_header("Content-Length", str(len(body)))
                if code == 401:
                    self.send_header("WWW-Authenticate", 'Basic realm="qmon", charset="UTF-8"')
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: object) -> None:
                """Scrapes are not logged."""

        try:
            self._server = _Server(address(listen, guarded=users is not None and tls is not None), Handler, tls)
        except OSError as problem:
            raise BadInput(f"--listen {listen}: {problem.strerror or problem}") from problem
        host, port = str(self._server.server_address[0]), self._server.server_address[1]
        place = f"[{host}]" if ":" in host else host
        self.url = f"{'http' if tls is None else 'https'}://{place}:{port}/metrics"
        self._thread = threading.Thread(target=self._server.serve_forever, name="qmon-metrics", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """End; what is being answered is left to itself."""
        self._server.shutdown()
        self._server.server_close()


class _Server(ThreadingHTTPServer):
    """With TLS the handshake is made by the thread of the request: who is slow there holds up nobody else."""

    def __init__(
        self, place: tuple[str, int], handler: type[BaseHTTPRequestHandler], tls: ssl.SSLContext | None
    ) -> None:
        self.tls = tls
        self.address_family = socket.AF_INET6 if ":" in place[0] else socket.AF_INET
        super().__init__(place, handler)

    def get_request(self) -> tuple[socket.socket, Any]:
        connection, client = super().get_request()
        if self.tls is None:
            return connection, client
        return self.tls.wrap_socket(connection, server_side=True, do_handshake_on_connect=False), client

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that goes away, or speaks no TLS, is no matter for standard error."""
        _LOG.debug("the metrics were asked for in vain by %s", client_address, exc_info=True)
