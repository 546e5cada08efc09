"""Makes the context that operations are done from, for the commands and for the dashboard alike."""

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

# Seconds after which a statement of an operation is given up; an exact count of a long table is the slowest.
STATEMENT_S: Final = 120.0
LOCK_WAIT_S: Final = 5.0
# Of a connection that reads one message: it waits for nobody for long.
MESSAGE: Final = Session("message", statement_timeout_s=5.0, lock_timeout_s=0.5, read_only=True)
# Purposes that change nothing, and so can be served by a standby.
_READS: Final = frozenset({"operations", "pauses", "record"})


class Connections:
    """Connects for operations, and remembers what is open, so that a statement under way can be cancelled."""

    def __init__(self, engine: Engine, target: Target) -> None:
        self._engine = engine
        self._target = target
        self._open: list[Connection] = []
        self._lock = threading.Lock()

    def __call__(self, purpose: str) -> Connection:
        """Open one; raises what connecting raises."""
        session = (
            MESSAGE
            if purpose == MESSAGE.purpose
            else Session(
                purpose, statement_timeout_s=STATEMENT_S, lock_timeout_s=LOCK_WAIT_S, writes=purpose not in _READS
            )
        )
        try:
            made = self._engine.connect(self._target, session)
        except NoConnectionLeft as problem:
            raise NoConnectionLeft(f"{problem}; acting needs a connection beside those that watch") from None
        with self._lock:
            self._open.append(made)
        return made

    def cancel(self) -> None:
        """Ask the server to end the statements under way on what was opened here; from any thread, without waiting."""
        for connection in self._opened():
            threading.Thread(target=connection.cancel, name="qmon-act-cancel", daemon=True).start()

    def abandon(self) -> None:
        """Never wait again for what was opened here: statements under way raise ``ConnectionLost`` at once."""
        for connection in self._opened():
            connection.abandon()

    def _opened(self) -> tuple[Connection, ...]:
        with self._lock:
            return tuple(self._open)


def open_context(
    target: Target,
    *,
    read_only: str | None = None,
    redact: Callable[[str], str] = lambda text: text,
    trash_days: float = 7.0,
) -> OperatorContext:
    """The context for one target; nothing is connected, except to a DSN of which only the server can tell what it is.

    ``read_only``: why nothing may be changed; a target that is configured so needs no further word.
    """
    engine = engine_for(target)
    why = read_only or read_only_by(target)
    return OperatorContext(Connections(engine, target), engine, target, who(), why, redact, trash_days)


def read_only_by(target: Target) -> str | None:
    """Why the configuration lets nothing be changed on a target; ``None``: it does."""
    return f"{target.name} is read-only: qmon.toml says read_only = true" if target.read_only else None


def with_own_connections(context: OperatorContext) -> tuple[OperatorContext, Connections]:
    """The same context with connections of its own, and those: to cancel one operation without touching another."""
    connections = Connections(context.engine, context.target)
    return replace(context, connect=connections), connections


def who() -> str:
    """The account on this machine, such as ``anna@app-7``."""
    try:
        user = getpass.getuser()
    except (KeyError, OSError):  # a container's user without a name
        user = "somebody"
    return f"{user}@{socket.gethostname() or 'localhost'}"
