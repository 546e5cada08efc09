"""Verifies a pause: counts pushes or pops that still arrive, finds the sessions, and tests a gate with an INSERT."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from qmon.engines.sql.queries import Name
from qmon.errors import BadInput, QueryFailed
from qmon.model.formatting import duration, one_line
from qmon.model.layout.layout import Layout, ObjectName
from qmon.model.operation_records import Side
from qmon.operate.context import StopRequested
from qmon.operate.plan.selection import read_owner_facts
from qmon.operate.sql import Sql
from qmon.operate.table_structure import read_structure
from qmon.texts import Text


class PauseCheckText(Text):
    """Results of the check whether a pause works."""

    UNTRIED = "not tested with an INSERT: {why}; the trigger exists and is enabled"
    NO_PARTITIONS = "the table has no partitions yet: new partitions will have the gate"
    REFUSED = "tested: an INSERT is refused"
    EACH_OF = "each of {places:,}"
    SOME_OF = "{refused:,} of {places:,}"
    REFUSED_IN = "tested: an INSERT is refused, in {partitions} partitions"
    FROM = ", from {sessions}"
    UNCHECKED = "qmon could not check whether {messages} still come"
    SEEN = "{count:,} {messages} seen in {duration}{sessions}"
    NOT_YET_KNOWN = (
        "not yet known whether the pause works: {seen}; {duration} without {messages} would confirm the pause"
    )
    STILL_COME = (
        "{messages} still come: {count:,} in {duration}{sessions}; a session uses the table without calling {routine}"
    )
    LATE = "came earlier or were counted late"
    STARTED_BEFORE = "started before the pause and ended after it"
    CAME_LATE = "; {count:,} {late}"
    STILL_OPEN = "; sessions from before the pause that are still open: {sessions}"
    NONE = "0 {messages} in {duration}{before}{still}"
    PREPARED = "a prepared transaction"
    SESSION = "session {session} ({name})"


# Maximum number of partitions to try. For further partitions, qmon only reads from the catalog whether the trigger is
# enabled.
MAX_TRIED: Final = 500
_REFUSED: Final = "QM001"

# Prefix of the SQLSTATEs of constraints, which are checked after the gate.
_CONSTRAINT: Final = "23"


@dataclass(frozen=True, slots=True)
class GateTrial:
    """The result of trying a gate.

    ``places``: number of tables or partitions. ``refused``: number of places that refused the row. ``passed``: names of
    the places whose gate let the row through. ``untried``: why the other places could not be tried.
    """

    places: int
    refused: int
    passed: tuple[str, ...]
    untried: str | None

    def result_text(self) -> str:
        """Return the result in one line for the operator."""
        if self.untried is not None:
            return PauseCheckText.UNTRIED.render(why=self.untried)
        if not self.places:
            return PauseCheckText.NO_PARTITIONS
        if self.places == 1:
            return PauseCheckText.REFUSED
        of = (
            PauseCheckText.EACH_OF.render(places=self.places)
            if self.refused == self.places
            else PauseCheckText.SOME_OF.render(refused=self.refused, places=self.places)
        )
        return PauseCheckText.REFUSED_IN.render(partitions=of)


@dataclass(frozen=True, slots=True)
class GateTarget:
    """A table or partition that contains rows."""

    place_schema: str
    place_name: str


class _RolledBackError(Exception):
    """Raised to roll back a trial insert that the gate did not refuse."""


def try_gate(sql: Sql, table: ObjectName, values: Mapping[str, str], *, each_row: bool) -> GateTrial:
    """Try to insert into the table, or into each of its partitions, during a pause. Trials are rolled back.

    ``values``: column values that the gate checks. ``each_row``: the gate fires for each row.
    """
    try:
        written = read_structure(sql, table).writable_columns
    except BadInput as problem:
        return GateTrial(1, 0, (), str(problem))
    places = [ObjectName(each.place_schema, each.place_name) for each in _read_places(sql, table)]
    refused, passed = 0, []
    for place in places[:MAX_TRIED]:
        try:
            _try_insert(sql, place, written, values, each_row=each_row)
        except QueryFailed as problem:
            if problem.sqlstate == _REFUSED or _REFUSED in str(problem):
                refused += 1
            elif problem.sqlstate.startswith(_CONSTRAINT):
                passed.append(str(place))
            else:
                return GateTrial(len(places), refused, tuple(passed), f"{place}: {one_line(str(problem), 150)}")
        else:
            passed.append(str(place))
    return GateTrial(len(places), refused, tuple(passed), None)


def _read_places(sql: Sql, table: ObjectName) -> list[GateTarget]:
    return sql.fetch(GateTarget, "action/pause/places", {"table": table.parts})


def _try_insert(
    sql: Sql, place: ObjectName, written: tuple[str, ...], values: Mapping[str, str], *, each_row: bool
) -> None:
    """Try one insert and roll it back. Raises the server's error if the insert is refused."""
    names: dict[str, Name] = {"table": place.parts, "columns": written, "column": written[-1]}
    with contextlib.suppress(_RolledBackError), sql.connection.transaction():
        row = json.dumps(dict(values), ensure_ascii=False)
        sql.execute("action/pause/attempt", names, {"rows": int(each_row), "values": row})
        raise _RolledBackError


def wait_for_writers(sql: Sql, table: ObjectName, stopped: StopRequested) -> tuple[str, ...]:
    """Return the sessions that were writing to the table at the start and still have the same transaction open.

    Waits up to ``MAX_WATCH_S`` for these transactions to end, because they may commit inserts from before the pause.
    On servers other than PostgreSQL, the result is empty.
    """
    if not sql.has_statement("action/pause/drawers"):
        return ()
    tables = {table, *(ObjectName(each.place_schema, each.place_name) for each in _read_places(sql, table)[:MAX_TRIED])}
    begun = time.monotonic()
    writing = _read_writers(sql, tables)
    while writing and time.monotonic() - begun < MAX_WATCH_S and not stopped():
        time.sleep(READ_EVERY_S)
        writing &= _read_writers(sql, tables)
    return tuple(sorted(each.text for each in writing))


def _read_writers(sql: Sql, tables: set[ObjectName]) -> frozenset[DrawingSession]:
    found = (
        sql.fetch(DrawingSession, "action/pause/drawers", {"sequence": each.parts}) for each in sorted(tables, key=str)
    )
    return frozenset(one for each in found for one in each)


# A pause is proven after this many seconds without a push or pop, if the counts have no delay.
IDLE_S: Final = 1.0

# The same time if only PostgreSQL's counters are available. A busy session reports its counts once a second, and an
# idle session after ten seconds (PGSTAT_MIN_INTERVAL and PGSTAT_IDLE_INTERVAL in PostgreSQL's source).
LATE_IDLE_S: Final = 12.0

# Maximum seconds to watch. A push that was running when the pause began may still end, for example a push into a full
# ring.
MAX_WATCH_S: Final = 5.0
MAX_WATCH_LATE_S: Final = 2 * LATE_IDLE_S
READ_EVERY_S: Final = 0.1


@dataclass(frozen=True, slots=True)
class PauseVerification:
    """The result of watching a pause.

    - ``came``: number of pushes or pops within ``seconds``.
    - ``idle_s``: seconds since the last push or pop.
    - ``needed_s``: seconds that must pass without a push or pop to prove the pause.
    - ``late``: only counters that may lag were available.
    - ``who``: sessions whose open transaction has taken a sequence number. If ``is_proven``, only the sessions that are
      open at the end; otherwise all sessions that were seen.
    - ``readable``: false if the pushes or pops could not be counted.
    """

    came: int
    seconds: float
    idle_s: float
    needed_s: float
    late: bool
    who: tuple[str, ...]
    readable: bool = True

    @property
    def is_proven(self) -> bool:
        """Whether the pause is proven to work."""
        return self.readable and self.idle_s >= self.needed_s

    def result_text(self, side: Side) -> str:
        """Return the result in one line for the operator."""
        what = "push" if side is Side.PRODUCERS else "pop"
        many = "pushes" if side is Side.PRODUCERS else "pops"
        by = PauseCheckText.FROM.render(sessions=", ".join(self.who)) if self.who else ""
        if not self.readable:
            return PauseCheckText.UNCHECKED.render(messages=many)
        if not self.is_proven and (self.came == 0 or self.seconds < self.needed_s):
            seen = PauseCheckText.SEEN.render(
                count=self.came, messages=many, duration=duration(self.seconds), sessions=by
            )
            return PauseCheckText.NOT_YET_KNOWN.render(seen=seen, duration=duration(self.needed_s), messages=many)
        if not self.is_proven:
            return PauseCheckText.STILL_COME.render(
                messages=many, count=self.came, duration=duration(self.seconds), sessions=by, routine=what
            )
        late = PauseCheckText.LATE if self.late else PauseCheckText.STARTED_BEFORE
        before = PauseCheckText.CAME_LATE.render(count=self.came, late=late) if self.came else ""
        still = PauseCheckText.STILL_OPEN.render(sessions=", ".join(self.who)) if self.who else ""
        return PauseCheckText.NONE.render(messages=many, duration=duration(self.idle_s), before=before, still=still)


@dataclass(frozen=True, slots=True)
class _Moved:
    moved: int | None


@dataclass(frozen=True, slots=True)
class _Rows:
    inserted: int | None
    updated: int | None
    deleted: int | None
    live: int | None


@dataclass(frozen=True, slots=True)
class DrawingSession:
    """A session with an open transaction. ``session`` 0 means a prepared transaction."""

    session: int
    application: str
    login: str

    @property
    def text(self) -> str:
        """The name of the session for the operator."""
        name = self.application or self.login
        return (
            PauseCheckText.SESSION.render(session=self.session, name=name) if self.session else PauseCheckText.PREPARED
        )


class ArrivalCounter:
    """Count the pushes or pops since this counter was created.

    If pushes or pops take numbers from a sequence, the count is how far the sequence has advanced. Otherwise, if the
    layout has a state column and a start time, qmon counts as pops the rows in progress that have started since then.
    Otherwise the counts come from the server's row counters. These counters include rolled-back rows. If the number of
    live rows reveals such rows, qmon subtracts them.
    """

    def __init__(self, sql: Sql, layout: Layout, side: Side) -> None:
        self._sql, self._layout, self._side = sql, layout, side
        self._sequences = _sequences(layout, side)
        state = layout.state
        popped = side is Side.CONSUMERS and state is not None and layout.started_at is not None
        self._state = state if popped and not self._sequences else None
        counters = not self._sequences and self._state is None
        self.is_late = counters and sql.engine.name == "postgres"
        self._since = read_owner_facts(sql).clock if self._state is not None else ""
        self._drawn = self._read_numbers() or 0
        self._rows = self._read_counters() if counters else None
        self._most = 0

    @property
    def needed_s(self) -> float:
        """Seconds that must pass without a push or pop to prove the pause."""
        return LATE_IDLE_S if self.is_late else IDLE_S

    def read_count(self) -> int | None:
        """Return the count so far, or ``None`` if it cannot be read. The count never decreases."""
        found = self._count_arrivals()
        if found is not None:
            self._most = max(self._most, found)
        return None if found is None else self._most

    def _count_arrivals(self) -> int | None:
        if self._sequences:
            drawn = self._read_numbers()
            return None if drawn is None or drawn < self._drawn else drawn - self._drawn
        if self._state is not None:
            names: dict[str, Name] = {
                "table": self._layout.table.parts,
                "state": self._state.column,
                "started_at": self._layout.started_at,
            }
            values = {"in_progress": self._state.in_progress, "since": self._since}
            return self._sql.fetch(_Moved, "action/pause/taken", names, values)[0].moved
        now, first = self._read_counters(), self._rows
        return None if now is None or first is None else self._committed_rows(now, first)

    def _committed_rows(self, now: _Rows, first: _Rows) -> int | None:
        """Return the committed pushes or pops, or ``None`` if the server has reset its counters in the meantime."""
        inserted, updated, deleted, live = (
            (getattr(now, name) or 0) - (getattr(first, name) or 0)
            for name in ("inserted", "updated", "deleted", "live")
        )
        if min(inserted, updated, deleted) < 0:
            return None
        if self._side is Side.PRODUCERS:
            return max(0, min(inserted, live + deleted))
        if self._layout.deletes_on_pop:
            return max(0, min(deleted, inserted - live))
        return max(0, updated)

    def _read_counters(self) -> _Rows | None:
        found = self._sql.fetch(_Rows, "action/pause/rows", {"table": self._layout.table.parts})[0]
        return None if found.inserted is None else found

    def _read_numbers(self) -> int | None:
        moved = [
            self._sql.fetch(_Moved, "action/pause/drawn", {"sequence": each.parts})[0].moved for each in self._sequences
        ]
        return None if None in moved else sum(each for each in moved if each is not None)

    def read_sessions(self) -> tuple[str, ...]:
        """Return the sessions with an open transaction that has taken a number."""
        if not self._sql.has_statement("action/pause/drawers"):
            return ()
        found = {
            each.text
            for sequence in self._sequences
            for each in self._sql.fetch(DrawingSession, "action/pause/drawers", {"sequence": sequence.parts})
        }
        return tuple(sorted(found))


def watch_pause(counter: ArrivalCounter, stopped: StopRequested) -> PauseVerification:
    """Watch until the pause is proven or disproven, the time is up, or ``stopped()`` is true."""
    begun = time.monotonic()
    most_s = MAX_WATCH_LATE_S if counter.is_late else MAX_WATCH_S
    last = counter.read_count()
    since, who = begun, frozenset(counter.read_sessions())
    while last is not None:
        now = time.monotonic()
        surely = counter.is_late and since - begun >= LATE_IDLE_S  # a push or pop this late began after the pause
        if now - since >= counter.needed_s or now - begun >= most_s or surely or stopped():
            works = now - since >= counter.needed_s
            seen = counter.read_sessions() if works else tuple(sorted(who))
            return PauseVerification(last, now - begun, now - since, counter.needed_s, counter.is_late, seen)
        time.sleep(READ_EVERY_S)
        found = counter.read_count()
        if found is None:
            break
        if found != last:
            last, since = found, time.monotonic()
        who |= frozenset(counter.read_sessions())
    return PauseVerification(0, time.monotonic() - begun, 0.0, counter.needed_s, counter.is_late, (), readable=False)


def _sequences(layout: Layout, side: Side) -> tuple[ObjectName, ...]:
    if layout.ring is not None:
        if side is Side.PRODUCERS:
            return (layout.ring.push_sequence,)
        return layout.ring.subscribers or (layout.ring.pop_sequence,)
    return (layout.sequence,) if side is Side.PRODUCERS and layout.sequence is not None else ()
