"""Creates the context of operations, for the commands and for the dashboard."""

from __future__ import annotations

import getpass
import socket
import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from qmon.engines.base import Connection, Engine, Session, Target
from qmon.engines.registry import engine_for
from qmon.errors import NoConnectionLeft
from qmon.operate.context import OperatorContext
from qmon.texts import Text


class ContextText(Text):
    """Why an action cannot use a target."""

    OWN_CONNECTION = "{problem}; an action needs its own connection"
    READ_ONLY = "{target} is read-only: qmon.toml sets read_only = true"


# Statement timeout of operations, in seconds. The slowest statement counts all rows of a large table.
STATEMENT_TIMEOUT_S: Final = 120.0
LOCK_TIMEOUT_S: Final = 5.0

# The connection that reads one message gives up quickly instead of waiting for locks.
MESSAGE_SESSION: Final = Session("message", statement_timeout_s=5.0, lock_timeout_s=0.5, read_only=True)

# Connections for these purposes change nothing, so a standby can serve them.
_READ_ONLY_PURPOSES: Final = frozenset({"operations", "pauses", "record"})


class Connections:
    """Open connections for operations, and cancel the running statements of these connections on request."""

    def __init__(self, engine: Engine, target: Target) -> None:
        self._engine = engine
        self._target = target
        self._connections: list[Connection] = []
        self._lock = threading.Lock()

    def __call__(self, purpose: str) -> Connection:
        """Open a connection. Raises ``NoConnectionLeft`` and other errors of the server."""
        session = (
            MESSAGE_SESSION
            if purpose == MESSAGE_SESSION.purpose
            else Session(
                purpose,
                statement_timeout_s=STATEMENT_TIMEOUT_S,
                lock_timeout_s=LOCK_TIMEOUT_S,
                writes=purpose not in _READ_ONLY_PURPOSES,
            )
        )
        try:
            made = self._engine.connect(self._target, session)
        except NoConnectionLeft as problem:
            raise NoConnectionLeft(ContextText.OWN_CONNECTION.render(problem=problem)) from None
        with self._lock:
            self._connections.append(made)
        return made

    def cancel(self) -> None:
        """Ask the server to cancel the running statements, without waiting. Any thread may call this method."""
        for connection in self._all_connections():
            threading.Thread(target=connection.cancel, name="qmon-act-cancel", daemon=True).start()

    def abandon(self) -> None:
        """Stop waiting for these connections: running statements raise ``ConnectionLost`` at once."""
        for connection in self._all_connections():
            connection.abandon()

    def _all_connections(self) -> tuple[Connection, ...]:
        with self._lock:
            return tuple(self._connections)


def create_context(
    target: Target,
    *,
    read_only: str | None = None,
    redact: Callable[[str], str] = lambda text: text,
    trash_days: float = 7.0,
) -> OperatorContext:
    """Create the context for one target.

    For a DSN, this function connects to the server, because a DSN does not show which product the server is.
    ``read_only``: why nothing may be changed. This is not needed if the configuration makes the target read-only.
    """
    engine = engine_for(target)
    why = read_only or read_only_reason(target)
    return OperatorContext(Connections(engine, target), engine, target, user_at_host(), why, redact, trash_days)


def read_only_reason(target: Target) -> str | None:
    """Return why the configuration forbids changes to a target, or ``None`` if it allows them."""
    return ContextText.READ_ONLY.render(target=target.name) if target.read_only else None


def with_own_connections(context: OperatorContext) -> tuple[OperatorContext, Connections]:
    """Return a copy of the context that has its own connections, and these connections.

    A caller can cancel the statements of these connections without affecting other operations.
    """
    connections = Connections(context.engine, context.target)
    return replace(context, connect=connections), connections


def user_at_host() -> str:
    """Return the account on this machine, such as ``anna@app-7``."""
    try:
        user = getpass.getuser()
    except (KeyError, OSError):  # in a container, the user may have no name
        user = "somebody"
    return f"{user}@{socket.gethostname() or 'localhost'}"
