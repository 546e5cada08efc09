"""Sessions that wait for each other, and deadlocks, as rows of probes."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from qmon.model.samples.deadlock_samples import Circle, CircleSample
from qmon.model.samples.polled_samples import BlockingSample

# A client session that waits for nothing.
SESSION: Final = BlockingSample(
    session=1,
    gid="",
    blocker=None,
    blocker_gid="",
    ahead=False,
    holders=0,
    line=0,
    waiting_s=None,
    mode="",
    object="",
    table_id=None,
    started_at=1_780_000_000.0,
    kind="client backend",
    state="active",
    state_s=1.0,
    transaction_s=60.0,
    login="shop",
    application="mailer",
    host="10.0.0.7",
    database="shop",
    statement="SELECT 1",
)
A = CircleSample(21, 22, 1, "mailer", "SAVEPOINT _EXEC_1;SELECT *\n  FROM t WHERE id = 2 FOR UPDATE")
B = CircleSample(22, 21, None, "", "DELETE FROM t WHERE id = 1")
CIRCLE = Circle((A, B))


def waits(session: int, *blockers: int, waiting_s: float = 5.0) -> list[BlockingSample]:
    """Return the rows of a session that waits for these sessions."""
    return [replace(SESSION, session=session, blocker=b, holders=len(blockers), waiting_s=waiting_s) for b in blockers]


def blocks(session: int, state: str = "idle in transaction", transaction_s: float = 60.0) -> list[BlockingSample]:
    """Return the row of a session that does not wait."""
    return [replace(SESSION, session=session, state=state, transaction_s=transaction_s)]


def waiting(thing: str = "table dbo.mails", waiting_s: float = 9.0, **fields: object) -> tuple[BlockingSample, ...]:
    """Two sessions that wait for 61, one of them behind the other."""
    rows = [*blocks(61), *waits(71, 61), *waits(72, 71)]
    one = {"object": thing, "waiting_s": waiting_s, **fields}
    return tuple(replace(r, **one) if r.blocker else r for r in rows)  # type: ignore[arg-type]  # checked by replace
