"""``qmon serve`` with slow, many or hostile clients: answers to other clients in the meantime, and refused requests."""

from __future__ import annotations

import contextlib
import os
import socket
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

import bcrypt
import pytest

from qmon.cli.commands.serve import ServeOptionText
from qmon.errors import BadInput
from qmon.metrics import access, connections
from qmon.metrics import metrics_server as serving
from qmon.metrics.access import AccessFileText, Users, read_users, tls_context
from qmon.metrics.http_requests import RequestText
from qmon.metrics.metrics_server import MetricsServer
from qmon.metrics.target_readings import TargetReadings
from qmon.monitor.source import Phase, SourceState
from qmon.stream.sending import PollStream
from tests.cli.calling import call
from tests.cli.conftest import PASSWORD
from tests.cli.dripping import answer_to, dripping, place_of
from tests.cli.http_requests import asked, basic
from tests.facts import wait_until
from tests.tui.scripted import Clock, queue, view
from tests.wordings import has, pattern

MANY = 1000
resource = pytest.importorskip("resource", reason="about limits that only POSIX has")


@contextlib.contextmanager
def running(*streams: PollStream, queues: int = 3, listen: str = "127.0.0.1:0", **guard: object) -> Iterator[str]:
    """Run a server of one target. Yield its URL."""
    readings = TargetReadings("shop", Clock())
    readings.record_view(view([queue(f"queue {number}") for number in range(queues)]))
    server = MetricsServer(listen, [readings], streams=streams, **guard)  # type: ignore[arg-type]
    try:
        yield server.url
    finally:
        server.close()


@pytest.fixture
def many_files() -> Iterator[None]:
    """Allow this process to open both ends of this number of connections."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    if before[1] < 3 * MANY:
        pytest.skip("this machine does not allow that many open files")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(before[0], 3 * MANY), before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, before)


@pytest.mark.parametrize("encrypted", [False, True], ids=["http", "tls"])
def test_a_thousand_dripping_clients_do_not_keep_a_scrape_from_its_answer(
    encrypted: bool, certificate: tuple[Path, Path], many_files: None
) -> None:
    tls, trusted = (tls_context(*certificate), certificate[0]) if encrypted else (None, None)
    with running(tls=tls) as url, dripping(place_of(url), MANY, tls=encrypted) as drippers:
        threads = threading.active_count()
        for _ in range(5):
            assert asked(url, trusted=trusted) == 200
            connected, said = drippers.answers()
            assert said == b"", "none of them has finished"
            assert 0 < connected <= connections.MAX_PER_ADDRESS, "the oldest have made room"
        assert threading.active_count() <= threads, "no client has a thread"


def test_the_address_with_the_most_connections_makes_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "MAX_CONNECTIONS", 8)
    try:
        with socket.socket() as there:
            there.bind(("127.0.0.2", 0))
    except OSError:
        pytest.skip("this machine has one address for itself")
    with running() as url, socket.create_connection(place_of(url), timeout=120) as patient:
        patient.sendall(b"GET /healthz HTTP/1.1\r\n")
        with dripping(place_of(url), 40, source="127.0.0.2") as drippers:
            wait_until(lambda: drippers.answers()[0] <= 8, what="most are dropped")
            assert asked(url) == 200
            patient.sendall(b"Host: localhost\r\n\r\n")
            assert patient.recv(12) == b"HTTP/1.1 200"


def test_a_client_that_reads_a_stream_is_never_dropped_for_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "MAX_PER_ADDRESS", 4)
    stream = PollStream("shop", 60.0)
    with running(stream) as url, socket.create_connection(place_of(url), timeout=120) as reader:
        reader.sendall(b"GET /stream HTTP/1.1\r\nHost: localhost\r\n\r\n")
        wait_until(lambda: stream.clients == 1, what="it reads")
        with dripping(place_of(url), 40) as drippers:
            wait_until(lambda: drippers.answers()[0] <= 4, what="most are dropped")
            stream.publish_event(SourceState("shop", Phase.LOST, "no route"))
            said = b""
            while b"no route" not in said:
                said += (part := reader.recv(65_536))
                assert part, said


HALVES = {
    "nothing": b"",
    "a part of the request line": b"GET /met",
    "a part of the headers": b"GET /metrics HTTP/1.1\r\nHost: ",
    "lines without end": b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n",
}


@pytest.mark.parametrize("begin", HALVES.values(), ids=HALVES)
def test_a_request_has_a_deadline_as_a_whole(begin: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "REQUEST_S", 0.3)
    with running() as url, socket.create_connection(place_of(url), timeout=120) as client:
        client.sendall(begin)
        client.setblocking(False)

        def cut() -> bool:
            with contextlib.suppress(BlockingIOError):
                return client.recv(1) == b""
            client.send(b"a")
            return False

        with contextlib.suppress(ConnectionError):
            wait_until(cut, what="it is disconnected although it sends")


def test_a_handshake_has_the_same_deadline(certificate: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "REQUEST_S", 0.3)
    with running(tls=tls_context(*certificate)) as url, dripping(place_of(url), 3, tls=True) as drippers:
        wait_until(lambda: drippers.answers() == (0, b""), what="they are disconnected although they send")


def test_a_client_that_does_not_read_its_answer_is_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serving, "WRITE_S", 0.3)
    with running(queues=2000) as url:
        client = socket.socket()
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.settimeout(30)
        with client:
            client.connect(place_of(url))
            client.sendall(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n")

            def dropped() -> bool:
                try:
                    client.send(b"a")
                except ConnectionError:
                    return True
                return False

            wait_until(dropped, what="it is dropped")
        assert asked(url) == 200


def test_requests_that_are_none_are_answered_in_one_line() -> None:
    host = b"Host: localhost\r\n"
    with running() as url:
        place = place_of(url)
        for request, status in (
            (b"GET /healthz HTTP/1.1\r\n" + host + b"\r\n", 200),
            (b"GET /healthz HTTP/1.0\r\n" + host + b"\r\n", 200),
            (b"GET /healthz\r\n\r\n", 400),
            (b"GET http://localhost/healthz HTTP/1.1\r\n" + host + b"\r\n", 400),
            (b"\x80\x9e\r\n\r\n", 400),
            (b"GET /healthz HTTP/1.1\r\n" + host * 2 + b"\r\n", 400),
            (b"GET /healthz HTTP/1.1\r\n" + host + b" folded: x\r\n\r\n", 400),
            (b"POST /healthz HTTP/1.1\r\n" + host + b"Content-Length: 1000000000\r\n\r\n", 405),
            (b"GET /healthz HTTP/1.1\r\nX: " + b"x" * 20_000 + b"\r\n\r\n", 431),
            (b"GET /healthz HTTP/1.1\r\n" + b"X: x\r\n" * 4_000 + b"\r\n", 431),
        ):
            head, _, body = answer_to(place, request).partition(b"\r\n\r\n")
            assert head.split(b" ")[1] == b"%d" % status, (request[:60], head)
            assert body.count(b"\n") == 1


OWN = ("127.0.0.1", "127.0.0.1:1234", "localhost", "LOCALHOST:9777", "[::1]:9777", "ops-1", "Ops-1:80", "192.0.2.7")
FOREIGN = (
    "",
    "evil.example",
    "evil.example:9777",
    "127.0.0.1.evil.example",
    "localhost.evil.example",
    "192.0.2.8",
    "127.0.0.1@evil.example",
    "ops-1, evil.example",
    "ops-1.evil.example",
    "0.0.0.0:80",
    "[::2]",
)


def test_names_that_are_not_its_own_are_refused_on_every_path() -> None:
    with running(PollStream("shop", 60.0), hosts=["ops-1", "192.0.2.7"]) as url:
        place = place_of(url)
        for path in ("/metrics", "/stream", "/readyz", "/healthz", "/other"):
            for host in FOREIGN:
                said = answer_to(place, f"GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
                assert said.startswith(b"HTTP/1.1 421 "), (path, host)
                assert RequestText.UNKNOWN_HOST.encode() in said
                assert b"shop" not in said
            assert answer_to(place, f"GET {path} HTTP/1.1\r\n\r\n".encode()).startswith(b"HTTP/1.1 421 ")
        for host in OWN:
            said = answer_to(place, f"HEAD /stream HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
            assert said.startswith(b"HTTP/1.1 200 "), host


def test_pages_of_other_sites_are_refused() -> None:
    with running(PollStream("shop", 60.0)) as url:
        place = place_of(url)
        here = f"127.0.0.1:{place[1]}"
        for header, status in (
            (f"Origin: http://{here}", 200),
            ("Origin: http://127.0.0.1", 403),
            ("Origin: https://evil.example", 403),
            ("Origin: null", 403),
            ("Sec-Fetch-Site: same-origin", 200),
            ("Sec-Fetch-Site: none", 200),
            ("Sec-Fetch-Site: cross-site", 403),
            ("Sec-Fetch-Site: same-site", 403),
        ):
            for path in ("/stream", "/metrics"):
                said = answer_to(place, f"HEAD {path} HTTP/1.1\r\nHost: {here}\r\n{header}\r\n\r\n".encode())
                assert said.split(b" ")[1] == b"%d" % status, header


def test_a_name_for_the_server_is_a_name() -> None:
    for wrong in ("", "http://ops-1", "ops-1:9777", "*", "a b", "ops-1/x"):
        done = call("serve", "postgresql://nobody@127.0.0.1:1/x", "--allow-host", wrong)
        assert (done.exit_code, has(done.stderr, ServeOptionText.NOT_A_HOST, name=wrong)) == (2, True), done.stderr


class Work:
    """Counts the work of bcrypt, and does it."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.work: list[int] = []
        self.at_once = 0
        self._running = 0
        self._lock = threading.Lock()
        hashpw, checkpw = bcrypt.hashpw, bcrypt.checkpw
        patch.setattr(bcrypt, "hashpw", lambda password, salt: self._count(hashpw, password, salt))
        patch.setattr(bcrypt, "checkpw", lambda password, salt: self._count(checkpw, password, salt))

    def _count(self, function: object, password: bytes, salt: bytes) -> object:
        assert callable(function)
        with self._lock:
            self.work.append(2 ** int(salt[4:6]))
            self._running += 1
            self.at_once = max(self.at_once, self._running)
        try:
            return function(password, salt)
        finally:
            with self._lock:
                self._running -= 1

    def of(self, users: Users, name: str, password: str) -> tuple[bool, int]:
        """Return the result of a check, and its work in rounds of bcrypt."""
        self.work.clear()
        return users.verify_password((name.encode(), password.encode())), sum(self.work)


def hashed(costs: Sequence[int]) -> Users:
    """Return a user ``cost N`` for each cost."""
    return Users({f"cost {cost}": bcrypt.hashpw(PASSWORD.encode(), bcrypt.gensalt(cost)) for cost in costs})


@pytest.mark.parametrize("costs", [[4], [8], [4, 5, 9], [7, 7]], ids=str)
def test_names_that_are_unknown_take_the_same_work_as_known_ones(
    costs: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    users, work = hashed(costs), Work(monkeypatch)
    expected = 2 ** max(costs)
    for name in ("nobody", "", *(f"cost {cost}" for cost in costs)):
        assert work.of(users, name, "wrong") == (False, expected), name
    for cost in costs:
        assert work.of(users, f"cost {cost}", PASSWORD) == (True, expected)


def test_a_flood_of_wrong_passwords_is_checked_one_at_a_time_and_soon_no_more(
    users: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    allowed = read_users(users)
    work = Work(monkeypatch)
    with running(users=allowed) as url:
        assert asked(url, basic("prometheus", PASSWORD)) == 200
        work.work.clear()
        found: list[int] = []

        def guess(first: int) -> None:
            found.extend(asked(url, basic("prometheus", f"{number}")) for number in range(first, first + 10))

        threads = [threading.Thread(target=guess, args=(first,)) for first in range(0, 80, 10)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert set(found) == {401, 429}
        assert len(work.work) == found.count(401) == access.WRONG_PER_MINUTE
        assert work.at_once == 1
        assert asked(url, basic("prometheus", PASSWORD)) == 200, "known credentials are not checked again"
        assert asked(url) == 401


async def test_wrong_passwords_of_one_address_do_not_count_for_another_and_are_forgotten() -> None:
    clock = Clock()
    gate = access.PasswordGate(hashed([4]), clock)
    try:
        for _ in range(access.WRONG_PER_MINUTE):
            assert await gate.status_for("192.0.2.1", basic("nobody", "x")) == 401
        assert await gate.status_for("192.0.2.1", basic("cost 4", PASSWORD)) == 429
        assert await gate.status_for("192.0.2.2", basic("cost 4", PASSWORD)) == 200
        assert await gate.status_for("192.0.2.1", basic("cost 4", PASSWORD)) == 200, "they are known now"
        clock.now += 61.0
        assert await gate.status_for("192.0.2.1", basic("nobody", "x")) == 401
    finally:
        gate.close()


def test_a_hash_that_takes_minutes_to_check_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "users"
    path.write_text(f"anna:{bcrypt.hashpw(b'x', bcrypt.gensalt(4)).decode().replace('$04$', '$31$')}\n")
    with pytest.raises(BadInput, match=pattern(AccessFileText.COSTLY_HASH, line=1, limit=16)):
        read_users(path)


def test_a_process_without_files_to_spare_makes_room_too() -> None:
    with running() as url, dripping(place_of(url), 50) as drippers:
        before = resource.getrlimit(resource.RLIMIT_NOFILE)
        spare = os.dup(0)
        os.close(spare)
        client = socket.socket()
        client.settimeout(30)
        resource.setrlimit(resource.RLIMIT_NOFILE, (spare + 1, before[1]))  # the client's own socket is the last one
        try:
            client.connect(place_of(url))
            client.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert client.recv(12) == b"HTTP/1.1 200"
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, before)
            client.close()
        assert drippers.answers()[1] == b""
