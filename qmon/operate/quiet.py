"""Watches whether a pause works: no push, or no pop, comes any more; and if some do, from whom."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Final, Literal

from qmon.engines import queries
from qmon.engines.queries import Name
from qmon.model.layout import Layout, TableName
from qmon.model.operations import Side
from qmon.operate.acting import Stopped
from qmon.operate.sql import Sql

QUIET_S: Final = 1.0
"""Nothing may come for so long, in seconds, for the pause to count as working."""
AT_MOST_S: Final = 5.0
"""Who is in the middle of a push when the pause begins, as before a full ring, may be so for a while."""
_EVERY_S: Final = 0.1


@dataclass(frozen=True, slots=True)
class Watched:
    """What was seen. ``came``: pushes or pops in ``seconds``; ``quiet_s``: how long there has been none at the end.

    ``late``: counters that may lag were all there was to read. ``who``: sessions that had begun a push and not ended
    their transaction, at the end (``quiet``) or while pushes came. ``readable`` false: nothing could be read.
    """

    came: int
    seconds: float
    quiet_s: float
    late: bool
    who: tuple[str, ...]
    readable: bool = True

    @property
    def quiet(self) -> bool:
        """The pause works."""
        return self.readable and self.quiet_s >= QUIET_S

    def text(self, side: Side) -> str:
        """One line for the operator."""
        what = "push" if side is Side.PUSHERS else "pop"
        many = "pushes" if side is Side.PUSHERS else "pops"
        by = f", from {', '.join(self.who)}" if self.who else ""
        if not self.readable:
            return f"whether {many} still come could not be seen"
        if not self.quiet:
            lag = "; the server's counters may be late" if self.late else ""
            return (
                f"{many} still come: {self.came:,} in {self.seconds:.1f} s{by}{lag}; somebody works on the table"
                f" without asking {what}"
            )
        before = f"; {self.came:,} that had begun before ended after it" if self.came else ""
        still = f"; still open, begun before the pause: {', '.join(self.who)}" if self.who else ""
        return f"0 {many} in {self.quiet_s:.1f} s{before}{still}"


@dataclass(frozen=True, slots=True)
class _Drawn:
    moved: int | None


@dataclass(frozen=True, slots=True)
class _Rows:
    inserted: int | None
    updated: int | None
    deleted: int | None


@dataclass(frozen=True, slots=True)
class _Drawer:
    session: int
    application: str
    login: str


class Meter:
    """Reads how far pushes or pops have come: by the numbers they draw where they do, else by the server's counters."""

    def __init__(self, sql: Sql, layout: Layout, side: Side) -> None:
        self._sql, self._table = sql, layout.table
        self._sequences = _sequences(layout, side)
        self._rows: Literal["inserted", "updated", "deleted"] = "inserted"
        if side is Side.POPPERS:
            self._rows = "deleted" if layout.traits.deletes_on_pop else "updated"
        self.late = not self._sequences and sql.engine.name == "postgres"

    def read(self) -> int | None:
        """A number that grows with each push, or pop; ``None`` where it cannot be read."""
        if not self._sequences:
            names: dict[str, Name] = {"table": self._table.parts}
            rows = self._sql.fetch(_Rows, "action/pause/rows", names)[0]
            found: int | None = getattr(rows, self._rows)
            return found
        moved = [
            self._sql.fetch(_Drawn, "action/pause/drawn", {"sequence": each.parts})[0].moved for each in self._sequences
        ]
        return None if None in moved else sum(each for each in moved if each is not None)

    def who(self) -> tuple[str, ...]:
        """Sessions with an open transaction that has drawn a number."""
        if not queries.exists(self._sql.engine.name, "action/pause/drawers", self._sql.connection.version):
            return ()
        found = {
            f"session {each.session} ({each.application or each.login})" if each.session else "a prepared transaction"
            for sequence in self._sequences
            for each in self._sql.fetch(_Drawer, "action/pause/drawers", {"sequence": sequence.parts})
        }
        return tuple(sorted(found))


def watch(meter: Meter, stopped: Stopped) -> Watched:
    """Watch until nothing has come for ``QUIET_S``, at most for ``AT_MOST_S`` seconds, or ``stopped()``."""
    begun = time.monotonic()
    first = last = meter.read()
    since, who = begun, frozenset(meter.who())
    while first is not None and last is not None:
        now = time.monotonic()
        if now - since >= QUIET_S or now - begun >= AT_MOST_S or stopped():
            quiet = now - since >= QUIET_S
            seen = meter.who() if quiet else tuple(sorted(who))
            return Watched(last - first, now - begun, now - since, meter.late, seen)
        time.sleep(_EVERY_S)
        found = meter.read()
        if found is None:
            break
        if found != last:
            last, since = found, time.monotonic()
        who |= frozenset(meter.who())
    return Watched(0, time.monotonic() - begun, 0.0, meter.late, (), readable=False)


def _sequences(layout: Layout, side: Side) -> tuple[TableName, ...]:
    if layout.ring is not None:
        if side is Side.PUSHERS:
            return (layout.ring.push_sequence,)
        return layout.ring.subscribers or (layout.ring.pop_sequence,)
    return (layout.sequence,) if side is Side.PUSHERS and layout.sequence is not None else ()
