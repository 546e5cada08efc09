"""Server health on screen 3, from typed rows of SQL Server, and its unknown parts."""

from __future__ import annotations

from dataclasses import replace

import pytest

from qmon.model.samples.server_state_samples import LimitsSample, LogSample, ServerState, ServiceSample
from qmon.model.snapshot import ProbeFailure
from qmon.model.view import View
from qmon.recording.history.timeline import TimelineEvent, VerdictChanges
from tests.tui.driving import dashboard
from tests.tui.pictures import SIZES, Compare
from tests.tui.scripted import target, view
from tests.tui.shop import Shop, polled
from tests.tui.waited import shot_of


def troubled() -> View:
    """Return the shop while its log is nearly full, a replica accepts no changes, and a plan has become worse."""
    shop = Shop()
    shop.ails = True
    return polled(shop=shop)[1][-1]


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
def test_the_server_on_the_screen_of_waits(snap_compare: Compare, size: tuple[int, int]) -> None:
    shot = shot_of(found=troubled())
    assert snap_compare(shot.app, terminal_size=size, run_before=shot.ready)


def test_the_server_alone(snap_compare: Compare) -> None:
    shot = shot_of("i", found=troubled())
    assert snap_compare(shot.app, terminal_size=(120, 40), run_before=shot.ready)


async def test_typed_rows_lead_to_the_verdict_and_its_key_to_the_reading() -> None:
    found = troubled()
    told = {verdict.code: verdict for verdict in found.queues[0].verdicts}
    assert told["log full"].proof == (
        "95 % of the log is used (3.8 GB of 4.0 GB), held by LOG_BACKUP: back up the log to free it,"
        " last backup 3 h 02 m ago"
    )
    assert told["replica not synchronizing"].proof == (
        "SQL3 (asynchronous) is suspended (SUSPEND_FROM_USER); 1.2 GB not sent; a failover to it would lose"
        " the missing changes"
    )
    assert "replica behind" not in told, "the other text has more detail"
    worse = [queue.name for queue in found.queues if any(v.code == "plan regressed" for v in queue.verdicts)]
    assert worse == ["orders"]
    async with dashboard((80, 24)) as d:
        await d.give(found)
        assert "log full" in d.text()
        assert "4 of 4 queues [3]" in d.text()
        await d.press(told["log full"].key)
        await d.give(found)
        first, second = d.lines("state").splitlines()
        assert first.split() == ["log", "3.8", "GB", "of", "4.0", "GB", "used", "95", "%", "held", "by", "LOG_BACKUP"]
        assert second.split()[:4] == ["replica", "SQL3", "(asynchronous)", "suspended"]
        await d.press("i")
        whole = d.lines("state")
        assert "server" in whole
        assert "polling   costs " in whole
        assert " of server time per poll" in whole
        assert "SQL1 primary" in whole
        assert "SQL2 (synchronous)   synchronized" in whole
        assert "orders   1,178 buffers per call by plan 77   12 before by plan 31" in whole
        assert "WITH head AS (SELECT TOP (1) * FROM [dbo].[orders]" in whole, "its text"
        await d.press("i")
        assert d.lines("state").splitlines() == [first, second]


def test_a_failover_is_an_event_and_a_verdict_for_a_while() -> None:
    shop = Shop()
    shop.moves_at = 5
    changes, events = VerdictChanges(), list[TimelineEvent]()
    for each in polled(shop=shop)[1]:
        events += changes.record_verdicts(each.sampled_at, "orders", each.queues[0].verdicts, each.queues[0].undecided)
    (began,) = (event for event in events if event.about == "failed over")
    assert (began.what, began.cause) == ("began", "SQL9")
    assert began.words == "failed over 0.0 s ago from SQL1 to SQL9; counters started at 0 again"


async def test_on_a_small_screen_it_is_there_where_something_is_wrong_and_otherwise_on_a_key() -> None:
    fine = polled()[1][-1]
    async with dashboard((80, 24)) as d:
        await d.press("3")
        await d.give(fine)
        assert "held by" not in d.text()
        await d.press("i")
        assert "700 MB of 4.0 GB used   17 %   not held" in d.text()


async def test_why_nothing_is_known_is_said() -> None:
    refused = ProbeFailure("log", "our role may not", grant="GRANT VIEW SERVER STATE TO [me]")
    async with dashboard((120, 40)) as d:
        await d.press("3")
        await d.give(view(server=target(), failures=(refused,)))
        assert "log       our role may not; GRANT VIEW SERVER STATE TO [me]" in d.text()
        await d.give(view(server=target()))
        assert "lies under" not in d.text()
        await d.press("i")
        assert "server health was not read in this poll; a later poll reads it" in d.text()
        nothing = LogSample(None, None, None, "", None, None)
        await d.give(view(server=replace(target(), state=ServerState(log=nothing)), sequence=9))
        assert "log       not held" in d.text()


async def test_what_was_bought_of_azure_is_shown_with_what_is_used_of_it() -> None:
    service = ServiceSample("GP_S_Gen5_2", "", False, True)
    limits = LimitsSample(0.4, 0.02, 1.0, 0.9, None, 0.01, None)
    made = ServerState(service=service, limits=limits)
    async with dashboard((160, 50)) as d:
        await d.press("3")
        await d.give(view(server=replace(target(), state=made)))
        assert "GP_S_Gen5_2   serverless   processor time 40 %   log writes 100 %   reads and writes 2 %" in d.text()
        pooled = ServerState(service=ServiceSample("ElasticPool", "shops", True, False), pool_limits=limits)
        await d.give(view(server=replace(target(), state=pooled), sequence=9))
        assert "service   pool shops   processor time 40 %" in d.text()


async def test_the_database_card_says_which_settings_hurt_a_queue_and_what_is_unknown() -> None:
    async with dashboard((120, 40)) as d:
        await d.press("3")
        await d.give(polled()[1][-1])
        assert (
            "database  version 16.0.4135.4   edition Standard Edition (64-bit)   4 settings hurt a queue [i]"
            in d.text()
        )
        await d.press("i")
        card = " ".join(d.lines("state").split())
        assert "hurts read committed snapshot off: reports wait" in card
        assert "hurts lock escalation table (dbo.events and 3 more): a statement that locks about 5,000 rows" in card
        assert "unknown optimized locking: this version does not report it" in card
        refused = ProbeFailure("settings", "our role may not")
        await d.give(view(server=target(), failures=(refused,), sequence=9))
        assert "database  our role may not" in d.text()
