"""The queues of Service Broker on the overview, from typed rows of SQL Server to the painted text, or nothing."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from qmon.engines.sqlserver.sqlserver_engine import SqlServer
from qmon.model.layout.layout import Layout, ObjectName
from qmon.model.layout.table_facts import TableFacts
from qmon.model.service_broker import BrokerText
from qmon.model.view import View
from qmon.monitor.catalog.resolve import Resolved
from qmon.monitor.poll.collector import Collector
from qmon.monitor.source import ReadScope
from qmon.monitor.state.target_history import TargetHistory
from qmon.tui.overview.broker_panel import BrokerPanelText
from qmon.tui.overview.summary import SummaryText
from tests.replayed import BIG, Driver, Idle, Rows, answering, connection
from tests.tui.driving import dashboard
from tests.tui.scripted import NASTY, TAKEN_AT

pytestmark = pytest.mark.unit

LAYOUT = Layout("orders", "fifo", ObjectName("dbo", "Orders"), id="Id")
FACTS = TableFacts(12)
QUEUES: tuple[Mapping[str, object], ...] = (
    {
        "queue_id": 501,
        "queue_schema": "dbo",
        "queue": "OrderQueue",
        "depth": BIG,
        "receives": False,
        "enqueues": False,
        "activates": True,
        "procedure": "[dbo].[handle]",
        "max_readers": 5,
        "poison_handling": True,
    },
    {
        "queue_id": 502,
        "queue_schema": NASTY,
        "queue": "請求書 🎉",
        "depth": None,
        "receives": True,
        "enqueues": True,
        "activates": False,
        "procedure": "",
        "max_readers": 0,
        "poison_handling": True,
    },
    {
        "queue_id": 503,
        "queue_schema": "dbo",
        "queue": "Mails",
        "depth": 12,
        "receives": True,
        "enqueues": True,
        "activates": True,
        "procedure": "[dbo].[mail]",
        "max_readers": 3,
        "poison_handling": False,
    },
)
ROWS: Mapping[str, Rows] = {
    "probe/writers": lambda poll: (),
    "probe/broker_queues": lambda poll: QUEUES,
    "probe/broker_conversations": lambda poll: ({"counted": 12, "talking": 12, "left": 0, "leaving": 0},),
    "probe/broker_monitors": lambda poll: (
        {
            "queue_id": 503,
            "state": "RECEIVES_OCCURRING",
            "empty_s": 4.25,
            "activated_s": 60.5,
            "waiting": 2,
            "tasks": 1,
        },
    ),
    "probe/server": lambda poll: ({"sessions_used": 37, "sessions_limit": 32_767},),
    "probe/broker_transmission": lambda poll: (
        {
            "enabled": True,
            "messages": 40,
            "counted": 40,
            "oldest_s": 250.5,
            "service": "//shop/billing",
            "status": "The target queue is disabled.",
        },
    ),
}


def folded(rows: Mapping[str, Rows], refused: frozenset[str] = frozenset()) -> View:
    """Return the second view of a database with such queues."""
    driver = Driver(answering(rows), refused)
    collector = Collector("shop", SqlServer(), connection(driver, (16, 0)), Idle(), clock=lambda: TAKEN_AT)
    collector.watch_queues(Resolved((LAYOUT,), {LAYOUT.queue: FACTS}))
    history, views = TargetHistory(), []
    for poll in (1, 2):
        driver.poll = poll
        views.append(history.record_snapshot(collector.collect(poll, 1.0, ReadScope())))
    return views[-1]


@pytest.mark.parametrize("size", [(80, 24), (160, 40)], ids=["80x24", "160x40"])
async def test_typed_rows_are_painted(size: tuple[int, int]) -> None:
    async with dashboard(size) as d:
        await d.give(folded(ROWS))
        assert "Service Broker" in d.lines("broker-heading")
        assert "3 queues" in d.lines("broker-heading")
        first, *_ = said = d.lines("broker").splitlines()
        assert "QUEUE" in first
        assert "DEPTH" in first
        assert "dbo.OrderQueue" in said[1]
        assert "■ queue disabled" in said[1]
        undelivered = BrokerText.NOT_DELIVERED.render(
            messages=BrokerText.MESSAGES.render(more="", count=40, plural="s")
        )
        assert f"transmission  ▲ {undelivered}: The target queue is disab" in said[-1]
        assert "queue disabled" in d.text(), "it is painted, not only written"
        assert "\x1b" not in d.text()
        rates = "" if size[0] == 80 else SummaryText.NO_RATES
        only = SummaryText.ONLY_QUEUE.render(state=SummaryText.ONE_UNKNOWN)
        assert d.lines("summary") == f" ◦ {only}: orders{rates}{SummaryText.BROKER}{SummaryText.END}"
        off = BrokerText.OFF.render(what="receive and enqueue", are="are", cause="", depth="", command="")
        if size[0] == 80:
            assert "because" in said[2]
            assert f"{off.rstrip('; ')}{BrokerText.POISON[:20]}" in said[2]
        else:
            assert "dbo.Mails" in said[2]
            assert f"{off.rstrip('; ')}{BrokerText.POISON[:8]}" in said[1]
            assert "receiving" in said[2]
            assert BrokerPanelText.TASKS.render(running=1, maximum=3) in said[2]
            assert "4.2 s" in said[2]
            assert BrokerText.NO_ACTIVATION in said[3]
            assert "請求書" in said[3]


async def test_conversations_that_nobody_ends_have_a_line() -> None:
    leak: Rows = lambda poll: ({"counted": 5_000, "talking": 800, "left": 4_200, "leaving": 0},)  # noqa: E731
    async with dashboard((160, 40)) as d:
        await d.give(folded({**ROWS, "probe/broker_conversations": leak}))
        last = d.lines("broker").splitlines()[-1]
        many = BrokerText.CONVERSATIONS.render(more=BrokerText.AT_LEAST, count=5_000)
        assert last.startswith(f" conversations ▲ {many}: 4,200 {BrokerText.ENDED_BY_OTHER},")


async def test_without_the_right_to_see_monitors_the_queues_are_shown_and_the_right_is_named() -> None:
    view = folded(ROWS, frozenset({"probe/broker_monitors"}))
    assert [f.probe for f in view.failures] == ["broker_monitors"]
    assert "VIEW SERVER" in view.failures[0].reason + view.failures[0].grant
    async with dashboard((160, 40)) as d:
        await d.give(view)
        mails = next(line for line in d.lines("broker").splitlines() if "dbo.Mails" in line)
        assert BrokerText.NOT_SEEN in mails
        assert "not activated" not in d.lines("broker")


async def test_where_there_are_no_such_queues_nothing_is_said_of_them() -> None:
    none: Mapping[str, Rows] = {"probe/broker_queues": lambda poll: ()}
    async with dashboard() as d:
        await d.give(folded(none))
        assert "Service Broker" not in d.text()
        await d.give(folded(ROWS))
        assert "Service Broker" in d.text()
        await d.give(folded(none))
        assert "Service Broker" not in d.text()
