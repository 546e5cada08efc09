"""Screen 3 on SQL Server: its counters, its version store, and the cost of holding the horizon there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from qmon.model.figure import Figure
from qmon.model.rates.counter_rates import CounterRates
from qmon.model.samples.horizon_samples import HorizonSample, VersionStoreSample
from qmon.model.view import View
from qmon.model.waits.horizon_holders import HolderText
from qmon.tui.figures import UnreadText
from qmon.tui.spans import Line
from qmon.tui.waits import horizon_panel, waits_panel
from qmon.tui.waits.horizon_panel import HorizonText, VersionStoreText
from qmon.tui.waits.server_health_panel import HealthText
from qmon.tui.waits.usage_panel import UsageText
from qmon.tui.waits.waits_panel import WaitsText
from tests.tui.driving import dashboard
from tests.tui.waited import NEXT, SLEEPER, counted, use, waited_view
from tests.wordings import has

pytestmark = pytest.mark.unit

COUNTERS = CounterRates(10.0, 1_204.3, 612.0, 0.4, 0.0, None)
STORE = VersionStoreSample(1_288_490_189, None, whole_server=False)
SLEEPER_NAME = HolderText.SESSION.render(session=61)
NEXT_NAME = HorizonText.SHORT.render(holder=HolderText.SESSION.render(session=84), duration="0.4 s")
IN_TEMPDB = VersionStoreText.IN_TEMPDB.render(size="1.2 GB")
READS = replace(
    use(None), reads_per_pop=Figure(412.0), rows_per_pop=Figure.unknown("not counted"), dead=None, before=12.0
)


def served(
    holders: tuple[HorizonSample, ...] | None = (SLEEPER, NEXT), store: VersionStoreSample | None = STORE
) -> View:
    """Return the content of screen 3 on a SQL Server."""
    made = waited_view(holders, counted())
    server = replace(made.server, counters=COUNTERS, version_store=store, cpu_ms=3)
    queues = tuple(replace(q, use=READS if q.use is not None else None) for q in made.queues)
    return replace(made, engine="sqlserver", server_version="16.0", server=server, queues=queues)


def words(lines: Sequence[Line]) -> str:
    """Return the lines as plain text."""
    return "\n".join("".join(text for text, _ in line) for line in lines)


def test_the_counters_are_one_line_of_rates() -> None:
    told = words(waits_panel.counter_lines(served(), 120))
    rates = (
        f"{WaitsText.BATCHES} 1,204",
        f"{WaitsText.TRANSACTIONS} 612",
        f"{WaitsText.PAGE_SPLITS} 0.4",
        f"{WaitsText.LOCK_TIMEOUTS} 0",
    )
    assert told.startswith(f" {WaitsText.PER_SECOND}  {'   '.join(rates)}")
    assert f"{WaitsText.LOG_FLUSH_WAITS} –" in told, "unknown is not 0"
    assert waits_panel.counter_lines(waited_view(), 120) == [], "another engine has no such line"


def test_where_it_is_narrow_what_a_dba_looks_at_first_stays() -> None:
    told = words(waits_panel.counter_lines(served(), 60))
    assert "page splits 0.4   lock timeouts 0" in told
    assert "transactions" not in told


@pytest.mark.parametrize(
    ("holders", "store", "told"),
    [
        ((), STORE, f"{HorizonText.NO_HOLDER_OF_VERSIONS} · row versions {IN_TEMPDB}"),
        ((NEXT,), STORE, f"{HorizonText.NOT_FOR_LONG.render(holder=NEXT_NAME)} · row versions {IN_TEMPDB}"),
        ((), None, VersionStoreText.NOT_READ),
        (
            (),
            VersionStoreSample(8_192, None, whole_server=True),
            f"row versions {VersionStoreText.IN_TEMPDB_FOR_ALL.render(size='8.0 kB')}",
        ),
        (
            (),
            VersionStoreSample(0, 3_145_728, whole_server=False),
            f"row versions {VersionStoreText.IN_TEMPDB.render(size='0 B')}, "
            f"{VersionStoreText.IN_DATABASE.render(size='3.0 MB')}",
        ),
        ((), VersionStoreSample(None, None, whole_server=False), "row versions none"),
        (None, STORE, UnreadText.NOT_READ.render(what="the holder")),
    ],
    ids=["nobody", "not for long", "size not read", "whole server", "in the database", "none", "not read"],
)
def test_who_holds_nothing_for_long(
    holders: tuple[HorizonSample, ...] | None, store: VersionStoreSample | None, told: str
) -> None:
    assert told in words(horizon_panel.horizon_lines(served(holders, store), 140, 7))


async def test_the_screens_say_who_holds_row_versions_at_what_cost_and_what_there_is_to_gain() -> None:
    async with dashboard((200, 50)) as d:
        await d.give(served())
        await d.press("3")
        told = d.lines("horizon")
        assert has(told, HorizonText.FOR_TIME, holder=SLEEPER_NAME, duration="2 h 04 m")
        assert f"row versions {IN_TEMPDB}" in told
        per_pop = f"412 {UsageText.PER_POP.render(unit='logical reads')}{UsageText.BEFORE.render(count='12.0')}"
        assert f"mails  {per_pop}" in told
        next_holder = HorizonText.NEXT_HOLDER.render(holder=NEXT_NAME)
        assert has(told, VersionStoreText.GAIN, size="1.2 GB", then=next_holder)
        assert not has(told, HorizonText.GAIN)
        assert per_pop in d.lines("use-heading")
        assert f"{WaitsText.BATCHES} 1,204" in d.lines("counters")
        await d.press("i")
        assert has(d.lines("state"), HealthText.CPU_TIME, milliseconds=3)
        d.app.selected = "mails"
        await d.press("2")
        assert has(d.lines("tables"), HorizonText.FOR_TIME, holder=SLEEPER_NAME, duration="2 h 04 m")
        assert f" {HorizonText.KEEPS_VERSIONS} [3]" in d.lines("tables")
        assert per_pop in d.lines("tables")
        await d.press("3")
        await d.give(waited_view(sequence=8))
        assert not d.app.screen.query_one("#counters").display, "another engine has no such line"
