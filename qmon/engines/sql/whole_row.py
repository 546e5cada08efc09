"""SQL for reading a complete row: the key as a condition, and the columns as rows of text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from qmon.engines.base import Engine, Value
from qmon.engines.sql.condition_sql import ROW_ALIAS


@dataclass(frozen=True, slots=True)
class StoredColumn:
    """A column as read by ``action/message/columns``.

    ``type_name``: type with length. ``kind``: base type, without length.
    """

    name: str
    type_name: str
    kind: str


@dataclass(frozen=True, slots=True)
class RowKey:
    """The key of one row: the columns of the key, each with the text of its value."""

    parts: tuple[tuple[StoredColumn, str], ...]

    def condition(self, engine: Engine, name: str) -> tuple[str, dict[str, Value]]:
        """Return the condition for exactly this row, and its values in the order of the question marks.

        ``name``: prefix of the value names.
        """
        texts = (
            engine.equals_condition(f"{ROW_ALIAS}.{engine.quote((each.name,))}", each.type_name, each.kind)
            for each, _ in self.parts
        )
        return " AND ".join(texts), {f"{name}_{n}": value for n, (_, value) in enumerate(self.parts, 1)}


@dataclass(frozen=True, slots=True)
class RowValues:
    """Columns of a row, each with the maximum number of characters or bytes to read."""

    columns: tuple[tuple[StoredColumn, int], ...]

    @property
    def column_names(self) -> Sequence[str]:
        """The names of the columns."""
        return [column.name for column, _ in self.columns]

    def values_text(self, engine: Engine, alias: str) -> str:
        """Return SQL for one row per column: position, size in bytes, and text. ``alias``: alias of the row to read."""
        found = (
            engine.sized_text_expressions(f"{alias}.{engine.quote((column.name,))}", column.kind, most)
            for column, most in self.columns
        )
        return ", ".join(f"({place}, {size}, {text})" for place, (size, text) in enumerate(found, 1))
