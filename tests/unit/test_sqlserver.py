"""SQL Server's quoting, connecting and drivers, tested without a server."""

from __future__ import annotations

import sys
from pathlib import Path

import pyodbc
import pytest

from qmon.engines import odbc
from qmon.engines.base import Session, Target
from qmon.engines.odbc_keywords import format_connection_string, format_for_manager
from qmon.engines.registry import engine_for, engine_from_words
from qmon.engines.sql import queries
from qmon.engines.sqlserver import driver_wheel as wheels
from qmon.engines.sqlserver import sqlserver_engine
from qmon.engines.sqlserver.freetds import FreeTdsText
from qmon.engines.sqlserver.sqlserver_engine import DRIVER_SETTINGS, SqlServer, SqlServerText
from qmon.errors import (
    BadInput,
    MissingDriver,
)
from qmon.system import choose_for_system
from tests.unit.targets import target
from tests.wordings import pattern

ENGINE = SqlServer()


def keywords(text: str, purpose: str = "poll") -> dict[str, str]:
    return ENGINE.odbc_keywords(target(text), Session(purpose))


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


@pytest.mark.parametrize(
    ("parts", "text"),
    [
        ((), SqlServerText.NO_PARTS),
        (("",), SqlServerText.BAD_IDENTIFIER),
        (("a\0",), SqlServerText.BAD_IDENTIFIER),
        (("x" * 129,), SqlServerText.LONG_IDENTIFIER),
        (("\U0001f600" * 65,), SqlServerText.LONG_IDENTIFIER),
    ],
)
def test_what_sql_server_would_refuse_is_no_identifier(parts: tuple[str, ...], text: SqlServerText) -> None:
    with pytest.raises(BadInput, match=pattern(text)):
        ENGINE.quote(parts)


def test_literals_are_unicode() -> None:
    assert ENGINE.literal("it's [x]") == "N'it''s [x]'"


def test_a_session_is_set_up_without_values_since_settings_made_with_some_do_not_last() -> None:
    for name, level in (("watch", "READ UNCOMMITTED"), ("act", "READ COMMITTED")):
        query = queries.load_query("sqlserver", f"catalog/session_{name}", (16, 0))
        text = queries.render(query, {"lock_timeout": 250}, ENGINE).text
        assert f"SET TRANSACTION ISOLATION LEVEL {level};" in text
        assert "SET LOCK_TIMEOUT 250;" in text
        assert query.parameters == ()


# ------------------------------------------------------------------------------------------------------- connecting


def test_a_url_is_encrypted_and_checked_unless_the_user_says_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(odbc, "installed_drivers", lambda: ("ODBC Driver 18 for SQL Server",))
    url = "mssql://me:hush@db1:1444/shop?driver=ODBC+Driver+18+for+SQL+Server"
    assert keywords(url) == {
        "APP": "qmon poll",
        "DRIVER": "ODBC Driver 18 for SQL Server",
        "Encrypt": "yes",
        "Server": "db1,1444",
        "Database": "shop",
        "UID": "me",
        **DRIVER_SETTINGS,
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
        **DRIVER_SETTINGS,
    }
    password = target(text).password
    assert password is not None
    assert password.reveal() == "}x"
    assert format_connection_string({"UID": "a;b", "PWD": "}x", "A": "b c"}) == "UID={a;b};PWD={}}x};A=b c;"


def test_a_dsn_decides_about_encryption_itself() -> None:
    assert ENGINE.odbc_keywords(Target("x", "sqlserver", {"DSN": "x"}), Session()) == {
        "APP": "qmon",
        "DSN": "x",
        **DRIVER_SETTINGS,
    }


def test_settings_that_change_what_qmon_reads_are_its_own() -> None:
    text = "DSN=x;quotedid=no;ANSINPW=no;AutoTranslate=no;regional=yes;UseFMTONLY=yes;ConnectRetryCount=3"
    more = "Language=Deutsch;RetryExec={1205:3,5};MARS_Connection=yes;ConcatNullYieldsNull=no;LongAsMax=no"
    found = keywords(f"{text};{more}")
    assert found == {"APP": "qmon poll", "DSN": "x", "LongAsMax": "no", **DRIVER_SETTINGS}


@pytest.mark.parametrize("name", ["watch", "act"])
def test_a_session_sets_what_a_login_or_the_server_may_have_set_otherwise(name: str) -> None:
    query = queries.load_query("sqlserver", f"catalog/session_{name}", (16, 0))
    session = queries.render(query, {"lock_timeout": 250}, ENGINE).text
    on = "QUOTED_IDENTIFIER, ANSI_NULLS, ANSI_PADDING, ANSI_WARNINGS, CONCAT_NULL_YIELDS_NULL, ARITHABORT"
    assert f"SET {on} ON;" in session
    assert "NOCOUNT OFF;" in session and "SET ROWCOUNT 0;" in session and "SET TEXTSIZE 2147483647;" in session


@pytest.mark.server
@pytest.mark.skipif(wheels.find_wheel_driver() is None, reason="Microsoft's driver is not installed")
def test_microsofts_driver_takes_our_settings_and_refuses_other_values() -> None:
    def says(settings: dict[str, str]) -> str:
        words = {"DRIVER": str(wheels.find_wheel_driver()), "Server": "127.0.0.1,1", "UID": "a", "PWD": "b", **settings}
        with pytest.raises(pyodbc.Error) as failed:
            pyodbc.connect(format_for_manager(words), timeout=1)
        return str(failed.value)

    assert "Invalid" not in says(dict(DRIVER_SETTINGS))
    assert "Invalid value specified" in says({"ConnectRetryCount": "never"})


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
    with pytest.raises(BadInput, match=pattern(FreeTdsText.NO_ENCRYPTION, value="strict")):
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
    monkeypatch.setattr(wheels, "find_wheel_driver", lambda: wheel)
    assert expected in sqlserver_engine.find_driver()


@pytest.mark.parametrize(
    ("installed", "wheel", "expected"),
    [
        ((), "/w/libmsodbcsql-18.6.so.2.1", "/w/libmsodbcsql-18.6.so.2.1"),
        (("ODBC Driver 18 for SQL Server",), "/w/libmsodbcsql-18.6.so.2.1", "ODBC Driver 18 for SQL Server"),
        ((), None, "ODBC Driver 18 for SQL Server"),
    ],
)
def test_the_name_that_microsoft_documents_means_the_driver_of_the_wheel_where_none_is_registered(
    monkeypatch: pytest.MonkeyPatch, installed: tuple[str, ...], wheel: str | None, expected: str
) -> None:
    monkeypatch.setattr(odbc, "installed_drivers", lambda: installed)
    monkeypatch.setattr(wheels, "find_wheel_driver", lambda: wheel)
    for given in (
        "mssql://me@db1/shop?driver=ODBC+Driver+18+for+SQL+Server",
        "Driver={ODBC Driver 18 for SQL Server};Server=db1;Database=shop;UID=me",
    ):
        found = keywords(given)
        assert [value for name, value in found.items() if name.lower() == "driver"] == [expected]
    other = keywords("mssql://me@db1/shop?driver=ODBC+Driver+17+for+SQL+Server")
    assert other["DRIVER"] == "ODBC Driver 17 for SQL Server"


def test_without_a_driver_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(odbc, "installed_drivers", lambda: ("PostgreSQL Unicode",))
    monkeypatch.setattr(wheels, "find_wheel_driver", lambda: None)
    wheel = 'pip install "mssql-python-odbc"'
    hint = choose_for_system(linux=wheel, macos=wheel, windows=r"installer of Microsoft's ODBC Driver 18 .*\(64 bit\)")
    with pytest.raises(MissingDriver, match=hint):
        keywords("mssql://me@db1/shop")


def test_the_library_in_the_wheel_is_found_without_importing_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    package = tmp_path / wheels.WHEEL_PACKAGE
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
        assert wheels.find_wheel_driver() == str(package / "libs" / expected / "lib" / "libmsodbcsql-18.6.so.2.1")
    monkeypatch.setattr(sys, "path", [])
    sys.path_importer_cache.clear()
    assert wheels.find_wheel_driver() is None


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
    assert engine_from_words(words) == name
    if name is not None and words:
        assert engine_for(Target("x", None, {"driver": words})).name == name
