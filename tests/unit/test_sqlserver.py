"""SQL Server's quoting, connecting and errors, as far as they can be known without a server."""

from __future__ import annotations

import socket
import sys
from pathlib import Path

import pytest

from qmon.config.file import Config
from qmon.config.targets import choose
from qmon.engines import odbc, queries, sqlserver
from qmon.engines import sqlserver_errors as errors
from qmon.engines.base import Session, Target
from qmon.engines.faults import read_fault
from qmon.engines.keywords import format_connection_string
from qmon.engines.registry import engine_by_words, engine_for
from qmon.engines.secret import Secret
from qmon.engines.sqlserver import SqlServer
from qmon.errors import (
    BadInput,
    ConnectionLost,
    DeadlineExceeded,
    MissingDriver,
    PasswordNeeded,
    PermissionMissing,
    QmonError,
    QueryFailed,
    Unreachable,
)

ENGINE = SqlServer()
DRIVER = "[Microsoft][ODBC Driver 18 for SQL Server]"
SERVER = DRIVER + "[SQL Server]"


def target(text: str) -> Target:
    return choose(text, Config(Path("qmon.toml")), {}).target


def keywords(text: str, purpose: str = "poll") -> dict[str, str]:
    return ENGINE.keywords(target(text), Session(purpose))


# --------------------------------------------------------------------------------------------------------- quoting


@pytest.mark.parametrize(
    ("parts", "quoted"),
    [
        (("dbo", "Orders"), "[dbo].[Orders]"),
        (("[a]]b].[c d]",), "[[a]]]]b]].[c d]]]"),
        (('"; drop table x; --',), '["; drop table x; --]'),
        (("\U0001f600", "it's ? {x} :y"), "[\U0001f600].[it's ? {x} :y]"),
        (("x" * 128,), "[" + "x" * 128 + "]"),
    ],
)
def test_identifiers_are_in_brackets(parts: tuple[str, ...], quoted: str) -> None:
    assert ENGINE.quote(parts) == quoted


@pytest.mark.parametrize("parts", [(), ("",), ("a\0",), ("x" * 129,), ("\U0001f600" * 65,)])
def test_what_sql_server_would_refuse_is_no_identifier(parts: tuple[str, ...]) -> None:
    with pytest.raises(BadInput, match="cannot be an identifier"):
        ENGINE.quote(parts)


def test_literals_are_unicode() -> None:
    assert ENGINE.literal("it's [x]") == "N'it''s [x]'"


def test_a_session_is_set_up_without_values_since_settings_made_with_some_do_not_last() -> None:
    for name, level in (("watch", "READ UNCOMMITTED"), ("act", "READ COMMITTED")):
        query = queries.load("sqlserver", f"catalog/session_{name}", (16, 0))
        text = queries.render(query, {"lock_timeout": 250}, ENGINE).text
        assert f"SET TRANSACTION ISOLATION LEVEL {level};" in text
        assert "SET LOCK_TIMEOUT 250;" in text
        assert query.parameters == ()


# ------------------------------------------------------------------------------------------------------- connecting


def test_a_url_is_encrypted_and_checked_unless_the_user_says_otherwise() -> None:
    url = "mssql://me:hush@db1:1444/shop?driver=ODBC+Driver+18+for+SQL+Server"
    assert keywords(url) == {
        "APP": "qmon poll",
        "DRIVER": "ODBC Driver 18 for SQL Server",
        "Encrypt": "yes",
        "Server": "db1,1444",
        "Database": "shop",
        "UID": "me",
    }
    trusting = keywords(f"{url}&trust=yes&encrypt=strict&ApplicationIntent=ReadOnly&multisubnetfailover=yes")
    assert trusting.items() >= {
        ("TrustServerCertificate", "yes"),
        ("Encrypt", "strict"),
        ("ApplicationIntent", "ReadOnly"),
        ("MultiSubnetFailover", "yes"),
    }


def test_without_a_user_the_own_account_logs_in() -> None:
    assert keywords("mssql://db1%5Cinst/shop?driver=x")["Server"] == r"db1\inst"
    assert keywords("mssql://db1/shop?driver=x")["Trusted_Connection"] == "yes"
    assert "Trusted_Connection" not in keywords("mssql://db1/shop?driver=x&authentication=ActiveDirectoryMsi")


def test_what_a_connection_string_says_stays_as_it_is() -> None:
    text = "driver={ODBC Driver 17 for SQL Server};SERVER=tcp:db1;encrypt=no;app=mine;UID={a;b};PWD={}}x};X_Y=z"
    assert keywords(text) == {
        "driver": "ODBC Driver 17 for SQL Server",
        "SERVER": "tcp:db1",
        "encrypt": "no",
        "app": "mine",
        "UID": "a;b",
        "X_Y": "z",
    }
    password = target(text).password
    assert password is not None
    assert password.reveal() == "}x"
    assert format_connection_string({"UID": "a;b", "PWD": "}x", "A": "b c"}) == "UID={a;b};PWD={}}x};A=b c;"


def test_a_dsn_decides_about_encryption_itself() -> None:
    assert ENGINE.keywords(Target("x", "sqlserver", {"DSN": "x"}), Session()) == {"APP": "qmon", "DSN": "x"}


def test_freetds_has_its_own_word_for_encryption() -> None:
    found = keywords("mssql://me@db1/shop?driver=FreeTDS")
    assert found.items() >= {("Encryption", "require"), ("TDS_Version", "7.4")}
    assert "Encrypt" not in found


@pytest.mark.parametrize(
    ("said", "given"), [("yes", "require"), ("mandatory", "require"), ("no", "off"), ("False", "off")]
)
def test_what_is_said_about_encryption_is_said_to_freetds_in_its_words(said: str, given: str) -> None:
    found = keywords(f"mssql://me@db1/shop?driver=FreeTDS&encrypt={said}&ApplicationIntent=ReadOnly")
    assert found["Encryption"] == given
    assert found["ApplicationIntent"] == "ReadOnly"
    assert "Encrypt" not in found


def test_freetds_is_not_given_what_it_would_pass_over_in_silence() -> None:
    with pytest.raises(BadInput, match="FreeTDS has no encryption 'strict'"):
        keywords("mssql://me@db1/shop?driver=/usr/lib/libtdsodbc.so&encrypt=strict")


@pytest.mark.parametrize(
    ("server", "given"),
    [
        ("db1,1444", {"Server": "db1", "Port": "1444"}),
        ("tcp:db1, 1444", {"Server": "db1", "Port": "1444"}),
        (r"db1\inst", {"Server": r"db1\inst"}),
        ("db1", {"Server": "db1"}),
    ],
)
def test_freetds_gets_the_port_apart(server: str, given: dict[str, str]) -> None:
    found = keywords(f"DRIVER=FreeTDS;SERVER={server};UID=me")
    assert {name.title(): value for name, value in found.items() if name.lower() in ("server", "port")} == given


@pytest.mark.parametrize(
    ("installed", "wheel", "expected"),
    [
        (("FreeTDS", "ODBC Driver 17 for SQL Server", "ODBC Driver 18 for SQL Server"), "w", "18"),
        (("FreeTDS", "ODBC Driver 17 for SQL Server"), "w", "17"),
        (("FreeTDS", "PostgreSQL Unicode"), "w", "w"),
        (("FreeTDS", "PostgreSQL Unicode"), None, "FreeTDS"),
    ],
)
def test_the_best_driver_is_taken(
    monkeypatch: pytest.MonkeyPatch, installed: tuple[str, ...], wheel: str | None, expected: str
) -> None:
    monkeypatch.setattr(odbc, "installed_drivers", lambda: installed)
    monkeypatch.setattr(sqlserver, "wheel_driver", lambda: wheel)
    assert expected in sqlserver.find_driver()


def test_without_a_driver_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(odbc, "installed_drivers", lambda: ("PostgreSQL Unicode",))
    monkeypatch.setattr(sqlserver, "wheel_driver", lambda: None)
    with pytest.raises(MissingDriver, match=r"pip install 'qmon\[sqlserver\]'"):
        keywords("mssql://me@db1/shop")


def test_the_library_in_the_wheel_is_found_without_importing_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    package = tmp_path / sqlserver.WHEEL
    for family in ("alpine", "debian_ubuntu", "rhel"):
        for machine in ("x86_64", "arm64"):
            folder = package / "libs" / "linux" / family / machine / "lib"
            folder.mkdir(parents=True)
            (folder / "libmsodbcsql-18.6.so.2.1").touch()
    (package / "__init__.py").write_text("raise AssertionError('imported')")
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    for machine, kind, expected in (
        ("x86_64", {"ID": "debian"}, "linux/debian_ubuntu/x86_64"),
        ("aarch64", {"ID": "ubuntu", "ID_LIKE": "debian"}, "linux/debian_ubuntu/arm64"),
        ("x86_64", {"ID": "rocky", "ID_LIKE": "rhel centos fedora"}, "linux/rhel/x86_64"),
        ("arm64", {"ID": "alpine"}, "linux/alpine/arm64"),
    ):
        monkeypatch.setattr("platform.machine", lambda machine=machine: machine)
        monkeypatch.setattr("platform.system", lambda: "Linux")
        monkeypatch.setattr("platform.freedesktop_os_release", lambda kind=kind: kind)
        assert sqlserver.wheel_driver() == str(package / "libs" / expected / "lib" / "libmsodbcsql-18.6.so.2.1")
    monkeypatch.setattr(sys, "path", [])
    sys.path_importer_cache.clear()
    assert sqlserver.wheel_driver() is None


@pytest.mark.parametrize(
    ("words", "name"),
    [
        ("ODBC Driver 18 for SQL Server", "sqlserver"),
        ("/x/libmsodbcsql-18.6.so.2.1", "sqlserver"),
        ("FreeTDS", "sqlserver"),
        ("Microsoft SQL Server", "sqlserver"),
        ("PostgreSQL Unicode", "postgres"),
        ("/x/psqlodbcw.so", "postgres"),
        ("SQLite3", None),
        ("", None),
    ],
)
def test_the_driver_tells_the_engine(words: str, name: str | None) -> None:
    assert engine_by_words(words) == name
    if name is not None and words:
        assert engine_for(Target("x", None, {"driver": words})).name == name


# ----------------------------------------------------------------------------------------------------------- errors


def connecting(sqlstate: str, *records: str, password: str | None = None, server: str = "db1") -> QmonError:
    text = "; ".join(f"[{sqlstate}] {record} (SQLDriverConnect)" for record in records)
    secret = None if password is None else Secret(password, "keyring")
    found = Target("shop", "sqlserver", {"Server": server, "Database": "d", "UID": "me"}, password=secret)
    return errors.connecting(read_fault((sqlstate, text), (secret,)), found)


@pytest.mark.parametrize(
    ("sqlstate", "record", "part"),
    [
        ("28000", f"{SERVER}Login failed for user 'me'. (18456)", "login failed: wrong password (from keyring) for me"),
        ("28000", f"{SERVER}The account is locked out. (18486)", "login 'me' is locked out"),
        ("28000", f"{SERVER}The account is disabled. (18470)", "login 'me' is disabled"),
        ("28000", f"{SERVER}The password must be changed. (18488)", "the password of login 'me' has expired"),
        ("42000", f"{SERVER}Cannot open database requested by the login. (4060)", "there is no database 'd'"),
        ("08004", f"{SERVER}The principal is not able to access the database. (916)", "CREATE USER in it helps"),
        (
            "08001",
            f"{DRIVER}SSL Provider: [error:0A000086:SSL routines::certificate verify failed:self-signed] (-1)",
            "trust it unchecked with trust=yes in the URL (TrustServerCertificate=yes)",
        ),
        ("08001", f"{DRIVER}SSL Provider: [error:0A000102:unsupported protocol] (-1)", "TLS failed: SSL Provider"),
        ("HY000", f"{DRIVER}Protocol error in TDS stream (0)", "what answers on db1 is not SQL Server"),
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
    assert "no database 'd' on the server, or we may not open it" in str(problem)
    assert isinstance(problem, Unreachable)
    assert not problem.retryable


def test_a_server_that_words_a_missing_password_oddly_is_understood() -> None:
    problem = connecting("42000", f"{SERVER}invalid TDS authentication request (33557097)")
    assert isinstance(problem, PasswordNeeded)
    assert "does not take login 'me' without a password" in str(problem)


def test_without_a_password_one_is_asked_for() -> None:
    problem = connecting("28000", f"{SERVER}Login failed for user 'me'. (18456)")
    assert isinstance(problem, PasswordNeeded)
    assert "the password of login 'me', and there is none" in str(problem)


@pytest.mark.parametrize(
    ("sqlstate", "record", "kind", "part"),
    [
        ("01000", "[unixODBC][Driver Manager]Can't open lib 'x' : file not found (0)", MissingDriver, "libltdl7"),
        ("IM004", "[unixODBC][Driver Manager]Driver's SQLAllocHandle on SQL_HANDLE_HENV failed (0)", MissingDriver, ""),
        ("IM002", "[unixODBC][Driver Manager]Data source name not found (0)", MissingDriver, "names no driver"),
        (
            "08001",
            f"{DRIVER}Invalid value specified for connection string attribute 'Encrypt' (0)",
            BadInput,
            "Encrypt",
        ),
        ("HY000", f"{SERVER}Database 'd' is being recovered. (922)", Unreachable, "not ready yet"),
        ("08001", f"{DRIVER}an error was encountered during handshakes before login. (26)", Unreachable, "at once"),
    ],
)
def test_other_troubles(sqlstate: str, record: str, kind: type[QmonError], part: str) -> None:
    problem = connecting(sqlstate, record)
    assert type(problem) is kind
    assert part in str(problem)
    assert getattr(problem, "retryable", True)


def test_a_timeout_is_looked_into() -> None:
    timeout = f"{DRIVER}Login timeout expired (0)"
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        assert "takes connections, but no SQL" in str(connecting("HYT00", timeout, server=f"tcp:127.0.0.1,{port}"))
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        port = bound.getsockname()[1]
        problem = connecting("HYT00", timeout, server=f"127.0.0.1,{port}")
    assert f"nothing listens on 127.0.0.1 port {port}: connection refused" in str(problem)
    assert "'nowhere.invalid' is unknown" in str(connecting("HYT00", timeout, server="nowhere.invalid"))
    assert "no instance x answered on h" in str(connecting("HYT00", timeout, server="h\\x"))


def test_a_driver_that_repeats_the_password_is_scrubbed() -> None:
    said = "; ".join((f"{DRIVER}odd thing: PWD=hush/hush", f"{DRIVER}again hush/hush"))
    problem = connecting("HY000", f"{said} (5)", password="hush/hush")
    assert "hush" not in str(problem)
    assert "odd thing: PWD=***" in str(problem)
    assert read_fault(("HY000", "[HY000] user x has pw x in pqx (1) (SQLConnect)"), (Secret("x"),)).text == (
        "user *** has pw *** in pqx"
    )


@pytest.mark.parametrize(
    ("sqlstate", "record", "kind", "part"),
    [
        ("HYT00", f"{DRIVER}Query timeout expired (0)", DeadlineExceeded, "no result within its deadline"),
        ("HY008", f"{DRIVER}Operation canceled (0)", DeadlineExceeded, "cancelled"),
        (
            "42000",
            f"{SERVER}Lock request time out period exceeded. (1222)",
            DeadlineExceeded,
            "a lock was not",
        ),
        (
            "42000",
            f"{SERVER}canceling statement due to lock timeout (33557097)",
            DeadlineExceeded,
            "a lock was not",
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
        ("42S02", f"{SERVER}Invalid object name 'x'. (208)", QueryFailed, "probe/x: Invalid object name 'x'."),
        ("42000", f"{SERVER}The user does not have permission to perform this action. (297)", PermissionMissing, "297"),
    ],
)
def test_statements_fail_in_known_ways(sqlstate: str, record: str, kind: type[QmonError], part: str) -> None:
    fault = read_fault((sqlstate, f"[{sqlstate}] {record} (SQLExecDirectW)"))
    problem = errors.running(fault, "probe/x", "me")
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
    problem = errors.running(fault, "probe/x", "shop\\me")
    assert isinstance(problem, PermissionMissing)
    assert problem.grant == grant


@pytest.mark.parametrize("driver", [found for found in [sqlserver.wheel_driver()] if found])
def test_the_real_driver_says_clearly_that_nothing_listens(driver: str) -> None:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        port = bound.getsockname()[1]
        found = target(f"mssql://me:hushhush@127.0.0.1:{port}/shop?driver={driver}")
        with pytest.raises(Unreachable, match=f"nothing listens on 127.0.0.1 port {port}: connection refused"):
            ENGINE.connect(found, Session("test", login_timeout_s=1))


@pytest.mark.parametrize("driver", [found for found in [sqlserver.wheel_driver()] if found])
def test_the_real_driver_says_clearly_that_there_is_no_such_host(driver: str) -> None:
    found = target(f"mssql://me:hushhush@nowhere.invalid:1433/shop?driver={driver}")
    with pytest.raises(Unreachable, match=r"the host name 'nowhere\.invalid' is unknown") as told:
        ENGINE.connect(found, Session("test", login_timeout_s=1))
    assert "hushhush" not in str(told.value)


@pytest.mark.parametrize("driver", [found for found in [sqlserver.wheel_driver()] if found])
def test_the_real_driver_says_clearly_that_nobody_answers(driver: str) -> None:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        port = listening.getsockname()[1]
        found = target(f"mssql://me:hushhush@127.0.0.1:{port}/shop?driver={driver}")
        with pytest.raises(Unreachable, match=f"port {port} takes connections, but no SQL Server answers"):
            ENGINE.connect(found, Session("test", login_timeout_s=1))


@pytest.mark.parametrize("driver", [found for found in [sqlserver.wheel_driver()] if found])
def test_a_login_that_never_ends_is_not_waited_for(driver: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlserver, "_GRACE_S", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        found = target(f"mssql://me:hushhush@127.0.0.1:{port}/shop?driver={driver}&encrypt=strict")
        with pytest.raises(Unreachable, match=f"logging in to 127.0.0.1,{port} does not come to an end") as told:
            ENGINE.connect(found, Session("test", login_timeout_s=0.2))
        assert told.value.retryable
