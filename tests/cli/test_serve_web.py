"""``qmon serve --web``: access to the page and to a viewer, the environment of a viewer's process, and its end."""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import signal
import ssl
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest
from aiohttp import ClientSession, ClientWebSocketResponse, WSMsgType, WSServerHandshakeError

from qmon.cli.web import dashboard as web_dashboard
from qmon.cli.web.dashboard import MAX_MESSAGE_BYTES, WebDashboard, WebText
from qmon.cli.web.page import driver_packet_for
from qmon.errors import BadInput
from qmon.metrics.access import read_users, tls_context
from qmon.metrics.guarded_server import AccessGuard, ServerText
from qmon.monitor.source import Phase, SourceState
from qmon.stream.reading import ServeText
from qmon.stream.sending import PollStream
from qmon.system import install_command
from qmon.tui.actions.dialog_text import KeyHint
from tests.cli.calling import call, program, python_path, surroundings
from tests.cli.conftest import PASSWORD
from tests.cli.http_requests import basic
from tests.facts import wait_until
from tests.needs import posix
from tests.recording.days import poll
from tests.wordings import has, pattern

pytestmark = posix
NOWHERE = "postgresql://nobody@127.0.0.1:1/nothing"
RIGHT, WRONG = ({"Authorization": basic("prometheus", each)} for each in (PASSWORD, "password"))
PATHS = ("/", "/view/shop", "/textual.js", "/xterm.css", "/focus.js", "/static/", "/other")


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Viewers run this checkout, and everything they could write is in one folder."""
    monkeypatch.setenv("PYTHONPATH", python_path())
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)


def stream_of(target: str = "shop") -> PollStream:
    """Return a stream with some polls."""
    stream = PollStream(target, 2.0)
    for number in (1, 2, 3):
        polled = poll(number, time.time() - 6 + 2 * number, target, 2.0)
        stream.publish_event(replace(polled, taken_at=time.monotonic() - 6 + 2 * number))
    stream.publish_event(SourceState(target, Phase.LIVE))
    return stream


@contextmanager
def serving(guard: AccessGuard = AccessGuard(), *targets: str, listen: str = "127.0.0.1:0") -> Iterator[WebDashboard]:  # noqa: B008
    """Run a server of these targets."""
    server = WebDashboard(listen, guard, [stream_of(each) for each in targets or ("shop",)], None)
    try:
        yield server
    finally:
        server.close()


@asynccontextmanager
async def client(server: WebDashboard, headers: dict[str, str] | None = None) -> AsyncIterator[ClientSession]:
    """Sends requests to a server, each over its own connection."""
    async with ClientSession(server.url, headers=headers) as session:
        yield session


async def status(session: ClientSession, path: str, **headers: str) -> int:
    """Return the status of an answer."""
    async with session.get(path, headers=headers) as answer:
        return answer.status


async def refusal(session: ClientSession, path: str = "/ws/shop", origin: str | None = "", **headers: str) -> int:
    """Return the status of a refused WebSocket. ``origin``: the server's own by default, ``None`` for no header."""
    own = str(session._base_url).rstrip("/")
    if origin is not None:
        headers["Origin"] = origin or own
    with pytest.raises(WSServerHandshakeError) as refused:
        await session.ws_connect(path, headers=headers)
    return refused.value.status


@asynccontextmanager
async def viewing(
    session: ClientSession, path: str = "/ws/shop?width=120&height=40"
) -> AsyncIterator[ClientWebSocketResponse]:
    """Open a viewer and wait until it has drawn something."""
    async with session.ws_connect(path, origin=str(session._base_url).rstrip("/")) as socket:
        yield socket


async def drawn(socket: ClientWebSocketResponse, text: str) -> None:
    """Wait until this was drawn."""
    seen = ""
    async with asyncio.timeout(60):
        while text not in seen:
            message = await socket.receive()
            assert message.type is WSMsgType.BINARY, (message, seen)
            seen += message.data.decode()


async def closed(socket: ClientWebSocketResponse) -> int | None:
    """Wait until the server closes it. Return the reason."""
    async with asyncio.timeout(60):
        async for _ in socket:
            pass
    return socket.close_code


async def closed_by_keys(socket: ClientWebSocketResponse, *keys: str) -> int | None:
    """Send keys one after the other until the server closes it. Return the reason.

    A busy program reads ``esc`` and the next key at once, as another key, so they are sent again.
    """
    async with asyncio.timeout(60):
        for key in itertools.cycle(keys):
            if socket.closed:
                break
            await socket.send_str(json.dumps(["stdin", key]))
            with suppress(TimeoutError):
                async with asyncio.timeout(1):
                    async for _ in socket:
                        pass
    return socket.close_code


def children(pid: int | str = "self") -> list[int]:
    """Return the viewers that a process has started."""
    tasks = Path(f"/proc/{pid}/task").glob("*/children")
    found = [int(child) for each in tasks for child in each.read_text().split()]
    return [child for child in found if "qmon.cli.web.viewer" in about(child, "cmdline")]


def about(pid: int, name: str) -> str:
    """Return the system's information on a process, empty if it has ended."""
    try:
        return Path(f"/proc/{pid}/{name}").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return ""


def is_running(pid: int) -> bool:
    """Return whether a process exists and is not a zombie."""
    return ") Z" not in (about(pid, "stat") or ") Z")


async def until(ask: Callable[[], object]) -> None:
    """Wait for a condition without blocking the loop."""
    await asyncio.to_thread(wait_until, ask)


# ------------------------------------------------------------------------------------------------- who gets what


async def test_the_page_is_the_terminal_and_needs_nothing_from_elsewhere() -> None:
    with serving() as server:
        async with client(server) as session, session.get("/") as answer:
            page = await answer.text()
            policy = answer.headers["Content-Security-Policy"]
            assert answer.status == 200
            assert answer.headers["Referrer-Policy"] == "no-referrer"
        assert "default-src 'none'; script-src 'self';" in policy
        assert "frame-ancestors 'none'" in policy
        assert 'data-session-websocket-url="/ws/shop"' in page
        assert "://" not in page
        async with client(server) as session:
            found = {path: await status(session, path) for path in PATHS}
            assert found == dict.fromkeys(PATHS[:5], 200) | dict.fromkeys(PATHS[5:], 404)
            for path in ("/view/none", "/ws/none", "/static/js/textual.js", "/..%2fetc", "/?ping=http://127.0.0.1/"):
                assert await status(session, path) == 404, path


async def test_several_targets_have_a_page_each_whatever_their_names_contain() -> None:
    odd = '<b>"&/größe ?#'
    with serving(AccessGuard(), "shop", odd) as server:
        async with client(server) as session:
            async with session.get("/") as answer:
                page = await answer.text()
            assert "<b>" not in page
            links = [each.split('"')[0] for each in page.split('href="')[1:]]
            assert len(links) == 2
            for link in links:
                async with session.get(server.url.rstrip("/") + link) as answer:
                    assert answer.status == 200
                    assert f'data-session-websocket-url="{link.replace("/view/", "/ws/")}"' in await answer.text()


async def test_everything_needs_the_password(users: Path) -> None:
    with serving(AccessGuard(read_users(users))) as server:
        for auth in (None, WRONG):
            async with client(server, auth) as session:
                assert {await status(session, path) for path in PATHS} == {401}
                assert await refusal(session) == 401
            assert children() == []
        async with client(server, RIGHT) as session:
            assert await status(session, "/") == 200
            async with viewing(session) as socket:
                await drawn(socket, "shop")


async def test_tls_covers_the_page_and_the_websocket(users: Path, certificate: tuple[Path, Path]) -> None:
    trust = ssl.create_default_context(cafile=certificate[0])
    with serving(AccessGuard(read_users(users), tls_context(*certificate)), listen="0.0.0.0:0") as server:
        url = f"https://127.0.0.1:{server.url.rstrip('/').split(':')[-1]}"
        async with ClientSession(headers=RIGHT) as session:
            async with session.get(url, ssl=trust) as answer:
                assert answer.status == 200
            async with session.ws_connect(f"{url}/ws/shop", origin=url, ssl=trust) as socket:
                await drawn(socket, "shop")


async def test_pages_of_other_sites_get_no_websocket() -> None:
    with serving() as server:
        port = server.url.rstrip("/").split(":")[-1]
        async with client(server) as session:
            for origin in ("http://evil.example", "null", "http://127.0.0.1", f"http://127.0.0.1.evil.example:{port}"):
                assert await refusal(session, origin=origin) == 403, origin
            assert await refusal(session, origin=None) == 403
            assert await refusal(session, origin="", **{"Sec-Fetch-Site": "cross-site"}) == 403
            host = f"evil.example:{port}"  # a name that the other site resolves to this machine
            assert await refusal(session, origin=f"http://{host}", Host=host) == 421
            assert await status(session, "/", Host=host) == 421
            assert await status(session, "/ws/shop", Origin=server.url.rstrip("/")) == 400, "no upgrade"
        assert children() == []


async def test_an_upgrade_that_is_not_valid_starts_nothing() -> None:
    with serving() as server:
        async with client(server) as session:
            upgrade = {"Origin": server.url.rstrip("/"), "Connection": "Upgrade", "Upgrade": "websocket"}
            for more in ({}, {"Sec-WebSocket-Key": "x", "Sec-WebSocket-Version": "1"}, {"Sec-WebSocket-Key": "ÿ"}):
                assert await status(session, "/ws/shop", **upgrade, **more) == 400
            await until(lambda: server._viewers == 0)
        assert children() == []


async def test_viewers_that_come_and_go_at_once_leave_nothing() -> None:
    with serving() as server:
        async with client(server) as session:
            for seconds in (0.0, 0.01, 0.1, 0.3, 0.5, 0.0):
                async with viewing(session):
                    await asyncio.sleep(seconds)
    assert [pid for pid in children() if is_running(pid)] == []


async def test_a_link_on_another_site_opens_the_page_and_a_frame_does_not() -> None:
    with serving() as server:
        async with client(server) as session:
            elsewhere = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
            assert await status(session, "/", **elsewhere, **{"Sec-Fetch-Dest": "document"}) == 200
            assert await status(session, "/", **elsewhere, **{"Sec-Fetch-Dest": "iframe"}) == 403
            assert await status(session, "/textual.js", **{"Sec-Fetch-Site": "cross-site"}) == 403


async def test_more_viewers_than_the_limit_are_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(web_dashboard, "MAX_VIEWERS", 1)
    with serving() as server:
        async with client(server) as session:
            async with viewing(session) as socket:
                await drawn(socket, "shop")
                async with session.get("/") as answer:
                    assert (answer.status, answer.content_type) == (503, "text/plain")
                    assert has(await answer.text(), WebText.LIMIT)
                assert await refusal(session) == 503
            await until(lambda: server._viewers == 0)
            assert await status(session, "/") == 200


def test_other_machines_need_tls_and_a_password(users: Path) -> None:
    for options in ((), ("--users", str(users))):
        done = call("serve", NOWHERE, "--textfile", "x.prom", "--web", "0.0.0.0:8080", *options)
        assert (done.exit_code, done.stderr.count("\n")) == (2, 1)
        assert has(done.stderr, ServerText.NEEDS_TLS, option="--web", address="0.0.0.0:8080")
    done = call("serve", NOWHERE, "--web", "8080")
    assert has(done.stderr, ServerText.NOT_AN_ADDRESS, option="--web", address="8080")


def test_without_the_extra_one_line_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "textual_serve", None)
    monkeypatch.delitem(sys.modules, "qmon.cli.web.dashboard")
    done = call("serve", NOWHERE, "--web", "127.0.0.1:0")
    assert (done.exit_code, done.stderr.count("\n")) == (2, 1)
    assert has(done.stderr, WebText.NEEDS_EXTRA, command=install_command("web"))


# ----------------------------------------------------------------------------------------------------- a viewer


def files_in(folder: Path) -> dict[str, int]:
    """Return every file and folder, with its time of change."""
    return {str(path): path.stat().st_mtime_ns for path in (folder, *folder.rglob("*"))}


async def test_a_viewer_draws_takes_keys_writes_nothing_and_quits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("QMON_PASSWORD", "hunter2")
    monkeypatch.setenv("DATABASE_URL", "postgresql://me:hunter2@db1/shop")
    before = files_in(tmp_path)
    with serving() as server:
        async with client(server) as session, viewing(session) as socket:
            await drawn(socket, "mails")
            (pid,) = children()
            arguments, values = about(pid, "cmdline"), about(pid, "environ")
            assert "hunter2" not in arguments + values
            assert server._password not in arguments
            assert f"QMON_PASSWORD={server._password}" in values.split("\0")
            limits = [line.split() for line in about(pid, "limits").splitlines()]
            assert ["Max", "file", "size", "0", "0", "bytes"] in limits
            for keys in (
                "t",
                "T\x1b[B\r",
                "\x13",
                "C",
                "w",
                "x\r",
                "\x1b",
                "W",
                "H",
                "s",
                "\x1a",
                "\x1b[<35;1",
                "\x1b[99999999;1R",
            ):
                await socket.send_str(json.dumps(["stdin", keys]))
                await asyncio.sleep(0.2)
            await socket.send_str(json.dumps(["stdin", "\x1b"]))
            await socket.send_str(json.dumps(["resize", {"width": 10**9, "height": -1}]))
            await socket.send_str(json.dumps(["resize", {"width": 100, "height": 30}]))
            await asyncio.sleep(0.5)
            await socket.send_str(json.dumps(["stdin", "?"]))
            await drawn(socket, KeyHint.CLOSE)
            assert is_running(pid)
            assert ") T" not in about(pid, "stat"), "it is not suspended"
            assert await closed_by_keys(socket, "\x1b", "q") == 1000
            await until(lambda: not is_running(pid))
    assert files_in(tmp_path) == before
    assert capfd.readouterr() == ("", "")


async def test_only_viewers_read_the_polls_from_the_server_for_viewers() -> None:
    with serving() as server, pytest.raises(BadInput, match=pattern(ServeText.NEEDS_NAME)):
        from qmon.stream.reading import OpenStream
        from qmon.stream.serve_address import parse_address

        OpenStream(parse_address(server._source.url.replace("metrics", "shop"), None, ""), time.monotonic)


async def test_a_viewer_ends_when_the_browser_leaves_sends_too_much_or_the_server_closes() -> None:
    with serving() as server:
        async with client(server) as session:
            async with viewing(session) as socket:
                await drawn(socket, "shop")
                (left,) = children()
            await until(lambda: not is_running(left))
            async with viewing(session) as socket:
                await drawn(socket, "shop")
                (flooded,) = children()
                await socket.send_str(json.dumps(["stdin", "x" * MAX_MESSAGE_BYTES]))
                assert await closed(socket) == 1009
            await until(lambda: not is_running(flooded))
            async with viewing(session) as socket:
                await drawn(socket, "shop")
                await socket.send_bytes(b"x")
                await closed(socket)
            await until(lambda: server._viewers == 0)
            async with viewing(session) as socket:
                await drawn(socket, "shop")
                (last,) = children()
                await asyncio.to_thread(server.close)
                await closed(socket)
            assert not is_running(last)


@contextmanager
def daemon(said: Path) -> Iterator[int]:
    """Start a daemon without its database. Yield its process id; standard error goes to ``said``."""
    command = program("serve", NOWHERE, "--listen", "127.0.0.1:0", "--web", "127.0.0.1:0")
    with (
        said.open("wb") as errors,
        subprocess.Popen(command, env=surroundings(), stdin=subprocess.DEVNULL, stderr=errors) as child,
    ):
        try:
            wait_until(lambda: "dashboard at " in said.read_text())
            yield child.pid
        finally:
            child.kill()


@pytest.mark.parametrize("name", ["SIGTERM", "SIGKILL"])
async def test_viewers_end_with_the_daemon(name: str, tmp_path: Path) -> None:
    said = tmp_path / "said"
    with daemon(said) as server:
        url = said.read_text().split("dashboard at ")[1].split()[0]
        async with ClientSession(url) as session, viewing(session, "/ws/127.0.0.1%2Fnothing") as socket:
            await drawn(socket, "nothing")
            (pid,) = children(server)
            os.kill(server, getattr(signal, name))
            await closed(socket)
        await until(lambda: not is_running(pid))


@pytest.mark.parametrize(
    ("message", "kind", "payload"),
    [
        (["stdin", "ä"], b"D", "ä"),
        (["stdin", "\ud800"], b"D", "?"),
        (["focus"], b"M", '{"type": "focus"}'),
        (["resize", {"width": 1e308, "height": 0}], b"M", '{"type": "resize", "width": 500, "height": 1}'),
        (["resize", {"width": "80", "height": 24.9}], b"M", '{"type": "resize", "width": 80, "height": 24}'),
    ],
    ids=["text", "surrogate", "focus", "limits", "numbers"],
)
def test_keys_sizes_and_focus_of_a_browser_become_packets(message: object, kind: bytes, payload: str) -> None:
    data = payload.encode()
    assert driver_packet_for(json.dumps(message)) == kind + len(data).to_bytes(4, "big") + data


INVALID: Final[tuple[object, ...]] = (
    [],
    {},
    1,
    None,
    "x",
    ["stdin"],
    ["stdin", 1],
    ["resize", {"width": 1}],
    ["resize", [1, 2]],
    [["focus"]],
)


@pytest.mark.parametrize(
    "message", [*INVALID, ["quit"], ["deliver_chunk_request", {"key": "x"}], ["ping", "1"]], ids=str
)
def test_other_messages_of_a_browser_are_ignored(message: object) -> None:
    assert driver_packet_for(json.dumps(message)) == b""


def test_what_is_not_json_is_ignored() -> None:
    for text in ("", "[", "[" * 9_000, "NaN", '["resize", {"width": Infinity, "height": NaN}]', "1" * 5_000):
        assert driver_packet_for(text) == b""
