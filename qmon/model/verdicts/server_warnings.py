"""Problems of the server that are not a queue's verdict, one sentence each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from qmon.model.formatting import percent
from qmon.model.samples.polled_samples import ServerSample
from qmon.model.snapshot import Snapshot
from qmon.model.verdicts.server_verdicts import DEADLOCK_REPORTS, MIN_DEADLOCKS, circle_text, is_about
from qmon.model.waits.deadlock_circles import Deadlocks
from qmon.texts import Text


class WarningText(Text):
    """Warnings about the server."""

    REFUSES_NOW = "refuses new sessions now"
    REFUSES_AFTER = "refuses new sessions after {count:,} more"
    SESSIONS_USED = "{used:,} of {limit:,} sessions are used ({share}): the server {then}"
    DEADLOCKS = "{count:,} deadlocks in the last minute"
    DEADLOCK_REPORTS = "{text}; the tables are unknown, and the statements are in {place}"
    DEADLOCKED_SESSIONS = "{text} on tables that are not queues; these sessions waited for each other: {sessions}"


# Above this share of the session limit, the server may soon refuse connections.
NEARLY_ALL: Final = 0.9


def server_warnings(snapshot: Snapshot, deadlocks: Deadlocks) -> tuple[str, ...]:
    """Return the sentences, most urgent first."""
    return tuple((*_session_warnings(snapshot.server), *_deadlock_warnings(snapshot, deadlocks)))


def _session_warnings(server: ServerSample) -> Iterator[str]:
    used, limit = server.sessions_used, server.sessions_limit
    if used is not None and limit and used >= NEARLY_ALL * limit:
        then = WarningText.REFUSES_NOW if used >= limit else WarningText.REFUSES_AFTER.render(count=limit - used)
        yield WarningText.SESSIONS_USED.render(used=used, limit=limit, share=percent(used / limit), then=then)


def _deadlock_warnings(snapshot: Snapshot, deadlocks: Deadlocks) -> Iterator[str]:
    """Yield deadlocks that were not seen on a queue's table. Deadlocks on a queue's table are the queue's verdict."""
    if deadlocks.count < MIN_DEADLOCKS:
        return
    about = (is_about(circle, queue, queue.layout) for circle in deadlocks.circles for queue in snapshot.queues)
    text = WarningText.DEADLOCKS.render(count=deadlocks.count)
    if not deadlocks.circles and len(snapshot.queues) != 1:  # if there is only one queue, the queue has the verdict
        yield WarningText.DEADLOCK_REPORTS.render(text=text, place=DEADLOCK_REPORTS[snapshot.engine])
    elif deadlocks.circles and not any(about):
        sessions = circle_text(deadlocks.circles[-1])
        yield WarningText.DEADLOCKED_SESSIONS.render(text=text, sessions=sessions)
