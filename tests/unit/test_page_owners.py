"""The page that sessions wait for on SQL Server is named by its table and index, if the server reports them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from qmon.engines.sqlserver.sqlserver_engine import SqlServer
from qmon.model.samples.wait_samples import LatchSample
from qmon.model.snapshot import Snapshot
from qmon.monitor.catalog.resolve import Resolved
from qmon.monitor.poll.collector import Collector
from qmon.monitor.source import ReadScope
from tests.replayed import Driver, Idle, answering, connection
from tests.unit.sqlserver_queues import FIFO, TABLE

pytestmark = pytest.mark.unit

PROBE = "probe/page_owner"
EX = "PAGELATCH_EX"


def polls(
    pages: Sequence[str], version: int = 15, *, polls: int = 5, refused: frozenset[str] = frozenset()
) -> tuple[Driver, list[Snapshot]]:
    """Return polls in which a session waits for each of these pages.

    The pages of file 1 belong to index 2, others to none.
    """

    def latches(_: int) -> tuple[Mapping[str, object], ...]:
        of = {"event": EX, "table_id": None, "index_id": None}
        return tuple({**of, "session": 60 + n, "page": page} for n, page in enumerate(pages))

    def owner(_: int) -> tuple[Mapping[str, object], ...]:
        file, page = driver.values
        own = {"table_id": TABLE.table_id, "index_id": 2} if file == 1 else {"table_id": None, "index_id": None}
        return ({"page": f"{file}:{page}", **own},)

    rows = {
        "probe/waits": lambda _: ({"kind": "Page latch", "event": EX, "sessions": len(pages)},),
        "probe/server": lambda n: ({"now_at": 1.75e9 + n, "started_at": 1.7e9, "stats_reset_at": None},),
        "probe/latches": latches,
        PROBE: owner,
    }
    driver = Driver(answering(rows), refused)
    clock = iter(range(1_000))
    collector = Collector("shop", SqlServer(), connection(driver, (version, 0)), Idle(), lambda: float(next(clock)))
    collector.watch_queues(Resolved((FIFO,), {FIFO.queue: TABLE}))
    found = []
    for driver.poll in range(1, polls + 1):
        found.append(collector.collect(driver.poll, 1.0, ReadScope()))
    return driver, found


def owners(snapshot: Snapshot) -> list[tuple[str, int | None, int | None]]:
    latches: tuple[LatchSample, ...] = snapshot.latches or ()
    return [(each.page, each.table_id, each.index_id) for each in latches]


def test_the_page_that_most_sessions_wait_for_is_asked_for_once_and_named() -> None:
    driver, found = polls(["1:4711", "1:99", "1:4711"])
    assert owners(found[1]) == [("1:4711", None, None), ("1:99", None, None), ("1:4711", None, None)]
    named = ("1:4711", TABLE.table_id, 2)
    assert owners(found[2]) == [named, ("1:99", None, None), named]
    assert owners(found[3]) == [named, ("1:99", TABLE.table_id, 2), named]
    assert driver.asked.count(PROBE) == 2, "each page once"
    assert not [failure for snapshot in found for failure in snapshot.failures]


def test_a_page_of_no_table_is_not_named() -> None:
    driver, found = polls(["2:4711"])
    assert owners(found[-1]) == [("2:4711", None, None)]
    assert driver.asked.count(PROBE) == 1


@pytest.mark.parametrize("page", ["1:1 (PFS)", ""])
def test_a_page_with_a_role_for_its_file_is_not_asked_for(page: str) -> None:
    driver, found = polls([page])
    assert owners(found[-1]) == [(page, None, None)]
    assert PROBE not in driver.asked


def test_a_server_before_2019_is_not_asked() -> None:
    driver, found = polls(["1:4711"], version=14)
    assert owners(found[-1]) == [("1:4711", None, None)]
    assert PROBE not in driver.asked


def test_without_the_right_the_page_keeps_its_number() -> None:
    driver, found = polls(["1:4711"], refused=frozenset({PROBE}))
    assert owners(found[-1]) == [("1:4711", None, None)]
    assert driver.asked.count(PROBE) == 1
    assert [failure.probe for snapshot in found for failure in snapshot.failures] == ["page_owner"]
