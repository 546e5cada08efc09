"""Samples of program sessions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

# Maximum number of sessions listed per poll.
MOST_CLIENTS: Final = 500


@dataclass(frozen=True, slots=True)
class ProgramSessionSample:
    """One row per session of a program. Values that our role may not see are ``None`` or empty.

    Attributes:
        started_at: when the session started, seconds since the epoch.
        begun_s: seconds since the session's last statement started.
        quiet_s: seconds since the session became idle or active.
        wait_kind: class of the wait; empty if the session is not waiting.
        host: the client's host, or its address; empty if it is not visible, or if the session uses a local socket.
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
    host: str = ""

    @property
    def key(self) -> tuple[int, float | None]:
        """The key that identifies a session. A later session with the same number has another key."""
        return self.session, self.started_at
