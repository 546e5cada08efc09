"""Problems of the server that are not a queue's verdict, one sentence each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from qmon.model.formatting import percent
from qmon.model.samples.polled_samples import ServerSample
from qmon.model.snapshot import Snapshot
from qmon.model.verdicts.server_verdicts import DEADLOCK_REPORTS, MIN_DEADLOCKS, circle_text, is_about
from qmon.model.waits.deadlock_circles import Deadlocks

# Above this share of the session limit, the server may soon refuse connections.
NEARLY_ALL: Final = 0.9


def server_warnings(snapshot: Snapshot, deadlocks: Deadlocks) -> tuple[str, ...]:
    """Return the sentences, most urgent first."""
    return tuple((*_session_warnings(snapshot.server), *_deadlock_warnings(snapshot, deadlocks)))


def _session_warnings(server: ServerSample) -> Iterator[str]:
    used, limit = server.sessions_used, server.sessions_limit
    if used is not None and limit and used >= NEARLY_ALL * limit:
        then = "refuses new sessions now" if used >= limit else f"refuses new sessions after {limit - used:,} more"
        yield f"{used:,} of {limit:,} sessions are used ({percent(used / limit)}): the server {then}"


def _deadlock_warnings(snapshot: Snapshot, deadlocks: Deadlocks) -> Iterator[str]:
    """Yield deadlocks that were not seen on a queue's table. Deadlocks on a queue's table are the queue's verdict."""
    if deadlocks.count < MIN_DEADLOCKS:
        return
    about = (is_about(circle, queue, queue.layout) for circle in deadlocks.circles for queue in snapshot.queues)
    text = f"{deadlocks.count} deadlocks in the last minute"
    if not deadlocks.circles and len(snapshot.queues) != 1:  # if there is only one queue, the queue has the verdict
        yield f"{text}; the tables are unknown, and the statements are in {DEADLOCK_REPORTS[snapshot.engine]}"
    elif deadlocks.circles and not any(about):
        sessions = circle_text(deadlocks.circles[-1])
        yield f"{text} on tables that are not queues; these sessions waited for each other: {sessions}"
