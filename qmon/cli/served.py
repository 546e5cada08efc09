"""The dashboard over a ``qmon serve`` in place of a database."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from qmon.cli.output import note
from qmon.errors import PasswordNeeded, Unreachable, WrongPassword

if TYPE_CHECKING:
    from qmon.stream.address import ServeAddress
    from qmon.stream.source import ServedSource


def is_served(target: str) -> bool:
    """Whether the user names a target of a ``qmon serve``."""
    return target.strip().lower().startswith(("http://", "https://"))


def show(url: str, path: Path | None, ca: Path | None, baselines: Path | None, theme: str | None) -> int:
    """Show what the ``qmon serve`` at a URL polls until the user leaves; returns the exit code.

    Raises ``BadInput`` where it cannot be, ``PasswordNeeded``; a serve that cannot be reached now is tried again on the
    screen.
    """
    from qmon import log
    from qmon.cli.notices import alerting_for
    from qmon.cli.past import of_target
    from qmon.config.file import read_config
    from qmon.config.preferences import remembered
    from qmon.monitor.state.target import TargetHistory
    from qmon.redact import redactor
    from qmon.stream.address import read_address
    from qmon.tui import redacted, run

    config = read_config(path)
    redact = redactor(config.settings.redact)
    log.also_cover(redact)
    address = read_address(url, ca, "the command line")
    source = _opened(address)
    try:
        return run(
            source,
            redacted(TargetHistory().add, redact),
            environment=source.environment,
            dark=(theme or config.settings.theme) != "light",
            alerting=alerting_for(source.target, config),  # the serve tells the receivers
            known=of_target(source.target, config, baselines, None),
            served=address.place,
            preferences=remembered(use_theme=theme is None),
        )
    finally:
        source.close()


def _opened(address: ServeAddress) -> ServedSource:
    """The source with its connection, or without one where the serve cannot be reached."""
    from qmon.config.secrets import from_environment, on_the_command_line, unlock
    from qmon.engines.base import Target
    from qmon.stream.reading import OpenStream
    from qmon.stream.source import ServedSource

    if address.password is not None:
        note(f"qmon: {on_the_command_line(address.place)}")
    target = Target(address.place, None, {}, password=address.password)
    target = replace(target, password=target.password or from_environment(target))

    def connect(known: Target) -> OpenStream:
        return OpenStream(replace(address, password=known.password), time.monotonic)

    try:
        target, stream = unlock(target, connect)
    except (PasswordNeeded, WrongPassword):
        raise
    except Unreachable:
        return ServedSource(replace(address, password=target.password))
    return ServedSource(replace(address, password=target.password), stream)
