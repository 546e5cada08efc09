"""Resolve columns of SQL Server's system views in T-SQL: the view of each name, and the version that introduced it.

This is not a full parser: it reads names, brackets, ``FROM``, ``JOIN``, ``APPLY`` and ``UNION``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Final

FACTS: Final = Path(__file__).parent / "data" / "sqlserver_views.json"
AZURE: Final = 100
# SQL Server 2012, the oldest that is supported.
FIRST: Final = 11

_TOKEN: Final = re.compile(
    r"(?P<skip>\s+|--[^\n]*|/\*.*?\*/)|(?P<text>N?'(?:[^']|'')*')|(?P<name>\[(?:[^\]]|\]\])*\]|%%\w+%%|[@#]?\w+|\?)|(?P<mark>.)",
    re.DOTALL,
)
_SOURCE: Final = frozenset({"FROM", "JOIN", "APPLY", "INTO", "USING", "UPDATE", "DELETE", "MERGE"})
_SPLIT: Final = frozenset({"UNION", "EXCEPT", "INTERSECT"})
_PSEUDO: Final = frozenset({"inserted", "deleted", "sys", "qmon", "dbo", "master", "object", "schema"})
# Words that are not columns without an alias.
_WORDS: Final = frozenset(
    re.findall(
        r"\w+",
        """
        all alter and any apply as asc begin between bigint binary bit by case cast catch char close collate commit
        convert create cross cursor date datetime datetime2 datetimeoffset day deallocate declare default
        delete desc distinct drop else end escape except exec exists fast_forward fetch float following for
        forceseek from go goto grant group having hour if in index inner insert int intersect into is join
        key latin1_general_bin2 left like local lock loop maxdop merge microsecond millisecond minute money
        nanosecond nchar
        next nocount nolock not null numeric nvarchar of off offset on open option or order outer output
        over partition path percent preceding print raiserror raw read readcommittedlock readpast recompile
        remote return returns revert right rollback row rowlock rows second select set smallint sysname
        table tablock then ties tinyint to top tran transaction try type tzoffset unbounded union unique
        uniqueidentifier update updlock use using value values varbinary varchar view waitfor when where
        while with within work xact_abort xml holdlock max
        """,
    )
)


@dataclass(frozen=True, slots=True)
class View:
    """A system view or function. ``since``: first major version, 0 for all; ``AZURE``: Azure SQL Database only."""

    since: int
    # By name: type, whether the documentation allows NULL, first major version.
    columns: Mapping[str, tuple[str, bool, int]]


@cache
def views() -> dict[str, View]:
    """Return the documented facts by name, such as ``sys.sequences``."""
    facts = json.loads(FACTS.read_text())
    return {
        name: View(
            fact["since"], {column: (kind, null, since) for column, (kind, null, since) in fact["columns"].items()}
        )
        for name, fact in facts.items()
    }


@dataclass(slots=True)
class Group:
    """Contents of a pair of brackets, or the whole text: names, strings, punctuation and inner groups."""

    parts: list[str | Group] = field(default_factory=list)


def unresolved(text: str, since: int) -> list[str]:
    """Return a line for each name that is not a column in the versions of a file.

    ``since``: the first of them.
    """
    return list(_Reader(max(since, FIRST)).group(grouped(text), ()))


def grouped(text: str) -> Group:
    """Return the text grouped by brackets, without comments; strings keep their quotes."""
    stack = [Group()]
    for found in _TOKEN.finditer(text):
        if found["skip"] is not None:
            continue
        if found[0] == "(":
            stack.append(Group())
        elif found[0] == ")":
            inner = stack.pop()
            stack[-1].parts.append(inner)
        else:
            stack[-1].parts.append(found[0].lstrip("N") if found["text"] is not None else found[0])
    return stack[0]


# Alias → its system view; empty for any other source.
Scope = dict[str, str]


@dataclass(slots=True)
class _Reader:
    """Checks one text for servers from version ``since`` on."""

    since: int

    def group(self, group: Group, outer: Sequence[Scope]) -> Iterator[str]:
        """Check a bracket: each query of a UNION and each statement separately."""
        part: list[str | Group] = []
        named = {
            name.strip("[]").lower()
            for word, name in pairwise(group.parts)
            if isinstance(word, str) and isinstance(name, str) and word.upper() == "AS"
        }
        for each in [*group.parts, ";"]:
            if each == ";" or (isinstance(each, str) and each.upper() in _SPLIT):
                yield from self.query(part, outer, named)
                part = []
            else:
                part.append(each)

    def query(self, parts: list[str | Group], outer: Sequence[Scope], named: set[str]) -> Iterator[str]:
        """One query: its sources first, then every name and bracket.

        ``named``: the column names that its bracket defines.
        """
        scope: Scope = {}
        skipped: set[int] = set()
        yield from self.sources(parts, scope, skipped)
        scopes = (scope, *outer)
        at = 0
        while at < len(parts):
            part = parts[at]
            if at in skipped:
                at += 1
            elif isinstance(part, Group):
                yield from self.group(part, scopes)
                at += 1
            elif not _is_name(part):
                at += 1
            else:
                at, problem = self.name(parts, at, scopes, named)
                if problem:
                    yield problem

    def sources(self, parts: list[str | Group], scope: Scope, skipped: set[int]) -> Iterator[str]:
        """Fill the scope from the text after FROM, JOIN and APPLY, including commas; skip hints."""
        reading = False
        for at, part in enumerate(parts):
            word = part.upper() if isinstance(part, str) else ""
            if word in _SOURCE:
                reading = True
            elif word in ("WHERE", "ON", "SET", "SELECT", "ORDER", "GROUP", "VALUES", "OUTPUT"):
                reading = False
            if (word in _SOURCE or (reading and word == ",")) and at + 1 < len(parts):
                yield from self.source(parts, at + 1, scope, skipped)

    def source(self, parts: list[str | Group], at: int, scope: Scope, skipped: set[int]) -> Iterator[str]:
        """Add one source to the scope under its alias."""
        first = parts[at]
        names: list[str] = []
        if isinstance(first, str):
            if not _is_name(first) or first.upper() in _SOURCE | {"TOP", "SELECT"}:
                return
            while at < len(parts) and isinstance(parts[at], str) and _is_name(str(parts[at])):
                names.append(str(parts[at]).strip("[]"))
                skipped.add(at)
                at += 1
                if at < len(parts) and parts[at] == ".":
                    at += 1
                    continue
                break
            if at < len(parts) and isinstance(parts[at], Group):
                at += 1  # arguments of a function; they are read with the rest
        else:
            at += 1
        at = self.hint(parts, at, skipped)
        said = at < len(parts) and str(parts[at]).upper() == "AS"
        at += said
        alias = names[-1] if names else ""
        word = parts[at] if at < len(parts) else None
        if isinstance(word, str) and _is_name(word) and (said or word.lower() not in _WORDS):
            alias = word.strip("[]")
            skipped.add(at)
            at += 1
            if at < len(parts) and isinstance(parts[at], Group):
                skipped.add(at)  # names of its columns
        self.hint(parts, at, skipped)
        view = system_view(names)
        scope[alias.lower()] = view
        if view and not view.startswith("sys.sp_"):
            fact = views().get(view)
            if fact is None:
                yield f"{view}: the tests have no facts about it"
            elif fact.since > self.since:
                yield f"{view}: only since {fact.since}, and this file serves {self.since}"

    def hint(self, parts: list[str | Group], at: int, skipped: set[int]) -> int:
        """Return the position after ``WITH (NOLOCK)``, whose words are not columns."""
        if at + 1 < len(parts) and str(parts[at]).upper() == "WITH" and isinstance(parts[at + 1], Group):
            skipped.add(at + 1)
            return at + 2
        return at

    def name(self, parts: list[str | Group], at: int, scopes: Sequence[Scope], named: set[str]) -> tuple[int, str]:
        """Return the position after the name at ``at``, and its problem."""
        chain = [str(parts[at]).strip("[]")]
        at += 1
        while at + 1 < len(parts) and parts[at] == "." and isinstance(parts[at + 1], str):
            chain.append(str(parts[at + 1]).strip("[]"))
            at += 2
        called = at < len(parts) and isinstance(parts[at], Group)
        if chain[0].startswith(("@", "#", "?", "%")) or chain[0][:1].isdigit():
            return at, ""
        if len(chain) == 1:
            before = str(parts[at - 2]).upper() if at >= 2 else ""
            after = str(parts[at]).upper() if at < len(parts) else ""
            common = after == "AS" and at + 1 < len(parts) and isinstance(parts[at + 1], Group)
            return at, "" if called or common or before == "AS" else self.bare(chain[0], scopes, named)
        alias, column = chain[0].lower(), chain[1].lower()
        for scope in scopes:
            if alias in scope:
                return at, self.column(scope[alias], column) if scope[alias] and column != "*" else ""
        return at, "" if alias in _PSEUDO else f"{'.'.join(chain)}: nothing is called {chain[0]} here"

    def bare(self, name: str, scopes: Sequence[Scope], named: set[str]) -> str:
        """Check a column without an alias in a query that reads a system view: one of these must have it."""
        read = [view for view in next((scope for scope in scopes if scope), {}).values() if view]
        if not read or name.lower() in _WORDS | named or name.startswith("q_"):
            return ""
        problems = [self.column(view, name.lower()) for view in read]
        return problems[0] if all(problems) else ""

    def column(self, view: str, column: str) -> str:
        """Return the problem of a column of a view, empty if it has none."""
        fact = views().get(view)
        if fact is None:
            return ""
        known = fact.columns.get(column)
        if known is None:
            return f"{view} has no column {column}"
        return (
            f"{view}.{column}: only since {known[2]}, and this file serves {self.since}"
            if known[2] > self.since
            else ""
        )


def system_view(names: Sequence[str]) -> str:
    """Return the system view (also of tempdb) or table of msdb that a name refers to, empty if none."""
    parts = [name.lower() for name in names]
    parts = parts[1:] if parts[:1] == ["tempdb"] else parts
    known = (len(parts) == 2 and parts[0] == "sys") or parts[:2] == ["msdb", "dbo"]
    return ".".join(parts) if known else ""


def _is_name(part: str) -> bool:
    return part[0] in "[@#?%_" or part[0].isalnum()
