"""Accepts connections within limits, so that slow clients do not block other clients."""

from __future__ import annotations

import asyncio
import errno
import logging
import socket
import ssl
import sys
from collections.abc import Awaitable, Callable
from ipaddress import IPv6Address, ip_address
from typing import Final

from qmon import log, system

BACKLOG: Final = 1024

# Maximum seconds for TLS handshake, request line, headers and password check together.
REQUEST_S: Final = 10.0

# Maximum number of connections. The limit is lower if the process may open only a few files.
MAX_CONNECTIONS: Final = 512
MAX_PER_ADDRESS: Final = 128
_CLOSING_S: Final = 2.0
_OUT_OF_FILES: Final = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM})
_OUT_OF_FILES_S: Final = 0.05
_HEAD_BYTES: Final = 16 * 1024
_NETWORK_BITS: Final = 64
_LOG: Final = logging.getLogger(__name__)


class ClientConnection:
    """One accepted client connection.

    Args:
        accepted: the socket of the connection. Raises ``OSError`` if the client has already disconnected.
        deadline: the time when the request must be complete, on the event loop's clock.

    Attributes:
        address: the client's address without the port. An IPv6 network of 64 bits counts as one address.
        local: our address that the client connected to.
        reader: data from the client. Set after the TLS handshake.
        writer: data to the client. Set after the TLS handshake.
        task: the task that serves this client.
        is_kept: true if the connection has passed every check and reads a stream. Such a connection is never dropped to
            make room.
    """

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    task: asyncio.Task[None]

    def __init__(self, accepted: socket.socket, deadline: float) -> None:
        self.accepted = accepted
        self.transport: asyncio.WriteTransport | None = None
        self.deadline = deadline
        self.address = _address_group(accepted.getpeername()[0])
        self.local = str(accepted.getsockname()[0])
        self.is_kept = False

    async def send_all(self, data: bytes, seconds: float) -> None:
        """Send all of ``data``.

        Raises ``TimeoutError`` if the client reads too slowly, and ``OSError`` if the connection fails.
        """
        self.writer.write(data)
        async with asyncio.timeout(seconds):
            await self.writer.drain()


class BoundedListener:
    """Serves every connection of a listening socket.

    If an address with too many connections opens another connection, its oldest connection is dropped. If the listener
    is full, the oldest connection of the address with the most connections is dropped. So a client with many
    connections does not displace a client with one connection.

    Args:
        listening: the socket. It is closed at the end.
        tls: encrypts connections, unless it is ``None``.
        serve: answers one connection. If it raises a network error, only this connection ends.
    """

    def __init__(
        self, listening: socket.socket, tls: ssl.SSLContext | None, serve: Callable[[ClientConnection], Awaitable[None]]
    ) -> None:
        listening.setblocking(False)
        self._listening = listening
        self._tls = tls
        self._serve = serve
        self._max_connections = min(MAX_CONNECTIONS, system.max_open_files() // 2)
        # The connections of each address, oldest first.
        self._connections: dict[str, dict[ClientConnection, None]] = {}

    async def serve_forever(self) -> None:
        """Serve until this task is cancelled, then close all connections."""
        try:
            while True:
                await self._accept_connection()
        finally:
            self._listening.close()
            tasks = [connection.task for each in self._connections.values() for connection in each]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _accept_connection(self) -> None:
        loop = asyncio.get_running_loop()
        try:
            accepted = await self._accept_socket()
        except OSError as problem:
            if problem.errno in _OUT_OF_FILES:  # otherwise, the client has already disconnected
                self._drop_oldest(self._most_crowded_address())
                await asyncio.sleep(_OUT_OF_FILES_S)
            return
        try:
            connection = ClientConnection(accepted, loop.time() + REQUEST_S)
        except OSError:  # the client has disconnected
            accepted.close()
            return
        if self._droppable_count(connection.address) >= MAX_PER_ADDRESS:
            self._drop_oldest(connection.address)
        elif sum(map(len, self._connections.values())) >= self._max_connections:
            self._drop_oldest(self._most_crowded_address())
        self._connections.setdefault(connection.address, {})[connection] = None
        connection.task = loop.create_task(self._serve_connection(connection))
        # The code of the task cannot do this, because a task that is cancelled before it starts runs no code.
        connection.task.add_done_callback(lambda _: self._end_connection(connection))

    async def _accept_socket(self) -> socket.socket:
        """Wait for a client and return its socket. Raises ``OSError`` if there is none, or it has disconnected."""
        loop = asyncio.get_running_loop()
        if sys.platform == "win32":  # this event loop cannot wait until a socket is readable
            return (await loop.sock_accept(self._listening))[0]
        # If this task is cancelled just after `sock_accept` has accepted a client, the client's socket is lost. So only
        # wait here, and accept without another wait.
        readable = asyncio.Event()
        loop.add_reader(self._listening, readable.set)
        try:
            await readable.wait()
        finally:
            loop.remove_reader(self._listening)
        accepted, _ = self._listening.accept()
        accepted.setblocking(False)
        return accepted

    def _droppable_count(self, address: str) -> int:
        return sum(not connection.is_kept for connection in self._connections.get(address, ()))

    def _most_crowded_address(self) -> str:
        return max(self._connections, key=self._droppable_count, default="")

    def _drop_oldest(self, address: str) -> None:
        for connection in self._connections.get(address, ()):
            if not connection.is_kept:
                self._forget_connection(connection)
                connection.task.cancel()
                return

    def _forget_connection(self, connection: ClientConnection) -> None:
        found = self._connections.get(connection.address, {})
        found.pop(connection, None)
        if not found:
            self._connections.pop(connection.address, None)

    def _end_connection(self, connection: ClientConnection) -> None:
        self._forget_connection(connection)
        if connection.transport is not None:
            connection.transport.abort()
        else:
            connection.accepted.close()

    async def _serve_connection(self, connection: ClientConnection) -> None:
        loop = asyncio.get_running_loop()
        reader = asyncio.StreamReader(limit=_HEAD_BYTES)
        protocol = asyncio.StreamReaderProtocol(reader)
        try:
            async with asyncio.timeout_at(connection.deadline):
                transport, _ = await loop.connect_accepted_socket(
                    lambda: protocol,
                    connection.accepted,
                    ssl=self._tls,
                    ssl_shutdown_timeout=_CLOSING_S if self._tls else None,
                )
            connection.transport = transport
            # A write is complete when the system has accepted all data. The limit is not 0, because with TLS asyncio
            # would then wait although all data was sent.
            transport.set_write_buffer_limits(high=1, low=0)
            connection.reader = reader
            connection.writer = asyncio.StreamWriter(transport, protocol, reader, loop)
            await self._serve(connection)
            connection.writer.close()
            await connection.writer.wait_closed()
        except (OSError, EOFError) as problem:  # the client has disconnected, is too slow, or does not use TLS
            _LOG.debug("%s: %s", connection.address, problem)
        except Exception as problem:  # a bug in qmon must not end other connections
            log.report_defect(problem)


def _address_group(address: str) -> str:
    """Return the address, or the network that counts as one address.

    For IPv6, a network counts, because one machine can usually use all addresses of its network.
    """
    found = ip_address(address.partition("%")[0])
    if not isinstance(found, IPv6Address):
        return str(found)
    if found.ipv4_mapped is not None:
        return str(found.ipv4_mapped)
    return str(IPv6Address(int(found) >> _NETWORK_BITS << _NETWORK_BITS)) if not found.is_loopback else str(found)
