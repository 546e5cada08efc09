"""One target that is recorded without a screen: its poller, its history, its recorder, and its operations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from qmon.engines.base import Target
from qmon.model.groups.configured import ConfiguredQueue
from qmon.model.view import View
from qmon.monitor.headless import HeadlessPoller
from qmon.monitor.source import Event, Phase, Sink, SourceState
from qmon.monitor.state.target import TargetHistory
from qmon.operate.open import open_context
from qmon.recording.write.operations import OperationsWatch
from qmon.recording.write.recorder import Recorder, Status


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
        told: takes each view and each change of phase, on other threads, and returns at once.
        read: takes each poll as it was read and each change of phase, before ``told``, likewise.

    Raises ``BadInput`` where nothing can be written to the folder.
    """

    def __init__(
        self,
        target: Target,
        layouts: Sequence[ConfiguredQueue],
        root: Path,
        *,
        interval_s: float,
        redact: Callable[[str], str] = lambda text: text,
        payloads: bool = False,
        told: Callable[[View | SourceState], object] = lambda _: None,
        read: Sink = lambda _: None,
    ) -> None:
        self._read = read
        self._target = target
        self._history = TargetHistory()
        self._told = told
        self._phase, self._problem = Phase.CONNECTING, ""
        self._operations: OperationsWatch | None = None
        self.recorder = Recorder(
            root, target.name, interval_s=interval_s, redact=redact, payloads=payloads, environment=target.environment
        )
        self._poller = HeadlessPoller(target, layouts, interval_s=interval_s, opened=self._opened)
        self._poller.start(self._sink)

    @property
    def status(self) -> RecordingStatus:
        """The status now."""
        return RecordingStatus(self._target.name, self._phase, self._problem, self.recorder.status)

    def close(self, reason: str) -> RecordingStatus:
        """End: no more polls, the segment sealed. Waits some seconds at most."""
        self._poller.close()
        if self._operations is not None:
            self._operations.close()
        self.recorder.close(reason)
        return self.status

    def _opened(self, target: Target) -> None:
        self._operations = OperationsWatch(open_context(target), self.recorder)

    def _sink(self, event: Event) -> None:
        self._read(event)
        if isinstance(event, SourceState):
            self._phase, self._problem = event.phase, event.reason
            self.recorder.changed(event)
            self._told(event)
        else:
            self._phase, self._problem = Phase.LIVE, ""
            view = None
            try:
                view = self._history.add(event)
            finally:  # what was read is recorded, whatever we make of it
                self.recorder.seen(event, view)
            self._told(view)
