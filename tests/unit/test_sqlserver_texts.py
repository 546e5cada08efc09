"""The texts that polls send to SQL Server: few and the same in each poll, in few round trips, without values."""

from __future__ import annotations

import pyodbc
import pytest

from qmon.engines.base import Bound, Statement
from qmon.engines.sqlserver.sqlserver_engine import SqlServer
from qmon.errors import QueryFailed
from qmon.model.cost_budget import Budget
from qmon.monitor.poll.runner import Runner
from qmon.monitor.probes.probe_statements import ProbeStatement, StatementCache
from qmon.monitor.source import ReadScope
from tests.polled import Counting, Polls
from tests.replayed import connection, said

VERSION = (16, 0)
TEXT = (pyodbc.SQL_WVARCHAR, 4000, 0)


def job(name: str) -> ProbeStatement:
    return StatementCache(SqlServer(), VERSION).statement_for(name)


JOBS = [job("server"), job("cost"), job("pauses_known")]
CLOCK = job("clock")


def clock(text: str, **values: object) -> Bound:
    statement = Statement("probe/clock", f"/* qmon probe/clock */\n{text} AS now_at", tuple(values), ("now_at",))
    return Bound(statement, values)  # type: ignore[arg-type]


@pytest.mark.parametrize(("count", "polls", "cost_s"), [(12, 100, 0.0), (12, 100, 0.0005), (200, 40, 0.0005)])
def test_the_text_of_a_poll_recurs_and_holds_no_value(count: int, polls: int, cost_s: float) -> None:
    """``cost_s``: the server's time per statement. The benchmark covers 100 polls of 200 queues."""
    watch = Polls(count, cost_s=cost_s, budget=Budget())
    watch.poll(20)  # until then probes are tested one by one, and their costs are measured
    found = watch.poll(polls)
    sent = [each for poll in found for each in poll]
    assert (watch.throttled > 0) == (cost_s > 0)
    assert watch.snapshots[-1].failures == ()
    assert max(len(poll) for poll in found) <= 6
    assert max(sum(each.listed for each in poll) for poll in found) <= 4
    assert len({each.text for each in sent}) <= 12
    assert len({(each.text, each.declared) for each in sent}) <= 12, "a plan for each of these"
    assert sum(not each.prepared for each in sent) <= 12, "times a text is sent instead of its handle"
    for text in {each.text for each in sent}:
        assert "READY" not in text
        assert text.count("?") - text.count("'?'") == len(next(each.values for each in sent if each.text == text))


def test_what_is_shown_for_a_while_changes_no_text_when_it_is_shown_no_more() -> None:
    watch = Polls(12)
    watch.poll(20)
    texts = [
        {each.text for poll in watch.poll(5, focus)[2:] for each in poll}
        for focus in (ReadScope(), ReadScope(rows_of="q0"), ReadScope(), ReadScope(rows_of="q0"))
    ]
    assert len(texts[0]) == len(texts[1]) == 1
    assert texts[0] != texts[1] == texts[2] == texts[3]


def test_a_batch_is_sent_in_parts_that_the_server_takes() -> None:
    driver = Counting()
    bound = clock("SELECT ? + ? + ?", a=1, b=2, c=3)
    assert len(connection(driver, VERSION).fetch_batch([bound] * 1000)) == 1000
    assert [len(each.values) for each in driver.sent] == [1998, 1002]


def test_a_list_is_sent_in_the_same_parts_whatever_is_asked_for() -> None:
    driver = Counting()
    at = connection(driver, VERSION)
    bounds = [clock("SELECT ? + ? + ?", a=1, b=2, c=number) for number in range(1500)]
    for wanted in ({0, 665, 666, 1499}, {665}, {1499}, set[int]()):
        found = at.fetch_list(bounds, [number in wanted for number in range(1500)])
        assert {number for number, rows in enumerate(found) if rows is not None} == wanted
        assert [len(rows.rows) for rows in found if rows is not None] == [1] * len(wanted)
    assert [len(each.values) for each in driver.sent] == [1999, 1999, 505, 1999, 505]
    first, last = driver.sent[0], driver.sent[2]
    assert (driver.sent[3].text, driver.sent[4].text) == (first.text, last.text)
    assert str(first.values[0]).count("1") == 2
    assert [each.prepared for each in driver.sent] == [False, True, False, True, True], (
        "the first two parts are one text"
    )


def test_a_text_that_failed_is_sent_anew_and_leaves_no_result_behind() -> None:
    driver = Counting()
    at, bounds = connection(driver, VERSION), [clock("SELECT ?", a=1), clock("SELECT ? + 1", a=2)]
    assert None not in at.fetch_list(bounds, [True, True])
    driver.broken["probe/clock"] = said("42000", "Divide by zero error encountered. (8134)")
    with pytest.raises(QueryFailed, match="Divide by zero"):
        at.fetch_list(bounds, [False, True])
    driver.broken.clear()
    assert [rows is None for rows in at.fetch_list(bounds, [False, True])] == [True, False]
    assert [each.prepared for each in driver.sent] == [False, True, False]


@pytest.mark.parametrize(
    ("value", "size"),
    [
        (None, TEXT),
        ("", TEXT),
        ("x" * 4000, TEXT),
        ("\U0001f418" * 2000, TEXT),
        ("x" * 4001, None),
        ("\U0001f418" * 2001, None),
        (7, None),
        (0.5, None),
        (True, None),
        (b"x", None),
    ],
    ids=[
        "NULL",
        "empty",
        "longest",
        "longest beyond the BMP",
        "too long",
        "too long beyond the BMP",
        "int",
        "float",
        "bool",
        "bytes",
    ],
)
def test_texts_and_null_have_one_type_so_that_they_share_a_plan_and_the_driver_asks_for_none(
    value: object, size: object
) -> None:
    driver = Counting()
    connection(driver, VERSION).fetch(clock("SELECT ?", a=value))
    assert driver.sent[0].sizes == (None if size is None else (size,))


def test_one_that_is_left_out_and_that_the_server_takes_no_more_does_not_fail_the_others_for_ever() -> None:
    driver = Counting()
    runner = Runner(connection(driver, VERSION), by_text=True)
    for _ in range(3):
        runner.run_statements([*JOBS, CLOCK])
    changed = "Invalid column name 'Gone'. (207)"
    without = [each for each in JOBS if each.probe != "cost"]

    def planned(text: str) -> None:
        """The server plans a whole batch before it runs any of it."""
        if "/* qmon probe/cost */" in text:
            raise said("42S22", changed)

    driver.planned = planned
    for poll in range(3):
        driver.sent.clear()
        results, failures = runner.run_statements([*without, CLOCK])
        assert {probe for _, probe in results} == {"server", "pauses_known", "clock"}
        assert failures == []
        assert len(driver.sent) == (4 if poll == 0 else 1)
