"""Our own connections to one target, so that what they do can be left out of the server's figures."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from typing import Final

from qmon.engines.base import Connection, Session

# Connections that may still be at work: polls and background readers, and those that were abandoned.
_MOST: Final = 8


class OwnConnections:
    """Opens connections and counts what they commit. May be used from any thread."""

    def __init__(self, connect: Callable[[Session], Connection]) -> None:
        self._connect = connect
        self._lock = threading.Lock()
        self._connections: deque[Connection] = deque()
        self._past = 0

    def __call__(self, session: Session) -> Connection:
        """Connect; raises what connecting raises."""
        connection = self._connect(session)
        with self._lock:
            self._connections.append(connection)
            if len(self._connections) > _MOST:
                self._past += self._connections.popleft().commits
        return connection

    @property
    def commits(self) -> int:
        """Transactions that all of them have committed so far, those that only read among them."""
        with self._lock:
            return self._past + sum(connection.commits for connection in self._connections)
