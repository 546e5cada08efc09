"""Screen 3 on SQL Server: its counters, its version store, and the cost of holding the horizon there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from qmon.model.figure import Figure
from qmon.model.rates.counter_rates import CounterRates
from qmon.model.samples.horizon_samples import HorizonSample, VersionStoreSample
from qmon.model.view import View
from qmon.tui.spans import Line
from qmon.tui.waits import horizon_panel, waits_panel
from tests.tui.driving import dashboard
from tests.tui.waited import NEXT, SLEEPER, counted, use, waited_view

pytestmark = pytest.mark.unit

COUNTERS = CounterRates(10.0, 1_204.3, 612.0, 0.4, 0.0, None)
STORE = VersionStoreSample(1_288_490_189, None, whole_server=False)
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
    assert told.startswith(" per second  batches 1,204   transactions 612   page splits 0.4   lock timeouts 0")
    assert "commits waiting for the log –" in told, "unknown is not 0"
    assert waits_panel.counter_lines(waited_view(), 120) == [], "another engine has no such line"


def test_where_it_is_narrow_what_a_dba_looks_at_first_stays() -> None:
    told = words(waits_panel.counter_lines(served(), 60))
    assert "page splits 0.4   lock timeouts 0" in told
    assert "transactions" not in told


@pytest.mark.parametrize(
    ("holders", "store", "told"),
    [
        ((), STORE, "no holder: old row versions can be removed · row versions 1.2 GB in tempdb"),
        (
            (NEXT,),
            STORE,
            "no session holds the horizon for a long time; the oldest is session 84 (0.4 s) · row versions 1.2 GB",
        ),
        ((), None, "the size of the version store was not read"),
        ((), VersionStoreSample(8_192, None, whole_server=True), "row versions 8.0 kB in tempdb of all databases"),
        (
            (),
            VersionStoreSample(0, 3_145_728, whole_server=False),
            "row versions 0 B in tempdb, 3.0 MB in the database itself",
        ),
        ((), VersionStoreSample(None, None, whole_server=False), "row versions none"),
        (None, STORE, "was not read in this poll"),
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
        assert "session 61 for 2 h 04 m" in told
        assert "row versions 1.2 GB in tempdb" in told
        assert "mails  412 logical reads per pop, 12.0 before" in told
        assert (
            "the server can remove up to 1.2 GB of row versions, and ghost rows; next holder: session 84 (0.4 s)"
            in told
        )
        assert "vacuum" not in told
        assert "412 logical reads per pop, 12.0 before" in d.lines("use-heading")
        assert "batches 1,204" in d.lines("counters")
        await d.press("i")
        assert "3 ms of CPU time" in d.lines("state")
        d.app.selected = "mails"
        await d.press("2")
        assert "horizon session 61 for 2 h 04 m keeps row versions [3]" in d.lines("tables")
        assert "412 logical reads per pop" in d.lines("tables")
        await d.press("3")
        await d.give(waited_view(sequence=8))
        assert not d.app.screen.query_one("#counters").display, "another engine has no such line"
