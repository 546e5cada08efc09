"""Serves HTTP at an address, on a separate thread, to clients that pass the checks of host, origin and password."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
import threading
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Final

from qmon.errors import BadInput
from qmon.metrics.access import PasswordGate, Users
from qmon.metrics.connections import BACKLOG, BoundedListener, ClientConnection
from qmon.metrics.http_requests import Refused, Request, Response, check_origin, read_request
from qmon.texts import Text


class ServerText(Text):
    """Why a server does not start, or refuses a request."""

    LOGIN_REQUIRED = "a name and a password are required"
    TOO_MANY_FAILURES = "too many wrong passwords from this address; try again in a minute"
    TOO_MANY_CHECKS = "too many password checks are pending; try again"
    NOT_AN_ADDRESS = "{option} must be an address and a port, such as 127.0.0.1:9777, not {address!r}"
    PORT = "{option}: the port must be 0 to 65535, not {port}"
    NEEDS_TLS = (
        "{option} {address}: access from other machines needs TLS and passwords: add --certificate, --key and --users"
    )
    CANNOT_LISTEN = "{option} {address}: {problem}"


# Maximum seconds that a client may take to read an answer, or one line of a stream.
WRITE_S: Final = 10.0
_CLOSE_TIMEOUT_S: Final = 5.0
_REFUSALS: Final = {
    401: ServerText.LOGIN_REQUIRED,
    429: ServerText.TOO_MANY_FAILURES,
    503: ServerText.TOO_MANY_CHECKS,
}

# A function that answers one request. It runs on the event loop's thread.
Answer = Callable[[Request, ClientConnection], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class AccessGuard:
    """The rules about which clients may read.

    ``users``: the users that may read; ``None``: everyone. ``tls``: encrypts connections, unless it is ``None``.
    ``hosts``: further names and addresses by which clients may reach the server, in addition to the addresses on which
    it listens.
    """

    users: Users | None = None
    tls: ssl.SSLContext | None = None
    hosts: Sequence[str] = ()


def parse_listen_address(listen: str, *, is_guarded: bool = False, option: str = "--listen") -> tuple[str, int]:
    """Return the host and port in ``127.0.0.1:9777`` or ``[::1]:9777``. Raises ``BadInput`` if the text is invalid.

    ``is_guarded``: readers need a password, and connections are encrypted. If not, only this machine's loopback
    addresses are accepted.
    """
    place, _, port = listen.rpartition(":")
    host = place.removeprefix("[").removesuffix("]")
    try:
        loopback, number = host == "localhost" or ip_address(host).is_loopback, int(port)
        if place != (f"[{host}]" if ":" in host else host):
            raise ValueError
    except ValueError:
        raise BadInput(ServerText.NOT_AN_ADDRESS.render(option=option, address=listen)) from None
    if not 0 <= number <= 65_535:
        raise BadInput(ServerText.PORT.render(option=option, port=number))
    if not loopback and not is_guarded:
        raise BadInput(ServerText.NEEDS_TLS.render(option=option, address=listen))
    return host, number


class GuardedServer:
    """Serves until closed. One thread serves all clients. Raises ``BadInput`` if another program uses the port.

    Args:
        option: the name of the option with the address, for messages.
        listen: address and port. Addresses other than loopback need users and TLS.
        guard: the rules about which clients may read.
        answer: answers a request that has passed the checks.
        public_paths: paths that need no password.
        allows_cross_site_links: whether links on pages of other sites may open pages of this server.

    Attributes:
        url: the address without a path.
    """

    def __init__(
        self,
        option: str,
        listen: str,
        guard: AccessGuard,
        answer: Answer,
        *,
        public_paths: Collection[str] = (),
        allows_cross_site_links: bool = False,
    ) -> None:
        place = parse_listen_address(listen, is_guarded=bool(guard.users and guard.tls), option=option)
        try:
            family = socket.AF_INET6 if ":" in place[0] else socket.AF_INET
            listening = socket.create_server(place, family=family, backlog=BACKLOG)
        except OSError as problem:
            raise BadInput(
                ServerText.CANNOT_LISTEN.render(option=option, address=listen, problem=problem.strerror or problem)
            ) from problem
        host, port = str(listening.getsockname()[0]), listening.getsockname()[1]
        scheme = "http" if guard.tls is None else "https"
        self.url = f"{scheme}://{f'[{host}]' if ':' in host else host}:{port}"
        self._gate = PasswordGate(guard.users) if guard.users is not None else None
        self._hosts = frozenset(map(str.lower, guard.hosts))
        self._answer = answer
        self._public_paths = public_paths
        self._allows_cross_site_links = allows_cross_site_links
        self._loop = asyncio.new_event_loop()
        self._serving = self._loop.create_task(
            BoundedListener(listening, guard.tls, self._serve_client).serve_forever()
        )
        self._thread = threading.Thread(target=self._run, name=f"qmon{option.removeprefix('-')}", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        with contextlib.closing(self._loop), contextlib.suppress(asyncio.CancelledError):
            self._loop.run_until_complete(self._serving)

    def close(self) -> None:
        """Close all connections."""
        if self._gate is not None:
            self._gate.close()
        with contextlib.suppress(RuntimeError):  # the event loop has ended
            self._loop.call_soon_threadsafe(self._serving.cancel)
        self._thread.join(_CLOSE_TIMEOUT_S)

    async def _serve_client(self, client: ClientConnection) -> None:
        """Read one request and answer it."""
        request: Request | None = None
        try:
            async with asyncio.timeout_at(client.deadline):
                request = await read_request(client.reader)
                await self._check_request(request, client)
        except Refused as refused:
            answer = Response(refused.status, f"{refused.reason}\n".encode(), clock=True)
            await client.send_all(answer.bytes_for(request), WRITE_S)
        else:
            await self._answer(request, client)

    async def _check_request(self, request: Request, client: ClientConnection) -> None:
        """Raise ``Refused`` if the client may not read the requested path."""
        check_origin(request, client.local, self._hosts, allows_cross_site_links=self._allows_cross_site_links)
        if self._gate is None or request.path in self._public_paths:
            return
        status = await self._gate.status_for(client.address, request.headers.get("authorization", ""))
        if status != 200:
            raise Refused(status, _REFUSALS[status])
