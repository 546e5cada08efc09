"""Find the right that a refused statement needs, from the statement's text and the object that the server names.

PostgreSQL names the object but not the missing right: "permission denied for table jobs".
"""

from __future__ import annotations

import re
from typing import Final

_COMMENT: Final = re.compile(r"--[^\n]*|/\*.*?\*/", re.S)
_READ_STATEMENT: Final = re.compile(r"\s*(SELECT|WITH|EXECUTE|PREPARE|TABLE|DECLARE)\b", re.I)
_GRANT_WORDS: Final = {
    "table": "",
    "view": "",
    "materialized view": "",
    "sequence": "SEQUENCE ",
    "schema": "SCHEMA ",
    "function": "FUNCTION ",
    "procedure": "PROCEDURE ",
    "database": "DATABASE ",
}
OBJECT_KINDS: Final = tuple(_GRANT_WORDS)
_CREATED: Final = r"CREATE\s+(?:OR\s+REPLACE\s+)?(?:UNLOGGED\s+)?"
_IN_A_SCHEMA: Final = r"(?:TABLE|VIEW|MATERIALIZED\s+VIEW|SEQUENCE|FUNCTION|PROCEDURE|TYPE|DOMAIN)\s+"
_ONLY: Final = r"(?:ONLY\s+)?"
_READ: Final = rf"(?<!DELETE )(?:FROM|JOIN|USING|,)\s+{_ONLY}{{name}}"

# Each way to use a table, with the needed rights. UPDATE and DELETE also read the columns of their WHERE.
_TABLE_USES: Final = (
    (r"INSERT\s+INTO\s+{name}(?=[^;]*\b(?:RETURNING|ON\s+CONFLICT)\b)", ("SELECT",)),
    (r"INSERT\s+INTO\s+{name}(?=[^;]*\bDO\s+UPDATE\b)", ("UPDATE",)),
    (r"INSERT\s+INTO\s+{name}", ("INSERT",)),
    (rf"(?<!FOR )UPDATE\s+{_ONLY}{{name}}", ("SELECT", "UPDATE")),
    (rf"DELETE\s+FROM\s+{_ONLY}{{name}}", ("SELECT", "DELETE")),
    (rf"TRUNCATE\s+(?:TABLE\s+)?{_ONLY}{{name}}", ("TRUNCATE",)),
    (r"CREATE\s+(?:OR\s+REPLACE\s+)?(?:CONSTRAINT\s+)?TRIGGER\b[^;]*?\bON\s+{name}", ("TRIGGER",)),
    (r"REFERENCES\s+{name}", ("REFERENCES",)),
    (rf"{_READ}(?=[^;]*\bFOR\s+(?:NO\s+KEY\s+)?(?:UPDATE|SHARE)\b)", ("UPDATE",)),
    (_READ, ("SELECT",)),
)
_RIGHTS_ORDER: Final = ("SELECT", "INSERT", "UPDATE", "DELETE", "TRUNCATE", "REFERENCES", "TRIGGER")


def grant_for(kind: str, object_name: str, role: str, text: str) -> str:
    """Return the GRANT that lets ``role`` run the statement ``text``, or an empty string if it is unknown.

    ``kind`` and ``object_name``: the server's words for the object, such as ``table`` and ``jobs``.
    """
    sql = " ".join(_COMMENT.sub(" ", text).split())
    rights, name = _needed_rights(kind, object_name, sql)
    return f"GRANT {', '.join(rights)} ON {_GRANT_WORDS[kind]}{name} TO {quote_name(role)}" if rights else ""


def quote_name(name: str) -> str:
    """Quote a name if needed. A name that is already quoted stays unchanged."""
    if name.startswith('"') or re.fullmatch(r"[a-z_][a-z0-9_$]*", name):
        return name
    return '"' + name.replace('"', '""') + '"'


def _needed_rights(kind: str, object_name: str, sql: str) -> tuple[tuple[str, ...], str]:
    name = quote_name(object_name)
    if kind == "database":
        return _database_rights(sql), name
    if kind == "schema":
        return _schema_rights(object_name, sql), name
    if kind in ("function", "procedure"):
        return ("EXECUTE",), _qualified_name(object_name, sql)
    if kind == "sequence":
        return _sequence_rights(object_name, sql), _qualified_name(object_name, sql)
    return _table_rights(object_name, sql), _qualified_name(object_name, sql)


def _database_rights(sql: str) -> tuple[str, ...]:
    if not sql:  # while connecting
        return ("CONNECT",)
    if re.search(r"CREATE\s+(?:SCHEMA|EXTENSION|PUBLICATION)\b", sql, re.I):
        return ("CREATE",)
    return ("TEMPORARY",) if re.search(r"\bTEMP(?:ORARY)?\b|pg_temp", sql, re.I) else ()


def _schema_rights(object_name: str, sql: str) -> tuple[str, ...]:
    schema = rf"{_spelling_pattern(object_name)}\s*\."
    made = rf"{_CREATED}{_IN_A_SCHEMA}(?:IF\s+NOT\s+EXISTS\s+)?{schema}"
    indexed = rf"CREATE\s+(?:UNIQUE\s+)?INDEX\b[^;]*?\bON\s+{_ONLY}{schema}"
    return ("USAGE", "CREATE") if re.search(f"{made}|{indexed}", sql, re.I) else ("USAGE",)


def _sequence_rights(object_name: str, sql: str) -> tuple[str, ...]:
    if re.search(r"\bsetval\s*\(", sql, re.I):
        return ("UPDATE",)
    if re.search(rf"\b(?:FROM|JOIN)\s+{_name_pattern(object_name)}", sql, re.I) or not re.search(
        r"nextval|INSERT\s+INTO", sql, re.I
    ):
        return ("SELECT",)
    return ("USAGE",)


def _table_rights(object_name: str, sql: str) -> tuple[str, ...]:
    name = _name_pattern(object_name)
    needed = {
        right for use, rights in _TABLE_USES if re.search(use.replace("{name}", name), sql, re.I) for right in rights
    }
    if not needed and not re.search(name, sql, re.I) and _READ_STATEMENT.match(sql) and not _calls_function(sql):
        needed = {"SELECT"}  # the object belongs to a view or a partition, or the statement is prepared
    return tuple(right for right in _RIGHTS_ORDER if right in needed)


def _calls_function(sql: str) -> bool:
    """Return whether a statement calls a user-defined function, which may do anything."""
    return bool(re.match(r'\s*SELECT\b[^;]*?(?:"[^"]+"|\w+)\s*\.\s*(?:"[^"]+"|\w+)\s*\(', sql, re.I))


def _qualified_name(object_name: str, sql: str) -> str:
    """Return the name with its schema, if the statement contains it."""
    before = re.findall(rf'("[^"]+"|[\w$]+)\s*\.\s*{_spelling_pattern(object_name)}', sql, re.I)
    schemas = {quote_name(each.strip('"')) for each in before}
    return f"{schemas.pop()}.{quote_name(object_name)}" if len(schemas) == 1 else quote_name(object_name)


def _name_pattern(object_name: str) -> str:
    return rf'(?:(?:"[^"]+"|[\w$]+)\s*\.\s*)?{_spelling_pattern(object_name)}'


def _spelling_pattern(object_name: str) -> str:
    """Return a pattern for the name with or without quotes."""
    bare = object_name.strip('"')
    return rf'(?:"{re.escape(bare)}"|\b{re.escape(bare)}\b(?!"))'
