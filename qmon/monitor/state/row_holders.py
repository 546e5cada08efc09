"""Which rows of the queues a session holds, as far as the poll has read it: where a row says who holds it."""

from __future__ import annotations

from qmon.model.snapshot import Snapshot
from qmon.model.waits.blocking import Held


def held_by_session(snapshot: Snapshot) -> dict[int, tuple[Held, ...]]:
    """By session the rows near each queue's head that it has locked or taken, most first; nothing where none are known.

    Rows under the id of a savepoint are left out, since it does not tell whose it is.
    """
    whose = {writer.xid: writer.session for writer in snapshot.writers or ()}
    rows: dict[tuple[int, str], int] = {}
    more: set[str] = set()
    for queue in snapshot.queues:
        name = queue.layout.queue
        if queue.head is not None and queue.head.counted >= queue.head_limit:
            more.add(name)
        for held in queue.held or ():
            if held.running and held.xid in whose:
                key = (whose[held.xid], name)
                rows[key] = rows.get(key, 0) + held.rows
    found: dict[int, tuple[Held, ...]] = {}
    for (session, name), count in sorted(rows.items(), key=lambda item: (-item[1], item[0])):
        found[session] = (*found.get(session, ()), Held(name, count, at_least=name in more))
    return found
