"""Rows of a queue's table that operations of qmon have changed: they are left out of the queue's rates."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from qmon.model.layout.io import table_to_text
from qmon.model.layout.layout import Layout
from qmon.model.operations import Kind
from qmon.model.samples.polled import CounterSample, OperatedSample

_LATE_S: Final = 15.0
"""Counters include an operation's rows after this time: an idle session of PostgreSQL reports its work within 10 s."""
# Polls that show the usual work: PostgreSQL's counters change once a second at most.
_USUAL: Final = 4
_UPDATES: Final = frozenset({Kind.REQUEUE, Kind.REDRIVE})


class OwnChanges:
    """Follows the operations on one queue's table, of every qmon that records them in this database.

    An operation's rows are known as soon as they are committed. The server's counters may include them later, so they
    are taken off what the counters change by in addition to the usual work of producers and consumers.
    """

    def __init__(self) -> None:
        self._done: dict[str, int] | None = None
        self._pending: Counter[str] = Counter()
        self._usual: dict[str, deque[int]] = {
            field: deque(maxlen=_USUAL) for field in ("inserted", "updated", "deleted")
        }
        """Changes of the counters in the last polls, without operations."""
        self._since = 0.0
        self.rows = 0
        """Rows that operations have added to the table so far; less than 0: removed."""
        self.in_progress = 0
        """How many more messages are in progress because of operations, since ``leave_out`` was called last."""

    def add(
        self, operated: Sequence[OperatedSample] | None, layout: Layout, at: float, *, unbroken: bool = True
    ) -> None:
        """Take in the operations of one poll. Work before the first poll, or before a gap, does not count."""
        if not unbroken:
            self._done, self.in_progress = None, 0
            for usual in self._usual.values():
                usual.clear()
        if not unbroken or at - self._since > _LATE_S:
            self._pending.clear()
        about = table_to_text(layout.table)
        own = [each for each in operated or () if each.about == about]
        known = self._done
        if known is None or operated is not None:
            self._done = {each.id: each.done for each in own}
        if known is None:
            return
        for each in own:
            if (count := each.done - known.get(each.id, 0)) > 0 and (change := _change(each)) is not None:
                sign = -1 if each.undoes else 1
                self._pending[change] += count
                self.rows += {"inserted": count, "deleted": -count}.get(change, 0)
                self.in_progress -= sign * count if each.in_progress else 0
                self._since = at

    def leave_out(self, before: CounterSample, now: CounterSample) -> CounterSample:
        """The counters now, without those rows of operations that they may include since the sample before."""
        self.in_progress = 0
        taken: Counter[str] = Counter()
        for field, usual in self._usual.items():
            moved = getattr(now, field) - getattr(before, field)
            taken[field] = min(self._pending[field], max(0, moved - max(usual, default=0)))
            usual.append(moved - taken[field])
        self._pending -= taken
        if not taken.total():
            return now
        modified = now.modified_since_analyze
        return replace(
            now,
            inserted=now.inserted - taken["inserted"],
            updated=now.updated - taken["updated"],
            deleted=now.deleted - taken["deleted"],
            live=now.live - taken["inserted"] + taken["deleted"],
            modified_since_analyze=None if modified is None else modified - taken.total(),
        )


def _change(operated: OperatedSample) -> str | None:
    """The counter that an operation moves by each of its rows; ``None``: it changes no messages of the table."""
    if operated.kind in _UPDATES:
        return "updated"
    if operated.kind == Kind.PURGE:
        return "inserted" if operated.undoes else "deleted"
    return None
