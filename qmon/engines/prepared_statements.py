"""Prepare statements that a session repeats in each poll, so that the server parses each text once.

This module is for PostgreSQL. Without prepared statements, PostgreSQL parses, analyses and plans every statement of a
batch again. If results are small, this work costs more than running the statements. Plans are discarded from time to
time, because tables grow and statistics change.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from qmon.engines.base import Bound, Statement
from qmon.engines.sql.query_text import number_values

_PREPARE_AFTER: Final = 2

# Maximum prepared statements in a session. Each statement takes about ten kilobytes of the server's memory.
_MAX_PREPARED: Final = 120

# Maximum number of counted texts. If tables are created and dropped all the time, the number of texts has no limit.
_MAX_COUNTED: Final = 20_000

# Statements that appear less often than in every fifth batch are not prepared.
_MAX_BREAK: Final = 5
_FAILURES: Final = 3

# If three of this many batches fail, qmon stops preparing, because a pooler may give each batch another session.
_FAILURE_WINDOW: Final = 500

# Number of batches for which plans are kept.
_KEEP_PLANS_FOR: Final = 60
_NAME_PREFIX: Final = "qmon prepared "

# Reads our names on the server. A failed batch may have prepared all, some or none of its statements.
KNOWN_NAMES: Final = Statement(
    "prepared",
    f"SELECT CAST(name AS text) AS name FROM pg_catalog.pg_prepared_statements WHERE name LIKE '{_NAME_PREFIX}%'",  # noqa: S608
    (),
    ("name",),
)


class PreparedStatements:
    """The prepared statements of one session. Only the thread of the connection may use this object."""

    def __init__(self) -> None:
        # For each text: in how many batches it appeared without a longer break, and the number of the last of these
        # batches.
        self._seen: dict[int, tuple[int, int]] = {}
        self._names: dict[str, str] = {}
        # Names that were sent but not yet confirmed by the server.
        self._pending: dict[str, str] = {}
        self._made = 0
        # The numbers of the batches that failed last.
        self._failed: list[int] = []
        self._batches = 0
        # True if the server may have prepared statements that are not used here.
        self.is_uncertain = False

    def statements_to_deallocate(self, server_names: Iterable[str]) -> list[str]:
        """Return a ``DEALLOCATE`` for each prepared statement that qmon no longer uses.

        Call ``confirm`` after the server has run all returned statements.
        """
        self._pending.clear()
        used = set(self._names.values())
        return [f'DEALLOCATE "{name}"' for name in server_names if name not in used]

    def statements_to_prepare(self, bounds: Sequence[Bound]) -> Iterator[str]:
        """Return the statements to run before a batch.

        They prepare each statement of the batch that appears for the third time. Call ``confirm`` after the server has
        run all returned statements.
        """
        self._batches += 1
        if self._batches % _KEEP_PLANS_FOR == 0 and self._names:
            yield "DISCARD PLANS"
        for statement in (bound.statement for bound in bounds):
            if len(self._names) + len(self._pending) >= _MAX_PREPARED:
                return
            text = hash(statement.text)
            seen, last = self._seen.pop(text, (0, 0))  # the most recently used text is last
            seen = seen + 1 if self._batches - last <= _MAX_BREAK else 1
            self._seen[text] = seen, self._batches
            if len(self._seen) > _MAX_COUNTED:
                del self._seen[next(iter(self._seen))]
            if statement.text in self._names or statement.text in self._pending:
                continue
            if seen <= _PREPARE_AFTER or not self._is_working:
                continue
            self._made += 1
            name = f"{_NAME_PREFIX}{self._made} {statement.name[:40]}"
            yield f'PREPARE "{name}" AS {number_values(statement.text)}'
            self._pending[statement.text] = name
            self.is_uncertain = True

    def confirm(self) -> None:
        """Use the new names from now on."""
        self._names |= self._pending
        self._pending.clear()
        self.is_uncertain = False

    @property
    def _is_working(self) -> bool:
        return len([batch for batch in self._failed if self._batches - batch < _FAILURE_WINDOW]) < _FAILURES

    def text_for(self, statement: Statement) -> str:
        """Return the text to send: an ``EXECUTE`` with a question mark per value, or the unprepared statement."""
        name = self._names.get(statement.text)
        if name is None:
            return statement.text
        values = f"({', '.join('?' * len(statement.parameters))})" if statement.parameters else ""
        return f'EXECUTE "{name}"{values}'

    def forget_all(self) -> None:
        """Start again after a failed batch. A pooler may have given us another session, or a table may have changed."""
        self._seen.clear()
        self._names.clear()
        self._pending.clear()
        self._failed = [*self._failed, self._batches][-_FAILURES:]
        self.is_uncertain = True
