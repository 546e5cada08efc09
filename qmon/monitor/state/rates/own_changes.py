"""Detect when qmon's own operations change messages of a queue. Rates of the queue must exclude that time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from qmon.model.layout.layout import Layout
from qmon.model.layout.layout_io import table_to_text
from qmon.model.samples.polled_samples import OperatedSample

# The table's counters may report a change up to this many seconds late. From PostgreSQL 15 on, the operation's session
# reports its counters with each batch. In older versions, the session reports within a second or when the session ends.
_LATE_S: Final = 3.0


class OwnChanges:
    """The operations of all qmon instances on one queue's table, as recorded in this database.

    ``is_under_way``: as of the last poll, an operation changes messages or has just ended.
    """

    def __init__(self) -> None:
        self.is_under_way = False
        self._done: dict[str, int] = {}
        self._changed_at = float("-inf")

    def record_operations(self, operated: Sequence[OperatedSample] | None, layout: Layout, at: float) -> bool:
        """Record the operations of one poll, read at ``at`` (server clock, seconds); return ``is_under_way``.

        ``operated``: ``None`` if they were not read.
        """
        if operated is not None:
            about, before = table_to_text(layout.table), self._done
            self._done = {each.id: each.done for each in operated if each.about == about}
            if any(done > before.get(id, 0) for id, done in self._done.items()):
                self._changed_at = at
        self.is_under_way = at - self._changed_at <= _LATE_S
        return self.is_under_way
