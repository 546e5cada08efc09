"""SQL Server over Microsoft's driver or FreeTDS: quoting, connecting, and what a session of qmon is set to."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final
from xml.etree import ElementTree

from qmon.engines import drivers
from qmon.engines.base import MOST_OF_AN_ERROR, Bound, EngineName, Session, Target, Value
from qmon.engines.bounded_calls import BoundedCalls, CallTimeoutError
from qmon.engines.faults import DriverFault
from qmon.engines.keywords import lookup, without
from qmon.engines.rows import records
from qmon.engines.sql import lasting
from qmon.engines.sql.queries import load, render
from qmon.engines.sqlserver import errors as errors
from qmon.engines.sqlserver import logins, wheel
from qmon.engines.sqlserver.freetds import DEFAULTS, is_freetds, translated
from qmon.errors import BadInput, MissingDriver, QmonError
from qmon.model.layout.zones import UTC_ZONE, Zone

if TYPE_CHECKING:
    import pyodbc

    from qmon.engines.odbc import OdbcConnection

# The drivers that are used where the user names none, best first; Microsoft's wheel comes before FreeTDS.
DRIVER_NAMES: Final = (wheel.DRIVER_NAME, "ODBC Driver 17 for SQL Server", "FreeTDS")

# Settings of Microsoft's driver 18 that change what we read and do. They win over those of the user and the DSN.
#
# FreeTDS knows `Language` and passes over the rest. `ColumnEncryption` is left to the user: it decides what is shown.
OWN: Final = {
    "QuotedId": "yes",
    "AnsiNPW": "yes",
    "ConcatNullYieldsNull": "yes",
    "AutoTranslate": "yes",  # else text in varchar columns is read in the code page of this machine
    "Regional": "no",  # else numbers and times become text as this machine's settings have it
    "UseFMTONLY": "no",  # else statements run a second time to find out their columns
    "MARS_Connection": "no",
    "ConnectRetryCount": "0",  # else a lost session is replaced in silence, with another number and without its locks
    "RetryExec": "",  # else the driver itself runs a statement of an action again
    "Language": "us_english",  # qmon recognizes some errors by their text
}
# What counts as the version of Azure SQL Database: its own number, 12, is that of SQL Server 2014.
AZURE: Final = 100
# The same for a user that has VIEW DATABASE STATE and yet may not read all sessions: Basic, S0, S1, elastic pools.
RESTRICTED: Final = 101
_MAX_NAME: Final = 128
_EPOCH: Final = "CAST('1970-01-01T00:00:00' AS datetime2(3))"
# Values of one statement or batch: the server takes 2,100 at most (error 8003).
_MOST_VALUES: Final = 2_000
_GRACE_S: Final = 2.0
# Drivers keep the login's deadline, but not in a TLS handshake: Microsoft's waits for ever there, FreeTDS may loop for
# ever. Where a token comes from elsewhere, a person may have to type.
_GRACE_ENTRA_S: Final = 60.0
_LOGINS: Final = BoundedCalls()
# Only to find the file that sets up a session, before the version is known; it is the same for all.
_FIRST: Final = (11, 0)


@dataclass(frozen=True, slots=True)
class _Introduction:
    version: str
    session_id: int
    login: str
    standby: bool


_BYTES: Final = ("binary", "varbinary", "image", "timestamp", "rowversion")
_OBJECTS: Final = ("hierarchyid", "geography", "geometry")
# Styles of `CONVERT` that lose nothing: times as ODBC writes them, all digits of numbers.
_STYLES: Final[Mapping[str, int]] = {
    **dict.fromkeys(("date", "time", "datetime", "smalldatetime", "datetime2", "datetimeoffset"), 121),
    **dict.fromkeys(("money", "smallmoney", "float", "real"), 2),
}


class SqlServer:
    """The engine of SQL Server 2012 and later."""

    name: Final[EngineName] = "sqlserver"
    # The text of a number with a floating point loses digits, and text is not compared with the others.
    textless: Final = frozenset(
        {
            *_BYTES,
            *_OBJECTS,
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
    # Transactions/sec counts what has begun a transaction, which a lone SELECT does not.
    counts_reads: Final = False
    # The plan cache is keyed by the text of a batch, whole; one of a hundred statements takes long to compile.
    plans_by_text: Final = True
    # READ UNCOMMITTED passes over what is deleted, be it committed or not.
    shows_deleted: Final = False

    def quote(self, parts: Sequence[str]) -> str:
        """Parts in brackets. Raises ``BadInput`` for what SQL Server would refuse."""
        if not parts:
            raise BadInput("a name without any part cannot be an identifier")
        for part in parts:
            if not part or "\0" in part:
                raise BadInput(f"{part!r} cannot be an identifier: it is empty or holds a NUL character")
            if len(part.encode("utf-16-le", "surrogatepass")) > 2 * _MAX_NAME:
                raise BadInput(f"{part!r} cannot be an identifier: SQL Server takes {_MAX_NAME} characters at most")
        return ".".join("[" + part.replace("]", "]]") + "]" for part in parts)

    def literal(self, text: str) -> str:
        """A string of any characters."""
        return "N'" + text.replace("'", "''") + "'"

    def ids(self, ids: Sequence[int]) -> str:
        """A list: ``1,2``."""
        return ",".join(map(str, ids))

    def texts(self, texts: Iterable[str]) -> str:
        """XML: ``<r n="1" k="a text" />``; servers before 2016 read no JSON."""
        rows = (ElementTree.Element("r", n=str(number), k=text) for number, text in enumerate(texts, 1))
        return "".join(ElementTree.tostring(row, encoding="unicode") for row in rows)

    def utc(self, expression: str, zone: Zone) -> str:
        """A ``datetime2(3)`` in UTC. Times before 1900 and after 9997 stand for never, and stay as they are.

        By the changes of the zone's clock where they are known, since AT TIME ZONE takes Windows' names and is slow;
        else by what the server's clock is ahead of UTC today. An hour that comes twice is taken as the later one.
        """
        if zone.name == UTC_ZONE.name:
            return f"CAST(SWITCHOFFSET(CAST({expression} AS datetimeoffset(3)), 0) AS datetime2(3))"
        if (count := zone.count) is not None:
            number, day = f"CAST({expression} AS bigint)", f"CAST({86_400 * count.per_s} AS bigint)"
            days = f"DATEADD(DAY, {number} / {day} - {count.zero_days}, {_EPOCH})"
            return f"DATEADD(MILLISECOND, {number} % {day} * 1000 / {count.per_s}, {days})"
        plain = f"CAST({expression} AS datetime2(3))"
        ahead = _ahead(zone, plain, local=True)
        never = f"{plain} < '1900-01-01T00:00:00' OR {plain} >= '9998-01-01T00:00:00'"
        return f"DATEADD(MINUTE, -CASE WHEN {never} THEN 0 ELSE {ahead} END, {plain})"

    def clock(self, zone: Zone) -> str:
        """``SYSUTCDATETIME()``, or the time by the clock of the zone."""
        if zone.name == UTC_ZONE.name:
            return "SYSUTCDATETIME()"
        if not zone.changes:
            return "SYSDATETIME()"
        return f"DATEADD(MINUTE, {_ahead(zone, 'SYSUTCDATETIME()', local=False)}, SYSUTCDATETIME())"

    def now_less(self, zone: Zone, seconds: str) -> str:
        """``SYSUTCDATETIME()``, which is the same for all of a statement, as the zone has it."""
        if (count := zone.count) is not None:
            days = f"(CAST(DATEDIFF(DAY, {_EPOCH}, SYSUTCDATETIME()) AS bigint) + {count.zero_days}) * 86400000"
            ms = f"{days} + DATEDIFF(MILLISECOND, CAST(SYSUTCDATETIME() AS date), SYSUTCDATETIME())"
            less = f" - CAST(({seconds}) * 1000 AS bigint)" if seconds else ""
            unit = f"* {count.per_s // 1000}" if count.per_s >= 1000 else f"/ {1000 // count.per_s}"
            return f"(({ms}{less}) {unit})"
        return f"DATEADD(SECOND, -({seconds}), {self.clock(zone)})" if seconds else self.clock(zone)

    def advisory_lock(self, key: str) -> str:
        """Locks of applications have names here, of which the server shows a part only."""
        raise BadInput("advisory_lock: SQL Server has none whose key is a number")

    def text_type(self, kind: str) -> str:
        """``varchar`` for such a column: compared with ``nvarchar`` it would be converted row by row, and its index be
        read from end to end. Else ``nvarchar``, which loses no character."""
        return "varchar" if kind in ("char", "varchar", "text") else "nvarchar"

    def readable(self, column: str, kind: str) -> str:
        """The server refuses to convert some types to ``nvarchar(max)`` (error 529)."""
        if kind in ("image", "timestamp", "rowversion"):
            return f"CONVERT(varbinary(max), {column})"
        if kind == "sql_variant":
            return f"CONVERT(nvarchar(4000), {column})"
        return f"{column}.ToString()" if kind in _OBJECTS else column

    def newest(self, expression: str, kind: str) -> str:
        """JSON is a text here, of which the end is shown: ``OPENJSON`` needs 2016 and fails on what is no JSON."""
        size, text = "DATALENGTH(e.qmon_value)", "CONVERT(nvarchar(max), e.qmon_value, 1)"
        cases = (
            f"WHEN {size} > 65536 THEN CONVERT(nvarchar(20), {size} / 1024) + N' kB'"
            f" WHEN {text} IN (N'', N'[]') THEN NULL"
            f" WHEN LEFT({text}, 1) = N'[' AND RIGHT({text}, 1) = N']' THEN RIGHT({text}, {MOST_OF_AN_ERROR})"
            f" ELSE LEFT({text}, {MOST_OF_AN_ERROR})"
        )
        value = self.readable(expression, kind)
        return f"(SELECT CASE {cases} END FROM (SELECT {value} AS qmon_value) AS e)"  # noqa: S608 - quoted

    def text_of(self, columns: Sequence[str]) -> str:
        r"""``CONVERT(…)`` to text; of several joined by ``/``, with ``\`` before a ``/`` or ``\`` within one."""
        texts = [f"CONVERT(nvarchar(450), {each}, 126)" for each in columns]
        if len(texts) == 1:
            return texts[0]
        return " + N'/' + ".join(rf"REPLACE(REPLACE({each}, N'\', N'\\'), N'/', N'\/')" for each in texts)

    def equals(self, column: str, type_name: str, kind: str) -> str:
        """Compared with text, which the server turns into the column's type; bytes it does not make by itself."""
        if kind in _BYTES:
            return f"{column} = CONVERT(varbinary(900), ?, 1)"
        return f"{column} = CAST(? AS {self.text_type(kind)}(450))"

    def compared(self, column: str, how: str, kind: str, value: str) -> str:
        """Compared with text, which the server turns into the column's type."""
        return f"{column} {how} CAST({value} AS {self.text_type(kind)}(450))"

    def in_byte_order(self, text: str, how: str = "", value: str = "") -> str:
        """By the code units of UTF-16."""
        right = f" {how} CAST({value} AS nvarchar(450))" if how else ""
        return f"({text}) COLLATE Latin1_General_BIN2{right}"

    def contains(self, expression: str, text: str, *, binary: bool) -> str:
        """Bytes may be those of a ``varchar`` or of an ``nvarchar``."""
        kinds = ("varchar(max)", "nvarchar(max)") if binary else ("nvarchar(max)",)
        expression = f"CONVERT(varbinary(max), {expression})" if binary else expression
        found = (f"CHARINDEX(LOWER(wanted.qmon_text), LOWER(CONVERT({kind}, {expression}))) > 0" for kind in kinds)
        wanted = f"SELECT CAST({text} AS nvarchar(4000)) AS qmon_text"
        return f"EXISTS (SELECT 1 FROM ({wanted}) AS wanted WHERE {' OR '.join(found)})"  # noqa: S608 - quoted

    def sized_text(self, column: str, kind: str, most: int) -> tuple[str, str]:
        """By the ``CONVERT`` of the type that loses nothing."""
        size, style = f"CAST(DATALENGTH({column}) AS bigint)", _STYLES.get(kind)
        if kind in _BYTES:
            part = f"SUBSTRING(CONVERT(varbinary(max), {column}), 1, {most})"
            return size, f"CONVERT(nvarchar(max), {part}, 1)"
        if kind in _OBJECTS:
            whole = self.readable(column, kind)
        elif kind in ("char", "varchar", "nchar", "nvarchar", "text", "ntext"):
            whole = f"CONVERT(nvarchar(max), {column})"
        elif kind == "xml":
            whole = f"CONVERT(nvarchar(max), {column}, 1)"
        else:
            whole = f"CONVERT(nvarchar(4000), {column}{'' if style is None else f', {style}'})"
        return size, f"CAST(SUBSTRING({whole}, 1, {most}) AS nvarchar(max))"

    def binary(self, text: str) -> Value:
        """The bytes of the text in UTF-8: the server makes no bytes of text by itself."""
        return text.encode()

    def grant_to_see(self, role: str, version: tuple[int, int]) -> str:
        """The right on the server, which a login is given in master; in Azure SQL Database that on the database."""
        if version[0] >= AZURE:
            return f"GRANT VIEW DATABASE STATE TO {role}"
        return f"GRANT VIEW SERVER {'PERFORMANCE ' if version[0] >= 16 else ''}STATE TO {role}"

    def connect(self, target: Target, session: Session) -> OdbcConnection:
        """Connect and set up the session, each in one round trip of ours."""
        from qmon.engines import odbc

        def explain(fault: DriverFault) -> QmonError:
            return errors.connecting(fault, target)

        words, limit_s = self.keywords(target, session), session.login_timeout_s
        password = target.password if logins.takes_password(words) else None
        server = lookup(words, "Server", "Address")  # a DSN has its own
        grace_s = _GRACE_S if lookup(words, "Authentication") is None else _GRACE_ENTRA_S
        try:
            raw = _LOGINS.within(
                limit_s + grace_s,
                lambda: odbc.connect(words, password, limit_s, explain),
                lambda late: late.close(),
                target.name,
                lambda: server is not None and errors.is_refused(server),
            )
        except CallTimeoutError:
            raise errors.hanging(target) from None
        login = lookup(target.parameters, "UID") or ""
        restricted = False
        connection = over(raw, lambda fault, name: errors.running(fault, name, login, restricted=restricted), session)
        connection.hide_raised(target.raised_hidden)
        try:
            wait = -1 if session.lock_timeout_s is None else max(1, round(session.lock_timeout_s * 1000))
            name = "catalog/session_watch" if session.read_only else "catalog/session_act"
            statement = render(load("sqlserver", name, _FIRST), {"lock_timeout": wait}, self)
            (found,) = records(_Introduction, connection.fetch(Bound(statement)))
            if session.writes and found.standby:
                raise BadInput(
                    f"{target.name} may only be read (a readable secondary, or set so): nothing can be changed here;"
                    " connect to its primary"
                )
            connection.introduce(_version(found.version), found.session_id)
            connection.expect(session)
        except BaseException:
            connection.close()
            raise
        login, restricted = found.login, connection.version[0] >= RESTRICTED
        return connection

    def keywords(self, target: Target, session: Session) -> dict[str, str]:
        """The ODBC keywords to connect with, without the password.

        Encrypted unless the user says otherwise; the server's certificate is trusted unchecked only where the user
        says so. Settings that we depend on win over the user's. Raises ``MissingDriver``, and ``BadInput`` for a way to
        log in that the driver does not have.
        """
        given = dict(target.parameters)
        if session.application:
            given = without(given, ("APP",)) | {"APP": session.application}
        out = {"APP": f"qmon {session.purpose}".strip()}
        if lookup(given, "DSN", "FILEDSN") is not None:  # the DSN decides
            given = logins.checked(given, "")
        else:
            named = lookup(given, "Driver")
            out["DRIVER"] = driver = find_driver(named)
            if named != driver:
                given = without(given, ("Driver",))
            given = logins.checked(given, driver)
            if is_freetds(driver):
                given, out = translated(given), out | DEFAULTS
            else:
                out["Encrypt"] = "yes"
        taken = {name.lower() for name in given}
        return {name: value for name, value in out.items() if name.lower() not in taken} | without(given, OWN) | OWN


def over(
    raw: pyodbc.Connection,
    explain: Callable[[DriverFault, str], QmonError],
    session: Session = Session(),  # noqa: B008
) -> OdbcConnection:
    """A connection to this kind of server over the driver's own; see ``OdbcConnection``."""
    from qmon.engines import odbc

    return odbc.OdbcConnection(
        raw,
        explain,
        nul_allowed=True,
        login=session,
        query_timeout_s=session.statement_timeout_s,
        most_values=_MOST_VALUES,
        list_of=lasting.text_of,
    )


def _ahead(zone: Zone, time: str, *, local: bool) -> str:
    """Minutes that the zone's clock is ahead of UTC at a time, by that clock (``local``) or in UTC."""
    if not zone.changes:
        return "DATEPART(TZOFFSET, SYSDATETIMEOFFSET())"
    first, *later = zone.changes
    cases = [
        f"WHEN {time} >= '{datetime.fromtimestamp(since + local * minutes * 60, UTC):%Y-%m-%dT%H:%M:%S}' THEN {minutes}"
        for since, minutes in reversed(later)
    ]
    return f"CASE {' '.join(cases)} ELSE {first[1]} END" if cases else str(first[1])


def find_driver(given: str | None = None) -> str:
    """Return the driver's name, or the path of its library: the best one installed if the user has ``given`` none.

    Raises ``MissingDriver`` that names what to install.
    """
    from qmon.engines import odbc

    installed = odbc.installed_drivers()
    if given is not None:
        return (wheel.called(given) if given not in installed else None) or given
    microsoft = next((name for name in DRIVER_NAMES[:-1] if name in installed), None)
    found = microsoft or wheel.wheel_driver() or next((name for name in DRIVER_NAMES[-1:] if name in installed), None)
    if found is None:
        raise MissingDriver(f"no ODBC driver for SQL Server is installed: {drivers.sql_server()}")
    return found


def _version(text: str) -> tuple[int, int]:
    """(16, 0) of ``16.0.4135.4``."""
    major, _, rest = text.partition(".")
    return int(major), int(rest.partition(".")[0] or 0)
