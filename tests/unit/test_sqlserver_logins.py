"""Logins to SQL Server as the driver gets them: a login, Windows, Kerberos, Entra; and refused ones."""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, NoReturn

import pyodbc
import pytest

from qmon.engines.base import Session, Target
from qmon.engines.driver_faults import read_fault
from qmon.engines.odbc_keywords import format_connection_string
from qmon.engines.registry import engine_for
from qmon.engines.secret import Secret
from qmon.engines.sqlserver import sqlserver_errors
from qmon.engines.sqlserver.driver_wheel import find_wheel_driver
from qmon.engines.sqlserver.login_methods import LoginMethodText
from qmon.engines.sqlserver.sqlserver_engine import DRIVER_SETTINGS, SqlServer
from qmon.engines.sqlserver.sqlserver_errors import SqlServerErrorText
from qmon.errors import BadInput, ConnectionFailed, PasswordNeeded, QmonError
from tests.unit.targets import target
from tests.wordings import pattern

DRIVER: Final = "ODBC Driver 18 for SQL Server"
URL: Final = "driver=ODBC+Driver+18+for+SQL+Server"


def sent(found: Target, monkeypatch: pytest.MonkeyPatch, platform: str = "linux") -> str:
    """Return the driver's connection string for this target, whether it has a password or not."""
    seen: list[str] = []

    def connect(text: str, **_: Any) -> NoReturn:
        seen.append(text)
        raise pyodbc.Error("HYT00", "[HYT00] [Microsoft][ODBC Driver 18 for SQL Server]Login timeout expired (0)")

    monkeypatch.setattr("qmon.engines.odbc.pyodbc.connect", connect)
    monkeypatch.setattr("qmon.engines.odbc.respell_keywords", lambda keywords, _: keywords)
    monkeypatch.setattr("qmon.engines.odbc.installed_drivers", lambda: (DRIVER,))
    monkeypatch.setattr(sqlserver_errors, "why_unreachable", lambda server: f"no answer from {server}")
    monkeypatch.setattr("qmon.engines.sqlserver.login_methods.sys.platform", platform)
    with pytest.raises(ConnectionFailed):
        engine_for(found).connect(replace(found, password=Secret("hush", "the environment")), Session("poll"))
    common = ("APP=qmon poll;", f"DRIVER={DRIVER};", "Encrypt=yes;", "Server=sql1;", "Database=Shop;")
    for same in (*common, format_connection_string(DRIVER_SETTINGS)):
        seen[0] = seen[0].replace(same, "")
    return seen[0]


@pytest.mark.parametrize(
    ("platform", "text", "given"),
    [
        ("linux", f"mssql://me@sql1/Shop?{URL}", "UID=me;PWD={hush};"),
        ("linux", f"mssql://sql1/Shop?{URL}", "Trusted_Connection=yes;"),
        ("win32", f"mssql://sql1/Shop?{URL}", "Trusted_Connection=yes;"),
        (
            "linux",
            f"mssql://me@sql1/Shop?{URL}&authentication=sqlpassword",
            "UID=me;Authentication=SqlPassword;PWD={hush};",
        ),
        ("linux", f"mssql://sql1/Shop?{URL}&authentication=ActiveDirectoryMsi", "Authentication=ActiveDirectoryMsi;"),
        (
            "linux",
            f"mssql://an-identity@sql1/Shop?{URL}&authentication=ActiveDirectoryManagedIdentity",
            "UID=an-identity;Authentication=ActiveDirectoryMsi;",
        ),
        (
            "linux",
            f"mssql://client@sql1/Shop?{URL}&authentication=ActiveDirectoryServicePrincipal",
            "UID=client;Authentication=ActiveDirectoryServicePrincipal;PWD={hush};",
        ),
        (
            "linux",
            f"mssql://me%40firm.example@sql1/Shop?{URL}&authentication=ActiveDirectoryPassword",
            "UID=me@firm.example;Authentication=ActiveDirectoryPassword;PWD={hush};",
        ),
        (
            "linux",
            f"mssql://sql1/Shop?{URL}&authentication=ActiveDirectoryIntegrated",
            "Authentication=ActiveDirectoryIntegrated;",
        ),
        (
            "win32",
            f"mssql://me%40firm.example@sql1/Shop?{URL}&authentication=ActiveDirectoryInteractive",
            "UID=me@firm.example;Authentication=ActiveDirectoryInteractive;",
        ),
    ],
)
def test_the_driver_gets_what_is_meant_and_a_password_only_where_it_is_of_use(
    platform: str, text: str, given: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert sent(target(text), monkeypatch, platform) == given


def test_a_dsn_says_itself_how_to_log_in(monkeypatch: pytest.MonkeyPatch) -> None:
    own = Target("shop", "sqlserver", {"DSN": "shop", "Authentication": "activedirectorymsi"})
    assert sent(own, monkeypatch) == "DSN=shop;Authentication=ActiveDirectoryMsi;"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            f"{URL}&authentication=ActiveDirectoryDefault",
            pattern(LoginMethodText.ODBC_UNSUPPORTED, keyword="Authentication", value="ActiveDirectoryDefault"),
        ),
        (
            f"{URL}&authentication=ActiveDirectoryDeviceCode",
            pattern(LoginMethodText.ODBC_UNSUPPORTED, keyword="Authentication", value="ActiveDirectoryDeviceCode"),
        ),
        (
            "driver=FreeTDS&authentication=ActiveDirectoryMsi",
            pattern(LoginMethodText.FREETDS_UNSUPPORTED, keyword="Authentication", value="ActiveDirectoryMsi"),
        ),
        (f"{URL}&authentication=ActiveDirectoryInteractive", pattern(LoginMethodText.WINDOW_NEEDED)),
        (
            f"{URL}&authentication=ActiveDirectoryServicePrincipal",
            pattern(LoginMethodText.USER_NEEDED, example=LoginMethodText.CLIENT_ID),
        ),
        (
            f"{URL}&authentication=ActiveDirectoryPassword",
            pattern(LoginMethodText.USER_NEEDED, method="ActiveDirectoryPassword", example="mssql://user@"),
        ),
    ],
)
def test_what_the_driver_cannot_is_one_line_and_no_login_is_tried(
    text: str, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("qmon.engines.sqlserver.login_methods.sys.platform", "darwin")
    monkeypatch.setattr("qmon.engines.odbc.pyodbc.connect", lambda *_, **__: pytest.fail("it was tried"))
    with pytest.raises(BadInput, match=words):
        SqlServer().connect(target(f"mssql://sql1/Shop?{text}"), Session("poll"))


def test_an_account_that_is_logged_in_already_takes_no_other_user() -> None:
    with pytest.raises(BadInput, match=pattern(LoginMethodText.NO_USER, user="me")):
        SqlServer().odbc_keywords(
            target(f"mssql://me@sql1/Shop?{URL}&authentication=ActiveDirectoryIntegrated"), Session()
        )


def said(sqlstate: str, text: str, **parameters: str) -> QmonError:
    found = Target("shop", "sqlserver", {"Server": "sql1", **parameters})
    fault = read_fault(
        (sqlstate, f"[{sqlstate}] [Microsoft][ODBC Driver 18 for SQL Server]{text} (SQLDriverConnect)"), None
    )
    return sqlserver_errors.connecting_error(fault, found)


def test_who_needs_a_password_and_has_none_is_asked_for_it() -> None:
    words = "[SQL Server]Both User and Password options must be specified, if Authentication option is 'x'. (0)"
    for method in ("ActiveDirectoryPassword", "ActiveDirectoryServicePrincipal", "SqlPassword"):
        assert isinstance(said("FA003", words, UID="me", Authentication=method), PasswordNeeded)
    assert not isinstance(said("FA003", words, UID="me", Authentication="ActiveDirectoryMsi"), PasswordNeeded)


class Before:
    """Serves the protocol up to the login: Microsoft's driver then requests a ticket from Kerberos."""

    def __init__(self) -> None:
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = int(self.listener.getsockname()[1])
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            with client, contextlib.suppress(OSError):  # the driver may leave at any time
                head = client.recv(8)
                if len(head) < 8:
                    continue
                client.recv(struct.unpack(">H", head[2:4])[0] - 8)
                told = ((0, bytes([16, 0, 4, 231, 0, 0])), (1, bytes([2])))  # its version; no encryption
                at = 5 * len(told) + 1
                options = b"".join(
                    struct.pack(">BHH", kind, at + sum(len(each) for _, each in told[:number]), len(value))
                    for number, (kind, value) in enumerate(told)
                )
                body = options + b"\xff" + b"".join(value for _, value in told)
                client.sendall(struct.pack(">BBHHBB", 4, 1, len(body) + 8, 0, 1, 0) + body)
                client.recv(1)


@pytest.mark.server
@pytest.mark.skipif(find_wheel_driver() is None, reason="Microsoft's driver is not installed")
def test_without_a_kerberos_ticket_it_says_how_to_get_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KRB5CCNAME", f"FILE:{tmp_path / 'none'}")
    before = Before()
    try:
        with pytest.raises(
            ConnectionFailed, match=pattern(SqlServerErrorText.NO_TICKET, hint=SqlServerErrorText.KINIT)
        ):
            SqlServer().connect(target(f"mssql://127.0.0.1:{before.port}/Shop?encrypt=no"), Session("poll"))
        with pytest.raises(PasswordNeeded):
            text = f"mssql://id@127.0.0.1:{before.port}/Shop?encrypt=no&authentication=ActiveDirectoryServicePrincipal"
            SqlServer().connect(target(text), Session("poll"))
    finally:
        before.listener.close()
