"""Serves the dashboard to browsers: a page with a terminal, and a process of qmon for each viewer.

Each process reads the daemon's polls like ``qmon connect http://…``. The process reads from a server on a loopback
address. This server accepts only a generated password. The page uses the script, the style sheet and the protocol of
the library textual-serve. qmon does not use the library's server, because that server has no passwords, no TLS and no
limits, and starts programs through a shell.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import struct
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Coroutine, Sequence
from pathlib import Path
from typing import Any, Final, cast
from urllib.parse import parse_qsl, quote, unquote

from qmon import files
from qmon.cli.web.page import HEADERS, clamp_terminal_size, dashboard_page, driver_packet_for, page_files, target_list
from qmon.errors import BadInput
from qmon.metrics.access import generate_login
from qmon.metrics.connections import ClientConnection
from qmon.metrics.guarded_server import WRITE_S, AccessGuard, GuardedServer
from qmon.metrics.http_requests import Request, Response
from qmon.metrics.metrics_server import MetricsServer
from qmon.redact import environment_without_secrets
from qmon.stream.sending import PollStream
from qmon.system import install_command, require_posix
from qmon.texts import Text


class WebText(Text):
    """Why a dashboard cannot be served to browsers."""

    NEEDS_EXTRA = "--web needs a web server: {command}"
    LIMIT = "the limit of {count} connected browsers is reached; close one and try again\n"


try:
    import textual_serve  # noqa: F401
    from aiohttp import WSMsgType, web
except ModuleNotFoundError:
    raise BadInput(WebText.NEEDS_EXTRA.render(command=install_command("web"))) from None

_LOG: Final = logging.getLogger(__name__)

# Maximum number of viewers. Each viewer is a process.
MAX_VIEWERS: Final = 8

# Maximum size of a message from a browser. Only messages with pasted text are longer than a few bytes.
MAX_MESSAGE_BYTES: Final = 16 * 1024

# Maximum input from a viewer. Mouse movements produce about 4 kB/s.
_INPUT_BYTES_PER_S: Final = 20_000

_HEARTBEAT_S: Final = 15.0
_CLOSE_S: Final = 1.0
_SHUTDOWN_S: Final = 0.1
_UPGRADE_HEADERS: Final = ("host", "connection", "upgrade", "sec-websocket-key", "sec-websocket-version")
_ERROR_BYTES: Final = 2_000
_USER: Final = "viewer"
_LIMIT: Final = WebText.LIMIT.render(count=MAX_VIEWERS).encode()


class WebDashboard:
    """Serves the dashboard of each stream's target until it is closed. Raises ``BadInput`` if the port is taken.

    Args:
        listen: address and port. Addresses other than loopback need users and TLS.
        guard: who may open the page.
        streams: the polls of the targets.
        config: the configuration file for redaction, alerts and colours; ``None`` means the user's file.

    Attributes:
        url: the address of the page.
    """

    def __init__(self, listen: str, guard: AccessGuard, streams: Sequence[PollStream], config: Path | None) -> None:
        require_posix("--web")
        users, self._password = generate_login(_USER)
        self._config = str(files.resolve_user_path(config)) if config is not None else ""
        self._targets = [stream.target for stream in streams]
        self._files = page_files()
        self._viewers = 0
        self._source = MetricsServer("127.0.0.1:0", [], users, streams=streams)
        try:
            self._server = GuardedServer("--web", listen, guard, self._answer, allows_cross_site_links=True)
        except BadInput:
            self._source.close()
            raise
        self.url = f"{self._server.url}/"

    def close(self) -> None:
        """Close all connections and end the viewers' processes."""
        self._server.close()
        self._source.close()

    async def _answer(self, request: Request, client: ClientConnection) -> None:
        name = unquote(request.path.removeprefix("/ws/"))
        if request.path.startswith("/ws/") and name in self._targets:
            response = self._refuse_socket(request)
            if response is None:
                await self._serve_viewer(name, request, client)
                return
        else:
            response = self._page(request)
        await client.send_all(response.bytes_for(request), WRITE_S)

    def _page(self, request: Request) -> Response:
        if request.path in self._files:
            return Response(200, *self._files[request.path], more_headers=HEADERS)
        path = f"/view/{quote(self._targets[0])}" if request.path == "/" and len(self._targets) == 1 else request.path
        name = unquote(path.removeprefix("/view/"))
        if request.query:  # the page's script has parameters such as ping=URL
            return Response(404, b"this address takes no parameters\n", more_headers=HEADERS)
        if path == "/":
            body = target_list(self._targets)
        elif not path.startswith("/view/") or name not in self._targets:
            return Response(404, b"there is no such page\n", more_headers=HEADERS)
        elif self._viewers >= MAX_VIEWERS:
            return Response(503, _LIMIT, more_headers=HEADERS)
        else:
            body = dashboard_page(name)
        return Response(200, body, "text/html; charset=utf-8", more_headers=HEADERS)

    def _refuse_socket(self, request: Request) -> Response | None:
        """Return the answer to a request that gets no viewer, or ``None`` if the request gets a viewer."""
        if request.method != "GET" or request.headers.get("upgrade", "").lower() != "websocket":
            return Response(400, b"this address is for WebSockets\n")
        if "origin" not in request.headers:  # every browser sends an origin, and its value was checked
            return Response(403, b"the header Origin is missing\n")
        return Response(503, _LIMIT) if self._viewers >= MAX_VIEWERS else None

    async def _serve_viewer(self, name: str, request: Request, client: ClientConnection) -> None:
        """Let aiohttp handle the connection until the browser disconnects, the viewer ends or the task is cancelled."""
        started, finished = asyncio.Event(), asyncio.Event()

        async def handle(upgrade: web.BaseRequest) -> web.WebSocketResponse:
            started.set()
            socket = web.WebSocketResponse(
                timeout=_CLOSE_S, heartbeat=_HEARTBEAT_S, max_msg_size=MAX_MESSAGE_BYTES, compress=False
            )
            try:
                await socket.prepare(upgrade)
                await self._run_viewer(name, request.query, socket)
            finally:
                finished.set()
            return socket

        async def end() -> None:
            await server.shutdown(_SHUTDOWN_S)
            if started.is_set():
                await finished.wait()

        self._viewers += 1
        client.is_kept = True
        server = web.Server(handle, access_log=None)
        try:
            protocol, transport = server(), client.writer.transport
            transport.set_protocol(protocol)
            protocol.connection_made(transport)
            protocol.data_received(_head_for(request))
            async with asyncio.timeout(_CLOSE_S):  # if aiohttp refuses the request, ``handle`` never runs
                await started.wait()
            await finished.wait()
        finally:
            await _complete(end())
            self._viewers -= 1
        raise EOFError  # aiohttp owns the connection now, so the listener must drop it

    async def _run_viewer(self, name: str, query: str, socket: web.WebSocketResponse) -> None:
        """Run a viewer's process until it ends or the browser disconnects."""
        process = await self._start_process(name, query)
        output = asyncio.create_task(_send_output(process, socket))
        try:
            await _take_input(process, socket)
        finally:
            if process.returncode is None:
                process.kill()  # the process has no unsaved data
            with contextlib.suppress(TimeoutError):  # the browser may not read its data
                async with asyncio.timeout(_CLOSE_S * 2):
                    await asyncio.gather(output, return_exceptions=True)
            await process.communicate()

    async def _start_process(self, name: str, query: str) -> Process:
        """Start a viewer's process. It gets only two numbers from the request: the size of the terminal."""
        size = clamp_terminal_size(dict(parse_qsl(query))) or {"width": 80, "height": 24}
        environment = {
            key: value
            for key, value in environment_without_secrets(os.environ).items()
            if not key.startswith("TEXTUAL") and key != "LINES"
        }
        place = self._source.url.removeprefix("http://").removesuffix("/metrics")
        url = f"http://{_USER}@{place}/{quote(name, safe='')}"
        return await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", "-B", "-m", "qmon.cli.web.viewer", url, self._config),
            stdin=PIPE,
            stdout=PIPE,
            stderr=PIPE,
            env=environment
            | {
                "QMON_PASSWORD": self._password,
                "TEXTUAL_DRIVER": "qmon.tui.web_driver:WebDriver",
                "TEXTUAL_COLOR_SYSTEM": "truecolor",
                "COLUMNS": str(size["width"]),
                "ROWS": str(size["height"]),
            },
            start_new_session=True,  # so Ctrl-C reaches only the daemon
        )


def _head_for(request: Request) -> bytes:
    """Return the request line and the headers that aiohttp needs to upgrade a checked request."""
    lines = ["GET / HTTP/1.1", *(f"{name}: {request.headers.get(name, '')}" for name in _UPGRADE_HEADERS)]
    return "".join(f"{line}\r\n" for line in [*lines, ""]).encode("latin-1")


async def _complete(work: Coroutine[Any, Any, None]) -> None:
    """Run ``work`` to its end, even if the current task is cancelled in the meantime."""
    task = asyncio.ensure_future(work)
    while not task.done():
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.shield(task)


async def _take_input(process: Process, socket: web.WebSocketResponse) -> None:
    """Pass keys and sizes from the browser to the process until the browser disconnects."""
    stdin = cast(asyncio.StreamWriter, process.stdin)
    with contextlib.suppress(OSError):  # the process may have ended, or not read its input
        async for message in socket:
            if message.type is not WSMsgType.TEXT:  # the page only sends text
                break
            if packet := driver_packet_for(message.data):
                stdin.write(packet)
                async with asyncio.timeout(WRITE_S):
                    await stdin.drain()
            await asyncio.sleep((len(message.data) + 1) / _INPUT_BYTES_PER_S)


async def _send_output(process: Process, socket: web.WebSocketResponse) -> None:
    """Send the output of the process, then close the socket. Packets with files or links are dropped."""
    stdout, stderr = cast(asyncio.StreamReader, process.stdout), cast(asyncio.StreamReader, process.stderr)
    with contextlib.suppress(OSError, EOFError):  # the process or the browser may have gone
        await stdout.readuntil(b"__GANGLION__\n")
        while True:
            kind, size = struct.unpack(">cI", await stdout.readexactly(5))
            payload = await stdout.readexactly(size)
            if kind == b"D":
                await socket.send_bytes(payload)
            elif kind == b"M" and json.loads(payload).get("type") == "exit":
                break
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_CLOSE_S):
            if words := (await stderr.read(2**16))[-_ERROR_BYTES:].decode("utf-8", "replace").strip():
                _LOG.warning("a viewer has ended: %s", words)
    await socket.close()
