"""Typed rows of SQL Server pass from the driver through collector and view to the screens, and are read there."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from qmon.model.forecast import ForecastText
from qmon.model.formatting import percent
from qmon.model.verdicts.flow_verdicts import FlowText
from qmon.model.view import View
from qmon.model.waits.meanings import wait_meaning
from qmon.model.waits.queue_lock import QueueLockText
from qmon.tui.blocking.tree import BlockingText
from qmon.tui.overview.summary import SummaryText
from qmon.tui.shared.header import HeaderText
from qmon.tui.waits import usage_panel
from qmon.tui.waits.wait_plot import WaitPlotText
from qmon.tui.waits.waits_panel import WaitsText
from tests.tui.driving import Driver, dashboard
from tests.tui.shop import POLLS, STEP_S, Values, polled
from tests.wordings import has

pytestmark = pytest.mark.unit


def rows(d: Driver) -> list[str]:
    """Return the painted lines, with one blank between words."""
    return [" ".join(line.split()) for line in d.text().split("\n")]


def row(d: Driver, first: str) -> str:
    """Return the line that begins with these words, the last one if there are two."""
    return next(line for line in reversed(rows(d)) if line.startswith(first))


async def shown(d: Driver, views: Sequence[View]) -> None:
    """Paint the last poll, a moment later."""
    d.clock.now = views[-1].taken_at + 0.4
    await d.give(views[-1])


async def test_the_polls_of_four_designs_are_on_the_four_screens() -> None:
    shop, views = polled()
    assert [failure for view in views for failure in view.failures] == []
    assert [failure for view in views for queue in view.queues for failure in queue.failures] == []
    async with dashboard((120, 40)) as d:
        await shown(d, views)
        heading = rows(d)
        assert f"SQL Server 16.0 {HeaderText.LIVE} {HeaderText.AGO.render(age='0.4 s')}" in heading[0]
        observing = views[-1].server.observing
        assert observing is not None
        assert views[-1].server.budget_share is not None
        assert has(heading[0], HeaderText.COST, share=percent(views[-1].server.budget_share))
        critical = SummaryText.SOME_QUEUES.render(count=2, total=4, state=SummaryText.CRITICAL)
        worst = (
            f"{SummaryText.WORST}letters{SummaryText.READY.render(count='500')}{SummaryText.OLDEST.render(age='2h')}"
        )
        assert heading[1] == f"■ {critical}{worst}{SummaryText.END}"
        assert heading[2].startswith("tx/s 450 rollbacks/s 0 deadlocks/s 0 sessions 42 blocked 1")
        assert "Log:WRITELOG 3, Lock:LCK_M_U 1" in heading[2]
        assert row(d, "letters").startswith("letters 500 0 0 – 2h04m 5.0 0 501")
        assert row(d, "letters").endswith("■ everything locked [4]")
        assert row(d, "mails").startswith("mails 31 12 7 2 31s 18.0 18.0 37")
        assert row(d, "mails").endswith("■ stuck in progress [r]")
        assert row(d, "orders").startswith(f"orders ~{12_431 + 40 * POLLS:,} 0 0 – 1m02s 200 180 18,0")
        assert row(d, "orders").endswith("healthy")
        assert "↑ 20.0/s" in row(d, "orders")
        assert row(d, "events").startswith("events 300 0 – – 0.4s 450 450 300")
        opened = QueueLockText.OPEN.render(age="2 h 04 m")
        assert f"{QueueLockText.SESSION.render(session=61)} (idle in transaction, {opened}, legacy-batch," in d.text()
        blocks = QueueLockText.BLOCKS.render(who="app-7)", sessions="1 session", table="dbo.letters")
        assert f"{blocks} · {ForecastText.GROWING.render(rate='5.0')}" in d.text()

        d.app.selected = "mails"
        await d.press("2")
        await shown(d, views)
        text = d.text()
        assert "mails   status   dbo.mails" in text
        longer = FlowText.LATE_BY_TIMEOUT.render(timeout="5 m 00 s")
        late = FlowText.LATE.render(count=7, longer=longer)
        assert f"{late}: {FlowText.DEAD_OWNER.render(more='', count=7, owner='')}" in text
        assert "gap 37" in text
        messages = [line for line in rows(d) if line.startswith("119")]
        assert messages[0] == '119000 ▲ stuck 14 m 00 s 77/2026-11-21T02:00:00.123 1 {"to": "ada@example.org"}'
        assert len(messages) == len({line[:6] for line in messages}) > 5
        await d.press("escape")

        await d.press("3")
        await shown(d, views)
        told = row(d, WaitsText.PER_SECOND)
        rates = (
            f"{WaitsText.BATCHES} 1,204",
            f"{WaitsText.TRANSACTIONS} 612",
            f"{WaitsText.PAGE_SPLITS} 7.0",
            f"{WaitsText.LOCK_TIMEOUTS} 1.0",
        )
        assert told.startswith(" ".join((WaitsText.PER_SECOND, *rates)))
        assert told.endswith(f"{WaitsText.LOG_FLUSH_WAITS} 320")
        plot = (
            WaitPlotText.AVERAGE,
            WaitPlotText.AT_MOST.render(count=1.2),
            WaitPlotText.COLUMN.render(duration="5 s"),
        )
        assert f"WRITELOG {' '.join(plot)}" in rows(d)
        assert row(d, "WRITELOG 1.20").startswith("WRITELOG 1.20 55 %")
        log = wait_meaning("wait", "WRITELOG")
        assert log is not None
        assert row(d, "WRITELOG 1.20").endswith(f"450 2.7 ms {log.waits_for}")
        assert row(d, "LCK_M_U").startswith("LCK_M_U 1.00 45 %")
        assert "1 idle wait " in d.text() and "LAZYWRITER_SLEEP" in d.text()
        assert row(d, "mails_ready_index").startswith("mails_ready_index index 2.3 MB 0 250 10.0 0.5 3.5")
        await d.press("escape")

        await d.press("4")
        await shown(d, views)
        assert has(d.lines("blocking-heading"), BlockingText.SUMMARY, count=1, heads="1 head blocker")
        assert row(d, "■ 61").startswith("■ 61 idle in transaction 1 2h04m legacy-batc")
        assert row(d, "└─ 84").startswith("└─ 84 waiting 40s 12s dbo.letters row (8194443284a")
        assert has(d.lines("session"), BlockingText.IDLE, state="idle in transaction")
        assert has(d.lines("session"), BlockingText.CLIENT, client="legacy-batch · shop@app-7", database="shop")
    assert {"probe/head", "probe/head_state", "probe/ring", "probe/table_counters"} <= set(shop.asked)


def test_a_value_of_another_type_does_not_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    from tests.tui.shop import Shop

    def wrong(self: Shop, queue: str) -> Sequence[Values]:
        return [{"buffers": 12.5, "cpu_ms": 3}]

    monkeypatch.setattr(Shop, "_cost", wrong)
    with pytest.raises(AssertionError, match=r"probe/cost.buffers is bigint, not 12\.5"):
        polled(1)


def test_escalations_and_waits_for_files_are_shown_by_index() -> None:
    mails = polled()[1][-1].queue("mails")
    assert mails is not None
    assert mails.use is not None
    table, index = mails.use.parts
    assert (index.io_waits, index.escalations_tried, index.escalations) == (3 / STEP_S, 2 / STEP_S, 1 / STEP_S)
    assert (table.sequential, index.sequential) == (False, True)
    heading, *_, last = ["".join(part for part, _ in line) for line in usage_panel.usage_lines(mails, 200, 9)]
    assert heading.split()[-3:] == ["IO/s", "ESC/s", "TRIED/s"]
    assert last.split()[-3:] == ["1.5", "0.5", "1.0"]
