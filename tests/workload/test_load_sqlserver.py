"""The load on SQL Server, tested without a server: the statements it sends, and its results from the answers."""

from __future__ import annotations

import html
import re
import threading
from dataclasses import replace
from typing import Final

import pytest

from qmon.engines.base import Session, Target
from qmon.engines.sql import queries
from qmon.model.layout.designs import TRAITS
from qmon.operate.install.object_names import table_name
from qmon.workload.consumer import Consumer
from qmon.workload.counter_slots import CounterField, CounterSlots
from qmon.workload.keeper import Keeper
from qmon.workload.member_thread import Worker
from qmon.workload.producer import Producer
from qmon.workload.spec import MemberRole, MemberSpec
from qmon.workload.workload_statements import WorkloadStatements
from tests.workload.answering import BIG, DESIGNS, ENGINE, Driver, connection, layout_of, parameters, procedure
from tests.workload.loading import FILES, HOSTILE, wanted

TARGET: Final = Target("shop", "sqlserver", {})


def test_both_engines_have_the_same_statements() -> None:
    found = {
        engine: {file.name for file in queries.all_files() if file.engine == engine} & set(FILES)
        for engine in queries.ENGINES
    }
    assert found["sqlserver"] - found["postgres"] == {"action/workload/push_batch_bytes"}
    assert found["postgres"] <= found["sqlserver"]


@pytest.mark.parametrize("design", DESIGNS)
def test_what_is_called_takes_what_is_given(design: str) -> None:
    layout = layout_of(design)
    seen = 0
    for name, text in wanted(layout, 16).items():
        called = re.search(r"^EXEC (\S+)(.*?);?$", text, re.MULTILINE)
        if called is None:
            assert "/hold" in name or "/depth" in name
            continue
        seen += 1
        verb = next(verb for verb, routine in layout.routines if ENGINE.quote(routine.parts) == called[1])
        taken = parameters(procedure(design, verb))
        given = re.findall(r"@(\w+) =", called[2])
        assert set(given) <= set(taken), name
        if name.endswith("/push"):
            assert called[2] == " ?"
            assert (next(iter(taken.values())) == "varbinary(max)") == TRAITS[design].binary
        returned = procedure(design, verb).columns
        declared = queries.load_query("sqlserver", name, (16, 0)).columns
        assert returned[: len(declared)] == declared
        if "/take" in name:
            assert returned[:3] == ("id", "payload", "attempt")
    assert seen >= 2


@pytest.mark.parametrize("design", DESIGNS)
def test_the_types_of_the_tables_handed_over_are_those_that_install_creates(design: str) -> None:
    layout = layout_of(design, queue=HOSTILE[0])
    for verb, slot, column in (("push_batch", "messages", "payload"), ("complete_batch", "ids", "id")):
        if layout.routine_for(verb) is None:
            continue
        made = {
            query
            for query in queries.design_files("sqlserver", design, (16, 0))
            if f"CREATE TYPE {{{slot}}} AS TABLE" in query.text
        }
        (made_type,) = made
        name = "push_batch_bytes" if slot == "messages" and TRAITS[design].binary else verb
        text = wanted(layout, 16)[f"action/workload/{name}"]
        assert ENGINE.quote(table_name("dbo", HOSTILE[0], slot).parts) in text
        assert re.search(rf"^\s+{column}\s+", made_type.text, re.MULTILINE)
        assert ("varbinary" in made_type.text) == (name == "push_batch_bytes")


# ------------------------------------------------------------------------------------------------------ at the driver


def rows_of(value: object) -> list[tuple[str, str]]:
    """Return number and text of each row of the XML."""
    found = re.findall(r'<r n="(\d+)" k="([^"]*)" />', str(value))
    return [(number, html.unescape(text)) for number, text in found]


def worked(
    kind: type[Worker], driver: Driver, *, stop_first: bool = False, crash: bool = False, **settings: object
) -> dict[CounterField, int]:
    """Run one round of a worker over this driver. Return its counts."""
    role: MemberRole = "producer" if kind is Producer else "consumer" if kind is Consumer else "keeper"
    member = replace(MemberSpec("orders", role, "load", 0, idle_s=0.0, every_s=0.0), **settings)  # type: ignore[arg-type]
    slots, stop = CounterSlots(1), threading.Event()
    try:
        slot = slots.open_slot(0)
        worker = kind(TARGET, driver.layout, member, slot, stop)
        opened = connection(driver)
        worker.run_round(opened, WorkloadStatements(ENGINE, driver.layout, opened.version))
        slot.release()
        return {
            field: slots.read_slot(0)[field]
            for field in CounterField
            if slots.read_slot(0)[field] and field < CounterField.COMMITTED_AT
        }
    finally:
        slots.close()


@pytest.mark.parametrize("design", DESIGNS)
def test_a_message_is_pushed_as_the_type_that_the_procedure_takes(design: str) -> None:
    driver = Driver(layout_of(design))
    assert worked(Producer, driver) == {CounterField.PUSHED: 1}
    ((name, (payload,)),) = driver.sent
    assert name == "push"
    assert isinstance(payload, bytes if TRAITS[design].binary else str)
    text = payload.decode() if isinstance(payload, bytes) else str(payload)
    assert text.startswith('{"number": 1,')
    assert len(text) == 300


@pytest.mark.parametrize("design", DESIGNS)
def test_many_messages_are_pushed_in_one_call_where_the_design_has_it(design: str) -> None:
    driver = Driver(layout_of(design))
    counted = worked(Producer, driver, batch=3, message_bytes=120)
    ((name, (value,)),) = driver.sent
    if driver.layout.routine_for("push_batch") is None:
        assert name == "push"
        return
    assert name == ("push_batch_bytes" if TRAITS[design].binary else "push_batch")
    assert counted == {CounterField.PUSHED: 3}
    rows = rows_of(value)
    assert [number for number, _ in rows] == ["1", "2", "3"]
    assert [text[:13] for _, text in rows] == [f'{{"number": {n},' for n in (1, 2, 3)]


@pytest.mark.parametrize("design", DESIGNS)
def test_what_is_popped_is_counted_and_completed(design: str) -> None:
    layout = layout_of(design)
    driver = Driver(layout)
    several = layout.ring is not None and bool(layout.ring.subscribers)
    counted = worked(Consumer, driver, subscriber=int(several))
    if layout.traits.completes:
        assert counted == {CounterField.POPPED: 1, CounterField.COMPLETED: 3}
        assert driver.sent == [("take", ()), ("complete", (str(BIG), 2))]
    else:
        assert counted == {CounterField.POPPED: 1}
        assert driver.sent == [("pop_subscriber", (1,)) if several else ("pop", ())]
    empty = Driver(layout, empty=True)
    assert worked(Consumer, empty, subscriber=int(several)) == {CounterField.EMPTY_POPS: 1}


@pytest.mark.parametrize("design", [design for design in DESIGNS if TRAITS[design].completes])
def test_batches_are_completed_and_failures_given_back(design: str) -> None:
    driver = Driver(layout_of(design))
    assert worked(Consumer, driver, batch=3) == {CounterField.POPPED: 3, CounterField.COMPLETED: 3}
    (_, taken), (name, (ids, attempts)) = driver.sent
    assert taken == (3,)
    assert name == "complete_batch"
    assert [text for _, text in rows_of(ids)] == [str(BIG + n) for n in range(3)]
    assert [text for _, text in rows_of(attempts)] == ["2", "2", "2"]
    failing = Driver(layout_of(design))
    assert worked(Consumer, failing, fail_share=1.0) == {CounterField.POPPED: 1, CounterField.RETURNED: 1}
    assert failing.sent[-1] == ("fail", (str(BIG), 2, failing.layout.max_attempts))


@pytest.mark.parametrize("design", ["fifo", "flag"])
def test_a_consumer_that_works_inside_its_transaction_commits_or_gives_back(design: str) -> None:
    driver = Driver(layout_of(design))
    assert worked(Consumer, driver, work_s=0.001) == {CounterField.POPPED: 1}
    assert (driver.committed, driver.rolled_back, driver.autocommit) == (1, 0, True)
    assert worked(Consumer, driver, fail_share=1.0) == {CounterField.POP_ROLLED_BACK: 1}
    assert (driver.committed, driver.rolled_back, driver.autocommit) == (1, 1, True)
    assert worked(Producer, driver, rollback_share=1.0) == {CounterField.PUSH_ROLLED_BACK: 1}
    assert (driver.committed, driver.rolled_back) == (1, 2)


@pytest.mark.parametrize("design", DESIGNS)
def test_a_keeper_counts_what_the_procedures_say(design: str) -> None:
    layout = layout_of(design)
    driver = Driver(layout)
    expected = {
        CounterField.REQUEUED: 7 * (layout.routine_for("requeue") is not None),
        CounterField.ARCHIVED: 7 * (layout.routine_for("archive") is not None),
        CounterField.REPAIRED: 1 * (layout.routine_for("repair") is not None),
    }
    assert worked(Keeper, driver, requeue_after_s=2.5) == {
        field: number for field, number in expected.items() if number
    }
    sent = dict(driver.sent)
    assert sent.get("repair", (2.5,)) == (2.5,)
    assert sent.get("requeue", (2.5, 500, 1_000_000)) == (2.5, 500, 1_000_000)


@pytest.mark.parametrize("design", DESIGNS)
def test_depth_and_locks_are_asked_for_with_typed_values(design: str) -> None:
    driver = Driver(layout_of(design))
    opened = connection(driver)
    statements = WorkloadStatements(ENGINE, driver.layout, opened.version)
    assert statements.count_ready(opened) == BIG
    opened.fetch(statements.hold_statement(20))
    (_, counted), (_, held) = driver.sent
    ring, state = driver.layout.ring, driver.layout.state
    ready = "" if state is None else str(state.ready)
    if ring is None:
        assert counted == (ready, ready)[: len(counted)]
        assert len(counted) == 1
    else:
        assert counted == ((2,) if ring.subscribers else ())
    assert held == ((20, ready) if ring is None and driver.layout.traits.order == "fifo" else (20,))


def test_a_worker_goes_by_the_name_of_its_application() -> None:
    for given in ({"Driver": "x"}, {"Driver": "x", "app": "shop"}):
        for session, name in ((Session(application="load-producer"), "load-producer"), (Session("poll"), "qmon poll")):
            found = ENGINE.odbc_keywords(Target("t", "sqlserver", given), session)
            shown = [value for word, value in found.items() if word.lower() == "app"]
            assert shown == ["shop" if "app" in given and not session.application else name]
