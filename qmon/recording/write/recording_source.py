"""Records the data that the dashboard shows: passes on the events and views of a source, and records them."""

from __future__ import annotations

from collections.abc import Callable

from qmon.model.snapshot import Snapshot
from qmon.model.view import View
from qmon.monitor.source import Event, ReadScope, Sink, SnapshotSource, SourceState
from qmon.recording.write.recorder import Recorder


class RecordingSource:
    """A source that is recorded. Implements ``SnapshotSource``. Callers must use its ``fold`` to fold its snapshots."""

    def __init__(self, source: SnapshotSource, fold: Callable[[Snapshot], View], recorder: Recorder) -> None:
        self._source = source
        self._fold = fold
        self._recorder = recorder

    @property
    def target(self) -> str:
        """The target's name, free of secrets."""
        return self._source.target

    @property
    def interval_s(self) -> float:
        """Requested seconds between polls."""
        return self._source.interval_s

    def fold(self, snapshot: Snapshot) -> View:
        """Return the view of a snapshot, and record both. If folding fails, only the snapshot is recorded."""
        view = None
        try:
            view = self._fold(snapshot)
        finally:
            self._recorder.record_snapshot(snapshot, view)
        return view

    def start(self, sink: Sink) -> None:
        """Start the source. ``sink`` gets every snapshot and phase change."""

        def record_and_forward(event: Event) -> None:
            if isinstance(event, SourceState):
                self._recorder.record_state(event)
            sink(event)

        self._source.start(record_and_forward)

    def poll_now(self, changed: str = "", *, include_throttled: bool = False) -> None:
        """Poll as soon as the current poll has ended."""
        self._source.poll_now(changed, include_throttled=include_throttled)

    def set_interval(self, seconds: float) -> None:
        """Poll every ``seconds`` from now on."""
        self._source.set_interval(seconds)

    def set_focus(self, focus: ReadScope) -> None:
        """Set the current screen."""
        self._source.set_focus(focus)

    def count_exactly(self, queue: str) -> None:
        """Request an exact count of one queue."""
        self._source.count_exactly(queue)

    def close(self) -> None:
        self._source.close()
