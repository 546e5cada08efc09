"""Track our own connections to one target, so that their work can be subtracted from the server's figures."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from typing import Final

from qmon.engines.base import Connection, Session

# Up to this many connections may still be in use: by polls, by background readers, or after qmon abandoned them.
_MOST: Final = 8


class OwnConnections:
    """Open connections and count their commits. May be used from any thread."""

    def __init__(self, connect: Callable[[Session], Connection]) -> None:
        self._connect = connect
        self._lock = threading.Lock()
        self._connections: deque[Connection] = deque()
        self._past = 0

    def __call__(self, session: Session) -> Connection:
        """Connect. Raises the errors of connecting."""
        connection = self._connect(session)
        with self._lock:
            self._connections.append(connection)
            if len(self._connections) > _MOST:
                self._past += self._connections.popleft().commits
        return connection

    @property
    def commits(self) -> int:
        """Transactions committed so far by all of these connections, including read-only transactions."""
        with self._lock:
            return self._past + sum(connection.commits for connection in self._connections)
