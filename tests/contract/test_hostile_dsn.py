"""DSNs and connection strings with settings that change psqlODBC's results: qmon reads the same with all of them."""

from __future__ import annotations

import contextlib
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

import pytest

from qmon.engines.base import Connection, Session
from qmon.engines.postgres.postgres_engine import Postgres, PostgresText
from qmon.errors import BadInput, QmonError
from tests.contract.engines import opened, sql, target
from tests.facts import query
from tests.wordings import pattern

READ: Final = (
    "SELECT true AS yes, false AS no, CAST(NULL AS boolean) AS none, CAST(9007199254740993 AS bigint) AS big,"
    " CAST(32767 AS smallint) AS small, 1.5 AS number, CAST(1.25 AS float8) AS real, 'Ünï✓' AS text,"
    " repeat('é', 20000) AS long, E'a\\nb\\r\\nc' AS lines, CAST('\\x00ff0a' AS bytea) AS bytes,"
    " CAST(CAST('2026-01-02 12:00:00.123456+00' AS timestamptz) AS text) AS at, CAST('c' AS name) AS name,"
    " CAST('12345678901234567890.123' AS numeric) AS digits, CAST('v' AS varchar(400)) AS short, CAST(4 AS oid) AS oid,"
    " CAST(? AS text) AS given, CAST(? AS bigint) AS counted, CAST(? AS boolean) AS flag"
)
SETTINGS: Final = [
    "search_path",
    "standard_conforming_strings",
    "bytea_output",
    "DateStyle",
    "TimeZone",
    "client_encoding",
    "transaction_isolation",
    "default_transaction_isolation",
    "default_transaction_read_only",
    "extra_float_digits",
    "application_name",
    "lock_timeout",
]
# Each setting of psqlODBC 13 (`strings psqlodbcw.so`) except addresses, logins and logs, with other values.
HOSTILE: Final = {
    "ReadOnly": ("1",),
    "Protocol": ("6.4", "7.4-1", "7.4-2"),
    "FakeOidIndex": ("1",),
    "ShowOidColumn": ("1",),
    "RowVersioning": ("1",),
    "ShowSystemTables": ("1",),
    "Fetch": ("0", "1"),
    "UnknownSizes": ("1", "2"),
    "MaxVarcharSize": ("-4", "0", "1"),
    "MaxLongVarcharSize": ("-4", "0", "5"),
    "UseDeclareFetch": ("1",),
    "TextAsLongVarchar": ("0",),
    "UnknownsAsLongVarchar": ("1",),
    "BoolsAsChar": ("1",),
    "Parse": ("1",),
    "ExtraSysTablePrefixes": ("t",),
    "LFConversion": ("1",),
    "UpdatableCursors": ("0", "1"),
    "TrueIsMinus1": ("1",),
    "BI": ("-6", "-5", "2", "4", "5", "12"),
    "NumericAs": ("-1", "6", "8", "12"),
    "ByteaAsLongVarBinary": ("0",),
    "UseServerSidePrepare": ("0",),
    "LowerCaseIdentifier": ("1",),
    "KeepaliveTime": ("0", "7"),
    "KeepaliveInterval": ("7",),
    "BatchSize": ("1",),
    "OptionalErrors": ("1",),
    "IgnoreTimeout": ("1",),
    "FetchRefcursors": ("1",),
    "UniqueIndex": ("0",),
    "XaOpt": ("1",),
    "CX": ("ffffffff",),
    "TranslationOption": ("1",),
    "pqopt": ("options='-c search_path=public'", "connect_timeout=99 client_encoding=LATIN1", "keepalives_idle=9"),
}
# Their short names, which connection strings use.
SHORT: Final = {
    "A0": "1",
    "A1": "7.4-2",
    "A7": "1",
    "A9": "1",
    "B0": "4",
    "B1": "5",
    "B6": "1",
    "B7": "0",
    "B8": "1",
    "B9": "1",
    "C0": "1",
    "C2": "t",
    "C4": "1",
    "C5": "1",
    "C6": "1",
    "C7": "0",
    "C8": "0",
    "C9": "1",
    "D1": "7",
    "D2": "7",
    "D6": "12",
    "D7": "1",
    "D8": "1",
    "D9": "1",
    "DA": "1",
    "boolsaschar": "1",
    "trueisminus1": "1",
}


class Dsns:
    """Writes DSNs to a database. The driver manager caches DSNs by name, so each file has new names."""

    def __init__(self, ini: Path, database: str) -> None:
        self._ini, self.mark = ini, uuid.uuid4().hex[:8]
        parts = urlsplit(database)
        where = {name: values[0] for name, values in parse_qs(parts.query).items()}
        self._common = (
            f"Servername={where['host']}\nPort={where['port']}\nDatabase={parts.path[1:]}\nUsername=postgres\n"
        )

    def write(self, *settings: str, driver: str = "PostgreSQL Unicode") -> list[str]:
        """Return the names of new DSNs, each with a setting of its own."""
        names = [f"{self.mark}-{number}" for number in range(len(settings))]
        self._ini.write_text(
            "\n".join(
                f"[{name}]\nDriver={driver}\n{self._common}{line}\n" for name, line in zip(names, settings, strict=True)
            )
        )
        return names


@pytest.fixture
def dsns(database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Dsns:
    monkeypatch.setenv("ODBCINI", str(tmp_path / "odbc.ini"))
    query(database, "CREATE TABLE t (id bigint, v text)")
    return Dsns(tmp_path / "odbc.ini", database)


def observe(dsn: str) -> dict[str, Any]:
    """Read and change rows through this DSN or connection string; return faults as text."""
    with opened(dsn, Session("act")) as connection:
        return {name: attempt(look, connection) for name, look in LOOKS.items()}


def attempt(look: Callable[[Connection], Any], connection: Connection) -> Any:
    try:
        return look(connection)
    except QmonError as problem:
        return f"{type(problem).__name__}: {problem}"


def fail_within(connection: Connection) -> int:
    """Let a statement fail in a transaction; return how many rows changed before it. Nothing may be committed."""
    changed = -1
    with contextlib.suppress(QmonError), connection.transaction():
        changed = connection.execute(sql("UPDATE t SET v = 'y'"))
        with contextlib.suppress(QmonError):
            connection.fetch(sql("SELECT 1 / 0 AS n"))
    return changed


LOOKS: Final[dict[str, Callable[[Connection], Any]]] = {
    "types": lambda c: c.fetch(sql(READ, given="wört '\\ \n", counted=2**53 + 1, flag=True)).rows,
    "many": lambda c: c.fetch(sql("SELECT n, n % 2 = 0 AS even FROM generate_series(1, 2500) AS n")).rows,
    "batch": lambda c: [each.rows for each in c.fetch_batch([sql("SELECT 1"), sql("SELECT CAST(? AS text)", b="v")])],
    "names": lambda c: c.fetch(sql('SELECT 1 AS "CamelCase"')).columns,
    "settings": lambda c: [c.fetch(sql(f"SHOW {name}")).rows for name in SETTINGS],
    "insert": lambda c: c.execute(sql("INSERT INTO t SELECT n, 'é' FROM generate_series(1, 3) AS n")),
    "update": lambda c: c.execute(sql("UPDATE t SET v = CAST(? AS text) WHERE id > CAST(? AS bigint)", v="é", i=1)),
    "with": lambda c: c.execute(
        sql("WITH d AS (DELETE FROM t WHERE id = 1 RETURNING 1) SELECT CAST(count(*) AS int) AS done FROM d", "done")
    ),
    "failed": fail_within,
    "after": lambda c: c.fetch(sql("SELECT DISTINCT v FROM t")).rows,
    "clean": lambda c: c.execute(sql("DELETE FROM t")),
}


LINES: Final = [f"{keyword}={value}" for keyword, values in HOSTILE.items() for value in values]


def test_no_setting_of_a_dsn_changes_what_qmon_reads(dsns: Dsns) -> None:
    plain, *names = dsns.write("", *LINES)
    expected = observe(plain)
    assert (expected["types"][0][:4], expected["with"], expected["failed"]) == ((True, False, None, 2**53 + 1), 1, 2)
    assert expected["after"] == (("é",),)
    for name, line in zip(names, LINES, strict=True):
        assert observe(name) == expected, line


def test_no_keyword_of_a_connection_string_changes_what_qmon_reads(dsns: Dsns) -> None:
    (plain,) = dsns.write("")
    expected = observe(plain)
    for line in (*LINES, *(f"{name}={value}" for name, value in SHORT.items())):
        keyword, _, value = line.partition("=")
        assert observe(f"DSN={plain};{keyword}={{{value}}}") == expected, line


def test_keepalives_of_a_dsn_are_kept(dsns: Dsns) -> None:
    (name,) = dsns.write("KeepaliveTime=7\nKeepaliveInterval=8")
    words = Postgres().odbc_keywords(target(name), Session("poll"))
    assert "keepalives_idle='7' keepalives_interval='8' keepalives_count='3'" in words["pqopt"]


def test_settings_that_run_as_statements_are_refused(dsns: Dsns) -> None:
    plain, setting = dsns.write("", "ConnSettings=SET work_mem='9MB'")
    for text in (setting, f"DSN={setting}", f"DSN={plain};ConnSettings=SET work_mem='9MB'", f"DSN={plain};a6=SET x=1"):
        with pytest.raises(BadInput, match=pattern(PostgresText.CONN_SETTINGS)), opened(text):
            pass
    with opened(f"DSN={setting};ConnSettings=") as connection:
        assert connection.fetch(sql("SHOW work_mem")).rows == (("4MB",),)


def test_the_ansi_driver_is_refused_by_name(dsns: Dsns) -> None:
    (name,) = dsns.write("", driver="PostgreSQL ANSI")
    with pytest.raises(BadInput, match=pattern(PostgresText.ANSI_DRIVER, driver="PostgreSQL Unicode")):
        observe(name)


@pytest.mark.parametrize(("stated", "used"), [("12", "12"), ("0", "5"), ("-1", "5"), ("", "5")])
def test_a_connect_timeout_is_the_deadline_of_the_login(database: str, stated: str, used: str) -> None:
    url = f"{database}&connect_timeout={stated}" if stated else database
    words = Postgres().odbc_keywords(target(url), Session("poll", login_timeout_s=5.0))
    assert f"connect_timeout='{used}'" in words["pqopt"]
    with opened(url) as connection:
        assert connection.fetch(sql("SELECT 1 AS n")).rows == ((1,),)


def test_a_connect_timeout_that_is_no_number_is_refused(database: str) -> None:
    wrong = pytest.raises(BadInput, match=pattern(PostgresText.BAD_TIMEOUT))
    with wrong, opened(f"{database}&connect_timeout=soon"):
        pass
