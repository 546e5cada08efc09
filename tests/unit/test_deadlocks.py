"""Deadlocks: cycles in pairs of waiting sessions, those of the last minute, and the queue they concern."""

from __future__ import annotations

from dataclasses import replace

from qmon.model.evidence import TargetEvidence
from qmon.model.samples.deadlock_samples import Circle, CircleSample
from qmon.model.snapshot import QueueSamples, Snapshot
from qmon.model.verdicts.server_verdicts import DEADLOCKS, ServerVerdictText
from qmon.model.waits.deadlock_circles import Deadlocks, find_circles
from qmon.monitor.state.rates.counter_windows import DeadlockTrack
from tests.unit.blocking import CIRCLE, A, B
from tests.unit.polls import COUNTERS, FIFO, STATUS, fifo, poll
from tests.unit.rule_inputs import FINE


def test_only_circles_count_and_each_member_once() -> None:
    chain = [CircleSample(30, 31, 1, "", ""), CircleSample(31, 32, 1, "", "")]
    assert find_circles(chain) == ()
    assert find_circles([B, A, replace(A, session=40, blocker=21), *chain]) == (CIRCLE,)
    three = [CircleSample(n, n % 3 + 1, None, "", "") for n in (1, 2, 3)]
    assert find_circles(three) == (Circle(tuple(three)),)


def test_those_of_the_last_minute_are_kept_and_a_restart_counts_nothing() -> None:
    track = DeadlockTrack()

    def add(at: float, total: int, *circles: Circle, unbroken: bool = True) -> Deadlocks:
        snapshot = poll(1, at)
        server = replace(snapshot.server, deadlocks=total)
        return track.record_poll(replace(snapshot, server=server, circles=circles), unbroken=unbroken)

    assert add(0.0, 7, unbroken=False) == Deadlocks(0, None, ())
    assert add(2.0, 8, CIRCLE) == Deadlocks(1, 0.0, (CIRCLE,))
    assert add(4.0, 10, CIRCLE) == Deadlocks(3, 0.0, (CIRCLE,))
    assert add(61.0, 10) == Deadlocks(3, 57.0, (CIRCLE,))
    assert add(63.0, 10) == Deadlocks(2, 59.0, ())
    assert add(70.0, 0) == Deadlocks(0, None, ())
    assert add(72.0, 1, unbroken=False) == Deadlocks(0, None, ())


def proof(found: Deadlocks, *queues: QueueSamples) -> str | None:
    snapshot: Snapshot = poll(1, 1000.0, *queues)
    samples, target = queues[0], TargetEvidence(deadlocks=found)
    return DEADLOCKS.proof(replace(FINE, layout=samples.layout, samples=samples, snapshot=snapshot, target=target))


def test_the_proof_has_both_statements_where_they_were_seen() -> None:
    mine, other = fifo(COUNTERS), QueueSamples(STATUS, counters=replace(COUNTERS, table_id=2))
    said = ServerVerdictText.DEADLOCKED_SESSIONS.render(
        text=ServerVerdictText.DEADLOCKS.render(count=3),
        sessions=ServerVerdictText.DEADLOCK_SESSION.render(
            session=21, who=" (mailer)", statement="SELECT * FROM t WHERE id = 2 FOR UPDATE"
        )
        + " and "
        + ServerVerdictText.DEADLOCK_SESSION.render(session=22, who="", statement="DELETE FROM t WHERE id = 1"),
    )
    assert proof(Deadlocks(3, 0.0, (CIRCLE,)), mine, other) == said
    assert proof(Deadlocks(3, 0.0, (CIRCLE,)), other, mine) is None, "they are about the other queue"
    assert proof(Deadlocks(1, 0.0, (CIRCLE,)), mine) is None, "one a minute is normal"
    assert proof(Deadlocks(3, 7.0, (CIRCLE,)), mine) is None, "they have stopped"


def test_what_was_not_seen_is_not_invented() -> None:
    mine, other = fifo(COUNTERS), QueueSamples(STATUS, counters=replace(COUNTERS, table_id=2))
    assert proof(Deadlocks(3, 0.0, ()), mine) == ServerVerdictText.DEADLOCK_REPORTS.render(
        text=ServerVerdictText.DEADLOCKS.render(count=3), place=ServerVerdictText.SERVER_LOG
    )
    assert proof(Deadlocks(3, 0.0, ()), mine, other) is None, "the queue is unknown"


def test_where_the_table_is_not_told_the_statement_may_name_it() -> None:
    unnamed = Circle((replace(A, table_id=None, statement="SELECT * FROM public.t_pop()"), B))
    named = replace(FIFO, routines=(("pop", replace(FIFO.table, name="t_pop")),))
    mine = replace(fifo(COUNTERS), layout=named)
    assert "t_pop()" in (proof(Deadlocks(2, 0.0, (unnamed,)), mine) or "")
    elsewhere = Circle((replace(A, table_id=None, statement="UPDATE x"), replace(B, statement="UPDATE y")))
    assert proof(Deadlocks(2, 0.0, (elsewhere,)), mine) is None
