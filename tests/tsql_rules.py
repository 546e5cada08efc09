"""Rules for T-SQL on a queue in use: one function per rule, one line per problem in a file.

Built on the tokenizer of ``tests.tsql``; tables of users are rendered as ``q_table`` and the like.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Final

from tests.tsql import Group, grouped

# Names of the user's queue tables in a rendered statement.
USERS: Final = frozenset({"q_table", "q_data_table", "q_data"})
LOCKING: Final = frozenset({"UPDLOCK", "XLOCK", "HOLDLOCK", "SERIALIZABLE", "REPEATABLEREAD", "READPAST"})
TEXTUAL: Final = frozenset({"char", "varchar", "nchar", "nvarchar", "sysname", "text", "ntext"})
# Texts with the server's collation, whatever the database's collation is.
FOREIGN: Final = frozenset({"%%lockres%%", "resource_description"})
COMPARES: Final = frozenset({"=", "<", ">", "IN", "LIKE"})
_ENDS: Final = frozenset(
    {
        ";",
        ",",
        "AND",
        "OR",
        "WHERE",
        "ON",
        "WHEN",
        "THEN",
        "ELSE",
        "END",
        "FROM",
        "JOIN",
        "GROUP",
        "ORDER",
        "HAVING",
        "UNION",
        "SELECT",
        "SET",
        "APPLY",
        "OUTER",
        "INNER",
        "LEFT",
        "CROSS",
        "OPTION",
        "CASE",
        "IF",
        "BEGIN",
        "NOT",
        "RETURN",
        "VALUES",
    }
)
Part = str | Group


def _word(part: Part | None) -> str:
    return part.upper() if isinstance(part, str) else ""


def _name(part: Part | None) -> str:
    return part.strip("[]").lower() if isinstance(part, str) else ""


def _groups(group: Group) -> Iterator[Group]:
    yield group
    for part in group.parts:
        if isinstance(part, Group):
            yield from _groups(part)


def _statements(whole: Group) -> Iterator[list[Part]]:
    """Yield the contents of a pair of brackets, statement by statement."""
    for group in _groups(whole):
        yield from _cut(group.parts)


def _cut(parts: Sequence[Part]) -> Iterator[list[Part]]:
    part: list[Part] = []
    for each in [*parts, ";"]:
        if each == ";":
            yield part
            part = []
        else:
            part.append(each)


def _flat(parts: Iterable[Part]) -> Iterator[str]:
    for part in parts:
        if isinstance(part, Group):
            yield from _flat(part.parts)
        else:
            yield part


def problems(text: str, views: Mapping[str, object], kind: str = "varchar", *, filtered: bool = False) -> list[str]:
    """Return all problems of a statement.

    ``views``: the dynamic views with a documented cost. ``kind``: the type of the user's text columns. ``filtered``:
    the named indexes whose filter the values may match contain only some of the rows.
    """
    whole = grouped(text)
    found = [
        *_unhinted(whole),
        *_collations(whole),
        *_families(whole, kind),
        *_plans(whole, filtered),
        *_again(whole),
        *_unlisted(whole, views),
    ]
    return list(dict.fromkeys(found))


# ------------------------------------------------------------------------------------------------------------ hints


def _unhinted(whole: Group) -> Iterator[str]:
    """Yield locks on more than rows, and READPAST that row versions would turn into an error (650)."""
    for parts in _statements(whole):
        aliases = _changed(parts)
        for at, part in enumerate(parts):
            if _name(part) not in USERS or _word(parts[at - 1] if at else None) not in _OPENS:
                continue
            alias, hints = _alias_and_hints(parts, at + 1)
            before = _word(parts[at - 1])
            changes = before in ("UPDATE", "DELETE") or (alias and alias in aliases) or _deleted_from(parts, at)
            if (changes or hints & LOCKING) and not hints & {"ROWLOCK", "TABLOCKX"}:
                yield f"{_name(part)} is locked without ROWLOCK"
            if "READPAST" in hints and "READCOMMITTEDLOCK" not in hints:
                yield f"{_name(part)}: READPAST without READCOMMITTEDLOCK"


_OPENS: Final = frozenset({"FROM", "JOIN", "UPDATE", "DELETE", "APPLY"})


def _changed(parts: Sequence[Part]) -> frozenset[str]:
    """Return the aliases that an UPDATE or a DELETE names."""
    return frozenset(
        _name(parts[at + 1])
        for at, part in enumerate(parts[:-1])
        if _word(part) in ("UPDATE", "DELETE") and isinstance(parts[at + 1], str)
    )


def _deleted_from(parts: Sequence[Part], at: int) -> bool:
    """DELETE [TOP (n)] FROM table."""
    words = [_word(part) for part in parts[max(0, at - 4) : at] if isinstance(part, str)]
    return "DELETE" in words and words[-1] == "FROM" and "SELECT" not in words and "OUTPUT" not in words


def _alias_and_hints(parts: Sequence[Part], at: int) -> tuple[str, frozenset[str]]:
    alias = ""
    if at < len(parts) and _word(parts[at]) == "AS":
        alias, at = _name(parts[at + 1]), at + 2
    if at + 1 < len(parts) and _word(parts[at]) == "WITH" and isinstance(parts[at + 1], Group):
        hints = parts[at + 1]
        assert isinstance(hints, Group)
        return alias, frozenset(_word(part) for part in hints.parts)
    return alias, frozenset()


# ------------------------------------------------------------------------------------------------------- collations


def _collations(whole: Group) -> Iterator[str]:
    """Yield comparisons of texts from different sources without a collation: error 468 on some databases."""
    strange = set(FOREIGN)
    for group in _groups(whole):
        for at, part in enumerate(group.parts):
            if _name(part) == "%%lockres%%" and _word(_get(group.parts, at + 1)) == "AS":
                strange.add(_name(group.parts[at + 2]))
    strange |= {name for group, name in _declared(whole) if group}
    for group in _groups(whole):
        for at, part in enumerate(group.parts):
            if _word(part) not in COMPARES:
                continue
            left, right = _operand(group.parts, at, -1), _operand(group.parts, at, 1)
            words = [word.strip("[]").lower() for word in _flat([*left, *right])]
            known = strange.intersection(words)
            same = all("resource_description" in {_name(word) for word in _flat(each)} for each in (left, right))
            plain = same or _assigned(group.parts, at) or _with_text(left) or _with_text(right)
            if known and "collate" not in words and not plain:
                yield f"{min(known)} is compared without COLLATE"


def _declared(whole: Group) -> Iterator[tuple[bool, str]]:
    """Return the text columns of table variables and temporary tables that are declared with their types."""
    for group in _groups(whole):
        for at, part in enumerate(group.parts):
            if _word(part) != "TABLE" or not isinstance(_get(group.parts, at + 1), Group):
                continue
            inner = group.parts[at + 1]
            assert isinstance(inner, Group)
            for place, each in enumerate(inner.parts[1:], 1):
                if _name(each) in TEXTUAL:
                    yield True, _name(inner.parts[place - 1])


def _operand(parts: Sequence[Part], at: int, step: int) -> list[Part]:
    out: list[Part] = []
    at += step
    while 0 <= at < len(parts) and _word(parts[at]) not in _ENDS | (COMPARES - {"="}):
        if _word(parts[at]) == "=" and step > 0:
            break
        out.append(parts[at])
        at += step
    return out


def _assigned(parts: Sequence[Part], at: int) -> bool:
    """Return whether this is the = of SET or of a variable's value."""
    for part in reversed(parts[:at]):
        if _word(part) in ("SET", "DECLARE"):
            return True
        if _word(part) in ("WHERE", "ON", "FROM", "AND", "OR", "WHEN", "SELECT", ";"):
            return False
    return False


def _with_text(operand: Sequence[Part]) -> bool:
    """A quoted text takes the collation of the value it is compared with."""
    return len(operand) == 1 and isinstance(operand[0], str) and operand[0].startswith("'")


# ----------------------------------------------------------------------------------------------------------- values


def _families(whole: Group, kind: str) -> Iterator[str]:
    """Yield values that are compared with a user's column of another type of text.

    A Unicode value converts each varchar of an index, so the index is not sought. A varchar value loses the characters
    outside the code page, and is never found. The filter of an index contains a literal and compares nothing.
    """
    if [_word(part) for part in whole.parts[:2]] == ["CREATE", "INDEX"]:
        return
    texts = {name: family for group in _groups(whole) for name, family in _variables(group.parts)}
    for group in _groups(whole):
        for column, value in (*_compared(group.parts), *_first_of(group.parts)):
            family = _family(value, texts)
            if family is not None and family != kind:
                yield f"{column} is compared with a value of another type family"


def _compared(parts: Sequence[Part]) -> Iterator[tuple[str, list[Part]]]:
    """Yield the users' columns that are compared, with the other operand."""
    for at, part in enumerate(parts):
        if part != "=":
            continue
        left, right = _operand(parts, at, -1), _operand(parts, at, 1)
        for column, value in ((left, right[:]), (right[::-1], left[::-1])):
            name = _name(column[0]) if len(column) in (1, 3) else ""
            if name.startswith("q_") or name == "qmon_state":
                yield name, value


def _first_of(parts: Sequence[Part]) -> Iterator[tuple[str, list[Part]]]:
    """COALESCE(value, (SELECT column …)): the bound of a range of that column."""
    for at, part in enumerate(parts[:-1]):
        inner = parts[at + 1]
        if _word(part) != "COALESCE" or not isinstance(inner, Group) or "," not in inner.parts:
            continue
        cut = inner.parts.index(",")
        columns = [word for word in map(_name, _flat(inner.parts[cut:])) if word.startswith("q_")]
        if columns and "SELECT" in {word.upper() for word in _flat(inner.parts[cut:])}:
            yield columns[0], inner.parts[:cut]


def _variables(parts: Sequence[Part]) -> Iterator[tuple[str, str]]:
    for at, part in enumerate(parts[:-1]):
        if isinstance(part, str) and part.startswith("@") and (family := _FAMILIES.get(_name(parts[at + 1]))):
            yield part.lower(), family


def _bound(value: Sequence[Part]) -> bool:
    """Return whether this is a bound value, a variable, or a cast of one."""
    words = [word.lower() for word in _flat(value)]
    one = len(value) == 1 or (len(value) == 2 and words[0] == "cast")
    return one and any(word == "?" or word.startswith("@") for word in words)


def _family(value: Sequence[Part], texts: Mapping[str, str]) -> str | None:
    """Return the type of text of a bound value, or ``None`` if it is not one. The driver sends Unicode."""
    if not _bound(value):
        return None
    words = [word.lower() for word in _flat(value)]
    if words[0] == "cast":
        return next((_FAMILIES[word] for word in words if word in _FAMILIES), None)
    return "nvarchar" if words[0] == "?" else texts.get(words[0])


_FAMILIES: Final = {"char": "varchar", "varchar": "varchar", "nchar": "nvarchar", "nvarchar": "nvarchar"}


# ------------------------------------------------------------------------------------------------------------ plans


def _plans(whole: Group, filtered: bool) -> Iterator[str]:
    """Yield needlessly recompiled statements, and filtered indexes that need recompiling to be used (8622)."""
    for parts in _cut(whole.parts):
        anew = "RECOMPILE" in {word.upper() for word in _flat(parts)}
        groups = [_without_cases(group.parts) for group in _groups(Group(parts))]
        found = {column for group in groups for column, value in _compared(group) if _bound(value)}
        named = any(_name(part).endswith("_index") for group in groups for part in _hinted(group))
        if anew and not found:
            yield "is compiled anew, and compares no value with a column"
        elif anew and named and not filtered:
            yield "is compiled anew for an index that holds every row"
        elif named and filtered and "q_state" in found and not anew:
            yield "names a filtered index and is not compiled anew"


def _without_cases(parts: Sequence[Part]) -> list[Part]:
    """Return only the conditions that choose rows."""
    out: list[Part] = []
    depth = 0
    for part in parts:
        depth += _word(part) == "CASE"
        if not depth:
            out.append(part)
        depth -= bool(depth) and _word(part) == "END"
    return out


def _hinted(parts: Sequence[Part]) -> Iterator[Part]:
    """Yield the arguments of INDEX (…)."""
    for before, part in pairwise(parts):
        if _word(before) == "INDEX" and isinstance(part, Group):
            yield from part.parts


# ------------------------------------------------------------------------------------------- common table expressions


def _again(whole: Group) -> Iterator[str]:
    """Yield common table expressions that read a table and are used twice: each use reads it at another moment."""
    bodies: dict[str, Group] = {}
    for group in _groups(whole):
        for at, part in enumerate(group.parts[:-2]):
            body = group.parts[at + 2]
            if not at or _word(group.parts[at - 1]) not in ("WITH", ",") or _word(group.parts[at + 1]) != "AS":
                continue
            if isinstance(body, Group) and "SELECT" in {_word(each) for each in body.parts}:
                bodies[_name(part)] = body
    uses = dict.fromkeys(bodies, 0)
    own = {name: {id(group) for group in _groups(body)} for name, body in bodies.items()}
    for group in _groups(whole):
        for before, part in pairwise(group.parts):
            name = _name(part)  # within its own body it is a recursion
            if name in uses and _word(before) in ("FROM", "JOIN", "APPLY") and id(group) not in own[name]:
                uses[name] += 1
    for name, count in uses.items():
        if count > 1 and _reads(bodies[name], bodies, {name}):
            yield f"{name} reads a table or view and is used {count} times"


def _reads(body: Group, bodies: Mapping[str, Group], seen: set[str]) -> bool:
    """Return whether it reads a user's table or a dynamic view.

    Catalog views are small and cached, and do not count.
    """
    words = {word.strip("[]").lower() for word in _flat(body.parts)}
    if USERS & words or any(word.startswith("dm_") for word in words):
        return True
    return any(_reads(bodies[name], bodies, seen | {name}) for name in (bodies.keys() & words) - seen)


# ------------------------------------------------------------------------------------------------------------ views


def _unlisted(whole: Group, views: Mapping[str, object]) -> Iterator[str]:
    """Yield dynamic views whose cost is not documented."""
    words = list(_flat(whole.parts))
    for at, word in enumerate(words[:-2]):
        name = words[at + 2].lower() if word.lower() == "sys" and words[at + 1] == "." else ""
        if re.match(r"(?:dm|fn|query_store)_", name) and f"sys.{name}" not in views:
            yield f"sys.{name} is not in the list of views with their costs"


def _get(parts: Sequence[Part], at: int) -> Part | None:
    return parts[at] if at < len(parts) else None
