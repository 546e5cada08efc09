"""Base class of the background readers. Each has its own thread and connection, so that polls never wait for it."""

from __future__ import annotations

import logging
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import ClassVar, Final

from qmon.engines.base import Connection, Engine, Session
from qmon.errors import NoConnectionLeft, QmonError

_GRACE_S: Final = 2.0
_BACK_OFF_S: Final = 5.0

# Minimum seconds between connection attempts when the server has no connection left.
_NO_CONNECTION_LEFT_S: Final = 60.0


class BackgroundReader(ABC):
    """A thread with its own connection. ``_lock`` guards the state that this thread and the polls share."""

    # Name of the thread.
    NAME: ClassVar[str]

    def __init__(
        self, engine: Engine, connect: Callable[[Session], Connection], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._engine = engine
        self._log = logging.getLogger(type(self).__module__)
        self._connect = connect
        self._clock = clock
        # The number of qmon instances that share the cost budget of background readers.
        self.instances = 1
        # The share of one server processor that this reader constantly uses.
        self.share = 0.0
        self._lock = threading.Lock()
        self._wake = threading.Event()
        self._closed = False
        self._end = threading.Event()
        self._release_requested = False
        self._connection: Connection | None = None
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Start the thread."""
        self._thread = threading.Thread(target=self._run, name=self.NAME, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop, cancel the running statement, and wait at most two seconds for it."""
        self._closed = True
        self._wake.set()
        self._end.set()
        connection = self._connection
        if connection is not None:
            connection.cancel()
        if self._thread is not None:
            self._thread.join(timeout=_GRACE_S)

    def release_connection(self) -> None:
        """Release the connection, because the poll needs a connection and the server has none left."""
        self._release_requested = True
        connection = self._connection
        if connection is not None:
            connection.cancel()
        self._wake.set()

    def _back_off(self, why: QmonError | None = None) -> None:
        """Wait before connecting again, or until closed."""
        self._end.wait(_NO_CONNECTION_LEFT_S if isinstance(why, NoConnectionLeft) else _BACK_OFF_S)

    @abstractmethod
    def _run(self) -> None:
        """Run until ``_closed`` is set. Called in the thread."""

    def _drop_connection(self) -> None:
        """Close the connection, if there is one."""
        self._release_requested = False
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()
