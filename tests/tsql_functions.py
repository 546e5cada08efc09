"""Which functions T-SQL may call on each version and compatibility level, and which differences of times overflow."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

from tests.tsql import Group, grouped

# The lowest compatibility level that a database may have on every version from 2012 to 2022 and in Azure.
LOWEST: Final = 100
# Uppercase words before a bracket that are not functions; the last line contains names of columns and properties.
_WORDS: Final = frozenset(
    re.findall(
        r"\w+",
        """
        ALL AND ANY APPLY AS BETWEEN BY CASE CHECK CLUSTERED CTE DELETE ELSE END EXCEPT EXEC EXISTS FROM GRANT
        IN INCLUDE INDEX INSERT INTERSECT INTO IS JOIN KEY LIKE NOT ON OPTION OR OUTPUT OVER PARTITION PATH
        PIVOT PRIMARY REFERENCES RETURN ROWLOCK SELECT SET TABLE THEN TOP UNION UNIQUE UPDATE USING VALUES
        WAIT_AT_LOW_PRIORITY WHEN WHERE WITH NOTIFIED UTC CPU LOG STATE IDENTITY
        """,
    )
)
_SINCE_2008: Final = frozenset(
    re.findall(
        r"\w+",
        """
        ABS APP_NAME AVG CAST CEILING CHAR CHARINDEX CHECKSUM CHECKSUM_AGG COALESCE COLUMNPROPERTY CONVERT COUNT
        COUNT_BIG CRYPT_GEN_RANDOM DATABASEPROPERTYEX DATABASE_PRINCIPAL_ID DATALENGTH DATEADD DATEDIFF DATEPART
        DB_ID DB_NAME DENSE_RANK ERROR_LINE ERROR_MESSAGE ERROR_NUMBER ERROR_PROCEDURE ERROR_SEVERITY
        ERROR_STATE FLOOR GETDATE GETUTCDATE HAS_PERMS_BY_NAME IDENT_CURRENT INDEX_COL INDEXPROPERTY ISNULL IS_MEMBER
        HASHBYTES IS_ROLEMEMBER IS_SRVROLEMEMBER LEFT LEN LOWER LTRIM MAX MIN NEWID NTILE NULLIF OBJECTPROPERTY
        OBJECT_DEFINITION OBJECT_ID OBJECT_NAME OBJECT_SCHEMA_NAME ORIGINAL_LOGIN PARSENAME PATINDEX POWER
        QUOTENAME RAISERROR RAND RANK REPLACE REPLICATE REVERSE RIGHT ROUND ROW_NUMBER RTRIM SCHEMA_ID
        SCHEMA_NAME SCOPE_IDENTITY SERVERPROPERTY SIGN STUFF SUBSTRING SUM SUSER_ID SUSER_NAME SUSER_SNAME
        SWITCHOFFSET SYSDATETIME SYSDATETIMEOFFSET SYSUTCDATETIME TYPE_ID TYPE_NAME UPPER USER_NAME XACT_STATE
        """,
    )
)
# By function: the first major version that has it, and the lowest compatibility level at which it works.
_LATER: Final = {
    **dict.fromkeys(
        (
            "CHOOSE",
            "CONCAT",
            "DATEFROMPARTS",
            "EOMONTH",
            "FIRST_VALUE",
            "FORMAT",
            "IIF",
            "LAG",
            "LAST_VALUE",
            "LEAD",
            "PARSE",
            "TRY_CAST",
            "TRY_PARSE",
        ),
        (11, LOWEST),
    ),
    **dict.fromkeys(("TRY_CONVERT", "PERCENTILE_CONT", "PERCENTILE_DISC"), (11, 110)),
    **dict.fromkeys(
        (
            "COMPRESS",
            "DATEDIFF_BIG",
            "DECOMPRESS",
            "ISJSON",
            "JSON_MODIFY",
            "JSON_QUERY",
            "JSON_VALUE",
            "SESSION_CONTEXT",
            "STRING_ESCAPE",
        ),
        (13, LOWEST),
    ),
    **dict.fromkeys(("OPENJSON", "STRING_SPLIT"), (13, 130)),
    **dict.fromkeys(("CONCAT_WS", "STRING_AGG", "TRANSLATE", "TRIM"), (14, LOWEST)),
    **dict.fromkeys(("APPROX_COUNT_DISTINCT", "CURRENT_TIMEZONE"), (15, LOWEST)),
    **dict.fromkeys(("CURRENT_TIMEZONE_ID", "DATETRUNC", "DATE_BUCKET", "GREATEST", "LEAST"), (16, LOWEST)),
    "GENERATE_SERIES": (16, 160),
}
_UNITS: Final = ("SECOND", "MILLISECOND", "MICROSECOND", "NANOSECOND")
_NOW: Final = re.compile(r"@\w+|(?:SYS|GET)(?:UTC)?DATE(?:TIME(?:OFFSET)?)?\(\)", re.I)


def too_new(text: str, since: int) -> list[str]:
    """Return a line for each function that a server lacks. ``since``: the first major version that the file serves."""
    return list(dict.fromkeys(_calls(grouped(text), since)))


def _calls(group: Group, since: int) -> Iterator[str]:
    for before, part in pairwise([*group.parts, ""]):
        if isinstance(before, Group):
            yield from _calls(before, since)
        elif isinstance(part, Group) and re.fullmatch("[A-Z][A-Z_0-9]+", before) and before not in _WORDS | _SINCE_2008:
            first, level = _LATER.get(before, (0, 0))
            if not first:
                yield f"{before} is not in the list of functions with their versions"
            elif first > since:
                yield f"{before} is there from {first} on, and this file serves {since}"
            elif level > LOWEST:
                yield f"{before} fails below compatibility level {level}"


def unquoted(text: str) -> list[str]:
    """Return unquoted database names for HAS_PERMS_BY_NAME: names with a dot or bracket are then not found (NULL)."""
    return re.findall(r"HAS_PERMS_BY_NAME\(\s*DB_NAME\(\)[^)]*\)", text)


def overflows(text: str) -> list[str]:
    """Return differences in seconds or less of times that may be over 68 years apart, which the server refuses (535).

    These cannot overflow: times of one day, if the second one is that of the first or the first moved to that of the
    second; and variables and the clock, which no row can set.
    """
    return list(dict.fromkeys(_differences(grouped(text))))


def _differences(group: Group) -> Iterator[str]:
    for before, part in pairwise([*group.parts, ""]):
        if isinstance(before, Group):
            yield from _differences(before)
        if before != "DATEDIFF" or not isinstance(part, Group):
            continue
        unit, start, end = _arguments(part)
        clocks = _NOW.fullmatch(end) and (_NOW.fullmatch(start) or start.startswith("'"))
        if unit.upper() in _UNITS and not (clocks or _of_one_day(start, end)):
            yield f"DATEDIFF({unit}, {start}, {end}) overflows if these are more than 68 years apart"


def unbounded_steps(text: str) -> list[str]:
    """Return a line for each DATEADD that overflows if a column of the user's table is far away (errors 517 and 8115).

    A comparison in a CASE around it limits the column. Numbers of days from DATEDIFF cannot overflow.
    """
    return list(dict.fromkeys(_steps(grouped(text), ())))


def _steps(group: Group, bounded: tuple[str, ...]) -> Iterator[str]:
    for before, part in pairwise([*group.parts, ""]):
        if isinstance(before, Group):
            yield from _steps(before, (*bounded, *_bounded(group.parts)))
        if before != "DATEADD" or not isinstance(part, Group):
            continue
        unit, number, time = _arguments(part)
        columns = [] if number.startswith("DATEDIFF(DAY,") else re.findall(r"(?:\w+\.)?\[q_\w+\]", number + time)
        if set(columns) - {*bounded, *_bounded(group.parts), *_bounded(part.parts)}:
            yield f"DATEADD({unit}, {number}, {time}) overflows if {columns[0]} is far away"


def _bounded(parts: Sequence[str | Group]) -> Iterator[str]:
    """Yield the columns that a CASE compares with a constant before it uses them."""
    yield from re.findall(r"WHEN(?:CAST\()?((?:\w+\.)?\[q_\w+\])(?:ASdatetime2\(7\)\))?[<>]", _flat(parts))


def _of_one_day(start: str, end: str) -> bool:
    midnight = f"CAST({end}ASdate)"
    return start in (midnight, f"CAST({midnight}ASdatetime)") or (
        start.startswith("DATEADD(DAY,DATEDIFF(DAY,") and start.count(end) == 1 and start.endswith(")")
    )


def _arguments(call: Group) -> list[str]:
    """Return the arguments without blanks."""
    out = [""]
    for part in call.parts:
        if part == ",":
            out.append("")
        else:
            out[-1] += _flat([part])
    return out


def _flat(parts: Sequence[str | Group]) -> str:
    return "".join(f"({_flat(part.parts)})" if isinstance(part, Group) else part for part in parts)
