"""Detect whether a pooler gives us our own session, without changing any setting of the session.

A pool in session mode (pgbouncer's term) gives each client its own session. In transaction mode each transaction may
run in another session. In statement mode each statement may run in another session. In transaction and statement mode,
the settings of one client reach other clients.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Final

from qmon.engines.base import Bound, Connection
from qmon.engines.bounded_calls import BoundedCalls, CallTimeoutError
from qmon.errors import BadInput, QmonError
from qmon.texts import Text


class PoolerText(Text):
    """Errors of poolers."""

    SHARED_SESSIONS = (
        "{target}: the connection goes through a pooler in {mode} mode, which gives this session to "
        "other clients: connect to the server itself, or to a pool in session mode (pgbouncer: "
        "pool_mode = session)"
    )


_ROUNDS: Final = 4
_WAIT_S: Final = 2.0
_SECOND_CALLS: Final = BoundedCalls()


def check_session_mode(connection: Connection, second: Callable[[], Connection], process: Bound, target: str) -> None:
    """Raise ``BadInput`` if the pooler behind ``connection`` shares its sessions by transaction or statement.

    Without such a pooler, each of two idle connections keeps its own server process, so all checks find the same two
    processes. A pool with one process gives that process to both connections. A pool with several processes assigns
    other processes each time. If the first connection works but no second connection is available, the first connection
    owns its session, because otherwise the second connection would have received this session.

    ``second``: opens another connection, which this function closes again. ``process``: reads the id of the server
    process. Raises the error of the statement if the server does not answer the first connection.
    """
    try:
        with connection.transaction():
            firsts = {_read_process(connection, process)}
    except QmonError as problem:
        if "statement pooling" in str(problem):  # in the message with which pgbouncer disconnects
            raise _refusal_error(target, "statement") from None
        raise
    firsts |= {_read_process(connection, process) for _ in range(_ROUNDS)}
    seconds: set[int] = set()
    if len(firsts) == 1 and (other := _connect_second(second, target)) is not None:
        with contextlib.closing(other):
            for _ in range(_ROUNDS):
                seconds.add(_read_process(other, process))
                firsts.add(_read_process(connection, process))
    firsts.add(_read_process(connection, process))
    if len(firsts) > 1 or len(seconds) > 1 or firsts & seconds:
        raise _refusal_error(target, "transaction")


def _read_process(connection: Connection, process: Bound) -> int:
    return int(str(connection.fetch(process).rows[0][0]))


def _connect_second(make: Callable[[], Connection], target: str) -> Connection | None:
    """Return another connection, or ``None`` if no connection is available in time."""
    try:
        return _SECOND_CALLS.run_within(_WAIT_S, make, lambda late: late.close(), target)
    except (CallTimeoutError, QmonError):
        return None


def _refusal_error(target: str, mode: str) -> BadInput:
    return BadInput(PoolerText.SHARED_SESSIONS.render(target=target, mode=mode))
