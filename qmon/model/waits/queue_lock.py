"""Find the session whose locks keep every message of a queue from being popped.

A single locked row is not enough, because pops may skip it. Each of these cases is a proof:

- Sessions have waited for seconds to lock the queue's table itself, in a mode that makes every pop wait.
- Pops of a queue whose routines do not skip locked rows have waited for a row.
- One transaction holds every ready message. It holds more messages than a pop takes, or holds them for longer than a
  pop takes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from qmon.model.formatting import count_text, duration, short_statement
from qmon.model.layout.layout import Layout
from qmon.model.samples.polled_samples import BlockingSample, HeldSample, WriterSample
from qmon.model.sessions.clients import statement_words
from qmon.model.snapshot import QueueSamples, Snapshot
from qmon.model.waits.lock_chains import LockChainLine, LockRole, SessionKey, build_lock_chains
from qmon.texts import Text


class QueueLockText(Text):
    """Proofs that a session blocks a queue."""

    BLOCKS = "{who} blocks {sessions} waiting to lock {table}"
    ONLY_BEHIND = "{blocks}; {count:,} of them would not wait without {session}, which waits ahead of them{statement}"
    STATEMENT = ": {statement}"
    SESSION = "session {session}"
    PREPARED = "prepared transaction {transaction}"
    THE_PREPARED = "the prepared transaction {transaction}"
    A_PREPARED = "a prepared transaction"
    OPEN_FOR = " (for {age})"
    OPEN = "transaction open {age}"
    HOLDS_ALL = "{who} holds all {rows:,} messages"


WAITED_S: Final = 3.0
HELD_S: Final = 5.0

# Minimum number of held rows if a message is in progress only while its consumer's transaction is open. Fewer rows may
# be a batch that is being processed.
MANY_ROWS: Final = 100

# VACUUM and ANALYZE of PostgreSQL use this mode. Only in this mode can a session wait for a table while pops continue.
_HARMLESS_MODE: Final = "ShareUpdateExclusiveLock"


@dataclass(frozen=True, slots=True)
class QueueLock:
    """The session that locks the whole queue, and the proof.

    ``holder``: a name that does not change while the session locks the queue (``session 61``); empty if unknown.
    ``waited_for``: true if other sessions wait for the session's locks.
    """

    holder: str
    proof: str
    waited_for: bool = True


def find_queue_lock(samples: QueueSamples, snapshot: Snapshot, *, in_transaction: bool) -> QueueLock | None:
    """Return the session that keeps all rows of the queue locked, or ``None`` if there is no such session.

    ``in_transaction``: true if a message is in progress only while its consumer's transaction is open.
    """
    return _lock_waited_for(samples, snapshot) or _lock_held(samples, snapshot.writers or (), in_transaction)


def _lock_waited_for(samples: QueueSamples, snapshot: Snapshot) -> QueueLock | None:
    rows = snapshot.blocking or ()
    # On SQL Server, blocking rows contain the statements of waiting sessions only while a screen shows them.
    runs = {client.session: client.statement for client in snapshot.clients or ()}
    waiters = {
        (r.session, r.gid)
        for r in rows
        if (r.waiting_s or 0.0) >= WAITED_S and _can_stop_pops(samples, r, r.statement or runs.get(r.session, ""))
    }
    if not waiters:
        return None
    found = build_lock_chains(rows)
    held_up: dict[SessionKey, int] = {}
    for waiter in waiters:
        for head in _find_heads(waiter, {place.key: place for place in found.places if not place.is_repeated}):
            held_up[head] = held_up.get(head, 0) + 1
    head = max(held_up, key=lambda key: (held_up[key], key))
    place = found.find_line(head)
    if place is None:
        return None
    count = held_up[head]
    s = place.session
    who = _session_text(s.session, s.state, s.transaction_s, s.application if s.session else s.gid, s.host)
    blocks = QueueLockText.BLOCKS.render(who=who, sessions=count_text(count, "session"), table=samples.layout.table)
    return QueueLock(_session_name_in_verdicts(s.session, s.gid), _text_with_session_ahead(blocks, rows, waiters, runs))


def _text_with_session_ahead(
    blocks: str, rows: Sequence[BlockingSample], waiters: Collection[SessionKey], runs: Mapping[int, str]
) -> str:
    """Name the waiting session, such as an ALTER TABLE, without which most of the others would not wait.

    No session holds a lock that stops these others. They wait only because this session waits ahead of them.
    """
    ahead = Counter(
        r.blocker for r in rows if r.ahead and not r.holders and r.blocker and (r.session, r.gid) in waiters
    )
    if not ahead:
        return blocks
    (first, count), *_ = ahead.most_common(1)
    runs_now = next((r.statement for r in rows if r.session == first and r.statement), runs.get(first, ""))
    statement = QueueLockText.STATEMENT.render(statement=short_statement(runs_now)) if runs_now else ""
    return QueueLockText.ONLY_BEHIND.render(
        blocks=blocks, count=count, session=_session_name(first, ""), statement=statement
    )


def _can_stop_pops(samples: QueueSamples, row: BlockingSample, statement: str) -> bool:
    """Return whether this waiting session shows that all pops wait: it waits for the whole table or is a pop."""
    names = _table_names(samples.layout)
    if any(row.object == f"table {name}" for name in names):
        return row.mode != _HARMLESS_MODE
    known = {c.table_id for c in (samples.counters, samples.data_counters) if c is not None}
    of_queue = row.table_id in known or any(row.object.startswith(f"{name} ") for name in names)
    return of_queue and " row " in row.object and _is_pop(samples.layout, statement)


def _is_pop(layout: Layout, statement: str) -> bool:
    """Return whether a statement is a pop of an installed queue.

    If such a pop waits for a row, it does not skip locked rows.
    """
    called = statement_words(statement)
    routines = [name for verb in ("pop", "pop_batch") if (name := layout.routine_for(verb)) is not None]
    if any(str(name).lower() in called or name.name.lower() in called for name in routines):
        return True
    # SQL Server shows the statement inside the procedure. Only pops delete from this design's table.
    return layout.design == "strict_fifo" and {"delete", layout.table.name.lower()} <= called


def _table_names(layout: Layout) -> list[str]:
    return [str(table) for table in (layout.table, layout.data_table) if table is not None]


def _find_heads(start: SessionKey, places: dict[SessionKey, LockChainLine]) -> set[SessionKey]:
    seen: set[SessionKey] = set()
    heads: set[SessionKey] = set()
    looking = [start]
    while looking:
        key = looking.pop()
        if key in seen:
            continue
        seen.add(key)
        above = places[key].blockers if key in places else ()
        looking += above
        if not above or places[key].role is LockRole.CYCLE:
            heads.add(key)
    return heads


def _session_name_in_verdicts(number: int, gid: str) -> str:
    """Return the session's name as in the verdicts about other queues and about the horizon."""
    if number:
        return QueueLockText.SESSION.render(session=number)
    return QueueLockText.PREPARED.render(transaction=gid) if gid else ""


def _session_name(number: int, gid: str) -> str:
    if number:
        return QueueLockText.SESSION.render(session=number)
    return QueueLockText.THE_PREPARED.render(transaction=gid) if gid else QueueLockText.A_PREPARED


def _session_text(number: int, state: str, open_s: float | None, application: str, host: str = "") -> str:
    """Return a session in words. ``application``: name of the program or of the prepared transaction."""
    if number == 0:
        return _session_name(0, application) + (
            QueueLockText.OPEN_FOR.render(age=duration(open_s)) if open_s is not None else ""
        )
    parts = [state, QueueLockText.OPEN.render(age=duration(open_s)) if open_s is not None else "", application, host]
    more = ", ".join(part for part in parts if part)
    return f"{_session_name(number, '')} ({more})" if more else _session_name(number, "")


def _lock_held(samples: QueueSamples, writers: Sequence[WriterSample], in_transaction: bool) -> QueueLock | None:
    if samples.head is None or not samples.locked:
        return None
    read = (
        samples.head.counted if samples.head.counted < samples.head_limit else 0
    )  # a pop may find a free row beyond those that were read
    by_session = _rows_by_session(samples.locked, writers)
    if not by_session or not read:
        return None
    session = max(by_session, key=lambda number: by_session[number])
    rows = by_session[session]
    one = next(w for w in writers if w.session == session)
    if rows < read or (one.transaction_s or 0.0) < HELD_S or (in_transaction and rows < MANY_ROWS):
        return None
    who = _session_text(session, one.state, one.transaction_s, one.application)
    return QueueLock(
        _session_name_in_verdicts(session, one.application),
        QueueLockText.HOLDS_ALL.render(who=who, rows=rows),
        waited_for=False,
    )


def _rows_by_session(held_rows: Sequence[HeldSample], writers: Sequence[WriterSample]) -> dict[int, int]:
    whose = {w.xid: w.session for w in writers}
    found: dict[int, int] = {}
    for each in held_rows:
        if each.running and each.xid in whose:
            found[whose[each.xid]] = found.get(whose[each.xid], 0) + each.rows
    return found
