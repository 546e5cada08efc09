"""Runs the dashboard in this terminal and ends it when the terminal is lost."""

from __future__ import annotations

import os
import sys
import time
from functools import partial
from typing import TYPE_CHECKING, Final

from qmon.errors import BadInput
from qmon.tui.daemon_thread import start_daemon

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from qmon.config.preferences import Preferences
    from qmon.demo.story import TourStep
    from qmon.monitor.alerting import Alerting, FleetAlerting
    from qmon.monitor.source import SnapshotSource
    from qmon.recording.write.recorder import Recorder
    from qmon.tui.action_runner import ActionRunner
    from qmon.tui.app import QmonApp
    from qmon.tui.configuration.followed_config import FollowedConfig
    from qmon.tui.feed import Fold
    from qmon.tui.fleet.member import FleetTarget
    from qmon.tui.past_reader import KnownPast

_SOURCE_CLOSE_S: Final = 0.5
_OPERATION_STOP_S: Final = 5.0
_NOTICE_DELIVERY_S: Final = 2.0


def run(
    source: SnapshotSource,
    fold: Fold,
    *,
    prod: bool = False,
    read_only: bool = False,
    environment: str = "",
    dark: bool = True,
    for_s: float | None = None,
    runner: ActionRunner | None = None,
    alerting: Alerting | None = None,
    recorder: Recorder | None = None,
    known: KnownPast | None = None,
    served: str = "",
    told: Callable[[], TourStep] | None = None,
    followed: FollowedConfig | None = None,
    preferences: Preferences | None = None,
    first_queue: str = "",
    in_browser: bool = False,
) -> int:
    """Show the events of ``source`` until the user quits, or for ``for_s`` seconds. Return the exit code.

    This function starts and closes the source. ``fold`` is called on the source's thread, once per snapshot. When the
    user quits, a running operation of ``runner`` is stopped after its batch, or after five seconds. Queued notices of
    ``alerting`` are sent for up to two seconds. If a source is stuck in a poll and does not close within half a second,
    it ends with the process.

    A ``source`` that is a ``Replay`` is shown with the keys of a replay. ``followed`` is the configuration, which the
    app reloads and writes. The screen of ``first_queue`` opens first, if given. ``in_browser``: there is no terminal,
    because the program at the other end of our standard input shows the screen in a browser. Then nothing is written to
    files. The other arguments are those of ``QmonApp``.

    Raises:
        BadInput: there is no terminal.
    """
    if not in_browser:
        _prepare_terminal()
    app = _app_for(source, followed)(
        source,
        fold,
        prod=prod,
        read_only=read_only,
        environment=environment,
        dark=dark,
        for_s=for_s,
        runner=runner,
        alerting=alerting,
        recorder=recorder,
        known=known,
        served=served,
        told=told,
        preferences=preferences,
    )
    app.first_queue = first_queue
    app.can_write_files = not in_browser
    return _run_app(app, [source], lambda: [runner], alerting)


def run_fleet(
    targets: Sequence[FleetTarget],
    *,
    alerting: FleetAlerting | None = None,
    dark: bool = True,
    for_s: float | None = None,
    preferences: Preferences | None = None,
) -> int:
    """Show several targets in the same way as ``run`` shows one. The arguments are those of ``FleetApp``."""
    _prepare_terminal()
    from qmon.tui.fleet.fleet_app import FleetApp

    app = FleetApp(targets, alerting=alerting, dark=dark, for_s=for_s, preferences=preferences)
    return _run_app(app, [each.source for each in targets], lambda: [each.runner for each in targets], alerting)


def _prepare_terminal() -> None:
    require_terminal()
    for name in ("COLUMNS", "LINES"):  # these variables would override the terminal's real size, even after a resize
        os.environ.pop(name, None)


def _run_app(
    app: QmonApp,
    sources: Sequence[SnapshotSource],
    runners: Callable[[], Sequence[ActionRunner | None]],
    alerting: Alerting | FleetAlerting | None,
) -> int:
    """Run the app, then close its runners, alerting and sources. Return the exit code."""
    from qmon.tui.hangup import Hangup, is_input_open, is_terminal_alive
    from qmon.tui.sanitize import clean

    try:
        with Hangup(app, is_terminal_alive if app.can_write_files else is_input_open) as hangup:
            app.run()
        if app.failure_text:
            print(f"qmon: {clean(app.failure_text)}", file=sys.stderr)
    finally:
        _run_in_parallel([partial(runner.close, _OPERATION_STOP_S) for runner in runners() if runner is not None], None)
        if alerting is not None:
            for line in alerting.close(_NOTICE_DELIVERY_S):
                print(f"qmon: {clean(line)}", file=sys.stderr)
        _run_in_parallel([source.close for source in sources], _SOURCE_CLOSE_S)
    return hangup.code or app.return_code or 0


def _run_in_parallel(calls: Sequence[Callable[[], object]], patience_s: float | None) -> None:
    """Run all calls in parallel on threads, and wait until they end, or at most ``patience_s`` seconds."""
    threads = [start_daemon(call, "qmon-close") for call in calls]
    until = None if patience_s is None else time.monotonic() + patience_s
    for thread in threads:
        thread.join(None if until is None else max(0.0, until - time.monotonic()))


def _app_for(source: SnapshotSource, followed: FollowedConfig | None) -> Callable[..., QmonApp]:
    """Return the class of the dashboard: ``QmonApp``, the class with a configuration, or the class for replays."""
    from qmon.recording.read.replay import Replay
    from qmon.tui.app import QmonApp

    if followed is not None:
        from qmon.tui.configuration.configured_app import ConfiguredApp

        return partial(ConfiguredApp, followed=followed)
    if not isinstance(source, Replay):
        return QmonApp
    from qmon.tui.replay.replay_app import ReplayApp

    return ReplayApp


def require_terminal(alternative: str = "`qmon status` prints the same figures without one") -> None:
    """Raise ``BadInput`` if there is no terminal. ``alternative``: advice for use without a terminal."""
    streams = {"input": sys.__stdin__, "output": sys.__stdout__, "error": sys.__stderr__}
    for name, stream in streams.items():
        if stream is None or not stream.isatty():
            raise BadInput(f"standard {name} is not a terminal; {alternative}")
