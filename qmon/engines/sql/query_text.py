"""Split the text of an SQL file into values, placeholders, separators and plain text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal, cast

from qmon.engines.base import EngineName
from qmon.errors import QmonError
from qmon.texts import Text


class SqlText(Text):
    """Errors of SQL texts."""

    NOT_A_SLOT = "{path}:{line}: {text} is not {{name}}, {{name?}}, {{name!literal}} or {{name!int}}"
    BODY_OPEN = "{path}:{line}: the body opened by {mark} does not end"
    BARE_MARK = "{path}:{line}: a bare ? would be taken for a value; write :name"
    NO_PARTNER = "{path}:{line}: this {mark} has no partner"
    STATEMENT = "a statement"
    COMMENT_OPEN = "{path}:{line}: the comment that begins here does not end"


Form = Literal[
    "identifier",
    "literal",
    "int",
    "list",
    "set",
    "text",
    "numbered",
    "on",
    "utc",
    "moment",
    "clock",
    "type",
    "recompile",
    "where",
    "values",
    "order",
    "read",
    "newest",
]


class QueryFileError(QmonError):
    """Raised if a file in ``sql/`` is missing or not in the format of ``sql/README.md``. Contains file and line."""


@dataclass(frozen=True, slots=True)
class Placeholder:
    """A ``{name}`` in the text. ``optional``: true for ``{name?}``, which ``NULL`` may replace.

    ``alias``: alias of the table in ``{name!list.of}``, ``{name!set.of}`` and similar forms, else empty.
    """

    name: str
    optional: bool
    form: Form
    line: int
    alias: str = ""


@dataclass(frozen=True, slots=True)
class Parameter:
    """A ``:name`` in the text."""

    name: str
    line: int


@dataclass(frozen=True, slots=True)
class Separator:
    """A ``;`` between statements, outside strings and bodies."""

    line: int


Piece = str | Placeholder | Parameter | Separator

_COMMON_TOKENS: Final = r"""
  (?P<comment>--[^\n]*)
| (?P<block>/\*)
| (?P<string>'(?:[^']|'')*')
| (?P<quoted>"(?:[^"]|"")*")
| (?P<pair>::)
| (?P<parameter>(?<!\w):[A-Za-z_]\w*)
| (?P<slot>\{[^{}\n]*\})
| (?P<separator>;)
| (?P<mark>\?)
| (?P<open>['"{}])
"""
_DIALECT: Final[dict[EngineName, re.Pattern[str]]] = {
    # An escape string may contain \', so its pattern must come before the pattern of a plain string. A $ inside a word
    # does not begin a body.
    "postgres": re.compile(
        r"(?P<escape>(?<!\w)[eE]'(?:[^'\\]|\\.|'')*')|(?P<dollar>(?<![\w$])\$(?:[^\W\d]\w*)?\$)|" + _COMMON_TOKENS,
        re.VERBOSE | re.DOTALL,
    ),
    "sqlserver": re.compile(
        r"(?P<bracket>\[(?:[^\]]|\]\])*\])|(?P<unclosed>\[)|" + _COMMON_TOKENS, re.VERBOSE | re.DOTALL
    ),
}
_BLOCK_EDGE: Final = re.compile(r"/\*|\*/")
_FORM_NAMES: Final = (
    "literal|int|list|set|text|numbered|on|utc|moment|clock|type|recompile|where|values|order|read|newest"
)
_WITH_ALIAS: Final = ("list", "set", "text", "numbered", "on", "utc", "moment", "values", "newest")
_SLOT: Final = re.compile(rf"\{{([a-z_][a-z0-9_]*)(\?)?(?:!({_FORM_NAMES})(?:\.([a-z]+))?)?\}}")


def parse_slot(text: str, line: int, where: str) -> Placeholder:
    """Parse a placeholder such as ``{name}``, ``{name?}``, ``{name!literal}`` or ``{name!list.of}``.

    Raises ``QueryFileError``.
    """
    found = _SLOT.fullmatch(text)
    if found is None or (found[4] and found[3] not in _WITH_ALIAS):
        raise QueryFileError(SqlText.NOT_A_SLOT.render(path=where, line=line, text=text))
    form = cast(Form, found[3] or "identifier")
    return Placeholder(found[1], found[2] is not None, form, line, found[4] or "")


def scan_text(text: str, engine: EngineName, where: str, line: int = 1) -> tuple[Piece, ...]:
    """Split ``text``, which begins at ``line`` of the file ``where``, into plain text and special pieces.

    Strings, quoted identifiers and comments stay plain text. In a ``$tag$`` body only ``{name}`` is special. Raises
    ``QueryFileError``, for example if a string does not end.
    """
    return _join_text(_split_pieces(text, engine, where, line, body=False))


def _join_text(pieces: Iterator[Piece]) -> tuple[Piece, ...]:
    out: list[Piece] = []
    for piece in pieces:
        if isinstance(piece, str) and out and isinstance(last := out[-1], str):
            out[-1] = last + piece
        elif piece != "":
            out.append(piece)
    return tuple(out)


def _split_pieces(text: str, engine: EngineName, where: str, line: int, *, body: bool) -> Iterator[Piece]:
    pattern = _DIALECT[engine]
    at = 0
    while found := pattern.search(text, at):
        yield text[at : found.start()]
        here = line + text.count("\n", 0, found.start())
        end = found.end()
        match found.lastgroup:
            case "block":
                end = _block_end(text, found.start(), where, here)
                yield text[found.start() : end]
            case "dollar":
                close = text.find(found[0], found.end())
                if close < 0:
                    raise QueryFileError(SqlText.BODY_OPEN.render(path=where, line=here, mark=found[0]))
                yield found[0]
                yield from _split_pieces(text[found.end() : close], engine, where, here, body=True)
                yield found[0]
                end = close + len(found[0])
            case "slot":
                yield parse_slot(found[0], here, where)
            case "parameter" | "separator" if body:
                yield found[0]
            case "parameter":
                yield Parameter(found[0][1:], here)
            case "separator":
                yield Separator(here)
            case "mark" if not body:
                raise QueryFileError(SqlText.BARE_MARK.render(path=where, line=here))
            case "open" | "unclosed" if not body or found[0] in "{}":
                raise QueryFileError(SqlText.NO_PARTNER.render(path=where, line=here, mark=found[0]))
            case _:
                yield found[0]
        at = end
    yield text[at:]


def number_values(text: str) -> str:
    """Return a rendered PostgreSQL statement with ``$1``, ``$2`` … in place of each ``?`` for a value."""
    pattern = _DIALECT["postgres"]
    out: list[str] = []
    at = values = 0
    while found := pattern.search(text, at):
        out.append(text[at : found.start()])
        end = found.end()
        if found.lastgroup == "block":
            end = _block_end(text, found.start(), SqlText.STATEMENT, 1)
        elif found.lastgroup == "dollar":
            end = text.find(found[0], end) + len(found[0])
        if found.lastgroup == "mark":
            values += 1
            out.append(f"${values}")
        else:
            out.append(text[found.start() : end])
        at = end
    return "".join((*out, text[at:]))


def _block_end(text: str, start: int, where: str, line: int) -> int:
    """Return the end of the comment that begins at ``start``. Comments nest on both engines."""
    depth = 0
    for edge in _BLOCK_EDGE.finditer(text, start):
        depth += 1 if edge[0] == "/*" else -1
        if depth == 0:
            return edge.end()
    raise QueryFileError(SqlText.COMMENT_OPEN.render(path=where, line=line))
