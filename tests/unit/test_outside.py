"""Problems of the server outside the queues: sessions near their limit, deadlocks on other tables."""

from __future__ import annotations

from dataclasses import replace

import pytest

from qmon.model.samples.deadlock_samples import Circle
from qmon.model.verdicts.server_warnings import server_warnings
from qmon.model.waits.deadlock_circles import Deadlocks
from tests.unit.blocking import CIRCLE, A, B
from tests.unit.polls import COUNTERS, fifo, poll

NONE = Deadlocks(0, None, ())
ELSEWHERE = Circle((replace(A, table_id=99), replace(B, table_id=99)))


@pytest.mark.parametrize(
    ("used", "limit", "said"),
    [
        (37, 40, ("37 of 40 sessions are used (92 %): the server refuses new sessions after 3 more",)),
        (40, 40, ("40 of 40 sessions are used (100 %): the server refuses new sessions now",)),
        (41, 40, ("41 of 40 sessions are used (102 %): the server refuses new sessions now",)),
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
        "14 deadlocks in the last minute on tables that are not queues; these sessions waited for each"
        " other: session 21"
    )
    assert server_warnings(one, Deadlocks(14, 2.0, (CIRCLE,))) == (), "the queue has the verdict"
    assert server_warnings(one, Deadlocks(14, 2.0, (ELSEWHERE, CIRCLE))) == ()
    assert server_warnings(one, Deadlocks(1, 2.0, (ELSEWHERE,))) == (), "one a minute is normal"
    assert server_warnings(one, Deadlocks(3, 2.0, ())) == (), "the only queue has the verdict"
    (unseen,) = server_warnings(none, Deadlocks(3, 2.0, ()))
    assert (
        unseen == "3 deadlocks in the last minute; the tables are unknown, and the statements are in the server's log"
    )
