"""The list of a queue's consumers: sessions, workers and owners, and what each of them holds."""

from __future__ import annotations

from dataclasses import replace

import pytest

from qmon.model.consumer_list import ConsumerRates, Unknown, list_consumers
from qmon.model.layout.layout import OwnerColumn, SharedTableQueue, StateColumn
from qmon.model.samples.client_samples import ProgramSessionSample
from qmon.model.samples.group_samples import WorkerSample
from qmon.model.samples.polled_samples import MessageSample
from qmon.model.sessions.clients import ClientsSeen
from qmon.model.view import QueueView
from tests.tui.scripted import queue

pytestmark = pytest.mark.unit

NOW = 1_000.0
STATES = StateColumn("status", "ready", "working", None, "dead")


def session(number: int, application: str = "mailer", host: str = "app-7") -> ProgramSessionSample:
    """Return a session that began 60 seconds ago."""
    return ProgramSessionSample(number, NOW - 60.0, application, "app", "idle", 1.0, 1.0, "Client", "", host)


def message(id: str, owner: str | None, age_s: float | None = 5.0, state: str = "in_progress") -> MessageSample:
    """Return a message."""
    return MessageSample(id, state, age_s, owner, 1, None, None)


def watched(
    *sessions: ProgramSessionSample,
    owner: OwnerColumn | None,
    messages: tuple[MessageSample, ...] | None,
    whole: bool = True,
) -> QueueView:
    """Return a queue with these consumers."""
    found = queue("mails")
    return replace(
        found,
        layout=replace(found.layout, state=STATES, owner=owner, started_at="at", part=None, ring=None),
        messages=messages,
        consumers_seen=ClientsSeen(len(sessions), 0, "table", has_all_sessions=whole, sessions=sessions),
    )


def test_a_session_holds_the_messages_with_its_number_or_its_number_and_start() -> None:
    messages = (message("1", "17"), message("2", "17/940", 9.0), message("3", "18"), message("4", None, state="ready"))
    found = list_consumers(
        watched(session(17), session(18), session(19), owner=OwnerColumn("o", "session"), messages=messages), NOW
    )
    by = {each.client.session: each for each in found.consumers if each.client is not None}
    assert {number: each.holds for number, each in by.items()} == {17: 2, 18: 1, 19: 0}
    assert (by[17].oldest_s, by[17].since_s, by[17].host) == (9.0, 60.0, "app-7")
    assert by[19].unknown["oldest"] is Unknown.HOLDS_NONE
    assert found.consumers[0] is by[17], "the one that holds most is first"
    assert (found.is_complete, found.why) == (True, "")


def test_an_owner_without_a_session_is_a_consumer_of_its_own() -> None:
    found = list_consumers(
        watched(session(17), owner=OwnerColumn("o", "name"), messages=(message("1", "w-3"), message("2", "mailer"))),
        NOW,
    )
    assert {each.name: each.holds for each in found.consumers} == {"w-3": 1, "mailer": 1}
    (alone,) = (each for each in found.consumers if each.name == "w-3")
    assert alone.unknown["session"] is Unknown.OWNER_IS_NAME
    assert (alone.host, alone.since_s) == (None, None)


@pytest.mark.parametrize(
    ("owner", "messages", "why"),
    [
        (None, (message("1", None),), Unknown.NO_OWNER),
        (OwnerColumn("o", "lease"), (message("1", "2026-11-21"),), Unknown.NO_OWNER),
        (OwnerColumn("o", "session"), None, Unknown.NOT_READ),
    ],
)
def test_what_a_consumer_holds_is_unknown_not_zero(
    owner: OwnerColumn | None, messages: tuple[MessageSample, ...] | None, why: Unknown
) -> None:
    found = list_consumers(watched(session(17, host=""), owner=owner, messages=messages), NOW)
    (consumer,) = (each for each in found.consumers if each.client is not None)
    assert (consumer.holds, consumer.oldest_s, consumer.host) == (None, None, None)
    assert (consumer.unknown["holds"], consumer.unknown["host"]) == (why, Unknown.NO_HOST)


def test_workers_come_from_the_librarys_table_and_an_owner_without_worker_is_gone() -> None:
    found = queue("oban/mails")
    part = SharedTableQueue("oban", "mails", "oban", ("ready", "in_progress"))
    given = replace(
        found,
        layout=replace(found.layout, part=part, ring=None),
        messages=(message("1", "a"), message("2", "b", None)),
        workers=(WorkerSample("a", "node-1", 60.0, "mails"), WorkerSample("c", None, None, None)),
    )
    listed = list_consumers(given, NOW)
    by = {each.name: each for each in listed.consumers}
    assert {name: (each.holds, each.is_alive) for name, each in by.items()} == {
        "a": (1, True),
        "b": (1, False),
        "c": (0, True),
    }
    assert (by["a"].host, by["a"].since_s) == ("node-1", 60.0)
    assert by["a"].unknown == {"session": Unknown.NO_SESSION}
    assert (by["c"].unknown["host"], by["c"].unknown["since"]) == (Unknown.NO_HOST_COLUMN, Unknown.NO_START)
    assert by["b"].unknown["oldest"] is Unknown.NO_TIME


def test_without_sessions_the_list_says_why_consumers_may_be_missing() -> None:
    found = list_consumers(replace(queue("mails"), consumers_seen=None, messages=()), NOW)
    assert (found.consumers, found.is_complete) == ((), False)
    assert found.why


def test_a_rate_counts_messages_taken_since_the_first_poll_and_is_unknown_at_first() -> None:
    def polled(*ids: str) -> QueueView:
        messages = tuple(message(id, "17") for id in ids)
        return watched(session(17), owner=OwnerColumn("o", "session"), messages=messages)

    rates = ConsumerRates()
    for at, ids in ((NOW, ("1", "2")), (NOW + 5, ("2", "3"))):
        found = list_consumers(polled(*ids), NOW)
        rates.record(found, at)
        assert rates.per_minute(found.consumers[0]) is None
    found = list_consumers(polled("3", "4"), NOW)
    rates.record(found, NOW + 20)
    assert rates.per_minute(found.consumers[0]) == 6.0, "messages 3 and 4 in 20 seconds"
