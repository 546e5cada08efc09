"""Access to the metrics of ``qmon serve``: TLS, names with passwords, and refused requests without them."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.client import HTTPConnection
from pathlib import Path

import pytest

from qmon.cli.commands.serve import ServeOptionText
from qmon.metrics.access import AccessFileText, Users, read_users, tls_context
from qmon.metrics.guarded_server import ServerText
from qmon.metrics.metrics_server import MetricsServer
from qmon.metrics.target_readings import TargetReadings
from qmon.texts import Text
from tests.cli.calling import call
from tests.cli.conftest import PASSWORD
from tests.cli.http_requests import asked, basic
from tests.wordings import has

NOWHERE = "postgresql://nobody@127.0.0.1:1/nothing"


def test_addresses_of_ipv6_are_served() -> None:
    try:
        with socket.socket(socket.AF_INET6) as there:
            there.bind(("::1", 0))
    except OSError:
        pytest.skip("this machine has no IPv6")
    with serving(listen="[::1]:0") as url:
        assert url.startswith("http://[::1]:")
        assert asked(url) == 200


def test_head_is_answered_as_get_without_a_body_and_tells_no_version() -> None:
    with serving() as url:
        host = url.removeprefix("http://").removesuffix("/metrics")
        for path in ("/metrics", "/healthz", "/readyz", "/stream", "/nothing"):
            told: list[tuple[int, str | None]] = []
            for method in ("GET", "HEAD"):
                connection = HTTPConnection(host, timeout=120)
                with closing(connection):
                    connection.request(method, path)
                    answer = connection.getresponse()
                    body = answer.read()
                    told.append((answer.status, answer.headers["Content-Type"]))
                    assert answer.headers["Server"] == "qmon"
                    assert bool(body) is (method == "GET"), path
            assert told[0] == told[1], path


@contextmanager
def serving(
    allowed: Users | None = None, tls: ssl.SSLContext | None = None, listen: str = "127.0.0.1:0"
) -> Iterator[str]:
    """Run a server of one target that is not polled. Yield its URL."""
    server = MetricsServer(listen, [TargetReadings("shop")], allowed, tls)
    try:
        yield server.url.replace("//0.0.0.0:", "//127.0.0.1:")
    finally:
        server.close()


def test_metrics_and_names_of_targets_need_the_password(users: Path) -> None:
    right = basic("prometheus", PASSWORD)
    wrong = (
        None,
        "",
        "Basic",
        "Basic !",
        "Basic cHJvbWV0aGV1cw==",
        right.replace("Basic", "Bearer"),
        basic("prometheus", "password"),
        basic("prometheus", ""),
        basic("nobody", PASSWORD),
        basic("", PASSWORD),
        basic("prometheus", PASSWORD + " "),
        basic("prometheus", "x" * 73),
        basic("prometheus", PASSWORD + "\0"),
    )
    with serving(read_users(users)) as url:
        for path in ("metrics", "readyz", "stream", "other"):
            assert asked(url.replace("metrics", path)) == 401
        assert asked(url.replace("metrics", "healthz")) == 200
        for _ in range(2):  # even when the right one is known
            assert [each for each in wrong if asked(url, each) != 401] == []
            assert asked(url, right) == 200


def test_tls_is_served_and_who_says_nothing_holds_up_nobody(
    certificate: tuple[Path, Path], capfd: pytest.CaptureFixture[str]
) -> None:
    with serving(tls=tls_context(*certificate)) as url:
        assert url.startswith("https://")
        place = ("127.0.0.1", int(url.split(":")[2].split("/")[0]))
        with socket.create_connection(place), socket.create_connection(place) as plain:
            assert asked(url, trusted=certificate[0]) == 200
            plain.sendall(b"GET /metrics HTTP/1.1\r\n\r\n")
            assert b"qmon_target_up" not in plain.recv(65_536)
        assert asked(url, trusted=certificate[0]) == 200
    assert capfd.readouterr() == ("", "")


def test_other_machines_are_served_with_tls_and_a_password_only(users: Path, certificate: tuple[Path, Path]) -> None:
    with serving(read_users(users), tls_context(*certificate), "0.0.0.0:0") as url:
        assert asked(url, trusted=certificate[0]) == 401
        assert asked(url, basic("prometheus", PASSWORD), certificate[0]) == 200
    tls = ("--certificate", str(certificate[0]), "--key", str(certificate[1]))
    for options in ((), ("--users", str(users)), tls):
        done = call("serve", NOWHERE, "--listen", "0.0.0.0:9777", *options)
        assert (done.exit_code, has(done.stderr, ServerText.NEEDS_TLS)) == (2, True), done.stderr


def test_files_that_cannot_be_used_are_refused_with_one_line_and_no_hash(
    users: Path, certificate: tuple[Path, Path], tmp_path: Path
) -> None:
    cert, key = map(str, certificate)
    clear, empty = tmp_path / "clear", tmp_path / "empty"
    clear.write_text(f"{users.read_text()}prometheus:{PASSWORD}\n")
    empty.write_text("\n")
    missing = str(tmp_path / "none")
    cases: tuple[tuple[tuple[str, ...], Text, dict[str, object]], ...] = (
        (("--users", str(clear)), AccessFileText.NOT_A_HASH, {"path": clear, "line": 4}),
        (("--users", str(empty)), AccessFileText.NO_USERS, {"path": empty}),
        (("--users", missing), AccessFileText.UNREADABLE, {"option": "--users", "path": missing}),
        (("--certificate", cert), ServeOptionText.CERTIFICATE_AND_KEY, {}),
        (("--key", key), ServeOptionText.CERTIFICATE_AND_KEY, {}),
        (("--certificate", cert, "--key", cert), AccessFileText.NOT_A_CERTIFICATE, {"certificate": cert}),
        (("--certificate", str(users), "--key", key), AccessFileText.NOT_A_CERTIFICATE, {"certificate": users}),
        (("--certificate", cert, "--key", missing), AccessFileText.UNREADABLE, {"option": "--key", "path": missing}),
    )
    for options, text, fields in cases:
        done = call("serve", NOWHERE, *options)
        shown = has(done.stderr, text, **fields)
        assert (done.exit_code, shown, done.stderr.count("\n")) == (2, True, 1), done.stderr
        assert PASSWORD not in done.stderr
        assert "$2" not in done.stderr
