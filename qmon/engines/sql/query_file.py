"""Check one SQL file against ``sql/README.md`` and convert it to a ``Query``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import Final, cast

from qmon.engines.base import EngineName, Query
from qmon.engines.sql.query_text import Parameter, Piece, Placeholder, QueryFileError, Separator, parse_slot, scan_text
from qmon.texts import Text


class QueryFileText(Text):
    """Errors of files with SQL."""

    TAKES_NO_VALUES = "{path}:{line}: an installation file takes no values, but uses :{name}"
    NO_COLUMNS = "{path}:1: a probe names its columns, in order, as '-- > name'"
    NO_STATEMENT = "{path}:{line}: there is no statement below the header"
    SECOND_STATEMENT = "{path}:{line}: a file has only one statement, but a second statement starts after this ;"
    NOT_A_NAME = "{path}:{line}: ':{name}' is not a name; write ':name  what it is'"
    NOT_A_COLUMN = "{path}:{line}: {column!r} is not a column; write one column per line, in lower case"
    DECLARED_TWICE = "{path}:{line}: {name} is declared twice"
    NO_PURPOSE = "{path}:1: the file must start with '-- ' and its purpose"
    VALUE_UNDECLARED = "{path}:{line}: :{name} is not declared in the header"
    SLOT_UNDECLARED = "{path}:{line}: {{{name}}} is not declared in the header"
    BOTH_MARKS = "with and without '?'"
    BOTH_WAYS = "{path}:{line}: {{{name}}} is written both {ways}"
    SLOT_UNUSED = "{path}:{line}: {{{name}}} is declared but not used"
    VALUE_UNUSED = "{path}:{line}: :{name} is declared but not used"


_ONE_STATEMENT: Final = {"postgres": ("probe", "action", "catalog", "library"), "sqlserver": ("probe",)}

# Files that install objects. These files take no values and may contain several statements.
_SCRIPT: Final = re.compile(r"design/.*|switch/.*|control/[0-9].*")
_DECLARATION: Final = re.compile(r"--\s*(?:(?P<slot>\{[^}]*\}?)|:(?P<parameter>\S*)|>\s*(?P<column>\S*))(?:\s|$)")
_COLUMN: Final = re.compile(r"[a-z][a-z0-9_]*")
_PARAMETER: Final = re.compile(r"[A-Za-z_]\w*")


def parse_query(text: str, engine: EngineName, name: str, path: str) -> Query:
    """Check the text of one file and convert it to a query. Raises ``QueryFileError`` with file and line."""
    header = _Header(path)
    lines = text.split("\n")
    for number, line in enumerate(lines, 1):
        if not line.startswith("--"):
            break
        header.read_line(line, number)
    else:
        number = len(lines) + 1
    header.check_purpose()
    body = _statement_text("\n".join(lines[number - 1 :]), engine, name, path, number)
    pieces = scan_cached(body, engine, path, number)
    used = {piece.name: piece for piece in pieces if isinstance(piece, Parameter)}
    if used and _SCRIPT.fullmatch(name):
        first = next(iter(used.values()))
        raise QueryFileError(QueryFileText.TAKES_NO_VALUES.render(path=path, line=first.line, name=first.name))
    header.check_uses(pieces)
    if name.startswith("probe/") and not header.columns:
        raise QueryFileError(QueryFileText.NO_COLUMNS.render(path=path))
    return Query(
        name=name,
        purpose=" ".join(header.purpose),
        text=body,
        parameters=tuple(header.parameters),
        names=frozenset(header.slots),
        columns=tuple(header.columns),
        path=f"{path}:{number}",
        required=frozenset(name for name, declared in header.slots.items() if not declared.optional),
    )


@cache
def scan_cached(text: str, engine: EngineName, path: str, line: int) -> tuple[Piece, ...]:
    """Return the pieces of a query's text. The result is cached, because the same texts are rendered for each queue."""
    return scan_text(text, engine, path, line)


def _statement_text(text: str, engine: EngineName, name: str, path: str, line: int) -> str:
    """Return the statement without surrounding blank lines. A single statement also loses its last semicolon."""
    pieces = scan_text(text, engine, path, line)
    plain = "".join(piece if isinstance(piece, str) else "x" for piece in pieces if not isinstance(piece, Separator))
    if not _without_comments(plain):
        raise QueryFileError(QueryFileText.NO_STATEMENT.render(path=path, line=line))
    if name.partition("/")[0] not in _ONE_STATEMENT[engine]:
        return text.rstrip()
    for index, piece in enumerate(pieces):
        if isinstance(piece, Separator):
            after = pieces[index + 1 :]
            if any(not isinstance(other, str) or _without_comments(other) for other in after):
                raise QueryFileError(QueryFileText.SECOND_STATEMENT.render(path=path, line=piece.line))
            return text[: len(text) - sum(map(len, cast(tuple[str, ...], after))) - 1].rstrip()
    return text.rstrip()


def _without_comments(text: str) -> str:
    return re.sub(r"--[^\n]*|/\*.*?\*/", "", text, flags=re.DOTALL).strip()


class _Header:
    """The ``--`` lines at the top of a file: the purpose of the file, then one line for each declared name."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.purpose: list[str] = []
        self.slots: dict[str, Placeholder] = {}
        self.parameters: dict[str, int] = {}
        self.columns: dict[str, int] = {}

    def read_line(self, line: str, number: int) -> None:
        found = _DECLARATION.match(line)
        if found is None:
            if not (self.slots or self.parameters or self.columns):
                self.purpose.append(line.lstrip("-").strip())
        elif (text := found["slot"]) is not None:
            declared = parse_slot(text, number, self.path)
            self._refuse_twice(declared.name, declared.name in self.slots, number)
            self.slots[declared.name] = declared
        elif (name := found["parameter"]) is not None:
            if not _PARAMETER.fullmatch(name):
                raise QueryFileError(QueryFileText.NOT_A_NAME.render(path=self.path, line=number, name=name))
            self._refuse_twice(name, name in self.parameters, number)
            self.parameters[name] = number
        else:
            column = found["column"] or ""
            if not _COLUMN.fullmatch(column):
                raise QueryFileError(QueryFileText.NOT_A_COLUMN.render(path=self.path, line=number, column=column))
            self._refuse_twice(column, column in self.columns, number)
            self.columns[column] = number

    def _refuse_twice(self, name: str, is_declared: bool, number: int) -> None:
        if is_declared:
            raise QueryFileError(QueryFileText.DECLARED_TWICE.render(path=self.path, line=number, name=name))

    def check_purpose(self) -> None:
        self.purpose = [line for line in self.purpose if line]
        if not self.purpose:
            raise QueryFileError(QueryFileText.NO_PURPOSE.render(path=self.path))

    def check_uses(self, pieces: Sequence[Piece]) -> None:
        """Raise an error if a name is used but not declared, declared but not used, or used in another form."""
        slots_used: set[str] = set()
        parameters_used: set[str] = set()
        for piece in pieces:
            if isinstance(piece, Parameter):
                if piece.name not in self.parameters:
                    raise QueryFileError(
                        QueryFileText.VALUE_UNDECLARED.render(path=self.path, line=piece.line, name=piece.name)
                    )
                parameters_used.add(piece.name)
            elif isinstance(piece, Placeholder):
                declared = self.slots.get(piece.name)
                if declared is None:
                    raise QueryFileError(
                        QueryFileText.SLOT_UNDECLARED.render(path=self.path, line=piece.line, name=piece.name)
                    )
                if declared.optional != piece.optional:
                    both = QueryFileText.BOTH_MARKS
                    raise QueryFileError(
                        QueryFileText.BOTH_WAYS.render(path=self.path, line=piece.line, name=piece.name, ways=both)
                    )
                slots_used.add(piece.name)
        for name, declared in self.slots.items():
            if name not in slots_used:
                raise QueryFileError(QueryFileText.SLOT_UNUSED.render(path=self.path, line=declared.line, name=name))
        for name, number in self.parameters.items():
            if name not in parameters_used:
                raise QueryFileError(QueryFileText.VALUE_UNUSED.render(path=self.path, line=number, name=name))
