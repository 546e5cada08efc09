"""Twice as many queues take about twice the work to resolve and to poll, not four times."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

import pytest

from qmon.engines.base import Bound, Connection, Session
from qmon.errors import NoConnectionLeft
from qmon.model.groups.configured_queue import ConfiguredQueue
from qmon.model.layout.layout import Layout, ObjectName, StateColumn
from qmon.monitor.background.slow_reads import SlowReads
from qmon.monitor.catalog.resolve import NO_QUEUES, Resolved, resolve_queues
from qmon.monitor.poll.collector import Collector
from qmon.monitor.source import ReadScope
from tests.contract.tables import ENGINE, qmon_connection
from tests.facts import query
from tests.work import work_of

FEW: Final = 40
STATE: Final = StateColumn("status", "new", "working", "done")
LAYOUTS: Final = tuple(
    Layout(f"mail_queue{number}", "status", ObjectName("public", f"mail_queue{number}"), id="id", state=STATE)
    for number in range(2 * FEW)
)
TABLES: Final = """
DO $$ BEGIN FOR n IN 0 .. {last} LOOP
    EXECUTE format('CREATE TABLE mail_queue%s (id bigserial PRIMARY KEY, status text NOT NULL, body text)', n);
    EXECUTE format('CREATE INDEX ON mail_queue%s (status, id)', n);
    EXECUTE format('INSERT INTO mail_queue%s (status) VALUES (''new''), (''working'')', n);
END LOOP; END $$
"""
DROP: Final = "DO $$ BEGIN FOR n IN 0 .. {last} LOOP EXECUTE format('DROP TABLE mail_queue%s', n); END LOOP; END $$"


@pytest.mark.parametrize("again", [False, True], ids=["first", "again"])
@pytest.mark.parametrize("known", [False, True], ids=["found", "configured"])
def test_resolving(database: str, again: bool, known: bool) -> None:
    def work(count: int) -> int:
        query(database, TABLES.format(last=count - 1))
        layouts = LAYOUTS[:count] if known else ()
        with qmon_connection(database) as connection:
            before = resolve_queues(connection, ENGINE, layouts)  # fills caches, such as those of SQL files
            found: list[Resolved] = []
            cost = work_of(
                lambda: found.append(resolve_queues(connection, ENGINE, layouts, before=before if again else NO_QUEUES))
            )
        assert len(found[0].layouts) == count
        query(database, DROP.format(last=count - 1))
        return cost

    assert work(2 * FEW) < 2.05 * work(FEW)


def test_finding_queues_reads_one_statement_for_each_table(database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    query(database, TABLES.format(last=2 * FEW - 1))
    with qmon_connection(database) as connection:
        asked: list[str] = []
        fetch = connection.fetch

        def counted(bound: Bound, *more: Any) -> Any:
            asked.append(bound.statement.name)
            return fetch(bound, *more)

        monkeypatch.setattr(connection, "fetch", counted)
        assert len(resolve_queues(connection, ENGINE, ()).layouts) == 2 * FEW
    each = {name for name, count in Counter(asked).items() if count >= FEW}
    assert each == {"catalog/peek_index"}, "values of the state column; everything else is read for all tables at once"


def test_polling(database: str) -> None:
    query(database, TABLES.format(last=2 * FEW - 1))

    def refuse(_: Session) -> Connection:
        raise NoConnectionLeft("one poll needs no background reader")

    def work(layouts: Sequence[ConfiguredQueue]) -> int:
        with qmon_connection(database) as connection:
            collector = Collector("shop", ENGINE, connection, SlowReads(ENGINE, refuse))
            collector.watch_queues(resolve_queues(connection, ENGINE, layouts))
            for number in range(1, 4):
                collector.collect(number, 2.0, ReadScope())
            return work_of(lambda: collector.collect(4, 2.0, ReadScope()))

    few, many = work(LAYOUTS[:FEW]), work(LAYOUTS)
    assert many < 2.05 * few
