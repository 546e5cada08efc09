"""Use per pop and the verdicts about the horizon and the log, from samples made by hand."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from qmon.engines.sqlserver.sqlserver_engine import SqlServer
from qmon.model.evidence import QueueEvidence, TargetEvidence
from qmon.model.figure import Figure
from qmon.model.rates.queue_use import QueueUse, work_between
from qmon.model.reasons import Reason
from qmon.model.samples.client_samples import MOST_CLIENTS
from qmon.model.samples.horizon_samples import HorizonSample, VersionStoreSample
from qmon.model.samples.wait_samples import WaitSource, WaitTotal, WaitTotals
from qmon.model.snapshot import Snapshot
from qmon.model.status_report import status_object
from qmon.model.verdicts.server_verdicts import HORIZON, LOG, ServerVerdictText
from qmon.model.view import QueueView
from qmon.model.waits.horizon_holders import HolderText, holder_text, long_holder, next_holder
from qmon.model.waits.wait_rates import Waiting, WaitRate
from qmon.monitor.poll.server_probes import ClientLimits, ServerProbes
from qmon.monitor.probes.own_reads import OwnUses
from qmon.monitor.probes.probe_statements import Results, StatementCache
from qmon.monitor.probes.target_probes import TargetProbes
from qmon.monitor.state.target_history import TargetHistory
from tests.unit.polls import COUNTERS, fifo, moved, poll
from tests.unit.rule_inputs import FINE
from tests.unit.upkeep import HOLDER, INDEX, READS, STORE, TABLE, USE
from tests.wordings import pattern


def held(holder: HorizonSample | None, use: QueueUse | None, ready: float = 10) -> str | None:
    snapshot: Snapshot = replace(poll(1, 1000.0), horizon=() if holder is None else (holder,))
    return HORIZON.proof(replace(FINE, ready=Figure(ready), snapshot=snapshot, queue=QueueEvidence(use=use)))


def test_the_proof_names_who_holds_it_and_what_pops_touch() -> None:
    assert held(HOLDER, USE) == (
        ServerVerdictText.VACUUM_HELD_BACK_PER_POP.render(
            holder=HolderText.SESSION.render(session=61) + " (idle in transaction, 40 s, app-7)",
            dead=ServerVerdictText.DEAD_ROWS.render(count=5361, plural="s"),
            rows=412,
            before=ServerVerdictText.ROWS_BEFORE.render(count=1.2),
        )
    )


@pytest.mark.parametrize(
    ("holder", "use"),
    [
        (None, USE),
        (replace(HOLDER, held_s=14.9), USE),
        (replace(HOLDER, age=0), USE),
        (HOLDER, None),
        (HOLDER, replace(USE, dead=0)),
        (HOLDER, replace(USE, rows_per_pop=Figure(4.0))),
        (HOLDER, replace(USE, before=300.0)),
        (HOLDER, replace(USE, before=None, rows_per_pop=Figure(20.0))),
        (HOLDER, replace(USE, rows_per_pop=Figure.unknown(Reason.NOTHING_POPPED))),
    ],
    ids=[
        "nobody",
        "short",
        "nothing since",
        "not read",
        "no dead rows",
        "few",
        "as before",
        "few, and no before",
        "no pops",
    ],
)
def test_what_is_no_sign(holder: HorizonSample | None, use: QueueUse | None) -> None:
    assert held(holder, use) is None


def test_many_dead_rows_are_a_sign_even_where_nothing_is_popped() -> None:
    many = replace(USE, dead=60_000, rows_per_pop=Figure.unknown(Reason.NOTHING_POPPED))
    assert held(replace(HOLDER, held_s=60.0), many) == (
        ServerVerdictText.VACUUM_HELD_BACK.render(
            holder=HolderText.SESSION.render(session=61) + " (idle in transaction, 1 m 00 s, app-7)",
            dead=ServerVerdictText.DEAD_ROWS.render(count=60000, plural="s"),
        )
    )
    assert held(replace(HOLDER, held_s=59.9), many) is None, "not within a minute"


def test_a_slot_counts_by_transactions_since_nobody_says_since_when() -> None:
    slot = replace(HOLDER, kind="slot", session=0, name="copy", held_s=None, state="no reader", application="")
    assert long_holder((slot,)) is None
    assert holder_text(replace(slot, age=20_000)) == HolderText.SLOT.render(name="copy") + " (no reader)"
    assert long_holder((replace(slot, age=20_000),)) is not None
    assert (
        holder_text(replace(slot, kind="prepared", name="pay 7", held_s=300.0))
        == HolderText.PREPARED.render(name="pay 7") + " (5 m 00 s)"
    )


def test_who_would_hold_it_next_is_the_one_that_began_first_of_the_others() -> None:
    seen_through = replace(HOLDER, session=70, held_s=0.1)
    later = replace(HOLDER, session=84, held_s=12.0, age=3)
    assert next_holder((HOLDER, seen_through, later)) == later
    assert next_holder((HOLDER,)) is None


def test_what_we_read_ourselves_is_left_out_and_a_reset_gives_nothing() -> None:
    now = replace(INDEX, rows_read=1500, pages=80)
    work = work_between(replace(INDEX, own_rows=400, own_pages=20, own_scans=3), replace(now, scans=14))
    assert work is not None
    assert (work.scans, work.rows, work.pages, work.ours) == (1, 100, 10, True)
    apart = work_between(replace(INDEX, own_rows=100, own_pages=5), now, 3)
    assert apart is not None
    assert (apart.rows, apart.pages, apart.ours) == (200, 15, False)
    unknown = work_between(replace(INDEX, own_rows=None), now)
    assert unknown is not None
    assert (unknown.rows, unknown.ours) == (500, False)
    assert work_between(now, INDEX) is None


def fold(
    history: TargetHistory, n: int, popped: int, read: int, *, held_s: float | None = None, gap: float = 0
) -> QueueView:
    """Return one poll, two seconds after the one before, with these totals of popped messages and read rows."""
    uses = (replace(TABLE, ghosts=popped), replace(INDEX, rows_read=1000 + read, bytes=8192 * n))
    holder = () if held_s is None else (replace(HOLDER, held_s=held_s),)
    queue = fifo(moved(COUNTERS, popped + 5, popped))
    return history.record_snapshot(replace(poll(n, 1000.0 + 2 * n + gap, queue), uses=uses, horizon=holder)).queues[0]


def test_rows_touched_per_pop_over_polls_with_what_it_was_before_the_holder() -> None:
    history = TargetHistory()
    first = fold(history, 0, 0, 0)
    assert first.use is not None
    assert first.use.rows_per_pop.value is None
    calm = [fold(history, n, 100 * n, 120 * n) for n in range(1, 11)][-1]
    assert calm.use is not None
    assert calm.use.rows_per_pop.value == pytest.approx(1.2)
    late = range(11, 31)
    bound = [fold(history, n, 100 * n, 1200 + 50_000 * (n - 10), held_s=2.0 * (n - 10)) for n in late][-1]
    assert bound.use is not None
    assert bound.use.before == pytest.approx(1.2)
    assert bound.use.rows_per_pop.value == pytest.approx(500.0)
    assert bound.use.dead == 3000
    assert [v.code for v in bound.verdicts] == ["cleanup held back"]
    assert bound.use.trend[-1] == pytest.approx(500.0)
    grown = next(part for part in bound.use.parts if part.name == "t_pkey")
    assert grown.growth == pytest.approx(4096.0)
    after = fold(history, 31, 3200, 1_100_000, gap=300.0)
    assert after.use is not None
    assert after.use.rows_per_pop.value is None, "no figure across a gap"


WAITING = Waiting(
    WaitSource.SAMPLED,
    4.0,
    16,
    (WaitRate("LWLock", "WALWrite", 3.0, 0.75), WaitRate("IO", "WalSync", 0.8, 0.2), WaitRate("", "", 0.2, 0.05)),
)


def log(waiting: Waiting | None, commits: float | None, pops: float = 50.0) -> str | None:
    rates = {"pop_rate": Figure(pops), "push_rate": Figure(pops)}
    return LOG.proof(replace(FINE, **rates, target=TargetEvidence(waiting=waiting, commits=commits)))  # type: ignore[arg-type]


def test_commits_that_wait_for_the_log() -> None:
    assert log(WAITING, 76.0) == (
        ServerVerdictText.COMMITS_WAIT.render(sessions=3.8, busy=4.0, names="LWLock:WALWrite, IO:WalSync")
        + ": "
        + ServerVerdictText.PER_COMMIT.render(time="50 ms")
        + ", "
        + ServerVerdictText.COMMITS.render(rate=76)
        + ", "
        + ServerVerdictText.MESSAGES_PER_COMMIT.render(messages=1.3, batch=10, rate=760)
    )
    assert log(WAITING, 2_000.0) is None, "two milliseconds are a healthy disk, and others do the commits"
    assert log(WAITING, 76.0, pops=0.0) is None, "this queue commits nothing"
    assert log(WAITING, None) is None
    assert log(None, 76.0) is None
    busy = replace(WAITING, rates=(*WAITING.rates, WaitRate("Lock", "tuple", 9.0, 0.7)))
    assert log(busy, 76.0) is None, "most wait for something else"


def test_one_commit_a_message_is_bound_by_the_log_however_quick_the_disk_is() -> None:
    assert log(WAITING, 2_000.0, pops=1_000.0) == (
        ServerVerdictText.COMMITS_WAIT.render(sessions=3.8, busy=4.0, names="LWLock:WALWrite, IO:WalSync")
        + ": "
        + ServerVerdictText.PER_COMMIT.render(time="1.9 ms")
        + ", "
        + ServerVerdictText.COMMITS.render(rate=2000)
        + ", "
        + ServerVerdictText.MESSAGES_PER_COMMIT.render(messages=1.0, batch=10, rate=20000)
    )
    assert log(WAITING, 2_000.0, pops=10_000.0) is None, "ten messages a commit: the log is not the ceiling"
    light = replace(WAITING, rates=tuple(replace(rate, sessions=rate.sessions / 10) for rate in WAITING.rates))
    assert log(light, 2_000.0, pops=1_000.0) is None, "hardly a session waits"
    mixed = replace(WAITING, rates=(*WAITING.rates, WaitRate("Lock", "tuple", 2.0, 0.3)))
    assert log(mixed, 2_000.0, pops=1_000.0) is None, "a third of the sessions does something else"


def test_where_the_server_counts_its_own_figure_is_told() -> None:
    counted = Waiting(WaitSource.COUNTED, 4.0, None, (WaitRate("wait", "WRITELOG", 2.0, 1.0, 40.0, 0.05),))
    assert log(counted, None) == ServerVerdictText.COMMITS_WAIT.render(
        sessions=2.0, busy=2.0, names="WRITELOG"
    ) + ": " + ServerVerdictText.PER_COMMIT.render(time="50 ms")


def test_the_status_report_has_rows_per_pop_waits_and_the_holder() -> None:
    history = TargetHistory()
    views = []
    for n in range(3):
        queue = fifo(moved(COUNTERS, 100 * n + 5, 100 * n))
        uses = (replace(TABLE, ghosts=7), replace(INDEX, rows_read=1000 + 250 * n))
        totals = WaitTotals(WaitSource.SAMPLED, 500.0, 2.0 * n, (WaitTotal("IO", "WalSync", None, 6.0 * n),), 8 * n)
        made = replace(poll(n, 1000.0 + 2 * n, queue), uses=uses, horizon=(HOLDER,), waits_total=totals)
        views.append(status_object(history.record_snapshot(made)))
    assert views[0]["queues"][0]["rows_per_pop"] is None
    assert views[0]["queues"][0]["unknown"]["rows_per_pop"] == Reason.FOLLOWS_WITH_SECOND_POLL
    assert views[0]["waits"] is None
    last = views[-1]
    assert last["queues"][0]["rows_per_pop"] == 2.5
    assert last["queues"][0]["dead_rows"] == 7
    assert last["waits"] == {
        "source": "sampled",
        "seconds": 4.0,
        "samples": 16,
        "rates": [{"wait": "IO:WalSync", "sessions": 3.0, "share": 1.0}],
    }
    assert last["horizon"] == {
        "kind": "session",
        "session": 61,
        "name": None,
        "held_seconds": 40.0,
        "transactions": 120,
        "application": "app-7",
    }


@pytest.mark.parametrize(
    ("store", "use", "held_s", "told"),
    [
        (
            STORE,
            READS,
            40.0,
            pattern(ServerVerdictText.VERSIONS_KEPT, size="300 MB", whose="")
            + pattern(ServerVerdictText.READS_PER_POP, kept="", reads=412, before=12.0),
        ),
        (
            replace(STORE, whole_server=True),
            READS,
            40.0,
            pattern(ServerVerdictText.VERSIONS_KEPT, size="300 MB", whose=ServerVerdictText.OF_ALL_DATABASES)
            + pattern(ServerVerdictText.READS_PER_POP, kept="", reads=412),
        ),
        (STORE, replace(READS, before=200.0), 70.0, None),
        (STORE, replace(READS, reads_per_pop=Figure(40.0)), 70.0, None),
        (
            replace(STORE, persistent_bytes=2**30),
            replace(READS, before=None),
            70.0,
            pattern(ServerVerdictText.VERSIONS_KEPT, size="1.3 GB", whose=""),
        ),
        (replace(STORE, persistent_bytes=2**30), replace(READS, before=None), 40.0, None),
    ],
    ids=["slow", "whole server", "as before", "few", "large", "large, but not for long"],
)
def test_row_versions_that_somebody_keeps(
    store: VersionStoreSample, use: QueueUse, held_s: float, told: str | None
) -> None:
    snapshot = replace(
        poll(1, 1000.0), engine="sqlserver", horizon=(replace(HOLDER, held_s=held_s),), version_store=store
    )
    found = HORIZON.proof(replace(FINE, snapshot=snapshot, queue=QueueEvidence(use=use)))
    assert (found is not None and re.fullmatch(told, found)) if told is not None else found is None


def test_a_poll_that_leaves_the_version_store_out_has_that_of_one_before() -> None:
    statements = StatementCache(SqlServer(), (16, 0))
    kept = TargetProbes(statements)
    probes = ServerProbes(statements, kept, None, OwnUses())

    def store(after_s: float, results: Results) -> VersionStoreSample | None:
        server = replace(poll(1, 1000.0 + after_s).server, now_at=1000.0 + after_s)
        kept.record_results(results, (), server.now_at)
        return probes.record_results(results, server, one_trip=True).version_store

    assert store(0.0, {}) is None
    assert store(1.0, {("", "version_store"): (STORE,)}) == STORE
    assert store(7.0, {}) == STORE
    assert store(7.1, {}) is None


def test_a_holder_that_a_poll_leaves_out_holds_for_longer() -> None:
    statements = StatementCache(SqlServer(), (16, 0))
    kept = TargetProbes(statements)
    probes = ServerProbes(statements, kept, None, OwnUses())

    def held_s(after_s: float, results: Results) -> list[float | None] | None:
        server = replace(poll(1, 1000.0).server, now_at=1000.0 + after_s)
        kept.record_results(results, (), server.now_at)
        found = probes.record_results(results, server, one_trip=True).horizon
        return None if found is None else [each.held_s for each in found]

    read = {("", "horizon"): (HOLDER, replace(HOLDER, kind="slot", held_s=None))}
    assert [held_s(0.0, read), held_s(2.0, {}), held_s(6.1, {})] == [[40.0, None], [42.0, None], None]


def test_who_holds_the_horizon_is_asked_once_a_second_at_most() -> None:
    probes = TargetProbes(StatementCache(SqlServer(), (16, 0)))
    asked = [
        "horizon" in {each.probe for each in probes.statements_for_poll(now)} for now in (0.0, 0.89, 0.9, 1.0, 1.8)
    ]
    assert asked == [True, False, True, False, True]


def test_last_statements_of_all_sessions_are_read_every_ten_seconds() -> None:
    clients = ClientLimits()
    assert [clients.values_for_poll(now) for now in (0.0, 9.9, 10.0, 11.0)] == [
        {"texts": MOST_CLIENTS},
        {},
        {"texts": MOST_CLIENTS},
        {},
    ]


def test_forwarded_rows_of_a_heap_are_told_from_two_totals_and_a_reset_is_no_rate() -> None:
    before, now = replace(TABLE, forwarded=5), replace(TABLE, forwarded=25)
    work = work_between(before, now)
    assert work is not None
    assert (work.forwarded, work.is_empty) == (20, True)
    assert work_between(now, before) is None
    index = work_between(TABLE, TABLE)
    assert index is not None
    assert index.forwarded is None
