"""Who pushes and who pops, over time: a session that was seen to pop stays a popper while it is connected."""

from __future__ import annotations

from qmon.model.layout.layout import Layout
from qmon.model.operations import Side
from qmon.model.samples.clients import MOST_CLIENTS
from qmon.model.sessions.clients import ClientsSeen, Sessions, quiet_for, seen_of, way_to_know
from qmon.model.snapshot import Snapshot


class ClientsTrack:
    """The sessions of one side of one queue. Not thread-safe: one thread folds."""

    def __init__(self, side: Side) -> None:
        self._side = side
        self._members: set[tuple[int, float | None]] = set()
        self._last_at: float | None = None
        self._known_by: tuple[Layout, str] | None = None

    def add(self, snapshot: Snapshot, layout: Layout, sessions: Sessions) -> ClientsSeen | None:
        """Take in one poll; ``None`` where sessions, or what they run, cannot be seen."""
        if self._known_by is None or self._known_by[0] is not layout:
            self._known_by = layout, way_to_know(layout, self._side)
        by = self._known_by[1]
        patterns = layout.pushers if self._side is Side.PUSHERS else layout.poppers
        if not snapshot.server.sees_sessions and (by != "pattern" or patterns.procedure is not None):
            return None
        self._members &= sessions.places.keys()
        self._members.update(client.key for client in sessions.of(layout, self._side))
        members = [sessions.all[place] for place in sorted(sessions.places[key] for key in self._members)]
        connected, waiting, one = seen_of(members, self._members)
        if connected:
            self._last_at = snapshot.sampled_at
        left_s = None if self._last_at is None else snapshot.sampled_at - self._last_at
        return ClientsSeen(
            connected, waiting, by, one, others=len(sessions.all) - connected, left_s=left_s,
            whole=len(sessions.all) < MOST_CLIENTS, quiet_s=quiet_for(members, self._members),
        )  # fmt: skip
