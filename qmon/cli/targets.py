"""From what the user typed to a connection."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from qmon.cli.output import note
from qmon.errors import BadInput

if TYPE_CHECKING:
    from qmon.config.file import Config, Settings
    from qmon.engines.base import Connection, Engine, Target
    from qmon.model.layout.layout import Layout

DEADLINE_S: Final = 15.0
LOCK_WAIT_S: Final = 1.0


@dataclass(frozen=True, slots=True)
class Opened:
    """A connected target, the queues that the configuration names for it, and that configuration."""

    target: Target
    engine: Engine
    connection: Connection
    configured: tuple[Layout, ...]
    config: Config


def chosen(text: str, path: Path | None) -> tuple[Target, tuple[Layout, ...], Config]:
    """The target that the user means, its configured queues, and the configuration; warnings go to standard error.

    Raises ``BadInput`` for what cannot be a target. Nothing is connected.
    """
    from qmon import log
    from qmon.config.file import read_config
    from qmon.config.targets import choose
    from qmon.redact import redactor

    config = read_config(path)
    log.also_cover(redactor(config.settings.redact))
    found = choose(text, config)
    for warning in found.warnings:
        note(f"qmon: {warning}")
    return found.target, found.queues, config


def checked(text: str, path: Path | None, purpose: str) -> tuple[Target, tuple[Layout, ...], Settings]:
    """The target with the password it needs, its configured queues, and the settings.

    Connects once, to ask for a password before a screen takes the terminal; a target that cannot be reached now is no
    error here, since whoever watches it says so and tries again. Raises ``BadInput``, ``MissingDriver`` and, without a
    password, ``PasswordNeeded``.
    """
    from qmon.config.secrets import unlock
    from qmon.engines.base import Session
    from qmon.engines.registry import engine_for
    from qmon.errors import PasswordNeeded, Unreachable

    target, configured, config = chosen(text, path)
    try:
        target, connection = unlock(target, lambda known: engine_for(known).connect(known, Session(purpose)))
        connection.close()
    except PasswordNeeded:
        raise
    except Unreachable:
        pass
    return target, configured, config.settings


def refuse_read_only(target: Target) -> None:
    """Raise ``BadInput`` where the configuration says that nothing may be changed on this target."""
    if target.read_only:
        raise BadInput(f"{target.name} is read-only: qmon.toml says read_only = true; nothing was changed")


@contextlib.contextmanager
def opened(
    text: str, path: Path | None, purpose: str, *, read_only: bool = True, writes: bool = False
) -> Iterator[Opened]:
    """Connect for one command; asks for a password where the server wants one. Closes at the end.

    ``read_only``: nothing is changed here; what does is refused on a target that is configured read-only. ``writes``:
    the command changes something, if not here: on a standby it is refused at once.
    Raises what choosing and connecting raise: ``BadInput``, ``MissingDriver``, ``Unreachable``.
    """
    from qmon.config.secrets import unlock
    from qmon.engines.base import Session
    from qmon.engines.registry import engine_for

    target, configured, config = chosen(text, path)
    if not read_only:
        refuse_read_only(target)
    session = Session(
        purpose,
        statement_timeout_s=DEADLINE_S,
        lock_timeout_s=LOCK_WAIT_S,
        read_only=read_only,
        writes=writes or not read_only,
    )

    def connect(known: Target) -> tuple[Engine, Connection]:
        engine = engine_for(known)
        return engine, engine.connect(known, session)

    target, (engine, connection) = unlock(target, connect)
    try:
        yield Opened(target, engine, connection, configured, config)
    finally:
        connection.close()
