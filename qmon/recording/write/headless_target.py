"""Watches one target without a screen: poller, history, and the recorder if the target is recorded."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from qmon.engines.base import Target
from qmon.model.baseline_bands import NO_BASELINES, Baselines
from qmon.model.groups.configured_queue import ConfiguredQueue
from qmon.model.snapshot import Snapshot
from qmon.model.view import View
from qmon.monitor.headless import HeadlessPoller
from qmon.monitor.source import Event, Phase, Sink, SourceState
from qmon.monitor.state.target_history import TargetHistory
from qmon.operate.operator_context import create_context
from qmon.recording.write.recorder import Recorder, RecorderStatus


@dataclass(frozen=True, slots=True)
class TargetRecordingStatus:
    """The state of one target.

    ``problem``: why no data arrives, or an empty text. ``missing``: requested queues that the newest poll did not find.
    """

    target: str
    phase: Phase
    problem: str
    recording: RecorderStatus
    missing: tuple[str, ...] = ()


class HeadlessTarget:
    """Polls one target until closed, and can record it. Errors of one target do not affect other targets.

    Args:
        target: the target. Its password comes from its configured source, never from a prompt.
        configured: the configured queues.
        recordings_folder: the folder of all recordings; ``None`` to record nothing.
        interval_s: seconds between polls.
        redact, record_payloads: as for ``Recorder``.
        queues: names of the queues to record; empty for all.
        on_view: called with each view and phase change, on other threads. Must return immediately.
        baselines: returns the current baselines without waiting.
        on_event: called with each snapshot and phase change, before ``on_view``, on other threads. Must return
            immediately.

    Raises ``BadInput`` if the folder is not writable.
    """

    def __init__(
        self,
        target: Target,
        configured: Sequence[ConfiguredQueue],
        recordings_folder: Path | None,
        *,
        interval_s: float,
        redact: Callable[[str], str] = lambda text: text,
        record_payloads: bool = False,
        queues: Collection[str] = (),
        baselines: Callable[[], Baselines] = lambda: NO_BASELINES,
        on_view: Callable[[View | SourceState], object] = lambda _: None,
        on_event: Sink = lambda _: None,
    ) -> None:
        self._on_event = on_event
        self._queues = frozenset(queues)
        self._missing: tuple[str, ...] = ()
        self._target = target
        self._history = TargetHistory(baselines=baselines)
        self._on_view = on_view
        self._phase, self._problem = Phase.CONNECTING, ""
        self.recorder: Recorder | None = None
        if recordings_folder is not None:
            self.recorder = Recorder(
                recordings_folder,
                target.name,
                interval_s=interval_s,
                redact=redact,
                record_payloads=record_payloads,
                environment=target.environment,
                rows_files=True,
            )
        self._poller = HeadlessPoller(target, configured, interval_s=interval_s, on_open=self._watch_operations)
        self._poller.start(self._handle_source_update)

    @property
    def status(self) -> TargetRecordingStatus:
        recording = RecorderStatus() if self.recorder is None else self.recorder.status
        return TargetRecordingStatus(self._target.name, self._phase, self._problem, recording, self._missing)

    def close(self, reason: str) -> TargetRecordingStatus:
        """Stop polling and seal the segment. Waits a few seconds at most."""
        self._poller.close()
        if self.recorder is not None:
            self.recorder.close(reason)
        return self.status

    def _watch_operations(self, target: Target) -> None:
        if self.recorder is not None:
            self.recorder.watch_operations(create_context(target))

    def _handle_source_update(self, event: Event) -> None:
        self._on_event(event)
        if isinstance(event, SourceState):
            self._phase, self._problem = event.phase, event.reason
            if self.recorder is not None:
                self.recorder.record_state(event)
            self._on_view(event)
        else:
            self._phase, self._problem = Phase.LIVE, ""
            view = None
            try:
                view = self._history.record_snapshot(event)
            finally:  # record the snapshot even if folding fails
                self._record_requested_queues(event, view)
            self._on_view(view)

    def _record_requested_queues(self, snapshot: Snapshot, view: View | None) -> None:
        """Record a poll. If queues were requested, record only these; alerts always use the whole poll."""
        if self.recorder is None:
            return
        if self._queues:
            found = {samples.layout.queue for samples in snapshot.queues}
            self._missing = tuple(sorted(self._queues - found))
            snapshot = snapshot.only_queues(self._queues)
            view = view.only_queues(self._queues) if view is not None else None
        self.recorder.record_snapshot(snapshot, view)
