"""Statements that a session repeats poll after poll, prepared under a name so that the server reads each text once.

For PostgreSQL, which otherwise parses, analyses and plans every statement of a batch anew: with small answers that
costs more than answering. Plans are thrown away now and then, as tables grow and statistics change.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from qmon.engines.base import Bound, Statement
from qmon.engines.sql.text import numbered

_AFTER: Final = 2
# Prepared statements in a session: each takes some ten kilobytes of the server's memory.
_MOST: Final = 120
# Texts that are counted, at most: tables that come and go make new ones without end.
_KNOWN: Final = 20_000
# What comes more rarely than in each fifth batch is not prepared.
_BREAK: Final = 5
_FAILURES: Final = 3
# Nothing is prepared if this many batches hold three failures: a pooler may give each batch another session.
_FORGIVEN: Final = 500
# Batches for which plans are kept.
_PLANNED_FOR: Final = 60
_OURS: Final = "qmon prepared "
# The names that the server has of us: a batch that failed may have prepared some of its statements, all or none.
KNOWN: Final = Statement(
    "prepared",
    f"SELECT CAST(name AS text) AS name FROM pg_catalog.pg_prepared_statements WHERE name LIKE '{_OURS}%'",  # noqa: S608
    (),
    ("name",),
)


class PreparedStatements:
    """What one session has prepared. Not thread-safe: it belongs to the thread of its connection."""

    def __init__(self) -> None:
        # By text: in how many batches it came without a longer break, and the last of them.
        self._seen: dict[int, tuple[int, int]] = {}
        self._names: dict[str, str] = {}
        # Names that were sent, until the server has confirmed them.
        self._pending: dict[str, str] = {}
        self._made = 0
        # The numbers of the batches that failed last.
        self._failed: list[int] = []
        self._batches = 0
        # Whether the server may have names that are not used here.
        self.uncertain = False

    def unused(self, known: Iterable[str]) -> list[str]:
        """Return the texts that remove those of the server's names that no statement here uses.

        Call ``confirm`` when the server has run them all.
        """
        self._pending.clear()
        used = set(self._names.values())
        return [f'DEALLOCATE "{name}"' for name in known if name not in used]

    def wanted(self, bounds: Sequence[Bound]) -> Iterator[str]:
        """Return the texts to run before a batch: they prepare the statements that come for the third time.

        Call ``confirm`` when the server has run them all.
        """
        self._batches += 1
        if self._batches % _PLANNED_FOR == 0 and self._names:
            yield "DISCARD PLANS"
        for statement in (bound.statement for bound in bounds):
            if len(self._names) + len(self._pending) >= _MOST:
                return
            text = hash(statement.text)
            seen, last = self._seen.pop(text, (0, 0))  # the latest is the last
            seen = seen + 1 if self._batches - last <= _BREAK else 1
            self._seen[text] = seen, self._batches
            if len(self._seen) > _KNOWN:
                del self._seen[next(iter(self._seen))]
            if statement.text in self._names or statement.text in self._pending:
                continue
            if seen <= _AFTER or not self._working:
                continue
            self._made += 1
            name = f"{_OURS}{self._made} {statement.name[:40]}"
            yield f'PREPARE "{name}" AS {numbered(statement.text)}'
            self._pending[statement.text] = name
            self.uncertain = True

    def confirm(self) -> None:
        """Use the new names from now on."""
        self._names |= self._pending
        self._pending.clear()
        self.uncertain = False

    @property
    def _working(self) -> bool:
        return len([batch for batch in self._failed if self._batches - batch < _FORGIVEN]) < _FAILURES

    def text(self, statement: Statement) -> str:
        """What to send in place of a statement: its name and a mark for each value, or the statement itself."""
        name = self._names.get(statement.text)
        if name is None:
            return statement.text
        values = f"({', '.join('?' * len(statement.parameters))})" if statement.parameters else ""
        return f'EXECUTE "{name}"{values}'

    def forget(self) -> None:
        """Begin again after a batch that failed: a pooler gave us another session, or a table has changed."""
        self._seen.clear()
        self._names.clear()
        self._pending.clear()
        self._failed = [*self._failed, self._batches][-_FAILURES:]
        self.uncertain = True
