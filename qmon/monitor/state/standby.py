"""A queue as a standby shows it: its rows are there, its counters, sequences and sessions are its primary's."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from qmon.model.rates.flow import pops_in_transaction
from qmon.model.samples.messages import MessageDiagnostics
from qmon.model.samples.polled import NewestSample, ReplicaSample, ServerSample
from qmon.model.snapshot import QueueSamples, Snapshot
from qmon.model.standby import COUNTERS, IDS, SEQUENCES, SESSIONS
from qmon.model.view import Figure
from qmon.monitor.poll.runner import Results
from qmon.monitor.poll.statements import ProbeStatement, StatementCache
from qmon.monitor.state.rate_window import RATE_WINDOW_S

_RING: Final = ("ready", "in_progress", "oldest", "gap", "fill")


def replica(book: StatementCache) -> list[ProbeStatement]:
    """What to ask a standby about itself, where its engine does not tell it with the server."""
    return [book.job("replica", ReplicaSample)] if book.has("replica") else []


def with_replica(server: ServerSample, found: Sequence[ReplicaSample]) -> ServerSample:
    """The server with what it said about its copy; one that is of several groups says nothing that holds for all."""
    if len(found) != 1:
        return server
    return replace(server, replay_paused=found[0].replay_paused, behind_s=found[0].behind_s)


def seen_from_standby(snapshot: Snapshot, results: Results) -> Snapshot:
    """The snapshot without what only the primary knows, and why that is missing. ``results``: of its jobs."""
    uses = snapshot.uses
    if uses is not None:
        uses = tuple(
            replace(u, scans=None, rows_read=None, pages=None, own_rows=None, own_pages=None, ghosts=None) for u in uses
        )
    newest = {queue: rows[0] for (queue, probe), rows in results.items() if probe == "newest"}
    queues = tuple(_without_primary(q, newest.get(q.layout.queue)) for q in snapshot.queues)
    server = with_replica(snapshot.server, results.get(("", "replica"), ()))
    return replace(snapshot, server=server, queues=queues, uses=uses, statistics=None, clients=None, writers=None)


def _without_primary(q: QueueSamples, newest: NewestSample | None) -> QueueSamples:
    unknown = {"rates": COUNTERS}
    if q.layout.ring is not None:
        unknown |= dict.fromkeys(_RING, SEQUENCES)
    elif newest is None:
        unknown["gap"] = SEQUENCES
    if pops_in_transaction(q.layout):
        unknown |= dict.fromkeys(("in_progress", "stuck"), SESSIONS)
    return replace(
        q, ring=None, last_id=newest.last_id if newest is not None else None, held=None, locked=(), elsewhere=COUNTERS,
        clues=MessageDiagnostics(priorities=q.clues.priorities), unknown={**unknown, **q.unknown},
    )  # fmt: skip


class IdRates:
    """Rates by the ids of the rows: pushes by how far the newest has come, pops by how the depth has changed meanwhile.

    An id that was drawn and rolled back counts as pushed and popped, so both are estimates. Where pops delete, the
    newest row is the last one pushed only while messages are popped from the other end and some are left.
    """

    def __init__(self) -> None:
        self._seen: deque[tuple[float, int, float | None]] = deque()

    def add(self, q: QueueSamples, at: float, ready: float | None) -> None:
        """Take in one poll. ``ready``: the depth where it is exact."""
        told = not q.layout.traits.deletes_on_pop or q.layout.traits.order == "fifo"
        if q.last_id is None or not told or (self._seen and q.last_id < self._seen[-1][1]):
            self._seen.clear()
        if q.last_id is None or not told:
            return
        exact = ready if q.layout.due_at is None else None
        self._seen.append((at, q.last_id, exact))
        while len(self._seen) > 2 and at - self._seen[1][0] >= RATE_WINDOW_S:
            self._seen.popleft()

    @property
    def push(self) -> Figure | None:
        """Messages pushed per second, ``None`` where the ids do not tell."""
        if len(self._seen) < 2:
            return None
        return Figure(self._pushed / self.seconds, estimated=True, reason=IDS)

    @property
    def pop(self) -> Figure | None:
        """Messages popped per second, ``None`` where ids and depths do not tell."""
        if len(self._seen) < 2:
            return None
        before, now = self._seen[0][2], self._seen[-1][2]
        if before is None or now is None:
            return None
        return Figure(max(0.0, self._pushed - (now - before)) / self.seconds, estimated=True, reason=IDS)

    @property
    def seconds(self) -> float:
        """The time that the rates are over."""
        return self._seen[-1][0] - self._seen[0][0]

    @property
    def _pushed(self) -> int:
        return self._seen[-1][1] - self._seen[0][1]
