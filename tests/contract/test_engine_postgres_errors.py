"""Errors while connecting to PostgreSQL, each for real: one clear line, and whether waiting may help."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any
from urllib.parse import quote

import pytest

import qmon
from qmon.demo.embedded_server import EmbeddedServer
from qmon.engines.base import Session
from qmon.engines.drivers import DriverText
from qmon.engines.postgres.postgres_engine import PostgresText
from qmon.engines.postgres.postgres_errors import PostgresErrorText
from qmon.errors import (
    BadInput,
    ConnectionFailed,
    MissingDriver,
    NoConnectionLeft,
    PasswordNeeded,
    QmonError,
    WrongPassword,
)
from qmon.model.config_reader import KeyText
from qmon.texts import Text
from tests.contract.engines import open_target, opened, sql, target
from tests.facts import query, wait_until
from tests.wordings import has

_PACKAGE = Path(qmon.__file__).parent
QUICK = Session("test", login_timeout_s=2.0)
PASSWORD = "hush-hush}; {it's= \\ 100%+ü"


@pytest.fixture(scope="module")
def guarded() -> Iterator[EmbeddedServer]:
    """A server that requires passwords, with roles and databases that refuse connections."""
    with EmbeddedServer(tcp=True) as server:
        for statement in (
            "CREATE ROLE joe LOGIN PASSWORD '" + PASSWORD.replace("'", "''") + "'",
            "CREATE ROLE single LOGIN PASSWORD 'hush' CONNECTION LIMIT 1",
            "CREATE ROLE nobody_in NOLOGIN PASSWORD 'hush'",
            "CREATE DATABASE closed",
            "REVOKE CONNECT ON DATABASE closed FROM PUBLIC",
        ):
            query(server.url("postgres"), statement)
        yield server


@pytest.fixture(autouse=True)
def nothing_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("PG")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PGPASSFILE", "/nonexistent")


def url(server: EmbeddedServer, user: str, password: str = "", database: str = "postgres", more: str = "") -> str:
    secret = f":{quote(password, safe='')}" if password else ""
    return f"postgresql://{user}{secret}@127.0.0.1:{server.port}/{database}{more}"


def refusal(text: str, kind: type[QmonError] = ConnectionFailed, session: Session = QUICK) -> QmonError:
    """Return the error of connecting: one line that begins with the target's name."""
    with pytest.raises(kind) as caught:
        open_target(text, session)
    problem = caught.value
    assert type(problem) is kind
    assert "\n" not in str(problem)
    assert str(problem).startswith(f"{target(text).name}: ")
    return problem


def place(port: int) -> str:
    return PostgresErrorText.HOST_PORT.render(host="127.0.0.1", port=port)


def check(problem: QmonError, expected: Text, /, *, retryable: bool, **fields: object) -> None:
    assert has(problem, expected, **fields)
    assert isinstance(problem, ConnectionFailed)
    assert problem.retryable is retryable


@pytest.mark.parametrize(
    ("user", "password", "database", "text", "fields"),
    [
        (
            "joe",
            "wrong-one",
            "postgres",
            PostgresErrorText.BAD_CREDENTIALS,
            {"origin": PostgresErrorText.FROM.render(origin="the command line"), "user": '"joe"'},
        ),
        ("stranger", "hush", "postgres", PostgresErrorText.BAD_CREDENTIALS, {"user": '"stranger"'}),
        ("nobody_in", "hush", "postgres", PostgresErrorText.ROLE_CANNOT_LOG_IN, {"role": '"nobody_in"'}),
        ("joe", PASSWORD, "missing", PostgresErrorText.NO_DATABASE, {"database": '"missing"'}),
        (
            "joe",
            PASSWORD,
            "closed",
            PostgresErrorText.DATABASE_CLOSED,
            {"database": '"closed"', "grant": "GRANT CONNECT ON "},
        ),
    ],
)
def test_what_the_server_refuses_for_good(
    guarded: EmbeddedServer, user: str, password: str, database: str, text: Text, fields: dict[str, Any]
) -> None:
    problem = refusal(
        url(guarded, user, password, database),
        WrongPassword if text is PostgresErrorText.BAD_CREDENTIALS else ConnectionFailed,
    )
    check(problem, text, retryable=False, **fields)
    assert password not in str(problem)


def test_the_grant_of_the_message_lets_us_in(guarded: EmbeddedServer) -> None:
    text = url(guarded, "joe", PASSWORD, "closed")
    grant = "GRANT" + str(refusal(text)).partition("GRANT")[2]
    query(guarded.url("postgres"), grant)
    try:
        with opened(text) as connection:
            assert connection.fetch(sql("SELECT current_database() AS d")).rows == (("closed",),)
    finally:
        query(guarded.url("postgres"), "REVOKE CONNECT ON DATABASE closed FROM joe")


def test_a_password_is_asked_for_only_when_there_is_none(guarded: EmbeddedServer) -> None:
    problem = refusal(url(guarded, "joe"), PasswordNeeded)
    user = PostgresErrorText.OF_USER.render(user="joe")
    check(problem, PostgresErrorText.CREDENTIALS_NEEDED, retryable=False, user=user)


def test_a_password_of_any_characters_opens(guarded: EmbeddedServer) -> None:
    for password in (PASSWORD, "}", "{", "{}", "a+b%20c", "%41", ";UID=x", "}}", "}x;Server=y", "'", "\\"):
        query(guarded.url("postgres"), "ALTER ROLE joe PASSWORD '" + password.replace("'", "''") + "'")
        with opened(url(guarded, "joe", password)) as connection:
            assert connection.session_id > 0
    query(guarded.url("postgres"), "ALTER ROLE joe PASSWORD '" + PASSWORD.replace("'", "''") + "'")


def test_no_traceback_shows_the_password(guarded: EmbeddedServer) -> None:
    with pytest.raises(ConnectionFailed) as caught:
        open_target(url(guarded, "joe", "wrong-hush"))
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
    shown: list[str] = []
    trace: TracebackType | None = caught.value.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename.startswith(str(_PACKAGE)):
            shown.append(repr(trace.tb_frame.f_locals))
        trace = trace.tb_next
    assert len(shown) >= 2
    assert "wrong-hush" not in "".join(shown)


def test_an_unknown_role_where_the_server_trusts(guarded: EmbeddedServer) -> None:
    text = f"postgresql://stranger@/postgres?host={guarded.socket_dir}&port={guarded.port}"
    check(refusal(text), PostgresErrorText.NO_ROLE, retryable=False, role='"stranger"')


def test_no_access_rule_lets_us_in(guarded: EmbeddedServer) -> None:
    rules = guarded.folder / "data" / "pg_hba.conf"
    before = rules.read_text()
    trusted = f"postgresql://postgres@/postgres?host={guarded.socket_dir}&port={guarded.port}"
    try:
        rules.write_text("local all all trust\n")
        query(trusted, "SELECT pg_reload_conf()")
        text = url(guarded, "joe", PASSWORD)
        problem = wait_until(lambda: _refused(text), what="the rules are read")
        assert problem is not None
        check(problem, PostgresErrorText.ACCESS_RULES, retryable=False, text="no pg_hba.conf entry for host")
    finally:
        rules.write_text(before)
        query(trusted, "SELECT pg_reload_conf()")
    wait_until(lambda: _refused(url(guarded, "joe", PASSWORD)) is None, what="the rules are back")


def _refused(text: str) -> ConnectionFailed | None:
    try:
        open_target(text, QUICK).close()
    except ConnectionFailed as problem:
        return problem
    return None


def test_no_connection_left(guarded: EmbeddedServer) -> None:
    text = url(guarded, "single", "hush")
    with opened(text):
        check(
            refusal(text, NoConnectionLeft),
            PostgresErrorText.NO_CONNECTION_LEFT,
            retryable=True,
            text="too many connections for role",
        )


def test_tls_is_insisted_on_but_not_offered(guarded: EmbeddedServer) -> None:
    problem = refusal(url(guarded, "joe", PASSWORD, more="?sslmode=require"))
    check(problem, PostgresErrorText.NO_TLS, retryable=False)


def test_an_unknown_sslmode_is_refused_rather_than_passed_over(guarded: EmbeddedServer) -> None:
    problem = refusal(url(guarded, "joe", PASSWORD, more="?sslmode=requires"), BadInput)
    hint = KeyText.DID_YOU_MEAN.render(word="require")
    assert has(problem, PostgresText.UNKNOWN_SSLMODE, mode="requires", hint=hint)


def test_nothing_listens() -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
        problem = refusal(f"postgresql://u:hush@127.0.0.1:{port}/d")
    check(problem, PostgresErrorText.REFUSED, retryable=True, where=place(port))


def test_there_is_no_socket() -> None:
    problem = refusal("postgresql://u@/d?host=/nonexistent/folder")
    check(problem, PostgresErrorText.NO_SOCKET, retryable=True, where="/nonexistent/folder/.s.PGSQL.5432")


def test_the_host_is_unknown() -> None:
    check(
        refusal("postgresql://u@nowhere.invalid/d"),
        PostgresErrorText.UNKNOWN_HOST,
        retryable=True,
        host='"nowhere.invalid"',
    )


def _listening(answer: bytes) -> tuple[socket.socket, int]:
    """Listen for connections, answer their first bytes with this and hang up; without an answer, send nothing."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        while True:
            try:
                caller, _ = listener.accept()
            except OSError:
                return
            with caller, contextlib.suppress(OSError):  # the driver may leave at any time
                caller.recv(1024)
                caller.sendall(answer)

    if answer:
        threading.Thread(target=serve, daemon=True).start()
    return listener, listener.getsockname()[1]


def test_no_answer_in_time() -> None:
    listener, port = _listening(b"")
    with listener:
        problem = refusal(f"postgresql://u@127.0.0.1:{port}/d")
    check(problem, PostgresErrorText.NO_ANSWER, retryable=True, where=place(port))


def test_something_else_listens() -> None:
    listener, port = _listening(b"HTTP/1.1 400 Bad Request\r\n\r\n")
    with listener:
        problem = refusal(f"postgresql://u@127.0.0.1:{port}/d?sslmode=disable")
    check(problem, PostgresErrorText.NOT_POSTGRESQL, retryable=False, where=place(port))


def test_the_certificate_to_trust_is_missing() -> None:
    listener, port = _listening(b"S")  # accepts TLS
    with listener:
        more = "?sslmode=verify-full&sslrootcert=/nonexistent/root.crt"
        problem = refusal(f"postgresql://u@127.0.0.1:{port}/d{more}")
    check(problem, PostgresErrorText.TLS_FAILED, retryable=False)
    assert 'root certificate file "/nonexistent/root.crt" does not exist' in str(problem)


def test_an_unknown_dsn() -> None:
    problem = refusal("DSN=nothing_of_that_name;UID=x", BadInput)
    assert has(problem, PostgresErrorText.NO_DSN, dsn="nothing_of_that_name")


def test_a_missing_driver_names_the_package() -> None:
    problem = refusal("DRIVER={/nonexistent/psqlodbcw.so};Server=x;Database=d", MissingDriver)
    assert "apt install odbc-postgresql" in str(problem)


def test_a_mistyped_driver_gets_those_that_are_installed() -> None:
    problem = refusal("DRIVER={PostgreSQL of the future};Server=x;Database=d", BadInput)
    assert has(str(problem), DriverText.NO_SUCH_DRIVER, name="PostgreSQL of the future")
    assert "PostgreSQL Unicode" in str(problem)


def test_a_server_that_is_not_ready_is_worth_waiting_for() -> None:
    """A smart shutdown waits for existing sessions and refuses new ones."""
    with EmbeddedServer() as server:
        text = server.url()
        with opened(text):
            os.kill(server.pid, signal.SIGTERM)
            problem = wait_until(lambda: _refused(text), what="the server shuts down")
            assert problem is not None
            check(problem, PostgresErrorText.NOT_READY, retryable=True, text="the database system is shutting down")
