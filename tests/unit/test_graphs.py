"""Reports of deadlocks: asked for once the count has risen, for as long as they may come, and each given once."""

from __future__ import annotations

from dataclasses import replace

from qmon.engines.postgres import Postgres
from qmon.engines.sqlserver import SqlServer
from qmon.model.deadlock_samples import GraphSample
from qmon.monitor.graphs import Graphs
from qmon.monitor.jobs import Book

PAIR = GraphSample(1000.5, 61, 62, 7, "shop-api", "EXEC push @pwd = 'geheim'")
BACK = replace(PAIR, session=62, blocker=61, statement="EXEC pop")
FOUND = {("", "deadlock_graphs"): (PAIR, BACK)}


def graphs() -> Graphs:
    return Graphs(Book(SqlServer(), (16, 0)))


def test_nothing_is_asked_while_the_count_stands_still() -> None:
    at = graphs()
    for poll in range(5):
        assert at.jobs(float(poll)) == []
        assert at.learn({}, 3, float(poll), 1000.0 + poll) == ()
    assert at.learn({}, None, 5.0, 1005.0) == ()
    assert at.jobs(6.0) == []


def test_a_report_is_asked_for_until_it_has_had_time_and_given_once() -> None:
    at = graphs()
    at.learn({}, 3, 0.0, 1000.0)
    at.learn({}, 4, 1.0, 1001.0)
    (job,) = at.jobs(2.0)
    assert job.probe == "deadlock_graphs"
    assert at.jobs(3.0) == [], "not with every poll"
    (circle,) = at.learn(FOUND, 4, 2.0, 1002.0)
    assert [member.session for member in circle.members] == [61, 62]
    assert "geheim" not in circle.members[0].statement
    assert at.learn(FOUND, 4, 20.0, 1020.0) == ()
    assert len(at.jobs(20.0)) == 1
    assert at.jobs(200.0) == [], "by now it would have come"
    assert at.jobs(220.0) == []


def test_what_was_reported_before_the_first_poll_is_not_said() -> None:
    at = graphs()
    assert at.learn(FOUND, 4, 0.0, 1001.0) == ()


def test_a_server_without_such_reports_is_not_asked() -> None:
    at = Graphs(Book(Postgres(), (18, 0)))
    at.learn({}, 3, 0.0, 1000.0)
    at.learn({}, 4, 1.0, 1001.0)
    assert at.jobs(2.0) == []
