"""A connection and cursors of the driver that return given results."""

from __future__ import annotations

from collections.abc import Sequence

# Columns (`None`: a count alone), the count, and the rows.
Result = tuple[tuple[str, ...] | None, int, list[tuple[object, ...]]]


class Cursor:
    """A cursor of the driver that answers every statement with these results."""

    def __init__(self, results: Sequence[Result], timeout: int) -> None:
        self._results, self._at = results, 0
        self.timeout = timeout

    def execute(self, text: str, values: Sequence[object] = ()) -> None:
        self._at = 0

    def setinputsizes(self, sizes: Sequence[object] | None) -> None:
        pass

    @property
    def rowcount(self) -> int:
        return self._results[self._at][1]

    @property
    def description(self) -> list[tuple[str]] | None:
        columns = self._results[self._at][0]
        return None if columns is None else [(column,) for column in columns]

    def fetchall(self) -> list[tuple[object, ...]]:
        return self._results[self._at][2]

    def nextset(self) -> bool:
        self._at += 1
        return self._at < len(self._results)


class Raw:
    """A connection of the driver. As in pyodbc, its timeout applies to cursors that are created after it was set."""

    def __init__(self, *results: Result) -> None:
        self.timeout = 0
        self.autocommit = True
        self._results = results
        self.cursors: list[Cursor] = []

    def cursor(self) -> Cursor:
        self.cursors.append(Cursor(self._results, self.timeout))
        return self.cursors[-1]

    def close(self) -> None:
        pass
