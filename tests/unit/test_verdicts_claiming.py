"""No consumers, and consumers that do not claim: which sessions count as consumers, and when it is reported."""

from __future__ import annotations

from dataclasses import replace

import pytest

from qmon.model.figure import Figure
from qmon.model.formatting import count_text
from qmon.model.layout.layout import ClientPatterns, Layout, ObjectName
from qmon.model.operation_records import Side
from qmon.model.samples.client_samples import ProgramSessionSample
from qmon.model.samples.polled_samples import PauseSample, ServerSample
from qmon.model.sessions.clients import (
    ClientsSeen,
    SessionIndex,
    identification_for,
    is_client,
    is_idle_or_waiting,
    seconds_since_last_statement,
    statement_words,
    summarize_clients,
)
from qmon.model.snapshot import Snapshot
from qmon.model.verdicts import RuleInput, judge_queue
from qmon.model.verdicts.flow_verdicts import FlowText
from qmon.monitor.state.diagnosis import ClientsTrack
from tests.unit.rule_inputs import FINE

LAYOUT = Layout(
    "mails",
    "status",
    ObjectName("dbo", "mails"),
    routines=(("push", ObjectName("dbo", "mails_push")), ("pop", ObjectName("dbo", "mails_pop"))),
)
PLAIN = Layout("mails", "status", ObjectName("dbo", "mails"))
IDLE = ProgramSessionSample(71, 5.0, "mailer-1", "app", "idle", 45.0, 45.0, "Client", "SELECT * FROM dbo.mails_pop()")


def signs(consumers: ClientsSeen | None, **more: object) -> RuleInput:
    still = replace(FINE, ready=Figure(31), in_progress=Figure(0), pop_rate=Figure(0.0), layout=LAYOUT)
    return replace(still, queue=replace(FINE.queue, consumers=consumers), **more)  # type: ignore[arg-type]


def said(signs: RuleInput, seconds: float = 10.0) -> tuple[str, str]:
    _, since = judge_queue(signs, 100.0, {})
    worst = judge_queue(signs, 100.0 + seconds, since)[0][0]
    return worst.code, worst.proof


def test_nobody_is_connected() -> None:
    nobody = ClientsSeen(0, 0, "routine", others=3, left_s=40.0)
    code, proof = said(signs(nobody))
    assert code == "no consumers"
    assert proof == FlowText.READY_BUT.render(
        ready=31,
        why=FlowText.NONE_OF_THE_SESSIONS.render(
            sessions=count_text(3, FlowText.CONNECTED_SESSION), consumer=FlowText.HAS_CALLED.render(pop="dbo.mails_pop")
        ),
        gone=FlowText.LAST_LEFT.render(age="40 s"),
    )
    assert said(signs(nobody), 9.9)[0] == "cannot tell"
    pattern = signs(
        ClientsSeen(0, 0, "pattern"), layout=replace(LAYOUT, consumers=ClientPatterns(application="mailer-*"))
    )
    assert said(pattern)[1] == FlowText.READY_BUT.render(
        ready=31,
        why=FlowText.NO_SESSION.render(consumer=FlowText.IN_SETTING.render(setting="application mailer-*")),
        gone="",
    )


def test_those_connected_do_not_pop() -> None:
    code, proof = said(signs(ClientsSeen(2, 2, "routine", IDLE, 3)))
    assert code == "consumers not claiming"
    assert proof == FlowText.NOT_CLAIMING.render(
        ready=31,
        none=FlowText.NONE_POPS.render(count=2),
        one=": " + FlowText.SESSION.render(session=71) + " (mailer-1) idle" + FlowText.FOR.render(age="45 s"),
    )


def test_where_messages_complete_somebody_claims_them_however_pops_are_counted() -> None:
    """A pop that deletes its row looks like a complete, unless the layout says that pops delete."""
    two = ClientsSeen(2, 2, "routine", IDLE, 3)
    assert said(signs(two, completes=0.0))[0] == "consumers not claiming"
    assert said(signs(two, completes=56.5))[0] == "healthy"
    assert said(signs(None, completes=0.0))[0] == "no pops"
    assert said(signs(None, completes=56.5))[0] == "healthy"


def test_pops_that_are_counted_late_do_not_speak_for_sessions_that_are_idle() -> None:
    """A server counts the last work of a session ten seconds after the session has fallen idle."""
    late = {"recent_pop_rate": Figure(3.0)}
    assert said(signs(ClientsSeen(2, 2, "routine", IDLE, 3, quiet_s=5.0), **late))[0] == "consumers not claiming"
    assert said(signs(ClientsSeen(2, 2, "routine", IDLE, 3, quiet_s=3.0), **late))[0] == "healthy"
    assert said(signs(ClientsSeen(2, 1, "routine", IDLE, 3), **late))[0] == "healthy"


def test_all_must_be_idle_and_the_one_that_worked_last_says_for_how_long() -> None:
    busy = replace(IDLE, session=72, state="active", quiet_s=0.1)
    short = replace(IDLE, session=73, quiet_s=2.0)
    assert seconds_since_last_statement([IDLE, short], {IDLE.key, short.key}) == 2.0
    assert seconds_since_last_statement([IDLE, short, busy], {IDLE.key}) == 45.0
    assert seconds_since_last_statement([IDLE, busy], {IDLE.key, busy.key}) is None
    assert seconds_since_last_statement([IDLE], set()) is None


@pytest.mark.parametrize(
    "fine",
    [
        {"ready": Figure(0)},
        {"pop_rate": Figure(0.3)},
        {"recent_pop_rate": Figure(0.3)},
        {"in_progress": Figure(1)},
        {"pauses": (PauseSample("mails", "", Side.CONSUMERS, 50.0, 200.0, "anna", "deploy", "switch"),)},
    ],
)
def test_neither_where_something_moves_is_worked_on_or_paused(fine: dict[str, object]) -> None:
    for consumers in (ClientsSeen(0, 0, "routine"), ClientsSeen(1, 1, "routine", IDLE)):
        assert said(signs(consumers, **fine))[0] not in ("no consumers", "consumers not claiming")


def test_what_cannot_be_seen_is_no_pops_and_no_more() -> None:
    assert said(signs(None))[0] == "no pops"
    assert said(signs(ClientsSeen(0, 0, "routine", has_all_sessions=False)))[0] == "no pops"


def test_stuck_messages_are_not_work() -> None:
    stuck = signs(ClientsSeen(0, 0, "routine"), in_progress=Figure(4), stuck=Figure(4))
    assert [v.code for v in judge_queue(stuck, 110.0, judge_queue(stuck, 100.0, {})[1])[0]] == [
        "no consumers",
        "stuck in progress",
    ]


@pytest.mark.parametrize(
    ("statement", "consumer", "producer"),
    [
        ("SELECT * FROM dbo.mails_pop()", True, False),
        ('/* app */ SELECT * FROM "dbo" . "mails_pop"($1)', True, False),
        ("EXEC [dbo].[Mails_Pop]", True, False),
        ("select mails_pop()", True, False),
        ("SELECT other.mails_pop()", False, False),
        ("SELECT dbo.mails_push('mails_pop')", True, True),  # a name in a text counts as a call: one consumer too many
        ("SELECT 1", False, False),
    ],
)
def test_by_the_routines_they_call(statement: str, consumer: bool, producer: bool) -> None:
    client = replace(IDLE, statement=statement)
    assert identification_for(LAYOUT, Side.CONSUMERS) == "routine"
    assert is_client(client, LAYOUT, Side.CONSUMERS) is consumer
    assert is_client(client, LAYOUT, Side.PRODUCERS) is producer
    assert SessionIndex([client]).find_clients(LAYOUT, Side.CONSUMERS) == [client] * consumer
    assert SessionIndex([client]).find_clients(LAYOUT, Side.PRODUCERS) == [client] * producer


@pytest.mark.parametrize(
    ("statement", "consumer", "producer"),
    [
        ("INSERT INTO dbo.mails (m) VALUES ($1)", False, True),
        ("UPDATE dbo.mails SET status = 2 WHERE id = 5", True, False),
        ("with x as (select id from mails for update skip locked) delete from mails using x", True, False),
        ("SELECT count(*) FROM mails", False, False),
        ("SELECT id FROM mails ORDER BY id LIMIT 1 FOR UPDATE", True, False),
        ("SELECT id FROM mails FOR UPDATE SKIP LOCKED", True, False),
        ("SELECT * FROM mails WHERE status = 1 FOR UPDATE", False, False),  # it only holds locks
        ("INSERT INTO orders VALUES (1)", False, False),
    ],
)
def test_by_what_they_do_with_the_table(statement: str, consumer: bool, producer: bool) -> None:
    client = replace(IDLE, statement=statement)
    assert identification_for(PLAIN, Side.CONSUMERS) == "table"
    assert (is_client(client, PLAIN, Side.CONSUMERS), is_client(client, PLAIN, Side.PRODUCERS)) == (consumer, producer)
    assert SessionIndex([client]).find_clients(PLAIN, Side.CONSUMERS) == [client] * consumer


def test_patterns_decide_where_there_are_some() -> None:
    layout = replace(
        LAYOUT,
        consumers=ClientPatterns(application="mailer-*", login="app"),
        producers=ClientPatterns(procedure="mails_pu?h"),
    )
    assert is_client(replace(IDLE, statement=""), layout, Side.CONSUMERS)
    assert not is_client(replace(IDLE, login="root"), layout, Side.CONSUMERS)
    assert is_client(replace(IDLE, statement="exec dbo.mails_push"), layout, Side.PRODUCERS)
    assert SessionIndex([IDLE]).find_clients(layout, Side.CONSUMERS) == [IDLE]
    assert not is_client(IDLE, layout, Side.PRODUCERS)


def test_odd_names_are_read_as_they_are_quoted() -> None:
    assert "[a]b].c d".lower() in statement_words('x FROM "[a]b]"."c d"') or statement_words(
        'x FROM "[a]b]"."c d"'
    ) >= {"c d"}
    assert statement_words("EXEC [a]]b].[c d]") >= {"a]b.c d", "c d"}


def test_who_waits() -> None:
    busy = replace(IDLE, session=72, state="active", wait_kind="", quiet_s=1.0)
    locked = replace(busy, session=73, wait_kind="Lock", quiet_s=9.0)
    assert [is_idle_or_waiting(each) for each in (IDLE, busy, locked)] == [True, False, True]
    members = {IDLE.key, busy.key, locked.key}
    assert summarize_clients([IDLE, busy, locked], members) == (3, 2, IDLE)
    assert summarize_clients([busy], members) == (1, 0, busy)


@pytest.mark.parametrize(("sees", "connected"), [(True, 1), (False, None)])
def test_where_sessions_cannot_be_seen_nobody_knows_who_is_connected(sees: bool, connected: int | None) -> None:
    server = ServerSample(100.0, 1.0, None, False, 5, 10, 0, 0, sees)
    snapshot = Snapshot("t", "postgres", "18.6", 1, 100.0, 100.0, 3.0, 1.5, 10, 2.0, server, (), clients=(IDLE,))
    track, sessions = ClientsTrack(Side.CONSUMERS), SessionIndex((IDLE,))
    found = track.record_poll(snapshot, LAYOUT, sessions)
    assert (None if found is None else found.connected) == connected
    by_name = track.record_poll(snapshot, replace(LAYOUT, consumers=ClientPatterns(application="mailer-*")), sessions)
    assert by_name is not None and by_name.connected == 1, "every role sees application names"
