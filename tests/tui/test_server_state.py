"""Server health on screen 3, from typed rows of SQL Server, and its unknown parts."""

from __future__ import annotations

from dataclasses import replace

import pytest

from qmon.model import formatting
from qmon.model.samples.server_state_samples import LimitsSample, LogSample, ServerState, ServiceSample
from qmon.model.settings import HarmText
from qmon.model.snapshot import ProbeFailure
from qmon.model.verdicts.server_health_verdicts import ServerHealthText
from qmon.model.view import View
from qmon.recording.history.timeline import TimelineEvent, VerdictChanges
from qmon.tui.figures import UnreadText
from qmon.tui.overview.causes import CauseText
from qmon.tui.screen_list import ENTRIES
from qmon.tui.waits.server_health_panel import HealthText, SettingsText
from tests.tui.driving import dashboard
from tests.tui.pictures import SIZES, Compare
from tests.tui.scripted import target, view
from tests.tui.shop import Shop, polled
from tests.tui.waited import shot_of
from tests.wordings import has


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
    used = ServerHealthText.LOG_USED.render(share="95 %", used="3.8 GB", most="4.0 GB")
    assert has(told["log full"].proof, ServerHealthText.LOG_HELD, text=used, holder="LOG_BACKUP")
    assert has(told["log full"].proof, ServerHealthText.LAST_BACKUP, age="3 h 02 m")
    assert has(
        told["replica not synchronizing"].proof,
        ServerHealthText.REPLICA_NOT_SYNCHRONIZED,
        replica=ServerHealthText.ASYNCHRONOUS.render(replica="SQL3"),
        why=ServerHealthText.SUSPENDED.render(reason="SUSPEND_FROM_USER"),
    )
    assert f"1.2 GB {ServerHealthText.NOT_SENT}" in told["replica not synchronizing"].proof
    assert "replica behind" not in told, "the other text has more detail"
    worse = [queue.name for queue in found.queues if any(v.code == "plan regressed" for v in queue.verdicts)]
    assert worse == ["orders"]
    async with dashboard((80, 24)) as d:
        await d.give(found)
        assert "log full" in d.text()
        assert f"{CauseText.QUEUES.render(count=4, total=4)} [3]" in d.text()
        await d.press(told["log full"].key)
        await d.give(found)
        first, second = d.lines("state").splitlines()
        used = HealthText.USED_OF.render(size="4.0 GB")
        assert " ".join(first.split()) == f"log 3.8 GB {used} 95 % held by LOG_BACKUP"
        assert f"replica   {ServerHealthText.ASYNCHRONOUS.render(replica='SQL3')}   " in second
        await d.press("i")
        whole = d.lines("state")
        assert "server" in whole
        assert "polling   costs " in whole
        assert has(whole, HealthText.SERVER_TIME)
        assert "SQL1 primary" in whole
        assert f"{ServerHealthText.SYNCHRONOUS.render(replica='SQL2')}   synchronized" in whole
        by_plan = [HealthText.BY_PLAN.render(plan=each) for each in ("77", "31")]
        assert f"orders   1,178 {HealthText.BUFFERS_PER_CALL.render(plan=by_plan[0])}   " in whole
        assert f"   12 {HealthText.BUFFERS_BEFORE.render(plan=by_plan[1])}" in whole
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
    assert (began.change, began.cause) == ("began", "SQL9")
    assert began.text == ServerHealthText.FAILED_OVER.render(age="0.0 s", before="SQL1", now="SQL9")


async def test_on_a_small_screen_it_is_there_where_something_is_wrong_and_otherwise_on_a_key() -> None:
    fine = polled()[1][-1]
    async with dashboard((80, 24)) as d:
        await d.press("3")
        await d.give(fine)
        assert "held by" not in d.text()
        await d.press("i")
        used = HealthText.USED_OF.render(size="4.0 GB")
        assert f"700 MB {used}   17 %   {HealthText.NOT_HELD}" in d.text()


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
def test_the_server_over_another_screen(snap_compare: Compare, size: tuple[int, int]) -> None:
    shot = shot_of("1", "i", found=troubled())
    assert snap_compare(shot.app, terminal_size=size, run_before=shot.ready)


async def test_the_details_of_the_cost_are_one_key_away_on_every_screen() -> None:
    found = polled()[1][-1]
    buffers = found.server.buffers
    assert buffers is not None
    async with dashboard((80, 24)) as d:
        await d.give(found)
        for entry in ENTRIES:
            await d.press(entry.digit, "i")
            text = " ".join(d.text().split())
            assert HealthText.BUFFERS.render(count=formatting.count(buffers)) in text, entry.name
            assert has(text, HealthText.SERVER_TIME), entry.name
            await d.press("i")
            assert d.app.current_mode == entry.name


async def test_why_nothing_is_known_is_said() -> None:
    refused = ProbeFailure("log", "our role may not", grant="GRANT VIEW SERVER STATE TO [me]")
    async with dashboard((120, 40)) as d:
        await d.press("3")
        await d.give(view(server=target(), failures=(refused,)))
        assert "log       our role may not; GRANT VIEW SERVER STATE TO [me]" in d.text()
        await d.give(view(server=target()))
        assert not has(d.text(), UnreadText.NOT_READ, what=HealthText.SUBJECT)
        await d.press("i")
        assert has(d.text(), UnreadText.NOT_READ, what=HealthText.SUBJECT)
        nothing = LogSample(None, None, None, "", None, None)
        await d.give(view(server=replace(target(), state=ServerState(log=nothing)), sequence=9))
        assert f"log       {HealthText.NOT_HELD}" in d.text()


async def test_what_was_bought_of_azure_is_shown_with_what_is_used_of_it() -> None:
    service = ServiceSample("GP_S_Gen5_2", "", False, True)
    limits = LimitsSample(0.4, 0.02, 1.0, 0.9, None, 0.01, None)
    made = ServerState(service=service, limits=limits)
    async with dashboard((160, 50)) as d:
        await d.press("3")
        await d.give(view(server=replace(target(), state=made)))
        limited = (
            f"{ServerHealthText.PROCESSOR_TIME} 40 %",
            f"{ServerHealthText.LOG_WRITES} 100 %",
            f"{ServerHealthText.READS_AND_WRITES} 2 %",
        )
        assert f"GP_S_Gen5_2   serverless   {'   '.join(limited)}" in d.text()
        pooled = ServerState(service=ServiceSample("ElasticPool", "shops", True, False), pool_limits=limits)
        await d.give(view(server=replace(target(), state=pooled), sequence=9))
        assert f"service   pool shops   {limited[0]}" in d.text()


async def test_the_database_card_says_which_settings_hurt_a_queue_and_what_is_unknown() -> None:
    async with dashboard((120, 40)) as d:
        await d.press("3")
        await d.give(polled()[1][-1])
        assert "database  version 16.0.4135.4   edition Standard Edition (64-bit)   " in d.text()
        assert has(d.text(), SettingsText.SOME_HURT, count=4)
        await d.press("i")
        card = " ".join(d.lines("state").split())
        assert f"hurts read committed snapshot off: {HarmText.REPORTS_WAIT}" in card
        assert f"hurts lock escalation table (dbo.events and 3 more): {HarmText.LOCK_ESCALATION}" in card
        assert f"unknown optimized locking: {HarmText.NOT_REPORTED}" in card
        refused = ProbeFailure("settings", "our role may not")
        await d.give(view(server=target(), failures=(refused,), sequence=9))
        assert "database  our role may not" in d.text()
