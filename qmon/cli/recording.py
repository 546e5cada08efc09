"""``qmon connect --record``: the dashboard's figures recorded while they are shown."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final

from qmon.cli.output import note

if TYPE_CHECKING:
    from qmon.model.snapshot import Snapshot
    from qmon.model.view import View
    from qmon.monitor.source import SnapshotSource
    from qmon.operate.context import OperatorContext
    from qmon.recording.write.recorder import Recorder

_STOPPED: Final = 1


def run_recorded(
    source: SnapshotSource,
    fold: Callable[[Snapshot], View],
    context: OperatorContext,
    to: Path | None,
    show: Callable[[SnapshotSource, Callable[[Snapshot], View], Recorder | None], int],
) -> int:
    """Show a source, and record it below ``to`` if that is given; returns the exit code, 1 where recording stopped.

    Raises ``BadInput`` where nothing can be written there, before anything is shown.
    """
    if to is None:
        return show(source, fold, None)
    from qmon.recording.write.operations import OperationsWatch
    from qmon.recording.write.recorder import Recorder
    from qmon.recording.write.tee import RecordingSource

    target = context.target
    recorder = Recorder(
        to, target.name, interval_s=source.interval_s, redact=context.redact, environment=target.environment
    )  # fmt: skip
    operations = OperationsWatch(context, recorder)
    taped = RecordingSource(source, fold, recorder)
    try:
        code = show(taped, taped.fold, recorder)
    finally:
        operations.close()
        status = recorder.close()
        if status.stopped:
            note(f"qmon: recording stopped after {status.snapshots:,} snapshots: {status.stopped}")
    return code or (_STOPPED if status.stopped else 0)
