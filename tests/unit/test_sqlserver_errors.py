"""Errors of SQL Server and its drivers become one line, by their number, or by their text if that is not enough."""

from __future__ import annotations

import socket
import time
from pathlib import Path

import pytest

from qmon.config.chosen_target import find_target
from qmon.config.config_file import Config
from qmon.engines import odbc
from qmon.engines.base import Session, Target
from qmon.engines.driver_faults import read_fault
from qmon.engines.postgres import postgres_errors as postgres_errors
from qmon.engines.secret import Secret
from qmon.engines.sqlserver import driver_wheel, sqlserver_engine
from qmon.engines.sqlserver import sqlserver_errors as errors
from qmon.engines.sqlserver.sqlserver_engine import SqlServer
from qmon.errors import (
    BadInput,
    ConnectionLost,
    DeadlineExceeded,
    LockTimeout,
    MissingDriver,
    PasswordNeeded,
    PermissionMissing,
    QmonError,
    QueryFailed,
    Unreachable,
)
from qmon.system import choose_for_system

ENGINE = SqlServer()
DRIVER = "[Microsoft][ODBC Driver 18 for SQL Server]"
SERVER = DRIVER + "[SQL Server]"
LOADS = choose_for_system(linux="libltdl7", macos="openssl", windows="ODBC Driver 18")


def target(text: str) -> Target:
    return find_target(text, Config(Path("qmon.toml")), {}).target


def connecting(sqlstate: str, *records: str, password: str | None = None, server: str = "db1") -> QmonError:
    text = "; ".join(f"[{sqlstate}] {record} (SQLDriverConnect)" for record in records)
    secret = None if password is None else Secret(password, "keyring")
    found = Target("shop", "sqlserver", {"Server": server, "Database": "d", "UID": "me"}, password=secret)
    return errors.connecting_error(read_fault((sqlstate, text), secret), found)


@pytest.mark.parametrize(
    ("sqlstate", "record", "part"),
    [
        ("28000", f"{SERVER}Login failed for user 'me'. (18456)", "login failed: wrong password (from keyring) for me"),
        ("28000", f"{SERVER}The account is locked out. (18486)", "login 'me' is locked out"),
        ("28000", f"{SERVER}The account is disabled. (18470)", "login 'me' is disabled"),
        ("28000", f"{SERVER}The password must be changed. (18488)", "the password of login 'me' has expired"),
        ("42000", f"{SERVER}Cannot open database requested by the login. (4060)", "there is no database 'd'"),
        ("08004", f"{SERVER}The principal is not able to access the database. (916)", "run CREATE USER in it"),
        (
            "08001",
            f"{DRIVER}SSL Provider: [error:0A000086:SSL routines::certificate verify failed:self-signed] (-1)",
            "trust the certificate without a check with trust=yes in the URL (TrustServerCertificate=yes)",
        ),
        ("08001", f"{DRIVER}SSL Provider: [error:0A000102:unsupported protocol] (-1)", "TLS failed: SSL Provider"),
        ("HY000", f"{DRIVER}Protocol error in TDS stream (0)", "the service on db1 is not SQL Server"),
    ],
)
def test_what_the_server_refuses_for_good(sqlstate: str, record: str, part: str) -> None:
    problem = connecting(sqlstate, record, password="hushhush")
    assert isinstance(problem, Unreachable)
    assert str(problem).startswith("shop: ")
    assert part in str(problem)
    assert not problem.retryable


def test_an_unknown_database_is_told_from_the_failed_login_that_follows() -> None:
    records = (f"{SERVER}Cannot open database. (4060)", f"{SERVER}Login failed for user 'me'. (18456)")
    assert "no database 'd'" in str(connecting("42000", *records, password="hushhush"))


def test_a_closed_database_is_told_by_its_words_where_the_number_says_nothing() -> None:
    said = f'{SERVER}Cannot open database "d" requested by the login. The login failed (33557097)'
    problem = connecting("42000", said, password="hushhush")
    assert "no database 'd' on the server, or this login may not open it" in str(problem)
    assert isinstance(problem, Unreachable)
    assert not problem.retryable


def test_a_server_that_words_a_missing_password_oddly_is_understood() -> None:
    problem = connecting("42000", f"{SERVER}invalid TDS authentication request (33557097)")
    assert isinstance(problem, PasswordNeeded)
    assert "does not accept login 'me' without a password" in str(problem)


def test_without_a_password_one_is_asked_for() -> None:
    problem = connecting("28000", f"{SERVER}Login failed for user 'me'. (18456)")
    assert isinstance(problem, PasswordNeeded)
    assert "the password of login 'me', but none is set" in str(problem)


@pytest.mark.parametrize(
    ("sqlstate", "record", "kind", "part"),
    [
        ("01000", "[unixODBC][Driver Manager]Can't open lib 'x' : file not found (0)", MissingDriver, LOADS),
        ("IM004", "[unixODBC][Driver Manager]Driver's SQLAllocHandle on SQL_HANDLE_HENV failed (0)", MissingDriver, ""),
        ("IM002", "[unixODBC][Driver Manager]Data source name not found (0)", MissingDriver, "has no driver"),
        (
            "08001",
            f"{DRIVER}Invalid value specified for connection string attribute 'Encrypt' (0)",
            BadInput,
            "Encrypt does not accept this value; use yes, no or strict",
        ),
        (
            "08001",
            f"{DRIVER}Invalid value specified for connection string attribute 'ApplicationIntent' (0)",
            BadInput,
            "use ReadOnly or ReadWrite",
        ),
        ("HY000", f"{SERVER}Database 'd' is being recovered. (922)", Unreachable, "not ready yet"),
        (
            "08001",
            f"{DRIVER}an error was encountered during handshakes before login. (26)",
            Unreachable,
            "closed the connection immediately",
        ),
    ],
)
def test_other_troubles(sqlstate: str, record: str, kind: type[QmonError], part: str) -> None:
    problem = connecting(sqlstate, record)
    assert type(problem) is kind
    assert part in str(problem)
    assert getattr(problem, "retryable", True)


@pytest.mark.parametrize(
    ("sqlstate", "record"),
    [
        ("01000", "[unixODBC][Driver Manager]Can't open lib 'ODBC Driver 81 for SQL Server' : file not found (0)"),
        ("IM002", "[Microsoft][ODBC Driver Manager] Data source name not found and no default driver specified (0)"),
    ],
)
def test_a_mistyped_driver_gets_the_list_of_those_installed(
    sqlstate: str, record: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(odbc, "installed_drivers", lambda: ("PostgreSQL Unicode", "FreeTDS"))
    monkeypatch.setattr(driver_wheel, "find_wheel_driver", lambda: "/w/libmsodbcsql-18.6.so.2.1")
    fault = read_fault((sqlstate, f"[{sqlstate}] {record}"))
    for engine_errors, name, installed in (
        (errors, "ODBC Driver 81 for SQL Server", "FreeTDS, ODBC Driver 18 for SQL Server, PostgreSQL Unicode"),
        (postgres_errors, "Postgres Unicode", "FreeTDS, PostgreSQL Unicode"),
    ):
        problem = engine_errors.connecting_error(fault, Target("shop", None, {"DRIVER": name, "Server": "db1"}))
        assert str(problem) == f"shop: there is no ODBC driver {name!r}; installed: {installed}"
        path = engine_errors.connecting_error(fault, Target("shop", None, {"DRIVER": "/opt/lib/driver.so"}))
        assert "there is no ODBC driver" not in str(path)


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (0x20, "the server closed the connection"),
        (0x2746, "the server closed the connection"),
        (0x274C, "the network did not answer in time"),
        (0xFFFF, "TCP Provider: Error code 0xFFFF"),
    ],
)
def test_numbers_of_socket_errors_become_words(number: int, words: str) -> None:
    records = f"[08S01] {DRIVER}TCP Provider: Error code 0x{number:X} ({number}) (SQLExecDirectW)"
    problem = errors.statement_error(read_fault(("08S01", records)), "probe/server", "me")
    assert isinstance(problem, ConnectionLost)
    assert str(problem) == f"the connection was lost: {words}"


def test_a_server_is_refused_only_if_each_of_its_addresses_refuses() -> None:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        port = bound.getsockname()[1]
        assert errors.is_refused(f"127.0.0.1,{port}")
        assert errors.is_refused(f"tcp:localhost,{port}")
        bound.listen()
        assert not errors.is_refused(f"127.0.0.1,{port}")
    assert not errors.is_refused(r"127.0.0.1\inst")
    assert not errors.is_refused("nowhere.invalid,1")


def test_a_timeout_is_looked_into() -> None:
    timeout = f"{DRIVER}Login timeout expired (0)"
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        assert "accepts connections, but no SQL" in str(connecting("HYT00", timeout, server=f"tcp:127.0.0.1,{port}"))
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        port = bound.getsockname()[1]
        problem = connecting("HYT00", timeout, server=f"127.0.0.1,{port}")
    assert f"nothing listens on 127.0.0.1 port {port}: connection refused" in str(problem)
    assert "'nowhere.invalid' is unknown" in str(connecting("HYT00", timeout, server="nowhere.invalid"))
    assert "no instance x answered on h" in str(connecting("HYT00", timeout, server="h\\x"))


def test_a_driver_that_repeats_the_password_is_scrubbed() -> None:
    said = "; ".join((f"{DRIVER}odd thing: PWD=hush/hush%", f"{DRIVER}again hush/hush%"))
    problem = connecting("HY000", f"{said} (5)", password="hush/hush%")
    assert "hush" not in str(problem)
    assert "odd thing: PWD=***" in str(problem)
    assert read_fault(("HY000", "[HY000] user x has PWD={x}, pw 'x' in pqx (1) (SQLConnect)"), Secret("x")).text == (
        "user x has PWD=***, pw '***' in pqx"
    )


@pytest.mark.parametrize(
    ("sqlstate", "record", "kind", "part"),
    [
        ("HYT00", f"{DRIVER}Query timeout expired (0)", DeadlineExceeded, "no result within the deadline"),
        ("HY008", f"{DRIVER}Operation canceled (0)", DeadlineExceeded, "cancelled"),
        (
            "42000",
            f"{SERVER}Lock request time out period exceeded. (1222)",
            LockTimeout,
            "could not get a lock",
        ),
        (
            "42000",
            f"{SERVER}canceling statement due to lock timeout (33557097)",
            LockTimeout,
            "could not get a lock",
        ),
        (
            "42000",
            f'{SERVER}relation "sys.allocation_units" does not exist (33557097)',
            QueryFailed,
            "probe/x: this server has no sys.allocation_units",
        ),
        (
            "42000",
            f"{SERVER}function sys.dm_db_stats_properties(integer, integer) does not exist (33557097)",
            QueryFailed,
            "probe/x: this server has no sys.dm_db_stats_properties",
        ),
        (
            "42000",
            f"{SERVER}permission denied for table orders (33557097)",
            PermissionMissing,
            "denied for table orders",
        ),
        (
            "42S02",
            f"{SERVER}Invalid object name 'sys.dm_db_page_info'. (208)",
            QueryFailed,
            "probe/x: this server has no sys.dm_db_page_info",
        ),
        ("40001", f"{SERVER}Transaction was deadlocked. (1205)", QueryFailed, "victim of a deadlock"),
        ("08S01", f"{DRIVER}TCP Provider: Error code 0x68 (104)", ConnectionLost, "the connection was lost"),
        (
            "HY000",
            f"{SERVER}Cannot continue the execution because the session is in the kill state. (596)",
            ConnectionLost,
            "the connection was lost",
        ),
        ("42S02", f"{SERVER}Invalid object name 'x'. (208)", QueryFailed, "probe/x: Invalid object name 'x'."),
        ("42000", f"{SERVER}The user does not have permission to perform this action. (297)", PermissionMissing, "297"),
    ],
)
def test_statements_fail_in_known_ways(sqlstate: str, record: str, kind: type[QmonError], part: str) -> None:
    fault = read_fault((sqlstate, f"[{sqlstate}] {record} (SQLExecDirectW)"))
    problem = errors.statement_error(fault, "probe/x", "me")
    assert type(problem) is kind
    assert part.replace("297", "does not have permission") in str(problem)


@pytest.mark.parametrize(
    ("words", "number", "grant"),
    [
        (
            "The SELECT permission was denied on the object 'Que]ue', database 'd', schema 'dbo'.",
            229,
            "GRANT SELECT ON [dbo].[Que]]ue] TO [shop\\me]",
        ),
        (
            "VIEW SERVER PERFORMANCE STATE permission was denied on object 'server', database 'master'.",
            300,
            "GRANT VIEW SERVER PERFORMANCE STATE TO [shop\\me]",
        ),
        ("The user does not have permission to perform this action.", 297, ""),
    ],
)
def test_a_missing_permission_comes_with_the_grant_that_helps(words: str, number: int, grant: str) -> None:
    fault = read_fault(("42000", f"[42000] {SERVER}{words} ({number}) (SQLExecDirectW)"))
    problem = errors.statement_error(fault, "probe/x", "shop\\me")
    assert isinstance(problem, PermissionMissing)
    assert problem.grant == grant


@pytest.mark.server
@pytest.mark.parametrize("driver", [found for found in [driver_wheel.find_wheel_driver()] if found])
def test_the_real_driver_says_clearly_that_nothing_listens(driver: str) -> None:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        port = bound.getsockname()[1]
        found = target(f"mssql://me:hushhush@127.0.0.1:{port}/shop?driver={driver}")
        began = time.monotonic()
        with pytest.raises(Unreachable, match=f"nothing listens on 127.0.0.1 port {port}: connection refused"):
            ENGINE.connect(found, Session("test", login_timeout_s=600))
        assert time.monotonic() - began < 300, "the driver itself would try until its deadline"


@pytest.mark.server
@pytest.mark.parametrize("driver", [found for found in [driver_wheel.find_wheel_driver()] if found])
def test_the_real_driver_says_clearly_that_there_is_no_such_host(driver: str) -> None:
    found = target(f"mssql://me:hushhush@nowhere.invalid:1433/shop?driver={driver}")
    with pytest.raises(Unreachable, match=r"the host name 'nowhere\.invalid' is unknown") as told:
        ENGINE.connect(found, Session("test", login_timeout_s=1))
    assert "hushhush" not in str(told.value)


@pytest.mark.server
@pytest.mark.parametrize("driver", [found for found in [driver_wheel.find_wheel_driver()] if found])
def test_the_real_driver_says_clearly_that_nobody_answers(driver: str) -> None:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        port = listening.getsockname()[1]
        found = target(f"mssql://me:hushhush@127.0.0.1:{port}/shop?driver={driver}")
        with pytest.raises(Unreachable, match=f"port {port} accepts connections, but no SQL Server answered"):
            ENGINE.connect(found, Session("test", login_timeout_s=1))


@pytest.mark.server
@pytest.mark.parametrize("driver", [found for found in [driver_wheel.find_wheel_driver()] if found])
def test_a_login_that_never_ends_is_not_waited_for(driver: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlserver_engine, "LOGIN_GRACE_S", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        found = target(f"mssql://me:hushhush@127.0.0.1:{port}/shop?driver={driver}&encrypt=strict")
        with pytest.raises(Unreachable, match=f"the login to 127.0.0.1,{port} does not finish") as told:
            ENGINE.connect(found, Session("test", login_timeout_s=0.2))
        assert told.value.retryable


@pytest.mark.parametrize(
    ("words", "grant"),
    [
        ("CREATE TABLE permission denied in database 'shop'.", "GRANT CREATE TABLE TO [me]"),
        ("CREATE SCHEMA permission denied in database 'shop'.", "GRANT CREATE SCHEMA TO [me]"),
        (
            "The SELECT permission was denied on the column 'body' of the object 'jobs', database 'shop', "
            "schema 'dbo'.",
            "GRANT SELECT ON [dbo].[jobs] ([body]) TO [me]",
        ),
        (
            "The DELETE permission was denied on the object 'jobs', database 'shop', schema 'dbo'.",
            "GRANT DELETE ON [dbo].[jobs] TO [me]",
        ),
    ],
)
def test_the_hint_names_the_right_that_is_missing(words: str, grant: str) -> None:
    fault = read_fault(("42000", f"[42000] [Microsoft][ODBC Driver 18 for SQL Server][SQL Server]{words} (262)"))
    problem = errors.statement_error(fault, "action/x", "me")
    assert isinstance(problem, PermissionMissing)
    assert problem.grant == grant
