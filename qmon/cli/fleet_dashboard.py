"""Shows the dashboard for several targets. Each target has its own poller, history and operator."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from qmon.cli.guard import FAILED
from qmon.cli.output import print_note

if TYPE_CHECKING:
    from qmon.cli.target_session import ChosenTarget
    from qmon.config.preferences import Preferences
    from qmon.engines.base import Target
    from qmon.recording.write.operations_watch import OperationsWatch
    from qmon.recording.write.recorder import Recorder
    from qmon.tui.fleet.member import FleetTarget


def show_fleet(
    known: Sequence[ChosenTarget],
    interval: float | None,
    read_only: bool,
    record: Path | None,
    preferences: Preferences,
) -> int:
    """Show these targets until the user quits. Return the exit code, which is 1 if a recording stopped.

    Never prompts for a password. If a password is missing, the target is shown as lost, with advice on how to store the
    password. Raises ``BadInput`` before the dashboard opens if recording is impossible.
    """
    from qmon.cli.alerting_setup import fleet_alerting
    from qmon.tui import require_terminal, run_fleet

    require_terminal()
    settings = known[0].config.settings
    recordings: list[_Recording] = []
    try:
        targets = [
            _open_fleet_target(
                each,
                interval or preferences.target_preferences(each.target.name).interval_s or settings.interval_s,
                read_only,
                record,
                recordings,
            )
            for each in known
        ]
        code = run_fleet(
            targets,
            alerting=fleet_alerting([each.target.name for each in known], known[0].config),
            dark=settings.theme != "light",
            preferences=preferences,
        )
    finally:
        stopped = [recording.close() for recording in recordings]
    return code or (FAILED if any(stopped) else 0)


@dataclass(slots=True)
class _Recording:
    """The recording of one target. ``operations``: set once the target was reached."""

    target: str
    recorder: Recorder
    operations: OperationsWatch | None = None

    def close(self) -> bool:
        """Close the recording. Return true if the recording had already stopped."""
        if self.operations is not None:
            self.operations.close()
        status = self.recorder.close()
        if status.stopped:
            print_note(f"qmon: {self.target}: recording stopped after {status.snapshots:,} snapshots: {status.stopped}")
        return bool(status.stopped)


def _open_fleet_target(
    each: ChosenTarget,
    interval_s: float,
    read_only: bool,
    record: Path | None,
    recordings: list[_Recording],
) -> FleetTarget:
    from qmon.cli.dashboard_past import target_past
    from qmon.monitor.headless import HeadlessPoller
    from qmon.monitor.source import SnapshotSource
    from qmon.monitor.state.target_history import TargetHistory
    from qmon.redact import build_redactor
    from qmon.tui import ActionRunner, redacting_fold
    from qmon.tui.fleet.member import FleetTarget

    def create_action_runner(target: Target) -> None:
        """Create the action runner and the operations watch. Both need the password, which ``target`` contains."""
        context = replace(each, target=target).operator_context(read_only=read_only)
        made.runner = ActionRunner(context)
        if recording is not None and recording.operations is None:
            from qmon.recording.write.operations_watch import OperationsWatch

            recording.operations = OperationsWatch(context, recording.recorder)

    redact, name = build_redactor(each.config.settings.redact), each.target.name
    source: SnapshotSource = HeadlessPoller(
        each.target, each.configured, interval_s=interval_s, on_open=create_action_runner
    )
    past = target_past(name, each.config, record)
    history = TargetHistory(each.config.settings.budget_percent / 100, baselines=lambda: past.baselines)
    fold = redacting_fold(history.record_snapshot, redact)
    recording = None
    if record is not None:
        from qmon.recording.write.recorder import Recorder
        from qmon.recording.write.recording_source import RecordingSource

        recorder = Recorder(record, name, interval_s=interval_s, redact=redact, environment=each.target.environment)
        recording = _Recording(name, recorder)
        recordings.append(recording)
        source = RecordingSource(source, fold, recorder)
        fold = source.fold
    made = FleetTarget(
        source,
        fold,
        prod=each.target.prod,
        read_only=read_only or each.target.read_only,
        environment=each.target.environment,
        recorder=recording.recorder if recording is not None else None,
        known=past,
    )
    return made
