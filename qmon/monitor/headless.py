"""One target that is polled without a screen: found, logged in and polled on threads of its own, until closed."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Final

from qmon.config.secrets import from_keyring, log_in
from qmon.engines.base import Connection, Target
from qmon.errors import PasswordNeeded, QmonError
from qmon.model.groups.configured import ConfiguredQueue
from qmon.monitor.open import open_poller
from qmon.monitor.poll.poller import POLL, Poller
from qmon.monitor.source import Phase, Sink, SourceState

_CONNECT_EVERY_S: Final = 20.0


class HeadlessPoller:
    """Polls one target until closed; what goes wrong with it stays with it.

    Args:
        target: the target; its password comes from where it is kept, nobody is asked.
        layouts: the queues of the configuration.
        interval_s: seconds between polls.
        sink: gets every snapshot and every change of phase, on other threads.
        opened: called with the target and its password before the first poll; a ``QmonError`` of it is tried again.
    """

    def __init__(
        self, target: Target, layouts: Sequence[ConfiguredQueue], *, interval_s: float, sink: Sink,
        opened: Callable[[Target], object] = lambda target: None,
    ) -> None:  # fmt: skip
        self._target = target
        self._layouts = layouts
        self._interval_s = interval_s
        self._sink = sink
        self._opened = opened
        self._closing = threading.Event()
        self._ending = threading.Lock()
        """Held while something begins, which is not begun once ``_closing`` is set."""
        self._poller: Poller | None = None
        self._thread = threading.Thread(target=self._begin, name="qmon-headless", daemon=True)

    def start(self) -> None:
        """Begin; returns at once."""
        self._thread.start()

    def close(self) -> None:
        """End: no more polls, and the sink hears no more. Waits some seconds at most."""
        with self._ending:
            self._closing.set()
        if self._poller is not None:
            self._poller.close()

    def _begin(self) -> None:
        """Find the password and the engine, which may need the server, and start to poll."""
        while not self._closing.is_set():
            connection: Connection | None = None
            try:
                target, connection = self._log_in()
                poller = open_poller(target, self._layouts, interval_s=self._interval_s, first=connection)
                if self._poll(target, poller):
                    return
                reason = ""
            except QmonError as problem:
                reason = str(problem)
            if connection is not None:
                connection.close()
            with self._ending:
                if not self._closing.is_set():
                    self._sink(SourceState(self._target.name, Phase.LOST, reason))
            self._closing.wait(_CONNECT_EVERY_S)

    def _poll(self, target: Target, poller: Poller) -> bool:
        """Start to poll, unless it was closed meanwhile."""
        with self._ending:
            if self._closing.is_set():
                return False
            self._opened(target)
            self._poller = poller
            poller.start(self._sink)
            return True

    def _log_in(self) -> tuple[Target, Connection | None]:
        """The target with its password, and a connection; none where it cannot be reached now."""
        try:
            return log_in(self._target, POLL, (from_keyring,))
        except PasswordNeeded:
            raise
        except QmonError:
            return self._target, None
