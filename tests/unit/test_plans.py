"""The plans of pops: read from Query Store one queue at a time, and when another plan is the problem."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from qmon.engines.sqlserver.sqlserver_engine import SqlServer
from qmon.errors import QueryFailed
from qmon.model.evidence import TargetEvidence
from qmon.model.layout.layout import Layout, ObjectName
from qmon.model.layout.table_facts import TableFacts
from qmon.model.samples.plan_samples import PlanSample, QueuePlans
from qmon.model.statement_use import reading_interval_s, statement_uses
from qmon.model.verdicts.server_health_verdicts import PLAN_REGRESSED, ServerHealthText
from qmon.monitor.background.plan_reader import PlanReader, PlanReaderText
from qmon.monitor.probes.probe_statements import StatementCache
from qmon.monitor.probes.queue_probes import QueueSpec
from qmon.monitor.state.failover_and_plans import PlanTrack
from tests.replayed import BIG, Driver, connection
from tests.tsql_types import Type
from tests.unit.polls import COUNTERS, FIFO, fifo, poll
from tests.unit.rule_inputs import FINE
from tests.wordings import has

LAYOUT = Layout("mails", "fifo", ObjectName("dbo", "Mails"), id="Id")
SPEC = QueueSpec(LAYOUT, TableFacts(11))
OLD = PlanSample("42", "31", "dbo.Take", 864_000.0, False, 0, 0.0, 0.0, BIG, 12.0 * BIG, None, "DELETE FROM dbo.Mails")
NEW = replace(OLD, plan_id="77", age_s=7_200.0, calls=900, reads=900 * 1_204.0, calls_before=0, reads_before=0.0)


class Store:
    """Rows of the two probes."""

    def __init__(self, kept: bool, *statements: str) -> None:
        self.kept, self.statements = kept, statements

    def __call__(self, name: str, columns: tuple[tuple[str, Type], ...], poll: int) -> Sequence[tuple[object, ...]]:
        if name == "probe/clock":
            return [(1000.0,)]
        if name == "probe/plan_history":
            return [(1000.0, self.kept, "" if self.kept else "Query Store is OFF", "")]
        assert name == "probe/plans"
        numbers = ("", 60.0, False, 5, 50.0, 0.1, 0, 0.0, None)
        return [("1", str(n), *numbers, text) for n, text in enumerate(self.statements)]


def read(store: Store, version: tuple[int, int] = (16, 0)) -> tuple[QueuePlans, Driver]:
    driver = Driver(store)
    plans = PlanReader(SqlServer())
    plans.read_plans(connection(driver, version), StatementCache(SqlServer(), version), SPEC)
    (found,) = plans.take_new_plans()
    assert plans.take_new_plans() == (), "once"
    return found, driver


def test_statements_of_this_table_are_kept_without_the_passwords_in_them() -> None:
    found, driver = read(
        Store(True, "delete from [Mails]", "DELETE dbo.MailsOld", "UPDATE Mails SET PASSWORD = 'hunter2'")
    )
    assert (found.queue, found.read_at, found.unread) == ("mails", 1000.0, "")
    assert [plan.plan_id for plan in found.plans] == ["0", "2"]
    assert "hunter2" not in repr(found)
    assert "Mails" in driver.values


def test_where_the_server_remembers_no_plans_it_is_said_and_nothing_more_is_asked() -> None:
    found, driver = read(Store(False))
    assert (found.unread, found.plans) == ("Query Store is OFF", ())
    assert driver.asked == ["probe/plan_history"]
    found, driver = read(Store(True), (12, 0))
    assert found.unread == PlanReaderText.NO_QUERY_STORE
    assert driver.asked == ["probe/clock"]


def test_a_refused_reading_is_a_failure_and_not_an_empty_one() -> None:
    plans = PlanReader(SqlServer())
    with pytest.raises(QueryFailed, match="VIEW SERVER STATE"):
        plans.read_plans(
            connection(Driver(refused=frozenset({"probe/plan_history"})), (16, 0)),
            StatementCache(SqlServer(), (16, 0)),
            SPEC,
        )
    assert plans.take_new_plans() == ()


def test_many_queues_are_each_read_less_often() -> None:
    assert [reading_interval_s(queues) for queues in (1, 10, 200)] == [300.0, 300.0, 6_000.0]


def proof(*plans: PlanSample, queue: str = "mails") -> str | None:
    known = TargetEvidence(plans={queue: QueuePlans(queue, 990.0, plans)})
    return PLAN_REGRESSED.proof(replace(FINE, layout=LAYOUT, target=known))


def test_another_plan_that_reads_much_more_is_said_with_both() -> None:
    assert proof(NEW, OLD) == (
        ServerHealthText.PLAN_WORSE.render(
            statement="42",
            where=ServerHealthText.OF_PROCEDURE.render(routine="dbo.Take"),
            now=ServerHealthText.PAGES_NOW.render(
                pages="1,204", plan="77", made=ServerHealthText.CREATED.render(age="2 h 00 m")
            ),
            before=ServerHealthText.PAGES_BEFORE.render(pages="12", plan="31"),
        )
    )
    few = replace(OLD, calls=10, reads=120.0)
    assert has(proof(NEW, few), ServerHealthText.PAGES_NOW, pages="1,191", plan="77")


@pytest.mark.parametrize(
    "plans",
    [
        (NEW,),
        (OLD,),
        (replace(NEW, plan_id="31"), OLD),
        (replace(NEW, statement_id="43"), OLD),
        (replace(NEW, reads=900 * 40.0), OLD),
        (NEW, replace(OLD, reads_before=500.0 * BIG)),
        (replace(NEW, calls=19, reads=19 * 1_204.0), OLD),
        (NEW, replace(OLD, calls_before=19, reads_before=19 * 12.0)),
    ],
    ids=[
        "new",
        "not run lately",
        "the same plan",
        "another statement",
        "few pages",
        "as before",
        "few calls",
        "few calls before",
    ],
)
def test_what_is_no_sign(plans: tuple[PlanSample, ...]) -> None:
    assert proof(*plans) is None


def test_plans_of_another_queue_are_no_sign_and_without_a_reading_nothing_is_over() -> None:
    assert proof(NEW, OLD, queue="orders") is None
    assert PLAN_REGRESSED.unread(replace(FINE, layout=LAYOUT))
    read = TargetEvidence(plans={"mails": QueuePlans("mails", 990.0)})
    assert not PLAN_REGRESSED.unread(replace(FINE, layout=LAYOUT, target=read))


def test_what_was_read_stands_until_it_is_old_or_the_queue_has_gone() -> None:
    track, read = PlanTrack(), QueuePlans(FIFO.queue, 1000.0, (NEW, OLD))
    queues = (fifo(COUNTERS),)
    assert track.record_poll(replace(poll(1, 1001.0, *queues), plans=(read, QueuePlans("gone", 1000.0)))) == (read,)
    assert track.record_poll(poll(2, 1900.0, *queues)) == (read,)
    assert track.record_poll(poll(3, 1901.0, *queues)) == (), "old is not fresh"
    assert track.record_poll(replace(poll(4, 1902.0), plans=(replace(read, read_at=1901.0),))) == ()


def test_what_reads_most_comes_first_but_for_a_plan_that_is_worse() -> None:
    busy = replace(OLD, statement_id="7", calls=10**6, reads=10**9)
    assert [use.plan.statement_id for use in statement_uses((busy, NEW, OLD))] == ["42", "7"]
    assert statement_uses(()) == ()
