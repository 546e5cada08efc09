"""Runs the dashboard in this terminal and ends it when the terminal is lost."""

from __future__ import annotations

import os
import sys
import time
from functools import partial
from typing import TYPE_CHECKING, Final

from qmon.errors import BadInput
from qmon.texts import Text
from qmon.tui.daemon_thread import start_daemon

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from qmon.config.preferences import Preferences
    from qmon.demo.story import TourStep
    from qmon.monitor.alerting import Alerting
    from qmon.tui.app import QmonApp
    from qmon.tui.configuration.followed_config import FollowedConfig
    from qmon.tui.watched_target import DashboardTarget

_SOURCE_CLOSE_S: Final = 0.5
_OPERATION_STOP_S: Final = 5.0
_NOTICE_DELIVERY_S: Final = 2.0


class TerminalText(Text):
    """Why the dashboard cannot start."""

    NO_TERMINAL = "standard {stream} is not a terminal; {alternative}"
    USE_STATUS = "`qmon status` prints the same figures without one"


def run(
    targets: Sequence[DashboardTarget],
    *,
    dark: bool = True,
    for_s: float | None = None,
    alerting: Alerting | None = None,
    served: str = "",
    tour_step: Callable[[], TourStep] | None = None,
    followed: FollowedConfig | None = None,
    preferences: Preferences | None = None,
    first_queue: str = "",
    in_browser: bool = False,
) -> int:
    """Show the targets until the user quits, or for ``for_s`` seconds. Return the exit code.

    This function starts and closes the sources. When the user quits, running operations are stopped after their
    batches, or after five seconds. Queued notices of ``alerting`` are sent for up to two seconds. If a source is stuck
    in a poll and does not close within half a second, it ends with the process.

    A source that is a ``Replay`` is shown with the keys of a replay. ``followed`` is the configuration, which the app
    reloads and writes. The screen of ``first_queue`` opens first, if given. ``in_browser``: there is no terminal,
    because the program at the other end of our standard input shows the screen in a browser. Then nothing is written to
    files. The other arguments are those of ``QmonApp``.

    Raises:
        BadInput: there is no terminal.
    """
    if not in_browser:
        require_terminal()
        for name in ("COLUMNS", "LINES"):  # these would override the terminal's real size, even after a resize
            os.environ.pop(name, None)
    app = _app_for(targets, followed)(
        *targets,
        dark=dark,
        for_s=for_s,
        alerting=alerting,
        served=served,
        tour_step=tour_step,
        preferences=preferences,
    )
    app.first_queue = first_queue
    app.can_write_files = not in_browser
    return _run_app(app, targets, alerting)


def _run_app(app: QmonApp, targets: Sequence[DashboardTarget], alerting: Alerting | None) -> int:
    """Run the app, then close its runners, alerting and sources. Return the exit code."""
    from qmon.tui.hangup import Hangup, is_input_open, is_terminal_alive
    from qmon.tui.sanitize import clean

    try:
        with Hangup(app, is_terminal_alive if app.can_write_files else is_input_open) as hangup:
            app.run()
        if app.failure_text:
            print(f"qmon: {clean(app.failure_text)}", file=sys.stderr)
    finally:
        runners = [each.runner for each in targets if each.runner is not None]
        _run_in_parallel([partial(runner.close, _OPERATION_STOP_S) for runner in runners], None)
        if alerting is not None:
            for line in alerting.close(_NOTICE_DELIVERY_S):
                print(f"qmon: {clean(line)}", file=sys.stderr)
        _run_in_parallel([each.source.close for each in targets], _SOURCE_CLOSE_S)
    return hangup.code or app.return_code or 0


def _run_in_parallel(calls: Sequence[Callable[[], object]], patience_s: float | None) -> None:
    """Run all calls in parallel on threads, and wait until they end, or at most ``patience_s`` seconds."""
    threads = [start_daemon(call, "qmon-close") for call in calls]
    until = None if patience_s is None else time.monotonic() + patience_s
    for thread in threads:
        thread.join(None if until is None else max(0.0, until - time.monotonic()))


def _app_for(targets: Sequence[DashboardTarget], followed: FollowedConfig | None) -> Callable[..., QmonApp]:
    """Return the class of the dashboard: for several targets, with a configuration, for a replay, or ``QmonApp``."""
    from qmon.recording.read.replay import Replay
    from qmon.tui.app import QmonApp

    if len(targets) > 1:
        from qmon.tui.fleet.fleet_app import FleetApp

        return FleetApp
    if followed is not None:
        from qmon.tui.configuration.configured_app import ConfiguredApp

        return partial(ConfiguredApp, followed=followed)
    if not isinstance(targets[0].source, Replay):
        return QmonApp
    from qmon.tui.replay.replay_app import ReplayApp

    return ReplayApp


def require_terminal(alternative: str = TerminalText.USE_STATUS) -> None:
    """Raise ``BadInput`` if there is no terminal. ``alternative``: advice for use without a terminal."""
    streams = {"input": sys.__stdin__, "output": sys.__stdout__, "error": sys.__stderr__}
    for name, stream in streams.items():
        if stream is None or not stream.isatty():
            raise BadInput(TerminalText.NO_TERMINAL.render(stream=name, alternative=alternative))
