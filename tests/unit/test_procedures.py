"""Logical reads per pop: which procedures pop, the reads of their calls, and unknown values (SQL Server)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

import pytest

from qmon.engines.sqlserver.sqlserver_engine import SqlServer
from qmon.model.layout.layout import ClientPatterns, Layout, ObjectName
from qmon.model.layout.table_facts import TableFacts
from qmon.model.rates.procedure_reads import reads_between, verb_for
from qmon.model.reasons import Reason
from qmon.model.samples.usage_samples import NamingSample, ProcedureReads, ReadsSample, RoutineSample
from qmon.model.snapshot import ProbeFailure, Snapshot
from qmon.monitor.probes.probe_statements import StatementCache
from qmon.monitor.probes.procedure_probes import ProcedureProbes
from qmon.monitor.probes.queue_probes import QueueProbes, QueueSpec
from qmon.monitor.state.usage_track import ReadsTrack
from tests.unit.polls import poll
from tests.wordings import has

BIG: Final = 2**53 + 1
FOREIGN: Final = Layout("mails", "status", ObjectName("dbo", "Mails"))
INSTALLED: Final = Layout(
    'a]]b "; drop table x; --',
    "fifo",
    ObjectName("q", "a]b"),
    routines=(("pop", ObjectName("q", "a]b_pop")), ("push", ObjectName("q", "a]b_push"))),
)
POP: Final = ProcedureReads("mails", "pop", 7, 1_000, BIG, -5)
LATER: Final = replace(POP, executions=1_010, logical_reads=BIG + 380)


@pytest.mark.parametrize(
    ("name", "verb"),
    [
        ("usp_dequeueFifo", "pop"),
        ("DequeueFast", "pop"),
        ("orders_pop", "pop"),
        ("spReceiveMail", "pop"),
        ("usp_enqueuePending", "push"),
        ("SENDMail", "push"),
        ("PopulateQueue", ""),
        ("pushAndPop", ""),
        ("ArchiveMails", ""),
        ("popular", ""),
        ("", ""),
        ("\U0001f600", ""),
    ],
)
def test_what_a_procedure_does_is_said_by_the_words_of_its_name(name: str, verb: str) -> None:
    assert verb_for(FOREIGN, "dbo", name) == verb


def test_the_layout_knows_better_than_the_name() -> None:
    layout = replace(
        FOREIGN, consumers=ClientPatterns(procedure="dbo.Take*"), producers=ClientPatterns(procedure="put[x]")
    )
    assert verb_for(layout, "dbo", "takeMail") == "pop"
    assert verb_for(layout, "dbo", "PUT[x]") == "push"
    assert verb_for(layout, "dbo", "DequeueFast") == "", "there are patterns, and it fits none"
    assert verb_for(layout, "other", "takeMail") == ""


def test_pages_and_calls_between_two_readings() -> None:
    push = replace(POP, verb="push", procedure_id=8)
    assert reads_between([POP, push], [LATER, replace(push, executions=9_999)], "pop") == (380, 10)


@pytest.mark.parametrize(
    "later",
    [
        replace(LATER, plans=6),
        replace(LATER, executions=3, logical_reads=10),
        replace(LATER, procedure_id=9),
        replace(LATER, verb=""),
    ],
    ids=["another plan", "counted anew", "another procedure", "nobody knows what it does"],
)
def test_totals_that_do_not_belong_together_are_not_compared(later: ProcedureReads) -> None:
    assert reads_between([POP], [later], "pop") is None


def polled(sequence: int, at: float, found: tuple[ProcedureReads, ...] | None) -> Snapshot:
    return replace(poll(sequence, at), procedures=found)


def test_the_figure_has_its_age_and_a_reason_where_it_is_not_known() -> None:
    track = ReadsTrack()
    assert track.record_poll(polled(1, 1000.0, None), FOREIGN) is None, "an engine that has no such reading"
    first = track.record_poll(polled(2, 1002.0, (POP,)), FOREIGN)
    assert first is not None
    assert (first.value, first.reason) == (None, Reason.FOLLOWS_WITH_NEXT_READING)
    found = track.record_poll(polled(3, 1012.0, (LATER,)), FOREIGN)
    assert found is not None
    assert (found.value, found.age_s) == (38.0, 0.0)
    older = track.record_poll(polled(4, 1016.0, None), FOREIGN)
    assert older is not None
    assert (older.value, older.age_s) == (38.0, 4.0)
    still = track.record_poll(polled(5, 1101.0, (LATER,)), FOREIGN)
    assert still is not None
    assert still.reason == Reason.NO_POP_ENDED
    other = track.record_poll(polled(6, 1110.0, (replace(POP, queue="orders"),)), FOREIGN)
    assert other is not None
    assert has(other.reason, Reason.NO_POP_PROCEDURE)
    ours = track.record_poll(polled(6, 1110.0, ()), INSTALLED)
    assert ours is not None
    assert has(ours.reason, Reason.PROCEDURES_NOT_RUN)
    again = track.record_poll(polled(7, 5000.0, (replace(LATER, executions=2_000),)), FOREIGN)
    assert again is not None
    assert again.reason == Reason.FOLLOWS_WITH_NEXT_READING, "no figures across a gap"


def probes(layout: Layout, table_id: int) -> QueueProbes:
    return QueueProbes(StatementCache(SqlServer(), (16, 0)), QueueSpec(layout, TableFacts(table_id)))


def asked(procedures: ProcedureProbes, now: float, *queues: QueueProbes) -> dict[tuple[str, str], Any]:
    return {job.key: job for job in procedures.statements_for_poll(now, {each.layout.queue: each for each in queues})}


def test_procedures_are_found_now_and_then_and_read_rarely() -> None:
    procedures = ProcedureProbes(StatementCache(SqlServer(), (11, 0)))
    queues = (probes(FOREIGN, 11), probes(INSTALLED, 12))
    jobs = asked(procedures, 100.0, *queues)
    assert set(jobs) == {("", "routines_of_tables"), (INSTALLED.queue, "routines")}
    assert jobs["", "routines_of_tables"].bound.values == {"tables": "11"}
    assert "N'[q].[a]]b_pop]'" in jobs[INSTALLED.queue, "routines"].bound.statement.text
    assert "CAST(NULL AS nvarchar(600))" in jobs[INSTALLED.queue, "routines"].bound.statement.text
    found = {
        ("", "routines_of_tables"): (
            NamingSample(11, 7, "dbo", "DequeueMail"),
            NamingSample(11, 8, "dbo", "ArchiveMail"),
            NamingSample(99, 9, "dbo", "DequeueOther"),
        ),
        (INSTALLED.queue, "routines"): (RoutineSample("pop", 70), RoutineSample("push", 71)),
    }
    assert procedures.record_results(found, ()) == (None, ())
    jobs = asked(procedures, 102.0, *queues)
    assert jobs["", "procedures"].bound.values == {"procedures": "7,8,70,71"}
    read = (ReadsSample(7, 10, BIG, 1), ReadsSample(70, 3, 9, 2), ReadsSample(99, 1, 1, 1))
    assert procedures.record_results({("", "procedures"): read}, ()) == (
        (ProcedureReads("mails", "pop", 7, 10, BIG, 1), ProcedureReads(INSTALLED.queue, "pop", 70, 3, 9, 2)),
        (),
    )
    assert asked(procedures, 104.0, *queues) == {}
    assert set(asked(procedures, 112.5, *queues)) == {("", "procedures")}
    assert ("", "routines_of_tables") in asked(procedures, 900.0, *queues)
    assert set(asked(procedures, 902.0, probes(INSTALLED, 12))) == {(INSTALLED.queue, "routines")}, "a queue is gone"


def test_a_missing_right_stands_until_it_is_given() -> None:
    procedures = ProcedureProbes(StatementCache(SqlServer(), (16, 0)))
    asked(procedures, 100.0, probes(FOREIGN, 11))
    grant = "GRANT SELECT ON [sys].[sql_expression_dependencies] TO [monitor]"
    denied = ProbeFailure("routines_of_tables", "SELECT permission was denied", grant=grant)
    assert procedures.record_results({}, (denied,)) == ((), ()), "this poll contains it"
    assert procedures.record_results({}, ()) == ((), (denied,))
    assert procedures.record_results({("", "routines_of_tables"): ()}, ()) == ((), ()), "it is known that there is none"


def test_another_engine_is_not_asked() -> None:
    from qmon.engines.postgres.postgres_engine import Postgres

    procedures = ProcedureProbes(StatementCache(Postgres(), (18, 0)))
    assert asked(procedures, 100.0, probes(FOREIGN, 11)) == {}
    assert procedures.record_results({}, ()) == (None, ())
