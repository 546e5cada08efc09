"""What reads in a thread and on a connection of its own, so that the poll never waits for it."""

from __future__ import annotations

import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import ClassVar, Final

from qmon.engines.base import Connection, Engine, Session

_GRACE_S: Final = 2.0


class Apart(ABC):
    """The thread, its connection and its end. What both sides touch is kept under ``_lock``."""

    NAME: ClassVar[str]
    """Of the thread."""

    def __init__(
        self, engine: Engine, connect: Callable[[Session], Connection], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._engine = engine
        self._connect = connect
        self._clock = clock
        self._lock = threading.Lock()
        self._wake = threading.Event()
        self._closed = False
        self._connection: Connection | None = None
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Start the thread."""
        self._thread = threading.Thread(target=self._run, name=self.NAME, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop; what is under way is cancelled, and waited for two seconds at most."""
        self._closed = True
        self._wake.set()
        connection = self._connection
        if connection is not None:
            connection.cancel()
        if self._thread is not None:
            self._thread.join(timeout=_GRACE_S)

    @abstractmethod
    def _run(self) -> None:
        """What the thread does until ``_closed``."""

    def _drop(self) -> None:
        """Close the connection, if there is one."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()
