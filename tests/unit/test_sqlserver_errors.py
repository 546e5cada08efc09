"""Errors of SQL Server and its drivers become one line, by their number, or by their text if that is not enough."""

from __future__ import annotations

import re
import socket
import time
from pathlib import Path

import pytest

from qmon.config.chosen_target import find_target
from qmon.config.config_file import Config
from qmon.engines import odbc
from qmon.engines.base import Session, Target
from qmon.engines.driver_faults import read_fault
from qmon.engines.drivers import DriverText
from qmon.engines.postgres import postgres_errors as postgres_errors
from qmon.engines.secret import Secret
from qmon.engines.sqlserver import driver_wheel, sqlserver_engine
from qmon.engines.sqlserver import sqlserver_errors as errors
from qmon.engines.sqlserver.sqlserver_engine import SqlServer
from qmon.engines.sqlserver.sqlserver_errors import SqlServerErrorText
from qmon.errors import (
    BadInput,
    ConnectionFailed,
    ConnectionLost,
    LockTimeout,
    MissingDriver,
    PasswordNeeded,
    PermissionMissing,
    QmonError,
    QueryFailed,
    StatementStopped,
)
from qmon.system import choose_for_system
from tests.wordings import has, pattern

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
        (
            "28000",
            f"{SERVER}Login failed for user 'me'. (18456)",
            pattern(
                SqlServerErrorText.BAD_CREDENTIALS, origin=SqlServerErrorText.FROM.render(origin="keyring"), user="me"
            ),
        ),
        ("28000", f"{SERVER}The account is locked out. (18486)", pattern(SqlServerErrorText.LOCKED_OUT, user="me")),
        ("28000", f"{SERVER}The account is disabled. (18470)", pattern(SqlServerErrorText.DISABLED, user="me")),
        ("28000", f"{SERVER}The password must be changed. (18488)", pattern(SqlServerErrorText.EXPIRED, user="me")),
        (
            "42000",
            f"{SERVER}Cannot open database requested by the login. (4060)",
            pattern(SqlServerErrorText.NO_DATABASE, database="d"),
        ),
        (
            "08004",
            f"{SERVER}The principal is not able to access the database. (916)",
            pattern(SqlServerErrorText.DATABASE_CLOSED, database="d"),
        ),
        (
            "08001",
            f"{DRIVER}SSL Provider: [error:0A000086:SSL routines::certificate verify failed:self-signed] (-1)",
            pattern(SqlServerErrorText.UNTRUSTED),
        ),
        (
            "08001",
            f"{DRIVER}SSL Provider: [error:0A000102:unsupported protocol] (-1)",
            pattern(SqlServerErrorText.TLS_FAILED, text="SSL Provider"),
        ),
        (
            "HY000",
            f"{DRIVER}Protocol error in TDS stream (0)",
            pattern(SqlServerErrorText.NOT_SQL_SERVER, server="db1"),
        ),
    ],
)
def test_what_the_server_refuses_for_good(sqlstate: str, record: str, part: str) -> None:
    problem = connecting(sqlstate, record, password="hushhush")
    assert isinstance(problem, ConnectionFailed)
    assert str(problem).startswith("shop: ")
    assert re.search(part, str(problem))
    assert not problem.retryable


def test_an_unknown_database_is_told_from_the_failed_login_that_follows() -> None:
    records = (f"{SERVER}Cannot open database. (4060)", f"{SERVER}Login failed for user 'me'. (18456)")
    assert has(str(connecting("42000", *records, password="hushhush")), SqlServerErrorText.NO_DATABASE, database="d")


def test_a_closed_database_is_told_by_its_words_where_the_number_says_nothing() -> None:
    said = f'{SERVER}Cannot open database "d" requested by the login. The login failed (33557097)'
    problem = connecting("42000", said, password="hushhush")
    assert has(str(problem), SqlServerErrorText.NO_DATABASE, database="d")
    assert isinstance(problem, ConnectionFailed)
    assert not problem.retryable


def test_a_server_that_words_a_missing_password_oddly_is_understood() -> None:
    problem = connecting("42000", f"{SERVER}invalid TDS authentication request (33557097)")
    assert isinstance(problem, PasswordNeeded)
    assert has(str(problem), SqlServerErrorText.NO_CREDENTIALS, user="me")


def test_without_a_password_one_is_asked_for() -> None:
    problem = connecting("28000", f"{SERVER}Login failed for user 'me'. (18456)")
    assert isinstance(problem, PasswordNeeded)
    assert has(str(problem), SqlServerErrorText.CREDENTIALS_NEEDED, user="me")


@pytest.mark.parametrize(
    ("sqlstate", "record", "kind", "part"),
    [
        ("01000", "[unixODBC][Driver Manager]Can't open lib 'x' : file not found (0)", MissingDriver, LOADS),
        ("IM004", "[unixODBC][Driver Manager]Driver's SQLAllocHandle on SQL_HANDLE_HENV failed (0)", MissingDriver, ""),
        (
            "IM002",
            "[unixODBC][Driver Manager]Data source name not found (0)",
            MissingDriver,
            pattern(SqlServerErrorText.NO_DRIVER),
        ),
        (
            "08001",
            f"{DRIVER}Invalid value specified for connection string attribute 'Encrypt' (0)",
            BadInput,
            pattern(SqlServerErrorText.VALUE_REFUSED, keyword="Encrypt", values=SqlServerErrorText.ENCRYPT_VALUES),
        ),
        (
            "08001",
            f"{DRIVER}Invalid value specified for connection string attribute 'ApplicationIntent' (0)",
            BadInput,
            pattern(
                SqlServerErrorText.VALUE_REFUSED, keyword="ApplicationIntent", values=SqlServerErrorText.INTENT_VALUES
            ),
        ),
        (
            "HY000",
            f"{SERVER}Database 'd' is being recovered. (922)",
            ConnectionFailed,
            pattern(SqlServerErrorText.NOT_READY),
        ),
        (
            "08001",
            f"{DRIVER}an error was encountered during handshakes before login. (26)",
            ConnectionFailed,
            pattern(SqlServerErrorText.CLOSED_AT_ONCE),
        ),
    ],
)
def test_other_troubles(sqlstate: str, record: str, kind: type[QmonError], part: str) -> None:
    problem = connecting(sqlstate, record)
    assert type(problem) is kind
    assert re.search(part, str(problem))
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
        assert str(problem) == "shop: " + DriverText.NO_SUCH_DRIVER.render(name=name, names=installed)
        path = engine_errors.connecting_error(fault, Target("shop", None, {"DRIVER": "/opt/lib/driver.so"}))
        assert not has(str(path), DriverText.NO_SUCH_DRIVER)


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (0x20, SqlServerErrorText.CLOSED_CONNECTION),
        (0x2746, SqlServerErrorText.CLOSED_CONNECTION),
        (0x274C, SqlServerErrorText.NETWORK_SILENT),
        (0xFFFF, "TCP Provider: Error code 0xFFFF"),
    ],
)
def test_numbers_of_socket_errors_become_words(number: int, words: str) -> None:
    records = f"[08S01] {DRIVER}TCP Provider: Error code 0x{number:X} ({number}) (SQLExecDirectW)"
    problem = errors.statement_error(read_fault(("08S01", records)), "probe/server", "me")
    assert isinstance(problem, ConnectionLost)
    assert str(problem) == SqlServerErrorText.CONNECTION_LOST.render(text=words)


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
        assert has(str(connecting("HYT00", timeout, server=f"tcp:127.0.0.1,{port}")), SqlServerErrorText.NO_SQL_SERVER)
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        port = bound.getsockname()[1]
        problem = connecting("HYT00", timeout, server=f"127.0.0.1,{port}")
    assert has(str(problem), SqlServerErrorText.REFUSED, host="127.0.0.1", port=port)
    assert has(
        str(connecting("HYT00", timeout, server="nowhere.invalid")),
        SqlServerErrorText.UNKNOWN_HOST,
        host="nowhere.invalid",
    )
    assert has(str(connecting("HYT00", timeout, server="h\\x")), SqlServerErrorText.NO_INSTANCE, instance="x", host="h")


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
        ("HYT00", f"{DRIVER}Query timeout expired (0)", StatementStopped, pattern(SqlServerErrorText.DEADLINE)),
        ("HY008", f"{DRIVER}Operation canceled (0)", StatementStopped, pattern(SqlServerErrorText.DEADLINE)),
        (
            "42000",
            f"{SERVER}Lock request time out period exceeded. (1222)",
            LockTimeout,
            pattern(SqlServerErrorText.LOCK_TIMEOUT),
        ),
        (
            "42000",
            f"{SERVER}canceling statement due to lock timeout (33557097)",
            LockTimeout,
            pattern(SqlServerErrorText.LOCK_TIMEOUT),
        ),
        (
            "42000",
            f'{SERVER}relation "sys.allocation_units" does not exist (33557097)',
            QueryFailed,
            pattern(SqlServerErrorText.NO_OBJECT, query="probe/x", object="sys.allocation_units"),
        ),
        (
            "42000",
            f"{SERVER}function sys.dm_db_stats_properties(integer, integer) does not exist (33557097)",
            QueryFailed,
            pattern(SqlServerErrorText.NO_OBJECT, query="probe/x", object="sys.dm_db_stats_properties"),
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
            pattern(SqlServerErrorText.NO_OBJECT, query="probe/x", object="sys.dm_db_page_info"),
        ),
        (
            "40001",
            f"{SERVER}Transaction was deadlocked. (1205)",
            QueryFailed,
            pattern(SqlServerErrorText.DEADLOCK_VICTIM),
        ),
        (
            "08S01",
            f"{DRIVER}TCP Provider: Error code 0x68 (104)",
            ConnectionLost,
            pattern(SqlServerErrorText.CONNECTION_LOST),
        ),
        (
            "HY000",
            f"{SERVER}Cannot continue the execution because the session is in the kill state. (596)",
            ConnectionLost,
            pattern(SqlServerErrorText.CONNECTION_LOST),
        ),
        ("42S02", f"{SERVER}Invalid object name 'x'. (208)", QueryFailed, "probe/x: Invalid object name 'x'."),
        ("42000", f"{SERVER}The user does not have permission to perform this action. (297)", PermissionMissing, "297"),
    ],
)
def test_statements_fail_in_known_ways(sqlstate: str, record: str, kind: type[QmonError], part: str) -> None:
    fault = read_fault((sqlstate, f"[{sqlstate}] {record} (SQLExecDirectW)"))
    problem = errors.statement_error(fault, "probe/x", "me")
    assert type(problem) is kind
    assert re.search(part.replace("297", "does not have permission"), str(problem))


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
        with pytest.raises(ConnectionFailed, match=pattern(SqlServerErrorText.REFUSED, host="127.0.0.1", port=port)):
            ENGINE.connect(found, Session("test", login_timeout_s=600))
        assert time.monotonic() - began < 300, "the driver itself would try until its deadline"


@pytest.mark.server
@pytest.mark.parametrize("driver", [found for found in [driver_wheel.find_wheel_driver()] if found])
def test_the_real_driver_says_clearly_that_there_is_no_such_host(driver: str) -> None:
    found = target(f"mssql://me:hushhush@nowhere.invalid:1433/shop?driver={driver}")
    with pytest.raises(
        ConnectionFailed, match=pattern(SqlServerErrorText.UNKNOWN_HOST, host="nowhere.invalid")
    ) as told:
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
        with pytest.raises(ConnectionFailed, match=pattern(SqlServerErrorText.NO_SQL_SERVER, port=port)):
            ENGINE.connect(found, Session("test", login_timeout_s=1))


@pytest.mark.server
@pytest.mark.parametrize("driver", [found for found in [driver_wheel.find_wheel_driver()] if found])
def test_a_login_that_never_ends_is_not_waited_for(driver: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlserver_engine, "LOGIN_GRACE_S", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        found = target(f"mssql://me:hushhush@127.0.0.1:{port}/shop?driver={driver}&encrypt=strict")
        with pytest.raises(
            ConnectionFailed, match=pattern(SqlServerErrorText.LOGIN_HANGS, server=f"127.0.0.1,{port}")
        ) as told:
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
