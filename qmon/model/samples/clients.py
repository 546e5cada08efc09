"""Samples of the sessions of programs, and of those that own messages in progress; see the probes of the same names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

# Sessions that a poll lists, at most.
MOST_CLIENTS: Final = 500


@dataclass(frozen=True, slots=True)
class ClientSample:
    """One row a session of a program. ``begun_s``: seconds since its last statement began.

    ``quiet_s``: seconds since it has become idle, or busy; ``wait_kind``: class of what it waits for, empty where it
    runs; ``started_at``: seconds since the epoch. What our role may not see is ``None`` or empty.
    """

    session: int
    started_at: float | None
    application: str
    login: str
    state: str
    begun_s: float | None
    quiet_s: float | None
    wait_kind: str
    statement: str

    @property
    def key(self) -> tuple[int, float | None]:
        """What tells a session from a later one with the same number."""
        return self.session, self.started_at
