"""Server health: how often it is read, its current values, and the verdicts that follow from it."""

from __future__ import annotations

from dataclasses import fields, replace

import pytest

from qmon.engines.sqlserver.sqlserver_engine import AZURE, SqlServer
from qmon.model.evidence import TargetEvidence
from qmon.model.samples.polled_samples import WriterSample
from qmon.model.samples.server_state_samples import (
    LimitsSample,
    LogSample,
    ReplicationSample,
    ServerState,
    ServiceSample,
    TempSessionSample,
    TempSpaceSample,
)
from qmon.model.snapshot import ProbeFailure
from qmon.model.verdicts import server_health_verdicts as rules
from qmon.model.verdicts.judge import judge_queue, undecided_codes
from qmon.model.verdicts.rule import Rule
from qmon.model.verdicts.server_health_verdicts import ServerHealthText
from qmon.model.waits.horizon_holders import HolderText
from qmon.monitor.probes.probe_statements import StatementCache
from qmon.monitor.probes.target_probes import TargetProbes
from qmon.monitor.state.failover_and_plans import REPORTED_S, FailoverText, FailoverTrack
from tests.unit.polls import poll
from tests.unit.rule_inputs import FINE, with_target_judged
from tests.wordings import has

GB = 2**30
LOG = LogSample(4 * GB, 3 * GB, 4 * GB, "LOG_BACKUP", 512, 7_200.0)
HERE = ReplicationSample("SQL1", "HOST1", True, "primary", "synchronized", None, True, True, True, "", None, None, None)
COPY = ReplicationSample("SQL2", "", False, "secondary", "synchronized", None, True, True, True, "", 0, 0, 0.0)


SERVER_STATE_PROBES = {field.name for field in fields(ServerState)}


def proof(rule: Rule, state: ServerState | None, writers: tuple[WriterSample, ...] = ()) -> str | None:
    """Return the proof of a verdict if this was read."""
    engine = "sqlserver" if state is not None and state.temp_space is not None else "postgres"
    snapshot = replace(poll(1, 1000.0), engine=engine, server_state=state, writers=writers)
    return rule.proof(replace(FINE, snapshot=snapshot))


def of_log(rule: Rule, log: LogSample) -> str | None:
    return proof(rule, ServerState(log=log))


def of_copy(rule: Rule, copy: ReplicationSample) -> str | None:
    return proof(rule, ServerState(replication=(HERE, copy)))


def test_a_full_log_is_critical_and_says_what_would_free_it() -> None:
    full = replace(LOG, used=4 * GB - 2**26)
    assert of_log(rules.LOG_FULL, full) == (
        ServerHealthText.LOG_HELD.render(
            text=ServerHealthText.LOG_USED.render(share="98 %", used="3.9 GB", most="4.0 GB"),
            holder="LOG_BACKUP",
            freed=": " + ServerHealthText.LOG_BACKUP + ServerHealthText.LAST_BACKUP.render(age="2 h 00 m"),
        )
    )
    assert of_log(rules.LOG_FULL, replace(full, saved_s=None)) == (
        ServerHealthText.LOG_HELD.render(
            text=ServerHealthText.LOG_USED.render(share="98 %", used="3.9 GB", most="4.0 GB"),
            holder="LOG_BACKUP",
            freed=": " + ServerHealthText.LOG_BACKUP,
        )
    )
    assert of_log(rules.LOG_FULL, replace(full, held_by="")) == (
        ServerHealthText.LOG_FREE.render(
            text=ServerHealthText.LOG_USED.render(share="98 %", used="3.9 GB", most="4.0 GB")
        )
    )
    assert of_log(rules.LOG_FULL, replace(full, held_by=HolderText.SLOT.render(name="copy"))) == (
        ServerHealthText.LOG_HELD.render(
            text=ServerHealthText.LOG_USED.render(share="98 %", used="3.9 GB", most="4.0 GB"),
            holder=HolderText.SLOT.render(name="copy"),
            freed="",
        )
    )


def test_who_has_written_longest_is_named_where_an_open_transaction_holds_the_log() -> None:
    held = ServerState(log=replace(LOG, used=4 * GB, held_by="ACTIVE_TRANSACTION"))
    text = ServerHealthText.LOG_HELD.render(
        text=ServerHealthText.LOG_USED.render(share="100 %", used="4.0 GB", most="4.0 GB"),
        holder="ACTIVE_TRANSACTION",
        freed=": " + ServerHealthText.ACTIVE_TRANSACTION,
    )
    writers = (WriterSample("1", 61, 7_440.0, "idle in transaction", "app"), WriterSample("2", 62, None, "active", ""))
    assert proof(rules.LOG_FULL, held) == text
    assert proof(rules.LOG_FULL, held, writers) == (
        text + ServerHealthText.OLDEST_WRITER.render(session=61, age="2 h 04 m")
    )


@pytest.mark.parametrize(
    "log",
    [
        replace(LOG, used=None),
        replace(LOG, most=None, used=4 * GB),
        replace(LOG, most=100 * GB, used=4 * GB),
        LogSample(None, None, None, "", None, None),
    ],
    ids=["not shown", "no limit is known", "it may grow", "nothing is known"],
)
def test_a_log_that_may_grow_or_is_not_known_is_no_sign(log: LogSample) -> None:
    assert of_log(rules.LOG_FILLING, log) is None
    assert of_log(rules.LOG_FULL, log) is None


def test_a_log_fills_before_it_is_full_and_then_only_the_worse_is_said() -> None:
    filling = replace(LOG, used=int(3.5 * GB))
    assert of_log(rules.LOG_FULL, filling) is None
    assert has(of_log(rules.LOG_FILLING, filling), ServerHealthText.LOG_USED, share="88 %")
    given = replace(FINE, snapshot=replace(poll(1, 1000.0), server_state=ServerState(log=replace(LOG, used=4 * GB))))
    verdicts, _ = judge_queue(with_target_judged(given, 1000.0)[0], 1000.0, {})
    assert [(each.code, each.cause, each.key) for each in verdicts] == [("log full", "the log", "3")]


@pytest.mark.parametrize(
    ("copy", "said"),
    [
        (
            replace(COPY, suspended="SUSPEND_FROM_USER", unsent=5 * 2**20),
            ServerHealthText.REPLICA_NOT_SYNCHRONIZED.render(
                replica=ServerHealthText.SYNCHRONOUS.render(replica="SQL2"),
                why=ServerHealthText.SUSPENDED.render(reason="SUSPEND_FROM_USER"),
                missing="; 5.0 MB " + ServerHealthText.NOT_SENT,
                more="",
            ),
        ),
        (
            replace(COPY, connected=False, synchronous=False, unsent=None),
            ServerHealthText.REPLICA_NOT_SYNCHRONIZED.render(
                replica=ServerHealthText.ASYNCHRONOUS.render(replica="SQL2"), why="disconnected", missing="", more=""
            ),
        ),
        (
            replace(COPY, name="", synchronous=None, state=ServerHealthText.NOT_SYNCHRONIZING, unredone=2**30),
            ServerHealthText.REPLICA_NOT_SYNCHRONIZED.render(
                replica=ServerHealthText.A_SECONDARY,
                why=ServerHealthText.NOT_SYNCHRONIZING,
                missing="; 1.0 GB " + ServerHealthText.NOT_REDONE,
                more="",
            ),
        ),
        (COPY, None),
        (replace(COPY, state="", connected=None, healthy=None), None),
    ],
    ids=["suspended", "disconnected", "by its state", "fine", "nothing is known"],
)
def test_a_copy_that_nothing_reaches_is_said(copy: ReplicationSample, said: str | None) -> None:
    assert of_copy(rules.NOT_SYNCHRONIZING, copy) == said


def test_a_copy_that_is_late_is_said_with_what_it_lacks() -> None:
    late = replace(COPY, behind_s=185.0, unsent=120 * 2**20, unredone=0)
    assert of_copy(rules.REPLICA_BEHIND, late) == ServerHealthText.REPLICA_BEHIND.render(
        replica=ServerHealthText.SYNCHRONOUS.render(replica="SQL2"),
        age="3 m 05 s",
        missing=": 120 MB " + ServerHealthText.NOT_SENT,
    )
    assert of_copy(rules.REPLICA_BEHIND, replace(late, behind_s=59.0)) is None
    assert of_copy(rules.REPLICA_BEHIND, replace(late, behind_s=None)) is None


def followed(*locals_: ReplicationSample | None) -> list[str | None]:
    """Return the failover text of each poll, ten seconds apart, in which this server answers."""
    track, out = FailoverTrack(), list[str | None]()
    for number, local in enumerate(locals_):
        state = None if local is None else ServerState(replication=(local, COPY))
        snapshot = replace(poll(number + 1, 1000.0 + 10 * number), server_state=state)
        seen = track.record_poll(snapshot)
        out.append(rules.FAILED_OVER.proof(replace(FINE, snapshot=snapshot, target=TargetEvidence(failed_over=seen))))
    return out


def test_a_failover_is_said_also_where_the_connection_was_lost_meanwhile() -> None:
    second = replace(HERE, name="SQL2", host="HOST2")
    assert followed(HERE, None, second, second) == [
        None,
        None,
        ServerHealthText.FAILED_OVER.render(age="0.0 s", before="SQL1", now="SQL2"),
        ServerHealthText.FAILED_OVER.render(age="10 s", before="SQL1", now="SQL2"),
    ]
    assert followed(HERE, second, *[second] * int(REPORTED_S / 10))[-1] is None, "for some minutes"
    assert followed(HERE, replace(HERE, host="HOST9"))[-1] == ServerHealthText.FAILED_OVER.render(
        age="0.0 s", before="HOST1", now="HOST9"
    )
    assert followed(replace(HERE, role="secondary"), HERE)[-1] == (
        ServerHealthText.FAILED_OVER.render(
            age="0.0 s",
            before=FailoverText.SECONDARY.render(server="SQL1"),
            now=FailoverText.PRIMARY.render(server="SQL1"),
        )
    )


def test_on_postgresql_another_timeline_is_a_failover_and_another_address_alone_is_none() -> None:
    first = replace(HERE, name="10.0.0.1:5432", host="10.0.0.1:5432", role="", timeline=1)
    assert followed(first, replace(first, name="[::1]:5432", host="[::1]:5432"))[-1] is None
    assert followed(first, replace(first, timeline=2))[-1] == (
        ServerHealthText.FAILED_OVER.render(
            age="0.0 s", before=FailoverText.TIMELINE.render(timeline=1), now=FailoverText.TIMELINE.render(timeline=2)
        )
    )
    assert followed(first, replace(first, name="10.0.0.2:5432", host="10.0.0.2:5432", timeline=2))[-1] == (
        ServerHealthText.FAILED_OVER.render(age="0.0 s", before="10.0.0.1:5432", now="10.0.0.2:5432")
    )


def test_another_secondary_is_no_failover() -> None:
    reader = replace(HERE, role="secondary")
    assert followed(reader, replace(reader, name="SQL3")) == [None, None]
    assert followed(HERE, HERE) == [None, None]


TEMP = TempSpaceSample(8 * GB, 8 * GB, 8 * GB, 5 * GB, 2 * GB, None)


def test_a_full_tempdb_is_said_with_what_fills_it() -> None:
    session = TempSessionSample(91, "reports", "app-9", GB, None)
    found = ServerState(temp_space=TEMP, temp_sessions=(session,))
    assert proof(rules.TEMP_FILLING, found) == (
        ServerHealthText.TEMPDB_USED.render(
            share="100 %",
            used="8.0 GB",
            most="8.0 GB",
            parts="5.0 GB " + ServerHealthText.ROW_VERSIONS + ", 2.0 GB " + ServerHealthText.SORTS_AND_JOINS,
            who=ServerHealthText.TEMPDB_SESSION.render(session=91, size="1.0 GB"),
        )
    )
    assert proof(rules.TEMP_FILLING, ServerState(temp_space=replace(TEMP, most=None))) is None
    assert proof(rules.TEMP_FILLING, ServerState(temp_space=replace(TEMP, used=None))) is None
    assert proof(rules.TEMP_FILLING, ServerState(temp_space=replace(TEMP, used=7 * GB))) is None


LIMITS = LimitsSample(0.4, 0.2, 1.0, 1.0, None, 0.01, None)
SINGLE = ServiceSample("GP_Gen5_2", "", False, False)
POOLED = ServiceSample("ElasticPool", "shops", True, False)


def test_what_is_used_up_of_what_was_bought_is_said_but_for_memory() -> None:
    assert proof(rules.AT_LIMIT, ServerState(service=SINGLE, limits=LIMITS)) == (
        ServerHealthText.LIMIT_REACHED.render(parts=ServerHealthText.LOG_WRITES + " 100 %", limited="GP_Gen5_2")
    )
    assert proof(rules.AT_LIMIT, ServerState(limits=replace(LIMITS, cpu=0.97))) == (
        ServerHealthText.LIMIT_REACHED.render(
            parts=ServerHealthText.LOG_WRITES + " 100 %, " + ServerHealthText.PROCESSOR_TIME + " 97 %",
            limited=ServerHealthText.DATABASE,
        )
    )
    fine = replace(LIMITS, log_write=0.5)
    assert proof(rules.AT_LIMIT, ServerState(service=POOLED, limits=fine, pool_limits=LIMITS)) == (
        ServerHealthText.LIMIT_REACHED.render(
            parts=ServerHealthText.LOG_WRITES + " 100 %", limited=ServerHealthText.POOL.render(pool=" shops")
        )
    )
    assert proof(rules.AT_LIMIT, ServerState(service=SINGLE, limits=fine)) is None
    assert proof(rules.AT_LIMIT, ServerState(limits=LimitsSample(*[None] * 7))) is None


def test_a_serverless_database_that_only_qmon_keeps_awake_is_said() -> None:
    state = ServerState(service=ServiceSample("GP_S_Gen5_2", "", False, True))
    alone = replace(poll(1, 1000.0), server_state=state)
    alone = replace(alone, server=replace(alone.server, sessions=0))
    words = ServerHealthText.KEPT_AWAKE.render(objective="GP_S_Gen5_2")
    given = replace(FINE, snapshot=alone)
    assert rules.KEPT_AWAKE.proof(given) == words
    judged, since = with_target_judged(given, 1000.0)
    assert "kept awake" not in judged.target.judged.holding, "it would not pause so soon"
    judged, _ = with_target_judged(given, 1000.0 + rules.ALONE_S, since)
    verdicts, _ = judge_queue(judged, 1000.0 + rules.ALONE_S, {})
    assert [(each.code, each.key) for each in verdicts] == [("kept awake", "q")]
    for seen in (
        replace(alone, server=replace(alone.server, sessions=1)),
        replace(alone, server=replace(alone.server, sees_sessions=False)),
        replace(alone, server_state=ServerState(service=SINGLE)),
        replace(alone, server_state=None),
    ):
        assert rules.KEPT_AWAKE.proof(replace(FINE, snapshot=seen)) is None


def test_a_pool_is_asked_about_where_the_database_is_in_one() -> None:
    probes = TargetProbes(StatementCache(SqlServer(), (AZURE, 0)))
    assert "pool_limits" not in {each.probe for each in probes.statements_for_poll(0.0)}
    probes.record_results({("", "service"): (POOLED,), ("", "limits"): (LIMITS,)}, (), 1000.0)
    found = probes.server_state()
    assert found is not None
    assert (found.service, found.limits, found.pool_limits) == (POOLED, LIMITS, None)
    assert "pool_limits" in {each.probe for each in probes.statements_for_poll(0.5)}


def test_each_is_read_at_its_own_pace_and_stands_until_it_is_old() -> None:
    probes = TargetProbes(StatementCache(SqlServer(), (16, 0)))

    def asked(now: float) -> set[str]:
        return {each.probe for each in probes.statements_for_poll(now)} & SERVER_STATE_PROBES

    assert asked(0.0) >= {"log", "replication"}
    assert asked(1.0) == set()
    failed = probes.record_results({("", "log"): (LOG,), ("", "replication"): (HERE, COPY)}, (), 1000.0)
    assert failed == ()
    found = probes.server_state()
    assert found is not None
    assert (found.log, found.local_server, found.replicas) == (LOG, HERE, (COPY,))
    assert asked(15.0) == {"replication"}
    refused = ProbeFailure("replication", "not permitted", grant="GRANT VIEW SERVER STATE TO me")
    assert probes.record_results({}, (refused,), 1015.0) == (), "it is among those of the poll"
    assert probes.record_results({}, (), 1050.0) == (refused,)
    found = probes.server_state()
    assert found is not None
    assert (found.log, found.replication) == (LOG, ()), "old is not fresh"
    probes.record_results({}, (), 1100.0)
    assert probes.server_state() is None
    assert probes.record_results({("", "replication"): (HERE,)}, (), 1101.0) == ()


def test_without_readings_nothing_is_known_to_be_over() -> None:
    given, _ = with_target_judged(replace(FINE, snapshot=poll(1, 1000.0)), 1000.0)
    verdicts, since = judge_queue(given, 1000.0, {})
    assert {"log full", "replica behind"} <= undecided_codes(given, verdicts, since)
    read = ServerState(log=LOG, replication=(HERE,), read_at={"log": 990.0, "replication": 990.0})
    given, _ = with_target_judged(replace(FINE, snapshot=replace(poll(1, 1000.0), server_state=read)), 1000.0)
    assert not {"log full", "replica behind"} & undecided_codes(given, verdicts, since)


def test_an_older_server_is_asked_for_what_it_has() -> None:
    asked = {each.probe for each in TargetProbes(StatementCache(SqlServer(), (11, 0))).statements_for_poll(0.0)}
    assert "log" in asked
    assert "replication" not in asked
