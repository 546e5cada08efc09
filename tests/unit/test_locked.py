"""Everything locked: the two signs, the named session, and conditions that are no sign."""

from __future__ import annotations

from dataclasses import replace

from qmon.model.figure import Figure
from qmon.model.layout.layout import Layout, ObjectName, StateColumn
from qmon.model.samples.polled_samples import HeadSample, HeldSample, ServerSample, WriterSample
from qmon.model.snapshot import QueueSamples, Snapshot
from qmon.model.verdicts import judge_queue
from qmon.model.waits.queue_lock import QueueLock, QueueLockText, find_queue_lock
from tests.unit.blocking import blocks, waiting, waits
from tests.unit.rule_inputs import FINE
from tests.wordings import has

_LAYOUT = Layout("mails", "status", ObjectName("dbo", "mails"), id="id", state=StateColumn("s", 1, 2))
_POLL = Snapshot(
    "t", "postgres", "18.6", 1, 1000.0, 1000.0, 1.0, 1.0, 1, 1.0, ServerSample(1000.0, 1.0, None, False, 1, 0, 0, 0)
)
_WRITER = WriterSample("700", 61, 7_440.0, "idle in transaction", "app-7")


def held(rows: int, counted: int = 50, limit: int = 1001, **writer: object) -> tuple[QueueSamples, Snapshot]:
    """Return a queue with this number of rows held by one transaction."""
    q = QueueSamples(
        _LAYOUT, head=HeadSample("1", 9.0, counted), head_limit=limit, locked=(HeldSample("700", rows, True),)
    )
    one = replace(_WRITER, **writer)  # type: ignore[arg-type]  # the names are checked by replace
    return q, replace(_POLL, writers=(one,))


def proof(q: QueueSamples, snapshot: Snapshot, *, in_transaction: bool = False) -> str:
    found = find_queue_lock(q, snapshot, in_transaction=in_transaction)
    return "" if found is None else found.proof


def test_who_is_at_the_head_of_those_that_wait_for_the_table_is_named() -> None:
    words = proof(QueueSamples(_LAYOUT), replace(_POLL, blocking=waiting()))
    who = (
        f"{QueueLockText.SESSION.render(session=61)} (idle in transaction, {QueueLockText.OPEN.render(age='1 m 00 s')}"
    )
    assert words == QueueLockText.BLOCKS.render(
        who=f"{who}, mailer, 10.0.0.7)", sessions="2 sessions", table="dbo.mails"
    )


def test_a_waiting_session_without_which_the_others_would_not_wait_is_named() -> None:
    queued = (*waits(71, 61), *waits(72, 71), *waits(73, 71))
    held = tuple(replace(r, object="table dbo.mails", statement="SAVEPOINT _1;ALTER TABLE\n t") for r in queued)
    behind = tuple(replace(r, ahead=True, holders=0, line=1) if r.blocker == 71 else r for r in held)
    only, behind_one = (
        proof(QueueSamples(_LAYOUT), replace(_POLL, blocking=(*blocks(61), *rows))) for rows in (held, behind)
    )
    assert behind_one == QueueLockText.ONLY_BEHIND.render(
        blocks=only,
        count=2,
        session=QueueLockText.SESSION.render(session=71),
        statement=QueueLockText.STATEMENT.render(statement="ALTER TABLE t"),
    )


def test_waiting_for_another_table_or_only_just_is_no_sign() -> None:
    for rows in (waiting("table dbo.mails_archive"), waiting(waiting_s=1.0), ()):
        assert proof(QueueSamples(_LAYOUT), replace(_POLL, blocking=rows)) == ""


def test_a_wait_for_one_row_is_no_sign_unless_a_pop_waits_that_does_not_skip_it() -> None:
    one_row = waiting("dbo.mails row (0,1)", statement="UPDATE dbo.mails SET s = 2 WHERE id = 7")
    pops = waiting("dbo.mails row (0,1)", statement="SELECT * FROM dbo.mails_pop()")
    routines = (("pop", ObjectName("dbo", "mails_pop")),)
    installed = QueueSamples(replace(_LAYOUT, design="strict_fifo", routines=routines))
    for q in (QueueSamples(_LAYOUT), installed):
        assert proof(q, replace(_POLL, blocking=one_row)) == ""
    assert proof(QueueSamples(_LAYOUT), replace(_POLL, blocking=pops)) == ""
    assert has(proof(installed, replace(_POLL, blocking=pops)), QueueLockText.BLOCKS, sessions="2 sessions")
    other = waiting("dbo.mails_log row (0,1)", statement="SELECT * FROM dbo.mails_pop()")
    assert proof(installed, replace(_POLL, blocking=other)) == ""


def test_vacuum_that_waits_for_the_table_lets_pops_go_on() -> None:
    rows = waiting(mode="ShareUpdateExclusiveLock")
    assert proof(QueueSamples(_LAYOUT), replace(_POLL, blocking=rows)) == ""
    assert proof(QueueSamples(_LAYOUT), replace(_POLL, blocking=waiting(mode="ShareLock"))) != ""


def test_a_prepared_transaction_is_named() -> None:
    head = replace(blocks(0)[0], gid="pay-7", state="prepared")
    rows = (head, *(replace(r, blocker_gid="pay-7", object="table dbo.mails", waiting_s=9.0) for r in waits(71, 0)))
    words = proof(QueueSamples(_LAYOUT), replace(_POLL, blocking=rows))
    assert words == QueueLockText.BLOCKS.render(
        who=QueueLockText.THE_PREPARED.render(transaction="pay-7") + QueueLockText.OPEN_FOR.render(age="1 m 00 s"),
        sessions="1 session",
        table="dbo.mails",
    )


def test_a_cycle_among_them_ends() -> None:
    rows = tuple(
        replace(r, object="table dbo.mails", waiting_s=9.0) for r in (*waits(1, 2), *waits(2, 1), *waits(3, 2))
    )
    assert has(proof(QueueSamples(_LAYOUT), replace(_POLL, blocking=rows)), QueueLockText.BLOCKS)


def test_a_transaction_that_holds_every_row_looked_at() -> None:
    assert proof(*held(50)) == (
        QueueLockText.HOLDS_ALL.render(
            who=QueueLockText.SESSION.render(session=61)
            + " (idle in transaction, "
            + QueueLockText.OPEN.render(age="2 h 04 m")
            + ", app-7)",
            rows=50,
        )
    )
    assert proof(*held(200, 1, 1)) == "", "a pop may find an unlocked message behind them"
    assert proof(*held(50, session=0, application="pay-7")) == (
        QueueLockText.HOLDS_ALL.render(
            who=QueueLockText.THE_PREPARED.render(transaction="pay-7") + QueueLockText.OPEN_FOR.render(age="2 h 04 m"),
            rows=50,
        )
    )
    assert proof(*held(49)) == ""
    assert proof(*held(50, transaction_s=2.0)) == ""
    assert proof(*held(50, xid="701")) == ""


def test_where_pops_hold_their_rows_a_batch_at_work_is_no_sign() -> None:
    assert proof(*held(50), in_transaction=True) == ""
    assert proof(*held(150, 150), in_transaction=True) != ""


def test_the_verdict_needs_pops_that_stand_still_and_leads_to_screen_4() -> None:
    still = replace(FINE, locked=QueueLock("session 61", "session 61 holds all"), pop_rate=Figure(0.0))
    _, since = judge_queue(still, 1000.0, {})
    (verdict,), _ = judge_queue(still, 1060.0, since)
    assert (verdict.code, verdict.proof, verdict.key) == ("everything locked", "session 61 holds all", "4")
    moving = replace(still, pop_rate=Figure(3.0))
    assert judge_queue(moving, 1060.0, since)[0][0].code == "healthy"


def test_the_cause_is_the_session_as_long_as_it_locks() -> None:
    for q, snapshot in ((QueueSamples(_LAYOUT), replace(_POLL, blocking=waiting())), held(50)):
        found = find_queue_lock(q, snapshot, in_transaction=False)
        assert found is not None
        assert found.holder == QueueLockText.SESSION.render(session=61)
        _, since = judge_queue(replace(FINE, locked=found, pop_rate=Figure(0.0)), 1000.0, {})
        (verdict,), _ = judge_queue(replace(FINE, locked=found, pop_rate=Figure(0.0)), 1060.0, since)
        assert verdict.cause == QueueLockText.SESSION.render(session=61)
    prepared = find_queue_lock(*held(50, session=0, application="pay-7"), in_transaction=False)
    assert prepared is not None
    assert prepared.holder == QueueLockText.PREPARED.render(transaction="pay-7")
    nameless = find_queue_lock(*held(50, session=0, application=""), in_transaction=False)
    assert nameless is not None
    assert nameless.holder == "", "another one may hold another queue"
