"""One target that is polled without anybody being asked: found, logged in and polled on threads of its own."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import Final

from qmon.config.secrets import from_keyring, log_in
from qmon.engines.base import Connection, Target
from qmon.errors import PasswordNeeded, QmonError
from qmon.model.groups.configured import ConfiguredQueue
from qmon.monitor.open import open_poller
from qmon.monitor.poll.poller import POLL, Poller
from qmon.monitor.source import Focus, Phase, Sink, SourceState

_CONNECT_EVERY_S: Final = 20.0


class HeadlessPoller:
    """Polls one target until closed; what goes wrong with it stays with it. Implements ``SnapshotSource``.

    Args:
        target: the target; its password comes from where it is kept, nobody is asked.
        layouts: the queues of the configuration.
        interval_s: seconds between polls.
        opened: called with the target and its password before the first poll; a ``QmonError`` of it is tried again.
    """

    def __init__(
        self,
        target: Target,
        layouts: Sequence[ConfiguredQueue],
        *,
        interval_s: float,
        opened: Callable[[Target], object] = lambda target: None,
    ) -> None:
        self._target = target
        self._layouts = layouts
        self._interval_s = interval_s
        self._focus = Focus()
        self._opened = opened
        self._closing = threading.Event()
        self._wake = threading.Event()
        # Held while something begins, which is not begun once `_closing` is set.
        self._ending = threading.Lock()
        # Held while something is asked of the poller, or it comes to be.
        self._asking = threading.Lock()
        self._poller: Poller | None = None

    @property
    def target(self) -> str:
        """The target's name, free of secrets."""
        return self._target.name

    @property
    def interval_s(self) -> float:
        """Seconds between polls, as asked for."""
        return self._interval_s

    def start(self, sink: Sink) -> None:
        """Begin; returns at once. ``sink`` gets every snapshot and every change of phase, on other threads."""
        threading.Thread(target=self._begin, args=(sink,), name="qmon-headless", daemon=True).start()

    def poll_now(self, changed: str = "", *, whole: bool = False) -> None:
        """Poll, or try to log in, as soon as what is under way has ended."""
        self._wake.set()
        if (poller := self._poller) is not None:
            poller.poll_now(changed, whole=whole)

    def set_interval(self, seconds: float) -> None:
        """Poll every ``seconds`` from now on (0.5 to 60)."""
        with self._asking:
            self._interval_s = seconds
            if self._poller is not None:
                self._poller.set_interval(seconds)

    def set_focus(self, focus: Focus) -> None:
        """Say what is on the screens."""
        with self._asking:
            self._focus = focus
            if self._poller is not None:
                self._poller.set_focus(focus)

    def count_exactly(self, queue: str) -> None:
        """Ask for an exact count of one queue; passed over before there is a connection."""
        if (poller := self._poller) is not None:
            poller.count_exactly(queue)

    def close(self) -> None:
        """End: no more polls, and the sink hears no more. Waits some seconds at most."""
        with self._ending:
            self._closing.set()
        self._wake.set()
        if self._poller is not None:
            self._poller.close()

    def _begin(self, sink: Sink) -> None:
        """Find the password and the engine, which may need the server, and start to poll."""
        while not self._closing.is_set():
            connection: Connection | None = None
            self._wake.clear()
            try:
                target, connection = self._log_in()
                poller = open_poller(target, self._layouts, interval_s=self._interval_s, first=connection)
                if self._poll(target, poller, sink):
                    return
                reason = ""
            except QmonError as problem:
                reason = str(problem)
            if connection is not None:
                connection.close()
            with self._ending:
                if self._closing.is_set():
                    return
                now = time.monotonic()
                sink(SourceState(self.target, Phase.LOST, reason, now + _CONNECT_EVERY_S, now))
            self._wake.wait(_CONNECT_EVERY_S)

    def _poll(self, target: Target, poller: Poller, sink: Sink) -> bool:
        """Start to poll, unless it was closed meanwhile."""
        with self._ending:
            if self._closing.is_set():
                return False
            self._opened(target)
            with self._asking:
                poller.set_interval(self._interval_s)
                poller.set_focus(self._focus)
                self._poller = poller
            poller.start(sink)
            return True

    def _log_in(self) -> tuple[Target, Connection | None]:
        """The target with its password, and a connection; none where it cannot be reached now."""
        try:
            return log_in(self._target, POLL, (from_keyring,))
        except PasswordNeeded:
            raise
        except QmonError:
            return self._target, None
