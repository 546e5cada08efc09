"""Stores the frozen rows of a plan: the place and version of each row, packed so that a million rows fit in memory."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final
from xml.etree import ElementTree

from qmon.engines.base import EngineName
from qmon.engines.postgres.arrays import array_literal
from qmon.model.layout.message_ids import split_id

# Number of rows in one packed chunk. The server also sends this many rows at once.
CHUNK_ROWS: Final = 2000

# The place and the version of a row, as the server sends them. qmon does not interpret these texts.
Mark = tuple[str, str]


@dataclass(frozen=True, slots=True)
class RowSet:
    """The marks of rows, in processing order."""

    count: int
    chunks: tuple[bytes, ...]

    def __iter__(self) -> Iterator[Mark]:
        for chunk in self.chunks:
            keys, versions = json.loads(zlib.decompress(chunk))
            yield from zip(keys, versions, strict=True)

    def first(self, count: int) -> list[Mark]:
        """Return the first ``count`` marks."""
        return list(islice(iter(self), count))

    def in_reverse(self) -> RowSet:
        """Return the same rows in reverse order."""
        return RowSet(self.count, tuple(_reverse_chunk(chunk) for chunk in reversed(self.chunks)))


def pack_rows(marks: Iterable[Mark]) -> RowSet:
    """Pack these marks into a ``RowSet``."""
    rest = iter(marks)
    count, chunks = 0, []
    while some := list(islice(rest, CHUNK_ROWS)):
        count += len(some)
        chunks.append(_pack_lists([[key for key, _ in some], [seen for _, seen in some]]))
    return RowSet(count, tuple(chunks))


def _pack_lists(lists: list[list[str]]) -> bytes:
    return zlib.compress(json.dumps(lists).encode(), 1)


def _reverse_chunk(chunk: bytes) -> bytes:
    return _pack_lists([each[::-1] for each in json.loads(zlib.decompress(chunk))])


def parse_marks(engine: EngineName, keys: str, versions: str) -> list[Mark]:
    """Convert marks as the server sends them: PostgreSQL sends two JSON arrays, and SQL Server sends one mark."""
    if engine == "sqlserver":
        return [(keys, versions)]
    return list(zip(json.loads(keys), json.loads(versions), strict=True))


def marks_for(engine: EngineName, marks: Sequence[Mark], key: Sequence[str] = ()) -> dict[str, str]:
    """Convert marks to statement values: ``keys`` and ``versions``, and also ``tids`` for PostgreSQL.

    On PostgreSQL, a key is the place of the row (its ctid). If the table may have partitions, the table's oid precedes
    the ctid: ``16402(0,1)``. On SQL Server, a key is the text of the columns ``key``, and each column is sent as a
    separate value: ``k1``, ``k2`` …
    """
    if engine == "postgres":
        places = [place for place, _ in marks]
        tids = array_literal(place[place.index("(") :] for place in places)
        return {"keys": array_literal(places), "tids": tids, "versions": array_literal(seen for _, seen in marks)}
    rows = (_xml_element(split_id(text, len(key)), {"k": text, "v": seen}) for text, seen in marks)
    return {"keys": "".join(rows), "versions": ""}


def rows_for(engine: EngineName, marks: Sequence[Mark]) -> dict[str, str]:
    """Convert rows of the trash to statement values: ``rows``, and ``tids`` if the marks contain a place (PostgreSQL).

    On PostgreSQL, the mark of a requeued message contains the message's place at the time of the plan. So the server
    needs no index to find the message.
    """
    return {
        "rows": texts_for(engine, (row for row, _ in marks)),
        "tids": array_literal(place for _, place in marks if place),
    }


def ids_for(engine: EngineName, columns: Sequence[str], ids: Iterable[str]) -> str:
    """Convert ids made of these columns to a JSON array of rows (PostgreSQL) or XML (SQL Server)."""
    parts = [split_id(text, len(columns)) for text in ids]
    if engine == "postgres":
        return json.dumps([dict(zip(columns, each, strict=True)) for each in parts], ensure_ascii=False)
    return "".join(_xml_element(each, {}) for each in parts)


def _xml_element(parts: Sequence[str], more: dict[str, str]) -> str:
    numbered = {f"k{number}": part for number, part in enumerate(parts, 1)}
    return ElementTree.tostring(ElementTree.Element("r", numbered | more), encoding="unicode")


def texts_for(engine: EngineName, texts: Iterable[str]) -> str:
    """Convert texts to an array literal (PostgreSQL) or XML (SQL Server)."""
    if engine == "postgres":
        return array_literal(texts)
    return "".join(ElementTree.tostring(ElementTree.Element("r", k=text), encoding="unicode") for text in texts)
