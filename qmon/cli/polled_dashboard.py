"""Shows the dashboard for targets that it polls itself. Each target has its own poller, history and operator."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from qmon.cli.guard import FAILED
from qmon.cli.output import print_note

if TYPE_CHECKING:
    from qmon.cli.target_session import ChosenTarget
    from qmon.config.preferences import Preferences
    from qmon.engines.base import Target
    from qmon.monitor.source import SnapshotSource
    from qmon.operate.context import OperatorContext
    from qmon.tui.watched_target import DashboardTarget


def show_target(
    chosen: ChosenTarget,
    typed: str,
    interval: float | None,
    read_only: bool,
    record: Path | None,
    preferences: Preferences,
    first_queue: str,
) -> int:
    """Show one target until the user quits. Return the exit code, which is 1 if the recording stopped.

    ``typed``: the text with which the user named the target. The screen of ``first_queue`` opens first, if given.
    Raises the errors of ``log_in_for_polling``, and ``BadInput`` if recording is impossible.
    """
    from qmon.cli.alerting_setup import screen_alerting
    from qmon.cli.target_session import log_in_for_polling
    from qmon.engines.registry import engine_for
    from qmon.monitor.open import open_poller, resolver_for
    from qmon.tui import run
    from qmon.tui.configuration.followed_config import FollowedConfig

    found, connection = log_in_for_polling(chosen)
    known, settings = found.target, found.config.settings
    interval_s = interval or preferences.target_preferences(known.name).interval_s or settings.interval_s
    poller = open_poller(known, found.configured, interval_s=interval_s, first=connection)
    poller.begin_polling()  # starts reading while the screen loads
    targets: list[DashboardTarget] = []

    def show() -> int:
        targets.append(open_dashboard_target(found, poller, read_only=read_only, record=record))
        attach_operator(targets[0], found.operator_context(read_only=read_only))
        return run(
            targets,
            alerting=screen_alerting([known.name], found.config),
            dark=settings.theme != "light",
            preferences=preferences,
            first_queue=first_queue,
            followed=FollowedConfig(
                found.config, typed, known, lambda queues: poller.set_resolver(resolver_for(engine_for(known), queues))
            ),
        )

    try:
        return run_recorded(targets, show)
    except BaseException:
        poller.close()
        raise


def show_fleet(
    chosen_targets: Sequence[ChosenTarget],
    interval: float | None,
    read_only: bool,
    record: Path | None,
    preferences: Preferences,
) -> int:
    """Show these targets until the user quits. Return the exit code, which is 1 if a recording stopped.

    Never prompts for a password. If a password is missing, the target is shown as lost, with advice on how to store the
    password. Raises ``BadInput`` before the dashboard opens if recording is impossible.
    """
    from qmon.cli.alerting_setup import screen_alerting
    from qmon.tui import require_terminal, run

    require_terminal()
    settings = chosen_targets[0].config.settings
    targets: list[DashboardTarget] = []

    def show() -> int:
        for each in chosen_targets:
            interval_s = interval or preferences.target_preferences(each.target.name).interval_s or settings.interval_s
            targets.append(_open_fleet_target(each, interval_s, read_only=read_only, record=record))
        return run(
            targets,
            alerting=screen_alerting([each.target.name for each in chosen_targets], chosen_targets[0].config),
            dark=settings.theme != "light",
            preferences=preferences,
        )

    return run_recorded(targets, show)


def _open_fleet_target(
    chosen: ChosenTarget, interval_s: float, *, read_only: bool, record: Path | None
) -> DashboardTarget:
    from qmon.monitor.headless import HeadlessPoller

    def use_operator(target: Target) -> None:
        """Attach the operator, which needs the password that ``target`` contains."""
        attach_operator(made, replace(chosen, target=target).operator_context(read_only=read_only))

    source = HeadlessPoller(chosen.target, chosen.configured, interval_s=interval_s, on_open=use_operator)
    made = open_dashboard_target(chosen, source, read_only=read_only, record=record)
    return made


def open_dashboard_target(
    chosen: ChosenTarget, source: SnapshotSource, *, read_only: bool, record: Path | None
) -> DashboardTarget:
    """Return a target for the dashboard, which is recorded below ``record`` if given.

    Raises ``BadInput`` if ``record`` is not writable.
    """
    from qmon.cli.dashboard_past import target_past
    from qmon.monitor.state.target_history import TargetHistory
    from qmon.redact import build_redactor
    from qmon.tui import DashboardTarget, redacting_fold

    target, settings = chosen.target, chosen.config.settings
    redact, past = build_redactor(settings.redact), target_past(target.name, chosen.config, record)
    history = TargetHistory(settings.budget_percent / 100, baselines=lambda: past.baselines)
    fold = redacting_fold(history.record_snapshot, redact)
    recorder = None
    if record is not None:
        from qmon.recording.write.recorder import Recorder
        from qmon.recording.write.recording_source import RecordingSource

        recorder = Recorder(
            record, target.name, interval_s=source.interval_s, redact=redact, environment=target.environment
        )
        source = RecordingSource(source, fold, recorder)
        fold = source.fold
    return DashboardTarget(
        source,
        fold,
        prod=target.prod,
        read_only=read_only or target.read_only,
        environment=target.environment,
        recorder=recorder,
        past=past,
    )


def attach_operator(target: DashboardTarget, context: OperatorContext) -> None:
    """Let the dashboard act on a target, and record the target's operations if the target is recorded."""
    from qmon.tui import ActionRunner

    target.runner = ActionRunner(context)
    if target.recorder is not None:
        target.recorder.watch_operations(context)


def run_recorded(targets: Sequence[DashboardTarget], show: Callable[[], int]) -> int:
    """Run ``show``, then close the recordings of ``targets``. Return its exit code, or 1 if a recording stopped."""
    try:
        code = show()
    finally:
        ended = [(each.name, each.recorder.close()) for each in targets if each.recorder is not None]
        for name, status in ended:
            if status.stopped:
                print_note(f"qmon: {name}: {status.stopped_text}")
    return code or (FAILED if any(status.stopped for _, status in ended) else 0)
