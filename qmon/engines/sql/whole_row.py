"""A row read whole: its key as a condition, and its columns as rows of text, by the type of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from qmon.engines.base import Engine, Value
from qmon.engines.sql.conditions import ROW


@dataclass(frozen=True, slots=True)
class StoredColumn:
    """A column as ``action/message/columns`` has it. ``type_name``: with length; ``kind``: its base type, without."""

    name: str
    type_name: str
    kind: str


@dataclass(frozen=True, slots=True)
class RowKey:
    """The key of one row: its columns, each with the text of its value."""

    parts: tuple[tuple[StoredColumn, str], ...]

    def condition(self, engine: Engine, name: str) -> tuple[str, dict[str, Value]]:
        """True of that row alone, and its values in the order of their question marks; ``name`` begins their names."""
        texts = (
            engine.equals(f"{ROW}.{engine.quote((each.name,))}", each.type_name, each.kind) for each, _ in self.parts
        )
        return " AND ".join(texts), {f"{name}_{n}": value for n, (_, value) in enumerate(self.parts, 1)}


@dataclass(frozen=True, slots=True)
class RowValues:
    """Columns of a row, each with how many characters, or bytes, are read of its value at most."""

    columns: tuple[tuple[StoredColumn, int], ...]

    @property
    def names(self) -> Sequence[str]:
        """The columns alone."""
        return [column.name for column, _ in self.columns]

    def rows(self, engine: Engine, of: str) -> str:
        """A row of numbered place, size in bytes and text for each column of the row with the alias ``of``."""
        found = (
            engine.sized_text(f"{of}.{engine.quote((column.name,))}", column.kind, most)
            for column, most in self.columns
        )
        return ", ".join(f"({place}, {size}, {text})" for place, (size, text) in enumerate(found, 1))
