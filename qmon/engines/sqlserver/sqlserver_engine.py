"""SQL Server over Microsoft's driver or FreeTDS: quoting, connecting, and the settings of qmon's sessions."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final
from xml.etree import ElementTree

from qmon.engines import drivers
from qmon.engines.base import MOST_OF_AN_ERROR, Bound, EngineName, Session, Target, Value
from qmon.engines.bounded_calls import BoundedCalls, CallTimeoutError
from qmon.engines.driver_faults import DriverFault
from qmon.engines.odbc_keywords import lookup_keyword, without_keywords
from qmon.engines.result_records import to_records
from qmon.engines.sql import batch_text, name_pattern
from qmon.engines.sql.queries import load_query, render
from qmon.engines.sqlserver import driver_wheel, login_methods
from qmon.engines.sqlserver import sqlserver_errors as errors
from qmon.engines.sqlserver.freetds import DEFAULTS, is_freetds, to_freetds
from qmon.errors import BadInput, MissingDriver, QmonError
from qmon.model.layout.time_zones import UTC_ZONE, Zone
from qmon.texts import Text

if TYPE_CHECKING:
    import pyodbc

    from qmon.engines.odbc import OdbcConnection


class SqlServerText(Text):
    """Errors of SQL Server targets."""

    NO_PARTS = "a name without any part cannot be an identifier"
    BAD_IDENTIFIER = "{name!r} cannot be an identifier: it is empty or contains a NUL character"
    LONG_IDENTIFIER = "{name!r} cannot be an identifier: SQL Server allows at most {limit} characters"
    NO_ADVISORY_LOCKS = "advisory_lock: SQL Server has no locks with numbers as keys"
    READ_ONLY = (
        "{target} is read-only (a readable secondary, or a read-only database): nothing can be "
        "changed here; connect to its primary"
    )
    NO_DRIVER = "no ODBC driver for SQL Server is installed: {hint}"


# Drivers used if the user names no driver, best first. The driver of Microsoft's wheel comes before FreeTDS.
DRIVER_NAMES: Final = (driver_wheel.DRIVER_NAME, "ODBC Driver 17 for SQL Server", "FreeTDS")

# Settings of Microsoft's driver 18 that change what we read and do. They override the settings of the user and the DSN.
#
# FreeTDS supports `Language` and ignores the other settings. `ColumnEncryption` is left to the user, because it makes
# values readable.
DRIVER_SETTINGS: Final = {
    "QuotedId": "yes",
    "AnsiNPW": "yes",
    "ConcatNullYieldsNull": "yes",
    "AutoTranslate": "yes",  # otherwise text in varchar columns is read in the code page of this machine
    "Regional": "no",  # otherwise numbers and times become text with this machine's settings
    "UseFMTONLY": "no",  # otherwise the driver runs statements twice to find their columns
    "MARS_Connection": "no",
    # otherwise the driver silently replaces a lost session by another session without the locks
    "ConnectRetryCount": "0",
    "RetryExec": "",  # otherwise the driver itself repeats a statement of an action
    "Language": "us_english",  # qmon recognizes some errors by their text
}

# qmon's version number of Azure SQL Database. The server reports 12, which is the version of SQL Server 2014.
AZURE: Final = 100

# The version for Basic, S0, S1 and elastic pools, if the user has VIEW DATABASE STATE but not the server role. On these
# tiers, the views of locks, transactions, connections and counters also need the server role.
RESTRICTED: Final = 101
_MAX_NAME: Final = 128
_EPOCH: Final = "CAST('1970-01-01T00:00:00' AS datetime2(3))"

# Maximum values of one statement or batch. The server accepts at most 2,100 values (error 8003).
_MAX_VALUES: Final = 2_000
LOGIN_GRACE_S: Final = 2.0

# Drivers enforce the login timeout, but not in a TLS handshake: Microsoft's driver then waits forever, and FreeTDS may
# loop forever. If another service issues the login token, a person may have to type something.
_GRACE_ENTRA_S: Final = 60.0
_LOGINS: Final = BoundedCalls()

# Version used to find the session setup file before the server's version is known. All versions have the same file.
_SETUP_VERSION: Final = (11, 0)


@dataclass(frozen=True, slots=True)
class _Introduction:
    version: str
    session_id: int
    login: str
    standby: bool


_BINARY_TYPES: Final = ("binary", "varbinary", "image", "timestamp", "rowversion")
_OBJECT_TYPES: Final = ("hierarchyid", "geography", "geometry")

# Styles of `CONVERT` that lose nothing: times in ODBC format, and numbers with all digits.
_CONVERT_STYLES: Final[Mapping[str, int]] = {
    **dict.fromkeys(("date", "time", "datetime", "smalldatetime", "datetime2", "datetimeoffset"), 121),
    **dict.fromkeys(("money", "smallmoney", "float", "real"), 2),
}


class SqlServer:
    """The engine of SQL Server 2012 and later.

    ``logins``: runs the logins and abandons a login that exceeds its deadline.
    """

    name: Final[EngineName] = "sqlserver"
    # The text of a floating-point number loses digits. The other types cannot be compared with text.
    types_without_text: Final = frozenset(
        {
            *_BINARY_TYPES,
            *_OBJECT_TYPES,
            "float",
            "real",
            "sql_variant",
            "text",
            "ntext",
            "xml",
            "json",
            "vector",
        }
    )
    # Transactions/sec counts begun transactions. A single SELECT does not begin one.
    counts_reads: Final = False
    # The server caches plans by the whole text of a batch, and compiling a hundred statements takes a long time.
    caches_plans_by_text: Final = True
    # READ UNCOMMITTED skips deleted rows, even if the deletion is not committed.
    shows_deleted: Final = False

    def __init__(self, logins: BoundedCalls = _LOGINS) -> None:
        self._logins = logins

    def quote(self, parts: Sequence[str]) -> str:
        """Put the parts in brackets. Raises ``BadInput`` for names that SQL Server would refuse."""
        if not parts:
            raise BadInput(SqlServerText.NO_PARTS)
        for part in parts:
            if not part or "\0" in part:
                raise BadInput(SqlServerText.BAD_IDENTIFIER.render(name=part))
            if len(part.encode("utf-16-le", "surrogatepass")) > 2 * _MAX_NAME:
                raise BadInput(SqlServerText.LONG_IDENTIFIER.render(name=part, limit=_MAX_NAME))
        return ".".join("[" + part.replace("]", "]]") + "]" for part in parts)

    def literal(self, text: str) -> str:
        """Return a string literal for any characters."""
        return "N'" + text.replace("'", "''") + "'"

    def ids_value(self, ids: Sequence[int]) -> str:
        """Return a list: ``1,2``."""
        return ",".join(map(str, ids))

    def texts_value(self, texts: Iterable[str]) -> str:
        """Return XML: ``<r n="1" k="a text" />``. Servers before 2016 do not read JSON."""
        rows = (ElementTree.Element("r", n=str(number), k=text) for number, text in enumerate(texts, 1))
        return "".join(ElementTree.tostring(row, encoding="unicode") for row in rows)

    def utc_expression(self, expression: str, zone: Zone) -> str:
        """Return a ``datetime2`` in UTC. Times before 1900 and after 9997 mean never, and stay unchanged.

        Numbers outside the years 1 to 9999 become the first or the last second of this range. Columns keep their
        precision, because rounding 9999-12-31 23:59:59.9999999 up would overflow.

        If qmon knows when the clocks of the zone change, the expression contains these times, because AT TIME ZONE
        needs Windows names and is slow. Otherwise the expression uses the current UTC offset of the server's clock. A
        local time that occurs twice is read as the later time.
        """
        if zone.name == UTC_ZONE.name:
            return f"CAST(SWITCHOFFSET(CAST({expression} AS datetimeoffset(7)), 0) AS datetime2(7))"
        if (count := zone.count) is not None:
            number, day = f"CAST({expression} AS bigint)", f"CAST({86_400 * count.per_s} AS bigint)"
            days = f"DATEADD(DAY, {number} / {day} - {count.zero_days}, {_EPOCH})"
            time = f"DATEADD(MILLISECOND, {number} % {day} * 1000 / {count.per_s}, {days})"
            never = f"WHEN {expression} < {count.min_number} THEN '0001-01-01T00:00:00'"
            never += f" WHEN {expression} > {count.max_number} THEN '9999-12-31T23:59:59'"
            return f"CASE {never} ELSE {time} END"
        plain = f"CAST({expression} AS datetime2(7))"
        ahead = _minutes_ahead(zone, plain, local=True)
        never = f"{plain} < '1900-01-01T00:00:00' OR {plain} >= '9998-01-01T00:00:00'"
        return f"DATEADD(MINUTE, -CASE WHEN {never} THEN 0 ELSE {ahead} END, {plain})"

    def clock_expression(self, zone: Zone) -> str:
        """Return ``SYSUTCDATETIME()``, converted to the zone."""
        if zone.name == UTC_ZONE.name:
            return "SYSUTCDATETIME()"
        if not zone.changes:
            return "SYSDATETIME()"
        return f"DATEADD(MINUTE, {_minutes_ahead(zone, 'SYSUTCDATETIME()', local=False)}, SYSUTCDATETIME())"

    def now_minus(self, zone: Zone, seconds: str) -> str:
        """Return ``SYSUTCDATETIME()``, converted to the zone. The time is constant within a statement."""
        if (count := zone.count) is not None:
            days = f"(CAST(DATEDIFF(DAY, {_EPOCH}, SYSUTCDATETIME()) AS bigint) + {count.zero_days}) * 86400000"
            ms = f"{days} + DATEDIFF(MILLISECOND, CAST(SYSUTCDATETIME() AS date), SYSUTCDATETIME())"
            less = f" - CAST(({seconds}) * 1000 AS bigint)" if seconds else ""
            unit = f"* {count.per_s // 1000}" if count.per_s >= 1000 else f"/ {1000 // count.per_s}"
            return f"(({ms}{less}) {unit})"
        return (
            f"DATEADD(SECOND, -({seconds}), {self.clock_expression(zone)})" if seconds else self.clock_expression(zone)
        )

    def shifted_time(self, utc: str, seconds: str) -> str:
        """Add whole seconds."""
        return f"DATEADD(SECOND, CAST({seconds} AS int), {utc})"

    def latest_time(self, times: Sequence[str]) -> str:
        """Use ``MAX``, which ignores NULL."""
        return f"(SELECT MAX(t.at) FROM (VALUES {', '.join(f'({time})' for time in times)}) AS t (at))"  # noqa: S608

    def seconds_expression(self, column: str) -> str:
        """Return the column, because SQL Server has no intervals."""
        return column

    def json_value(self, expression: str, path: Sequence[str], *, is_number: bool) -> str:
        """Use ``JSON_VALUE``. Texts that are not JSON give NULL."""
        place = self.literal("$" + "".join("." + json.dumps(key, ensure_ascii=False) for key in path))
        value = f"JSON_VALUE(CASE WHEN ISJSON({expression}) = 1 THEN {expression} END, {place})"
        return f"TRY_CAST(TRY_CAST({value} AS decimal(38, 6)) AS bigint)" if is_number else value

    def renamed_case(self, text: str, pattern: str, name: str) -> str:
        """See ``name_pattern.renamed_case``. ``LEN`` does not count blanks at the end."""
        length = f"LEN(CONCAT({text}, N'.')) - 1"
        return name_pattern.renamed_case(text, pattern, name, self.literal, length)

    def advisory_lock_condition(self, key: str) -> str:
        """Raise ``BadInput``, because the server shows only a part of the name of an application lock."""
        raise BadInput(SqlServerText.NO_ADVISORY_LOCKS)

    def text_type(self, kind: str) -> str:
        """Return ``varchar`` for a ``varchar`` column, else ``nvarchar``, which loses no character.

        If a ``varchar`` column is compared with ``nvarchar``, the server converts the column row by row and reads the
        whole index.
        """
        return "varchar" if kind in ("char", "varchar", "text") else "nvarchar"

    def readable_expression(self, column: str, kind: str) -> str:
        """Convert types that the server refuses to convert to ``nvarchar(max)`` (error 529)."""
        if kind in ("image", "timestamp", "rowversion"):
            return f"CONVERT(varbinary(max), {column})"
        if kind == "sql_variant":
            return f"CONVERT(nvarchar(4000), {column})"
        return f"{column}.ToString()" if kind in _OBJECT_TYPES else column

    def newest(self, expression: str, kind: str) -> str:
        """Return the end of a JSON text. Do not use ``OPENJSON``: it needs SQL Server 2016 and fails on other texts."""
        size, text = "DATALENGTH(e.qmon_value)", "CONVERT(nvarchar(max), e.qmon_value, 1)"
        cases = (
            f"WHEN {size} > 65536 THEN CONVERT(nvarchar(20), {size} / 1024) + N' kB'"
            f" WHEN {text} IN (N'', N'[]') THEN NULL"
            f" WHEN LEFT({text}, 1) = N'[' AND RIGHT({text}, 1) = N']' THEN RIGHT({text}, {MOST_OF_AN_ERROR})"
            f" ELSE LEFT({text}, {MOST_OF_AN_ERROR})"
        )
        value = self.readable_expression(expression, kind)
        return f"(SELECT CASE {cases} END FROM (SELECT {value} AS qmon_value) AS e)"  # noqa: S608 - quoted

    def text_expression(self, columns: Sequence[str]) -> str:
        r"""Join the texts of several columns by ``/``. A ``/`` or ``\`` in a text gets a ``\`` in front."""
        texts = [f"CONVERT(nvarchar(450), {each}, 126)" for each in columns]
        if len(texts) == 1:
            return texts[0]
        return " + N'/' + ".join(rf"REPLACE(REPLACE({each}, N'\', N'\\'), N'/', N'\/')" for each in texts)

    def equals_condition(self, column: str, type_name: str, kind: str) -> str:
        """Compare with text, which the server converts to the column's type. Bytes need an explicit conversion."""
        if kind in _BINARY_TYPES:
            return f"{column} = CONVERT(varbinary(900), ?, 1)"
        return f"{column} = CAST(? AS {self.text_type(kind)}(450))"

    def compare_condition(self, column: str, operator: str, kind: str, value: str) -> str:
        """Compare with text, which the server converts to the column's type."""
        return f"{column} {operator} CAST({value} AS {self.text_type(kind)}(450))"

    def byte_order_expression(self, text: str, operator: str = "", value: str = "") -> str:
        """Compare the code units of UTF-16."""
        right = f" {operator} CAST({value} AS nvarchar(450))" if operator else ""
        return f"({text}) COLLATE Latin1_General_BIN2{right}"

    def contains_condition(self, expression: str, text: str, *, binary: bool) -> str:
        """If the value is bytes, try both types, because the bytes may be a ``varchar`` or an ``nvarchar``."""
        kinds = ("varchar(max)", "nvarchar(max)") if binary else ("nvarchar(max)",)
        expression = f"CONVERT(varbinary(max), {expression})" if binary else expression
        found = (f"CHARINDEX(LOWER(wanted.qmon_text), LOWER(CONVERT({kind}, {expression}))) > 0" for kind in kinds)
        wanted = f"SELECT CAST({text} AS nvarchar(4000)) AS qmon_text"
        return f"EXISTS (SELECT 1 FROM ({wanted}) AS wanted WHERE {' OR '.join(found)})"  # noqa: S608 - quoted

    def sized_text_expressions(self, column: str, kind: str, max_chars: int) -> tuple[str, str]:
        """Use the ``CONVERT`` style that loses nothing for the column's type."""
        size, style = f"CAST(DATALENGTH({column}) AS bigint)", _CONVERT_STYLES.get(kind)
        if kind in _BINARY_TYPES:
            part = f"SUBSTRING(CONVERT(varbinary(max), {column}), 1, {max_chars})"
            return size, f"CONVERT(nvarchar(max), {part}, 1)"
        if kind in _OBJECT_TYPES:
            whole = self.readable_expression(column, kind)
        elif kind in ("char", "varchar", "nchar", "nvarchar", "text", "ntext"):
            whole = f"CONVERT(nvarchar(max), {column})"
        elif kind == "xml":
            whole = f"CONVERT(nvarchar(max), {column}, 1)"
        else:
            whole = f"CONVERT(nvarchar(4000), {column}{'' if style is None else f', {style}'})"
        return size, f"CAST(SUBSTRING({whole}, 1, {max_chars}) AS nvarchar(max))"

    def bytes_value(self, text: str) -> Value:
        """Return the text as UTF-8 bytes, because the server does not convert text to bytes."""
        return text.encode()

    def grant_to_see(self, role: str, version: tuple[int, int]) -> str:
        """Return the statement that grants a server permission. It must run in master.

        For Azure SQL Database, return the statement that grants a database permission.
        """
        if version[0] >= AZURE:
            return f"GRANT VIEW DATABASE STATE TO {role}"
        return f"GRANT VIEW SERVER {'PERFORMANCE ' if version[0] >= 16 else ''}STATE TO {role}"

    def connect(self, target: Target, session: Session) -> OdbcConnection:
        """Connect and set up the session. Each step takes one round trip, apart from the driver's own round trips."""
        from qmon.engines import odbc

        def explain(fault: DriverFault) -> QmonError:
            return errors.connecting_error(fault, target)

        words, limit_s = self.odbc_keywords(target, session), session.login_timeout_s
        password = target.password if login_methods.takes_password(words) else None
        server = lookup_keyword(words, "Server", "Address")  # a DSN contains the server
        grace_s = LOGIN_GRACE_S if lookup_keyword(words, "Authentication") is None else _GRACE_ENTRA_S
        try:
            raw = self._logins.run_within(
                limit_s + grace_s,
                lambda: odbc.connect(words, password, limit_s, explain),
                lambda late: late.close(),
                target.name,
                lambda: server is not None and errors.is_refused(server),
            )
        except CallTimeoutError:
            raise errors.hanging_error(target) from None
        login = lookup_keyword(target.parameters, "UID") or ""
        restricted = False
        connection = wrap_connection(
            raw, lambda fault, name: errors.statement_error(fault, name, login, restricted=restricted), session
        )
        connection.set_raised_hidden(target.raised_hidden)
        try:
            wait = -1 if session.lock_timeout_s is None else max(1, round(session.lock_timeout_s * 1000))
            name = "catalog/session_watch" if session.read_only else "catalog/session_act"
            statement = render(load_query("sqlserver", name, _SETUP_VERSION), {"lock_timeout": wait}, self)
            (found,) = to_records(_Introduction, connection.fetch(Bound(statement)))
            if session.writes and found.standby:
                raise BadInput(SqlServerText.READ_ONLY.render(target=target.name))
            connection.set_identity(_parse_version(found.version), found.session_id)
            connection.configure_deadline(session)
        except BaseException:
            connection.close()
            raise
        login, restricted = found.login, connection.version[0] >= RESTRICTED
        return connection

    def odbc_keywords(self, target: Target, session: Session) -> dict[str, str]:
        """Return the ODBC keywords to connect with, without the password.

        The connection is encrypted unless the user turns encryption off. The server's certificate is checked unless the
        user turns the check off. Settings that qmon depends on override the user's settings. Raises ``MissingDriver``.
        Raises ``BadInput`` for a login method that the driver does not have.
        """
        given = dict(target.parameters)
        if session.application:
            given = without_keywords(given, ("APP",)) | {"APP": session.application}
        out = {"APP": f"qmon {session.purpose}".strip()}
        if lookup_keyword(given, "DSN", "FILEDSN") is not None:  # the DSN decides
            given = login_methods.check_login_method(given, "")
        else:
            named = lookup_keyword(given, "Driver")
            out["DRIVER"] = driver = find_driver(named)
            if named != driver:
                given = without_keywords(given, ("Driver",))
            given = login_methods.check_login_method(given, driver)
            if is_freetds(driver):
                given, out = to_freetds(given), out | DEFAULTS
            else:
                out["Encrypt"] = "yes"
        taken = {name.lower() for name in given}
        return (
            {name: value for name, value in out.items() if name.lower() not in taken}
            | without_keywords(given, DRIVER_SETTINGS)
            | DRIVER_SETTINGS
        )


def wrap_connection(
    raw: pyodbc.Connection,
    explain: Callable[[DriverFault, str], QmonError],
    session: Session = Session(),  # noqa: B008
) -> OdbcConnection:
    """Return an ``OdbcConnection`` around a driver connection to this kind of server."""
    from qmon.engines import odbc

    return odbc.OdbcConnection(
        raw,
        explain,
        nul_allowed=True,
        login=session,
        query_timeout_s=session.statement_timeout_s,
        most_values=_MAX_VALUES,
        list_of=batch_text.list_text,
    )


def _minutes_ahead(zone: Zone, time: str, *, local: bool) -> str:
    """Return how many minutes the zone is ahead of UTC at ``time``, which is in the zone (``local``) or in UTC."""
    if not zone.changes:
        return "DATEPART(TZOFFSET, SYSDATETIMEOFFSET())"
    first, *later = zone.changes
    cases = [
        f"WHEN {time} >= '{datetime.fromtimestamp(since + local * minutes * 60, UTC):%Y-%m-%dT%H:%M:%S}' THEN {minutes}"
        for since, minutes in reversed(later)
    ]
    return f"CASE {' '.join(cases)} ELSE {first[1]} END" if cases else str(first[1])


def find_driver(requested: str | None = None) -> str:
    """Return the driver's name or the path of its library.

    If ``requested`` is ``None``, returns the best installed driver. Raises ``MissingDriver`` with the package to
    install.
    """
    from qmon.engines import odbc

    installed = odbc.installed_drivers()
    if requested is not None:
        return (driver_wheel.library_named(requested) if requested not in installed else None) or requested
    microsoft = next((name for name in DRIVER_NAMES[:-1] if name in installed), None)
    found = (
        microsoft
        or driver_wheel.find_wheel_driver()
        or next((name for name in DRIVER_NAMES[-1:] if name in installed), None)
    )
    if found is None:
        raise MissingDriver(SqlServerText.NO_DRIVER.render(hint=drivers.sql_server_hint()))
    return found


def _parse_version(text: str) -> tuple[int, int]:
    """Return (16, 0) for ``16.0.4135.4``."""
    major, _, rest = text.partition(".")
    return int(major), int(rest.partition(".")[0] or 0)
