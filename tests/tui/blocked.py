"""Sessions that wait for each other, made by hand: every kind of head blocker, a cycle, a long chain, odd texts."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from qmon.model.samples.polled_samples import BlockingSample
from qmon.model.view import View
from qmon.model.waits.lock_chains import HeldQueueRows, LockChains, build_lock_chains
from tests.tui.scripted import NASTY, SAMPLED_AT, target, view
from tests.unit.blocking import SESSION

ROW: Final = "dbo.QueueMeta row (0,17)"
_ONE: Final = replace(
    SESSION,
    started_at=SAMPLED_AT - 9_000,
    state_s=12.0,
    transaction_s=12.0,
    statement="SELECT * FROM batch_fast_pop_batch(100)",
)


def head(session: int, **changes: object) -> BlockingSample:
    """Return a session that does not wait."""
    return replace(_ONE, session=session, **changes)  # type: ignore[arg-type]  # the names are checked by replace


def waits(session: int, *blockers: int, **changes: object) -> list[BlockingSample]:
    """Return a session that waits for these sessions."""
    one = replace(_ONE, session=session, holders=len(blockers), waiting_s=12.0, mode="ExclusiveLock", object=ROW)
    return [replace(one, blocker=b, **changes) for b in blockers]  # type: ignore[arg-type]  # as above


def tree() -> LockChains:
    """Return lock chains with nearly every problem at once."""
    sleeping = head(
        61,
        state="idle in transaction",
        state_s=7_431.0,
        transaction_s=7_440.0,
        application="app-7",
        host="app-7",
        statement="UPDATE dbo.QueueMeta SET Status = 1 WHERE Status = 2\n  AND StartedAt < now() - interval '5 m'",
    )
    prepared = replace(
        _ONE,
        session=0,
        gid="pay-7731",
        state="prepared",
        kind="",
        application="",
        host="",
        transaction_s=262_000.0,
        statement="",
        started_at=None,
    )
    rows = [
        sleeping,
        *waits(71, 61, waiting_s=7_421.0),
        *(row for n in range(72, 79) for row in waits(n, 71, line=n - 72, waiting_s=7_400.0 - n, login="mailer")),
        *waits(
            90,
            61,
            84,
            object="table dbo.QueueMeta",
            mode="AccessExclusiveLock",
            application="psql",
            waiting_s=64.0,
            statement="ALTER TABLE dbo.QueueMeta ADD COLUMN note text",
        ),
        *waits(91, 90, mode="AccessShareLock", object="table dbo.QueueMeta", ahead=True, holders=0, line=1),
        head(84, application=NASTY, statement=f"SELECT '{NASTY}' FROM dbo.\"QueueMeta\"", transaction_s=31.0),
        prepared,
        *(replace(row, blocker_gid="pay-7731") for row in waits(95, 0, object="transaction 7731", mode="ShareLock")),
        *waits(21, 22, waiting_s=0.6),
        *waits(22, 21, waiting_s=0.4),
    ]
    return build_lock_chains(rows, {61: (HeldQueueRows("mails", 200, at_least=True),)})


def chain(length: int) -> LockChains:
    """Return a chain in which each session waits for the one before."""
    return build_lock_chains([head(1_000), *(row for n in range(1, length) for row in waits(1_000 + n, 999 + n))])


def blocked_view(found: LockChains | None = None, *, sequence: int = 7) -> View:
    """Return a view with these sessions."""
    return view(server=target(blocking=tree() if found is None else found), sequence=sequence)
