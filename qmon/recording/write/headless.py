"""One target that is recorded without a screen: its poller, its history, its recorder, and its operations."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from qmon.config.secrets import from_keyring, log_in
from qmon.engines.base import Connection, Target
from qmon.errors import PasswordNeeded, QmonError
from qmon.model.groups.configured import ConfiguredQueue
from qmon.monitor.open import open_poller
from qmon.monitor.poll.poller import POLL, Poller
from qmon.monitor.source import Event, Phase, SourceState
from qmon.monitor.state.target import TargetHistory
from qmon.operate.open import open_context
from qmon.recording.write.operations import OperationsWatch
from qmon.recording.write.recorder import Recorder, Status

_CONNECT_EVERY_S: Final = 20.0


@dataclass(frozen=True, slots=True)
class RecordingStatus:
    """How it stands with one target. ``problem``: why nothing comes in, else empty."""

    target: str
    phase: Phase
    problem: str
    recording: Status


class HeadlessRecorder:
    """Records one target until closed; what goes wrong with it stays with it.

    Args:
        target: the target; its password comes from where it is kept, nobody is asked.
        layouts: the queues of the configuration.
        root: the folder of all recordings.
        interval_s: seconds between polls.
        redact, payloads: as for ``Recorder``.

    Raises ``BadInput`` where nothing can be written to the folder.
    """

    def __init__(
        self, target: Target, layouts: Sequence[ConfiguredQueue], root: Path, *, interval_s: float,
        redact: Callable[[str], str] = lambda text: text, payloads: bool = False,
    ) -> None:  # fmt: skip
        self._target = target
        self._layouts = layouts
        self._interval_s = interval_s
        self._history = TargetHistory()
        self._phase, self._problem = Phase.CONNECTING, ""
        self._closing = threading.Event()
        self._poller: Poller | None = None
        self._operations: OperationsWatch | None = None
        self.recorder = Recorder(
            root, target.name, interval_s=interval_s, redact=redact, payloads=payloads, environment=target.environment
        )  # fmt: skip
        self._thread = threading.Thread(target=self._begin, name="qmon-record-begin", daemon=True)
        self._thread.start()

    @property
    def status(self) -> RecordingStatus:
        """The status now."""
        return RecordingStatus(self._target.name, self._phase, self._problem, self.recorder.status)

    def close(self, reason: str) -> RecordingStatus:
        """End: no more polls, the segment sealed. Waits some seconds at most."""
        self._closing.set()
        self._thread.join(0.5)
        if self._poller is not None:
            self._poller.close()
        if self._operations is not None:
            self._operations.close()
        self.recorder.close(reason)
        return self.status

    def _begin(self) -> None:
        """Find the password and the engine, which may need the server, and start to poll."""
        while not self._closing.is_set():
            try:
                target, connection = self._log_in()
                poller = open_poller(target, self._layouts, interval_s=self._interval_s, first=connection)
                context = open_context(target)
            except QmonError as problem:
                self._sink(SourceState(self._target.name, Phase.LOST, str(problem)))
                if self._closing.wait(_CONNECT_EVERY_S):
                    return
                continue
            if not self._closing.is_set():
                self._poller, self._operations = poller, OperationsWatch(context, self.recorder)
                poller.start(self._sink)
            return

    def _log_in(self) -> tuple[Target, Connection | None]:
        """The target with its password, and a connection; none where it cannot be reached now."""
        try:
            return log_in(self._target, POLL, (from_keyring,))
        except PasswordNeeded:
            raise
        except QmonError:
            return self._target, None

    def _sink(self, event: Event) -> None:
        if isinstance(event, SourceState):
            self._phase, self._problem = event.phase, event.reason
            self.recorder.changed(event)
        else:
            self._phase, self._problem = Phase.LIVE, ""
            view = None
            try:
                view = self._history.add(event)
            finally:  # what was read is recorded, whatever we make of it
                self.recorder.seen(event, view)
