"""Shows the dashboard with data from a ``qmon serve`` instead of a database."""

from __future__ import annotations

import socket
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from qmon.cli.output import print_note
from qmon.errors import ConnectionFailed, PasswordNeeded, WrongPassword

if TYPE_CHECKING:
    from qmon.stream.serve_address import ServeAddress
    from qmon.stream.served_source import ServedSource


def is_served(target: str) -> bool:
    """Return true if the target is a URL of a ``qmon serve``."""
    return target.strip().lower().startswith(("http://", "https://"))


def show_served(url: str, path: Path | None, ca: Path | None, *, in_browser: bool = False) -> int:
    """Show the polls of the ``qmon serve`` at a URL until the user quits. Return the exit code.

    Raises ``PasswordNeeded``. Raises ``BadInput`` if the URL or a file cannot be used. If the server is unreachable,
    the screen opens and retries. ``in_browser``: ``qmon serve --web`` on this machine shows the screen, and preferences
    are forgotten when it ends.
    """
    from qmon import log
    from qmon.cli.alerting_setup import alerting_for
    from qmon.cli.dashboard_past import target_past
    from qmon.config.config_file import read_config
    from qmon.config.preferences import Preferences, read_preferences
    from qmon.monitor.state.target_history import TargetHistory
    from qmon.redact import build_redactor
    from qmon.stream.serve_address import parse_address
    from qmon.tui import DashboardTarget, redacting_fold, run

    config = read_config(path)
    redact = build_redactor(config.settings.redact)
    log.add_cover(redact)
    address = parse_address(url, ca, "the command line")
    source = _open_source(address)
    try:
        past = target_past(source.target, config, None)
        fold = redacting_fold(TargetHistory(baselines=lambda: past.baselines).record_snapshot, redact)
        return run(
            [DashboardTarget(source, fold, environment=source.environment, past=past)],
            dark=config.settings.theme != "light",
            alerting=alerting_for([source.target], config),  # the server notifies the receivers
            served=socket.gethostname() if in_browser else address.host_and_port,
            preferences=Preferences() if in_browser else read_preferences(),
            in_browser=in_browser,
        )
    finally:
        source.close()


def _open_source(address: ServeAddress) -> ServedSource:
    """Return the source, connected unless the server is unreachable."""
    from qmon.config.credentials import command_line_warning, password_from_environment, retry_with_password
    from qmon.engines.base import Target
    from qmon.stream.reading import OpenStream
    from qmon.stream.served_source import ServedSource

    if address.password is not None:
        print_note(f"qmon: {command_line_warning(address.host_and_port)}")
    target = Target(address.host_and_port, None, {}, password=address.password)
    target = replace(target, password=target.password or password_from_environment(target))

    def connect(target: Target) -> OpenStream:
        return OpenStream(replace(address, password=target.password), time.monotonic)

    try:
        target, stream = retry_with_password(target, connect)
    except (PasswordNeeded, WrongPassword):
        raise
    except ConnectionFailed:
        return ServedSource(replace(address, password=target.password))
    return ServedSource(replace(address, password=target.password), stream)
