"""Statements that a session repeats poll after poll, prepared under a name so that the server reads each text once.

For PostgreSQL, which otherwise parses, analyses and plans every statement of a batch anew: with small answers that
costs more than answering. Plans are thrown away now and then, as tables grow and statistics change.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from qmon.engines.base import Bound, Statement
from qmon.engines.sql.text import numbered

_AFTER: Final = 2
_MOST: Final = 120
"""Prepared statements in a session: each takes some ten kilobytes of the server's memory."""
_KNOWN: Final = 20_000
"""Texts that are counted, at most: tables that come and go make new ones without end."""
_BREAK: Final = 5
"""What comes more rarely than in each fifth batch is not prepared."""
_FAILURES: Final = 3
_PLANNED_FOR: Final = 60
"""Batches for which plans are kept."""


class PreparedStatements:
    """What one session has prepared. Not thread-safe: it belongs to the thread of its connection."""

    def __init__(self) -> None:
        self._seen: dict[int, tuple[int, int]] = {}
        """By text: in how many batches it came without a longer break, and the last of them."""
        self._names: dict[str, str] = {}
        self._made = 0
        self._failures = 0
        self._batches = 0

    def wanted(self, bounds: Sequence[Bound]) -> Iterator[str]:
        """The texts to run before a batch: what prepares the statements that come for the third time."""
        self._batches += 1
        if self._batches % _PLANNED_FOR == 0 and self._names:
            yield "DISCARD PLANS"
        for statement in (bound.statement for bound in bounds):
            if len(self._names) >= _MOST:
                return
            text = hash(statement.text)
            seen, last = self._seen.pop(text, (0, 0))  # the latest is the last
            seen = seen + 1 if self._batches - last <= _BREAK else 1
            self._seen[text] = seen, self._batches
            if len(self._seen) > _KNOWN:
                del self._seen[next(iter(self._seen))]
            if seen <= _AFTER or statement.text in self._names or not self._working:
                continue
            self._made += 1
            name = f'"qmon {statement.name[:40]} {self._made}"'
            yield f"PREPARE {name} AS {numbered(statement.text)}"
            self._names[statement.text] = name

    @property
    def _working(self) -> bool:
        return self._failures < _FAILURES

    def text(self, statement: Statement) -> str:
        """What to send in place of a statement: its name and a mark for each value, or the statement itself."""
        name = self._names.get(statement.text)
        if name is None:
            return statement.text
        return f"EXECUTE {name}" + (f"({', '.join('?' * len(statement.parameters))})" if statement.parameters else "")

    def forget(self) -> None:
        """A batch has failed: a pooler may have given us another session, or a table have changed. After three failures
        nothing is prepared any more."""
        self._seen.clear()
        self._names.clear()
        self._failures += 1
