"""Parse the conditions that servers print: conditions of partial (filtered) indexes and of checks.

Only conditions on the values of a column are understood: equality, IN, = ANY, OR of these conditions, IS NULL, and a
bare boolean. Any other condition counts as unknown.
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
    """The meaning of a condition: the values that it allows for columns, and whether it contains other parts."""

    allowed: Mapping[str, Allowed] = field(default_factory=dict)
    more: bool = False

    def values_if_only(self, column: str) -> Allowed | None:
        """Return the allowed values of ``column`` if the condition is fully understood and names no other column."""
        return self.allowed.get(column) if not self.more and len(self.allowed) == 1 else None


UNKNOWN: Final = Condition(more=True)


def parse_index_condition(text: str | None, *, brackets: bool = False) -> Condition:
    """Parse a condition. ``brackets``: names are quoted as in SQL Server. Never raises."""
    if text is None:
        return UNKNOWN
    try:
        reader = _ConditionParser(text, brackets)
        found = reader.parse_or()
        return found if reader.is_done else UNKNOWN
    except (_NotUnderstoodError, RecursionError):
        return UNKNOWN


class _NotUnderstoodError(Exception):
    """The text is not in the supported subset."""


class _ConditionParser:
    """Recursive descent over the tokens.

    A name is ``("name", x)``, and a value is ``("value", x)``. The kind of any other token is its text.
    """

    def __init__(self, text: str, brackets: bool) -> None:
        self.tokens: list[tuple[str, str]] = []
        self.position = 0
        pattern, at = _TOKENS[brackets], 0
        while at < len(text):
            found = pattern.match(text, at)
            if found is None:
                raise _NotUnderstoodError
            at = found.end()
            if found.lastgroup != "space":
                self.tokens.append(_to_token(found.lastgroup or "", found[0]))

    @property
    def is_done(self) -> bool:
        return self.position == len(self.tokens)

    def is_next(self, *wanted: str) -> bool:
        return not self.is_done and self.tokens[self.position][0] in wanted

    def consume(self, *wanted: str) -> str:
        if not self.is_next(*wanted):
            raise _NotUnderstoodError
        self.position += 1
        return self.tokens[self.position - 1][1]

    def parse_or(self) -> Condition:
        found = self.parse_and()
        while self.is_next("or"):
            self.consume("or")
            found = _combine_or(found, self.parse_and())
        return found

    def parse_and(self) -> Condition:
        found = self.parse_single()
        while self.is_next("and"):
            self.consume("and")
            found = _combine_and(found, self.parse_single())
        return found

    def parse_single(self) -> Condition:
        if self.is_next("not"):
            self.consume("not")
            name = self.parse_wrapped("name")
            return Condition({name: frozenset({"false"})})
        start = self.position
        if self.is_next("("):
            try:
                self.consume("(")
                found = self.parse_or()
                self.consume(")")
            except _NotUnderstoodError:
                self.position = start
            else:
                if self.is_done or self.is_next(")", "and", "or"):
                    return found
                self.position = start
        return self.parse_comparison()

    def parse_comparison(self) -> Condition:
        name = self.parse_wrapped("name")
        if self.is_next("="):
            self.consume("=")
            if self.is_next("any"):
                self.consume("any")
                return Condition({name: frozenset(self.parse_values())})
            return Condition({name: frozenset({self.parse_wrapped("value")})})
        if self.is_next("in"):
            self.consume("in")
            return Condition({name: frozenset(self.parse_values())})
        if self.is_next("is"):
            self.consume("is")
            negative = self.is_next("not") and bool(self.consume("not"))
            self.consume("null")
            return Condition(more=True) if negative else Condition({name: frozenset({None})})
        return Condition({name: frozenset({"true"})})

    def parse_wrapped(self, kind: str) -> str:
        """Parse a name or a value, in any number of parentheses."""
        depth = 0
        while self.is_next("("):
            self.consume("(")
            depth += 1
        found = self.consume(kind)
        for _ in range(depth):
            self.consume(")")
        return found

    def parse_values(self) -> list[str]:
        """Parse a list of values: ``('a', 'b')``, ``((1), (2))``, ``(ARRAY['a', 'b'])``, or an array as a string."""
        found: list[str] = []
        depth = 0
        while not self.is_done:
            if self.is_next("(", "["):
                self.consume("(", "[")
                depth += 1
            elif self.is_next(")", "]"):
                self.consume(")", "]")
                depth -= 1
                if depth == 0:
                    break
            elif self.is_next("array", ","):
                self.consume("array", ",")
            else:
                found.append(self.consume("value"))
        if depth or not found:
            raise _NotUnderstoodError
        if len(found) == 1 and found[0].startswith("{") and found[0].endswith("}"):
            return [value.strip('"') for value in found[0][1:-1].split(",")]
        return found


def _to_token(kind: str, text: str) -> tuple[str, str]:
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


def _combine_or(left: Condition, right: Condition) -> Condition:
    if left.more or right.more or left.allowed.keys() != right.allowed.keys() or len(left.allowed) != 1:
        return UNKNOWN
    name = next(iter(left.allowed))
    return Condition({name: left.allowed[name] | right.allowed[name]})


def _combine_and(left: Condition, right: Condition) -> Condition:
    merged = dict(left.allowed)
    for name, values in right.allowed.items():
        merged[name] = merged[name] & values if name in merged else values
    return Condition(merged, left.more or right.more)
