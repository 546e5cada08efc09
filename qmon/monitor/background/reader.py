"""Base of the background readers: a thread and a connection of its own, so that the poll never waits for it."""

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
# Where the server has no connection left, it is not asked for one more often.
_FULL_S: Final = 60.0


class BackgroundReader(ABC):
    """The thread, its connection and its end. What both sides touch is guarded by ``_lock``."""

    # Of the thread.
    NAME: ClassVar[str]

    def __init__(
        self, engine: Engine, connect: Callable[[Session], Connection], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._engine = engine
        self._log = logging.getLogger(type(self).__module__)
        self._connect = connect
        self._clock = clock
        # How many qmons share what such readers may cost.
        self.qmons = 1
        # The share of one of the server's processors that it takes all the time.
        self.share = 0.0
        self._lock = threading.Lock()
        self._wake = threading.Event()
        self._closed = False
        self._end = threading.Event()
        self._given_up = False
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
        self._end.set()
        connection = self._connection
        if connection is not None:
            connection.cancel()
        if self._thread is not None:
            self._thread.join(timeout=_GRACE_S)

    def give_up(self) -> None:
        """Let go of the connection: the poll has none, and the server none to spare."""
        self._given_up = True
        connection = self._connection
        if connection is not None:
            connection.cancel()
        self._wake.set()

    def _back_off(self, why: QmonError | None = None) -> None:
        """Wait before connecting again, or until closed."""
        self._end.wait(_FULL_S if isinstance(why, NoConnectionLeft) else _BACK_OFF_S)

    @abstractmethod
    def _run(self) -> None:
        """What the thread does until ``_closed``."""

    def _drop(self) -> None:
        """Close the connection, if there is one."""
        self._given_up = False
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()
