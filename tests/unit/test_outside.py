"""Problems of the server outside the queues: sessions near their limit, deadlocks on other tables."""

from __future__ import annotations

from dataclasses import replace

import pytest

from qmon.model.samples.deadlock_samples import Circle
from qmon.model.verdicts.server_verdicts import ServerVerdictText
from qmon.model.verdicts.server_warnings import WarningText, server_warnings
from qmon.model.waits.deadlock_circles import Deadlocks
from qmon.model.waits.queue_lock import QueueLockText
from tests.unit.blocking import CIRCLE, A, B
from tests.unit.polls import COUNTERS, fifo, poll

NONE = Deadlocks(0, None, ())
ELSEWHERE = Circle((replace(A, table_id=99), replace(B, table_id=99)))


@pytest.mark.parametrize(
    ("used", "limit", "said"),
    [
        (
            37,
            40,
            (
                WarningText.SESSIONS_USED.render(
                    used=37, limit=40, share="92 %", then=WarningText.REFUSES_AFTER.render(count=3)
                ),
            ),
        ),
        (40, 40, (WarningText.SESSIONS_USED.render(used=40, limit=40, share="100 %", then=WarningText.REFUSES_NOW),)),
        (41, 40, (WarningText.SESSIONS_USED.render(used=41, limit=40, share="102 %", then=WarningText.REFUSES_NOW),)),
        (35, 40, ()),
        (None, 40, ()),
        (37, None, ()),
    ],
)
def test_sessions_near_the_limit(used: int | None, limit: int | None, said: tuple[str, ...]) -> None:
    snapshot = poll(1, 1000.0, fifo(COUNTERS))
    server = replace(snapshot.server, sessions_used=used, sessions_limit=limit)
    assert server_warnings(replace(snapshot, server=server), NONE) == said


def test_deadlocks_are_told_unless_they_are_about_a_queue() -> None:
    one, none = poll(1, 1000.0, fifo(COUNTERS)), poll(1, 1000.0)
    (said,) = server_warnings(one, Deadlocks(14, 2.0, (ELSEWHERE,)))
    assert said.startswith(
        WarningText.DEADLOCKED_SESSIONS.render(
            text=ServerVerdictText.DEADLOCKS.render(count=14), sessions=QueueLockText.SESSION.render(session="21")
        )
    )
    assert server_warnings(one, Deadlocks(14, 2.0, (CIRCLE,))) == (), "the queue has the verdict"
    assert server_warnings(one, Deadlocks(14, 2.0, (ELSEWHERE, CIRCLE))) == ()
    assert server_warnings(one, Deadlocks(1, 2.0, (ELSEWHERE,))) == (), "one a minute is normal"
    assert server_warnings(one, Deadlocks(3, 2.0, ())) == (), "the only queue has the verdict"
    (unseen,) = server_warnings(none, Deadlocks(3, 2.0, ()))
    assert unseen == WarningText.DEADLOCK_REPORTS.render(
        text=WarningText.DEADLOCKS.render(count=3), place=ServerVerdictText.SERVER_LOG
    )
