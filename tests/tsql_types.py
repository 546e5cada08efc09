"""The types of the columns of a T-SQL query, and which may be NULL, by the documentation of the tables it reads.

Types come from casts and from the documented columns of the system views, never from the code's expectations.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from tests.tsql import Group, grouped, system_view, views

# If two types meet, the later one wins.
RANKS: Final = (
    "sysname",
    "varchar",
    "nvarchar",
    "bit",
    "tinyint",
    "smallint",
    "int",
    "bigint",
    "numeric",
    "real",
    "float",
)
WHOLE: Final = frozenset({"tinyint", "smallint", "int", "bigint"})
Part = str | Group


@dataclass(frozen=True, slots=True)
class Type:
    """A SQL type without its length, such as ``nvarchar``; empty: a bare NULL, or a value of the user's table."""

    name: str
    null: bool = False
    # A text that is a whole number.
    digits: bool = False
    # Texts that the query itself may return.
    texts: tuple[str, ...] = ()


@dataclass(slots=True)
class _Source:
    # `None`: a user's table.
    columns: Mapping[str, Type] | None
    null: bool = False


_Scope = dict[str, _Source]
_RETURNS: Final = {
    "getdate": "datetime",
    "sysutcdatetime": "datetime2",
    "sysdatetimeoffset": "datetimeoffset",
    "db_id": "smallint",
    "datediff": "int",
    "datepart": "int",
    "count": "int",
    "count_big": "bigint",
    "has_perms_by_name": "int",
    "charindex": "int",
    "len": "int",
    "row_number": "bigint",
    "datalength": "bigint",
    "hashbytes": "varbinary",
    "user_name": "nvarchar",
    "db_name": "nvarchar",
    "suser_sname": "nvarchar",
    "quotename": "nvarchar",
    "object_name": "nvarchar",
    "object_schema_name": "nvarchar",
    "indexproperty": "int",
    "ident_current": "numeric",
    "dateadd": "datetime2",
    "switchoffset": "datetimeoffset",
    "object_id": "int",
    "serverproperty": "sql_variant",
    "databasepropertyex": "sql_variant",
    "parsename": "nvarchar",
    "rtrim": "nvarchar",
    "ltrim": "nvarchar",
    "checksum": "int",
    "checksum_agg": "int",
    "replace": "nvarchar",
    "lower": "nvarchar",
    "left": "nvarchar",
    "right": "nvarchar",
    "substring": "nvarchar",
    "power": "bigint",
}
_NEVER_NULL: Final = {"count", "count_big", "row_number", "getdate", "sysutcdatetime", "sysdatetimeoffset", "db_id"}
_OPERATORS: Final = frozenset("+-*/%&")


def types_of(text: str) -> dict[str, Type]:
    """Return the columns of the last statement's result, by name."""
    return _query(grouped(text).parts, [], {})


def _word(part: Part | None) -> str:
    return part.upper() if isinstance(part, str) else ""


def _split(parts: Sequence[Part], words: frozenset[str]) -> list[list[Part]]:
    """Split at these words, except for those between CASE and END."""
    out: list[list[Part]] = [[]]
    depth = 0
    for part in parts:
        word = _word(part)
        depth += (word == "CASE") - (word == "END")
        if depth == 0 and word in words:
            out.append([])
        else:
            out[-1].append(part)
    return out


def _query(parts: Sequence[Part], scopes: list[_Scope], common: Mapping[str, Mapping[str, Type]]) -> dict[str, Type]:
    parts, named = list(parts), dict(common)
    if parts and _word(parts[0]) == "WITH":
        at = 1
        while isinstance(parts[at], str) and _word(parts[at + 1]) == "AS":
            inner = parts[at + 2]
            assert isinstance(inner, Group)
            named[str(parts[at]).lower()] = _query(inner.parts, scopes, named)
            at += 3
            if parts[at] == ",":
                at += 1
        parts = parts[at:]
    branches = [_branch(branch, scopes, named) for branch in _split(parts, frozenset({"UNION"}))]
    columns = zip(*([kind for _, kind in branch] for branch in branches), strict=True)
    return {name: _meet(kinds) for (name, _), kinds in zip(branches[0], columns, strict=True)}


def _branch(parts: list[Part], scopes: list[_Scope], named: Mapping[str, Mapping[str, Type]]) -> list[tuple[str, Type]]:
    words = [_word(part) for part in parts]
    start = words.index("SELECT") + 1
    if words[start : start + 1] == ["DISTINCT"]:
        start += 1
    if words[start : start + 1] == ["TOP"]:
        start += 2
    stops = [words.index(stop, start) for stop in ("FROM", "WHERE", "OPTION") if stop in words[start:]]
    end = min(stops, default=len(parts))
    scope = dict(_sources(parts[end:], scopes, named)) if "FROM" in words[start:] else {}
    inside = [scope, *scopes]
    out: list[tuple[str, Type]] = []
    for item in _split(parts[start:end], frozenset({","})):
        if len(item) == 3 and item[2] == "*":
            out += (scope[str(item[0]).lower()].columns or {}).items()
            continue
        name, expression = str(item[-1]), item
        if len(item) > 1 and _word(item[-2]) == "AS":
            expression = item[:-2]
        out.append((name.strip("[]").lower(), infer(expression, inside, named)))
    return out


def _sources(
    parts: list[Part], scopes: list[_Scope], named: Mapping[str, Mapping[str, Type]]
) -> Iterator[tuple[str, _Source]]:
    found: _Scope = {}
    at, before = 0, ""
    while at < len(parts):
        word = _word(parts[at])
        if word in ("WHERE", "GROUP", "ORDER", "OPTION"):
            return
        if word not in ("FROM", "JOIN", "APPLY"):
            before = word or before
            at += 1
            continue
        null = before in ("LEFT", "OUTER")
        first, at = parts[at + 1], at + 2
        names = [str(first).strip("[]")]
        while at + 1 < len(parts) and parts[at] == ".":
            names.append(str(parts[at + 1]).strip("[]"))
            at += 2
        if isinstance(first, Group):
            select = bool(first.parts) and _word(first.parts[0]) in ("SELECT", "WITH")
            columns: Mapping[str, Type] | None = _query(first.parts, [found, *scopes], named) if select else None
        else:
            columns = named.get(names[0].lower()) if len(names) == 1 else _view(system_view(names))
            if at < len(parts) and isinstance(parts[at], Group):
                at += 1
        alias = names[-1]
        if at < len(parts) and _word(parts[at]) == "AS":
            alias, at = str(parts[at + 1]).strip("[]"), at + 2
        found[alias.lower()] = _Source(columns, null)
        yield alias.lower(), found[alias.lower()]
        before = ""


def _view(name: str) -> Mapping[str, Type] | None:
    view = views().get(name.lower())
    if view is None:
        return None
    return {column: Type(kind.partition("(")[0], null) for column, (kind, null, _) in view.columns.items()}


def infer(parts: Sequence[Part], scopes: list[_Scope], named: Mapping[str, Mapping[str, Type]]) -> Type:
    """Return the type of one expression."""
    parts = list(parts)
    if len(parts) == 3 and parts[1] == "." and str(parts[0]).isdigit():
        return Type("numeric")
    terms = _terms(parts)
    if len(terms) > 1:
        return _meet([infer(term, scopes, named) for term in terms])
    first, word = parts[0], _word(parts[0])
    if isinstance(first, Group):
        if _word(first.parts[0]) == "SELECT":
            found = next(iter(_query(first.parts, scopes, named).values()))
            return replace(found, null=_word(first.parts[1]) not in ("COUNT", "COUNT_BIG"))
        return infer(first.parts, scopes, named)
    if word == "CASE":
        return _case(parts, scopes, named)
    if len(parts) > 1 and isinstance(parts[1], Group):
        return _call(word, parts[1].parts, scopes, named)
    if len(parts) == 3 and parts[1] == ".":
        return _column(str(first).lower(), str(parts[2]).strip("[]").lower(), scopes)
    if word == "NULL":
        return Type("", null=True)
    if word.startswith("'"):
        return Type("nvarchar", texts=(str(first)[1:-1],))
    if word.isdigit():
        return Type("int")
    if word == "@@SPID":
        return Type("smallint")
    return Type("")  # a parameter, or a column of the user's table: always cast


def _terms(parts: list[Part]) -> list[list[Part]]:
    """Split at operators. An operator that begins an expression is a sign."""
    terms = [term for term in _split(parts, _OPERATORS) if term]
    if len(terms) > 1:  # the dot of a number is not an operator, but its digits are separate
        return terms
    return [parts]


def _case(parts: list[Part], scopes: list[_Scope], named: Mapping[str, Mapping[str, Type]]) -> Type:
    body, results, has_else = parts[1:-1], list[Type](), False
    depth, start = 0, -1
    for at, part in enumerate([*body, "WHEN"]):
        word = _word(part)
        if depth == 0 and word in ("WHEN", "ELSE", "THEN"):
            if start >= 0:
                results.append(infer(body[start:at], scopes, named))
                start = -1
            if word in ("THEN", "ELSE"):
                start = at + 1
            has_else = has_else or word == "ELSE"
        depth += (word == "CASE") - (word == "END")
    met = _meet(results)
    return met if has_else else replace(met, null=True)


def _call(word: str, parts: list[Part], scopes: list[_Scope], named: Mapping[str, Mapping[str, Type]]) -> Type:
    arguments = _split(parts, frozenset({","}))
    if word in ("CAST", "TRY_CAST"):
        value, kind = _split(parts, frozenset({"AS"}))
        return _as(str(kind[0]).lower(), infer(value, scopes, named), null=word == "TRY_CAST")
    if word == "CONVERT":
        return _as(str(arguments[0][0]).lower(), infer(arguments[1], scopes, named))
    if word == "COALESCE":
        found = [infer(argument, scopes, named) for argument in arguments]
        return replace(_meet(found), null=all(each.null for each in found))
    if word == "NULLIF":
        return replace(infer(arguments[0], scopes, named), null=True)
    if word in ("MIN", "MAX", "SUM"):  # of no rows at all: NULL
        return replace(infer(parts, scopes, named), null=True)
    returned = _RETURNS[word.lower()]
    null = word.lower() not in _NEVER_NULL and any(infer(each, scopes, named).null for each in arguments if each)
    return Type(returned, null)


def _as(kind: str, value: Type, *, null: bool = False) -> Type:
    if not kind.endswith("char"):
        return Type(kind, value.null or null)
    return Type(kind, value.null or null, digits=value.digits or value.name in WHOLE, texts=value.texts)


def _column(alias: str, column: str, scopes: list[_Scope]) -> Type:
    for scope in scopes:
        if alias in scope:
            source = scope[alias]
            if source.columns is None:
                return Type("", null=True)
            found = source.columns[column]
            return replace(found, null=found.null or source.null)
    raise LookupError(f"nothing is called {alias} here")


def _meet(types: Sequence[Type]) -> Type:
    """Return the common type of several values, and whether it may be NULL."""
    known = [each.name for each in types if each.name]
    name = max(known, key=lambda each: RANKS.index(each) if each in RANKS else len(RANKS), default="")
    texts = tuple(text for each in types for text in each.texts)
    return Type(name, any(each.null for each in types), all(each.digits for each in types), texts)
