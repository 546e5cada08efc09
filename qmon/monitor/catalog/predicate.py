"""Parse the conditions that servers print: those of partial (filtered) indexes and of checks.

Only conditions on the values of a column are understood: equality, IN, = ANY, OR of those, IS NULL, a bare boolean.
Everything else becomes a condition about which nothing is known.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

# Values that a column may take, as text; `None` is NULL.
Allowed = frozenset[str | None]

_CAST: Final = (
    r"::\s*(?:character\s+varying|double\s+precision|bit\s+varying|(?:timestamp|time)\s+with(?:out)?\s+time\s+zone"
    r'|(?:"(?:[^"]|"")*"|\w+)(?:\.(?:"(?:[^"]|"")*"|\w+))?)(?:\s*\(\s*\d+(?:\s*,\s*\d+)?\s*\))?(?:\s*\[\])*'
)
_TOKENS: Final = {
    brackets: re.compile(
        rf"(?P<space>\s+|{_CAST})|(?P<string>[NE]?'(?:[^']|'')*')|(?P<quoted>{quoted})"
        r"|(?P<number>-?\d+(?:\.\d+)?)|(?P<word>[^\W\d]\w*)|(?P<sign><>|!=|>=|<=|~~|[-=<>(),\[\].+*/%|&~!])"
    )
    for brackets, quoted in ((False, r'"(?:[^"]|"")*"'), (True, r"\[(?:[^\]]|\]\])*\]"))
}
_KEYWORDS: Final = frozenset({"and", "or", "not", "is", "null", "in", "any", "array", "between", "like"})


@dataclass(frozen=True, slots=True)
class Condition:
    """The meaning of a condition: the values that columns may take, and whether it says anything more."""

    allowed: Mapping[str, Allowed] = field(default_factory=dict)
    more: bool = False

    def only(self, column: str) -> Allowed | None:
        """Return the values of ``column`` if the condition concerns only it and is fully understood, else ``None``."""
        return self.allowed.get(column) if not self.more and len(self.allowed) == 1 else None


UNKNOWN: Final = Condition(more=True)


def condition(text: str | None, *, brackets: bool = False) -> Condition:
    """Parse a condition. ``brackets``: names are quoted as in SQL Server. Never raises."""
    if text is None:
        return UNKNOWN
    try:
        reader = _Reader(text, brackets)
        found = reader.either()
        return found if reader.done else UNKNOWN
    except (_NotUnderstoodError, RecursionError):
        return UNKNOWN


class _NotUnderstoodError(Exception):
    """The text is not in the supported subset."""


class _Reader:
    """Recursive descent over the tokens.

    A name is ``("name", x)``, a value ``("value", x)``, others stand for themselves.
    """

    def __init__(self, text: str, brackets: bool) -> None:
        self.tokens: list[tuple[str, str]] = []
        self.at = 0
        pattern, at = _TOKENS[brackets], 0
        while at < len(text):
            found = pattern.match(text, at)
            if found is None:
                raise _NotUnderstoodError
            at = found.end()
            if found.lastgroup != "space":
                self.tokens.append(_token(found.lastgroup or "", found[0]))

    @property
    def done(self) -> bool:
        return self.at == len(self.tokens)

    def peek(self, *wanted: str) -> bool:
        return not self.done and self.tokens[self.at][0] in wanted

    def take(self, *wanted: str) -> str:
        if not self.peek(*wanted):
            raise _NotUnderstoodError
        self.at += 1
        return self.tokens[self.at - 1][1]

    def either(self) -> Condition:
        found = self.both()
        while self.peek("or"):
            self.take("or")
            found = _or(found, self.both())
        return found

    def both(self) -> Condition:
        found = self.single()
        while self.peek("and"):
            self.take("and")
            found = _and(found, self.single())
        return found

    def single(self) -> Condition:
        if self.peek("not"):
            self.take("not")
            name = self.wrapped("name")
            return Condition({name: frozenset({"false"})})
        start = self.at
        if self.peek("("):
            try:
                self.take("(")
                found = self.either()
                self.take(")")
            except _NotUnderstoodError:
                self.at = start
            else:
                if self.done or self.peek(")", "and", "or"):
                    return found
                self.at = start
        return self.comparison()

    def comparison(self) -> Condition:
        name = self.wrapped("name")
        if self.peek("="):
            self.take("=")
            if self.peek("any"):
                self.take("any")
                return Condition({name: frozenset(self.values())})
            return Condition({name: frozenset({self.wrapped("value")})})
        if self.peek("in"):
            self.take("in")
            return Condition({name: frozenset(self.values())})
        if self.peek("is"):
            self.take("is")
            negative = self.peek("not") and bool(self.take("not"))
            self.take("null")
            return Condition(more=True) if negative else Condition({name: frozenset({None})})
        return Condition({name: frozenset({"true"})})

    def wrapped(self, kind: str) -> str:
        """Parse a name or a value, in any number of parentheses."""
        depth = 0
        while self.peek("("):
            self.take("(")
            depth += 1
        found = self.take(kind)
        for _ in range(depth):
            self.take(")")
        return found

    def values(self) -> list[str]:
        """Parse a list of values: ``('a', 'b')``, ``((1), (2))``, ``(ARRAY['a', 'b'])``, or an array as a string."""
        found: list[str] = []
        depth = 0
        while not self.done:
            if self.peek("(", "["):
                self.take("(", "[")
                depth += 1
            elif self.peek(")", "]"):
                self.take(")", "]")
                depth -= 1
                if depth == 0:
                    break
            elif self.peek("array", ","):
                self.take("array", ",")
            else:
                found.append(self.take("value"))
        if depth or not found:
            raise _NotUnderstoodError
        if len(found) == 1 and found[0].startswith("{") and found[0].endswith("}"):
            return [value.strip('"') for value in found[0][1:-1].split(",")]
        return found


def _token(kind: str, text: str) -> tuple[str, str]:
    if kind == "string":
        return "value", text[text.index("'") + 1 : -1].replace("''", "'")
    if kind == "number":
        return "value", text
    if kind == "quoted":
        return "name", text[1:-1].replace(text[-1] * 2, text[-1])
    if kind == "word" and text.lower() in ("true", "false"):
        return "value", text.lower()
    if kind == "word" and text.lower() in _KEYWORDS:
        return text.lower(), text
    return ("name", text) if kind == "word" else (text, text)


def _or(left: Condition, right: Condition) -> Condition:
    if left.more or right.more or left.allowed.keys() != right.allowed.keys() or len(left.allowed) != 1:
        return UNKNOWN
    name = next(iter(left.allowed))
    return Condition({name: left.allowed[name] | right.allowed[name]})


def _and(left: Condition, right: Condition) -> Condition:
    merged = dict(left.allowed)
    for name, values in right.allowed.items():
        merged[name] = merged[name] & values if name in merged else values
    return Condition(merged, left.more or right.more)
