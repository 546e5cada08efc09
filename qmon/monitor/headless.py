"""Poll one target without prompting: resolve, log in and poll on separate threads."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import Final

from qmon.config.credentials import connect_with_password, password_from_keyring
from qmon.engines.base import Connection, Target
from qmon.errors import PasswordNeeded, QmonError
from qmon.model.groups.configured_queue import ConfiguredQueue
from qmon.monitor.open import open_poller
from qmon.monitor.poll.poller import POLL, Poller
from qmon.monitor.source import Phase, ReadScope, Sink, SourceState

_CONNECT_EVERY_S: Final = 20.0


class HeadlessPoller:
    """Poll one target until closed. Failures of this target do not affect other targets. Implements ``SnapshotSource``.

    Args:
        target: the target. Its stored password is used, without a prompt.
        layouts: the queues of the configuration.
        interval_s: seconds between polls.
        on_open: called with the target and its password before the first poll. If ``on_open`` raises ``QmonError``, it
            is called again later.
    """

    def __init__(
        self,
        target: Target,
        layouts: Sequence[ConfiguredQueue],
        *,
        interval_s: float,
        on_open: Callable[[Target], object] = lambda target: None,
    ) -> None:
        self._target = target
        self._layouts = layouts
        self._interval_s = interval_s
        self._focus = ReadScope()
        self._on_open = on_open
        self._closing = threading.Event()
        self._wake = threading.Event()
        # Held while the poller starts. The poller does not start once `_closing` is set.
        self._start_lock = threading.Lock()
        # Held while the poller is created or called.
        self._poller_lock = threading.Lock()
        self._poller: Poller | None = None

    @property
    def target(self) -> str:
        """The target's name, free of secrets."""
        return self._target.name

    @property
    def interval_s(self) -> float:
        """The configured seconds between polls."""
        return self._interval_s

    def start(self, sink: Sink) -> None:
        """Start, and return immediately. ``sink`` gets every snapshot and phase change, on other threads."""
        threading.Thread(target=self._start_poller, args=(sink,), name="qmon-headless", daemon=True).start()

    def poll_now(self, changed: str = "", *, include_throttled: bool = False) -> None:
        """Poll as soon as the running poll has ended. Without a connection, try to log in now."""
        self._wake.set()
        if (poller := self._poller) is not None:
            poller.poll_now(changed, include_throttled=include_throttled)

    def set_interval(self, seconds: float) -> None:
        """Set the seconds between polls (0.5 to 60)."""
        with self._poller_lock:
            self._interval_s = seconds
            if self._poller is not None:
                self._poller.set_interval(seconds)

    def set_focus(self, focus: ReadScope) -> None:
        """Set the current screen."""
        with self._poller_lock:
            self._focus = focus
            if self._poller is not None:
                self._poller.set_focus(focus)

    def count_exactly(self, queue: str) -> None:
        """Request an exact count of one queue; ignored before there is a connection."""
        if (poller := self._poller) is not None:
            poller.count_exactly(queue)

    def close(self) -> None:
        """Stop polling; the sink gets no more events. Waits a few seconds at most."""
        with self._start_lock:
            self._closing.set()
        self._wake.set()
        if self._poller is not None:
            self._poller.close()

    def _start_poller(self, sink: Sink) -> None:
        """Log in, find the engine and start polling. Repeat this until polling has started or ``close`` is called."""
        while not self._closing.is_set():
            connection: Connection | None = None
            self._wake.clear()
            try:
                target, connection = self._log_in()
                poller = open_poller(target, self._layouts, interval_s=self._interval_s, first=connection)
                if self._start_polling(target, poller, sink):
                    return
                reason = ""
            except QmonError as problem:
                reason = str(problem)
            if connection is not None:
                connection.close()
            with self._start_lock:
                if self._closing.is_set():
                    return
                now = time.monotonic()
                sink(SourceState(self.target, Phase.LOST, reason, now + _CONNECT_EVERY_S, now))
            self._wake.wait(_CONNECT_EVERY_S)

    def _start_polling(self, target: Target, poller: Poller, sink: Sink) -> bool:
        """Start polling, unless ``close`` was called in the meantime; return whether polling has started."""
        with self._start_lock:
            if self._closing.is_set():
                return False
            self._on_open(target)
            with self._poller_lock:
                poller.set_interval(self._interval_s)
                poller.set_focus(self._focus)
                self._poller = poller
            poller.start(sink)
            return True

    def _log_in(self) -> tuple[Target, Connection | None]:
        """Return the target with its password, and a connection; ``None`` if the target cannot be reached now."""
        try:
            return connect_with_password(self._target, POLL, (password_from_keyring,))
        except PasswordNeeded:
            raise
        except QmonError:
            return self._target, None
