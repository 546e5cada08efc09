"""Whether a pooler gives us a session of our own, found out without setting anything in it.

A pool in session mode does. In transaction mode (pgbouncer's words) each transaction may run in another session, in
statement mode each statement: what one client sets there, others come to.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Final

from qmon.engines.base import Bound, Connection
from qmon.engines.bounded_calls import BoundedCalls, CallTimeoutError
from qmon.errors import BadInput, QmonError

_ROUNDS: Final = 4
_WAIT_S: Final = 2.0
_SECOND: Final = BoundedCalls()


def check(connection: Connection, second: Callable[[], Connection], process: Bound, target: str) -> None:
    """Raise ``BadInput`` where the pooler behind ``connection`` shares out its sessions by transaction or statement.

    Two connections that are both idle have two processes of the server if sessions are theirs, always the same two.
    A pool of one process gives it to both, one of several gives them out anew. Where no second connection is to be had
    although the first is answered, the first has a session to itself: else the second would have got that.

    ``second``: makes another connection; it is closed again. ``process``: asks for the process that answers.
    Raises what the statement raises where the first connection is not answered.
    """
    try:
        with connection.transaction():
            firsts = {_ask(connection, process)}
    except QmonError as problem:
        if "statement pooling" in str(problem):  # pgbouncer's words, with which it hangs up
            raise _refusal(target, "statement") from None
        raise
    firsts |= {_ask(connection, process) for _ in range(_ROUNDS)}
    seconds: set[int] = set()
    if len(firsts) == 1 and (other := _second(second, target)) is not None:
        with contextlib.closing(other):
            for _ in range(_ROUNDS):
                seconds.add(_ask(other, process))
                firsts.add(_ask(connection, process))
    firsts.add(_ask(connection, process))
    if len(firsts) > 1 or len(seconds) > 1 or firsts & seconds:
        raise _refusal(target, "transaction")


def _ask(connection: Connection, process: Bound) -> int:
    return int(str(connection.fetch(process).rows[0][0]))


def _second(make: Callable[[], Connection], target: str) -> Connection | None:
    """Another connection; ``None`` where none is to be had, or not in time."""
    try:
        return _SECOND.within(_WAIT_S, make, lambda late: late.close(), target)
    except (CallTimeoutError, QmonError):
        return None


def _refusal(target: str, mode: str) -> BadInput:
    return BadInput(
        f"{target}: the pooler in between is in {mode} mode, where others get our session: "
        "connect to the server itself, or to a pool in session mode (pgbouncer: pool_mode = session)"
    )
