"""Every installed design in one database: qmon's figures match the tables, the locks and the load."""

from __future__ import annotations

from typing import Final

import pytest

from qmon.model.figure import Severity
from qmon.model.reasons import Reason
from qmon.model.view import QueueView, View
from qmon.monitor.source import ReadScope
from qmon.operate.message import MessageText
from qmon.operate.operator import Operator
from qmon.operate.operator_context import create_context
from qmon.workload.load_driver import Load
from qmon.workload.load_plan import QueueLoad
from tests.contract.plain_sql import in_table, push
from tests.contract.watching import installed, target_of, watching
from tests.demo.agreement import agree
from tests.facts import connected, query
from tests.queues import DESIGNS
from tests.wordings import has

WALKED: Final = ("batch_single", "batch_split")
COMPLETING: Final = ("batch_fast", "batch_single", "batch_split", "status")


def rates_agree(load: Load, view: View) -> bool:
    """Return whether every rate of a view matches the load's count over the same time."""
    if load.counts.last_at() < view.sampled_at:
        return False

    def agrees(queue: QueueView) -> bool:
        window_s = queue.window_s or 0.0
        flow = load.counts.flow_between(view.sampled_at - window_s, view.sampled_at)[queue.name]
        seen = (queue.push_rate.value or 0.0, queue.pop_rate.value or 0.0)
        return agree(seen[0], flow.push_rate, window_s) and agree(seen[1], flow.pop_rate, window_s)

    return all(agrees(queue) for queue in view.queues)


@pytest.mark.alone
def test_all_designs_under_light_load_show_their_depth_and_rates_and_no_wrong_verdict(database: str) -> None:
    layouts = installed(database, *DESIGNS, ring_size=500)
    loads = [
        QueueLoad(
            each,
            producers=1,
            consumers=1,
            rate=24,
            pop_rate=16,
            message_bytes=100,
            keeper=True,
            requeue_after_s=60,
            own_processes=False,
            rollback_share=0.0 if each.design == "ring_classic" else 0.2,
            fail_share=0.0 if each.ring is not None else 0.1,
        )
        for each in layouts
    ]
    with Load(target_of(database), loads) as load, watching(database) as watched:
        # A session that finds the counters locked reports its own later. The next polls have them.
        view = watched.view(lambda v: (v.queues[0].window_s or 0) >= 7.5 and rates_agree(load, v))
        load.stop()
        # All transactions have ended: depths are exact, and so are those of the tables.
        last = watched.view(lambda v: all(q.in_progress.value == 0 for q in v.queues), polls=2)
        for queue in last.queues:
            assert not queue.ready.at_least, queue.name
            assert queue.ready.value == in_table(database, queue.name), queue.name
            assert queue.ready.value == load.counts.depth_at(queue.name, load.counts.last_at())
    assert view.failures == last.failures == ()
    assert {queue.name for queue in view.queues} == set(DESIGNS)
    for queue in view.queues:
        assert queue.oldest.value is not None, queue.name
        assert (queue.in_progress.value or 0) <= 2, queue.name
        assert queue.verdict.severity is Severity.FINE, (queue.name, queue.verdict)


def test_what_an_open_transaction_has_popped_is_in_progress_in_every_design(database: str) -> None:
    layouts = installed(database, *DESIGNS, ring_size=100)
    for each in layouts:
        push(database, each.design, 30)
    with watching(database) as watched, connected(database, autocommit=False) as consumer:
        watched.view(lambda v: all(q.ready.value == 30 for q in v.queues))
        for each in layouts:
            assert consumer.execute(f"SELECT * FROM {each.design}_pop()").fetchall()
        # If a pop commits before its work, the message shows as in progress from the commit on; otherwise at once.
        others = [design for design in DESIGNS if design not in (*COMPLETING, "ring_subscribers")]
        held = watched.view(lambda v: all(_shows(v.queue(d), 1) for d in others), polls=2)
        for design in others:
            queue = held.queue(design)
            assert queue is not None
            assert (queue.ready.value, queue.in_progress.value) == (29, 1), design
        consumer.commit()
        after = watched.view(
            lambda v: all(_shows(v.queue(d), 0) for d in others) and all(_shows(v.queue(d), 1) for d in COMPLETING),
            polls=2,
        )
        assert {queue.name: queue.ready.value for queue in after.queues} == dict.fromkeys(DESIGNS, 29) | {
            # Subscriber 2 has read nothing yet: 30 messages wait for it.
            "ring_subscribers": 30
        }


def _shows(queue: QueueView | None, in_progress: float) -> bool:
    return queue is not None and queue.in_progress.value == in_progress


def test_a_ring_is_as_deep_as_for_the_subscriber_that_is_furthest_behind(database: str) -> None:
    installed(database, "ring_subscribers", ring_size=100)
    push(database, "ring_subscribers", 30)
    with watching(database) as watched, connected(database, autocommit=False) as consumer:
        for _ in range(20):
            query(database, "SELECT * FROM ring_subscribers_pop(1)")
        query(database, "SELECT ring_subscribers_pop(2) FROM generate_series(1, 5)")
        watched.queue("ring_subscribers", lambda q: q.ready.value == 25 and q.in_progress.value == 0)
        consumer.execute("SELECT * FROM ring_subscribers_pop(2)").fetchall()
        queue = watched.queue("ring_subscribers", lambda q: q.in_progress.value == 1 and q.ready.value == 24)
        assert queue.fill.value == pytest.approx(0.25)
        consumer.rollback()


@pytest.mark.parametrize("design", WALKED)
def test_finished_rows_before_the_oldest_ready_one_are_walked_over_once_not_each_poll(
    database: str, design: str
) -> None:
    installed(database, design)
    push(database, design, 20_000)
    query(database, f"UPDATE {design} SET status = 2 WHERE queue_id <= 19900")
    query(database, f"VACUUM ANALYZE {design}")
    with watching(database) as watched:
        queue = watched.queue(design, lambda q: q.ready.value == 100 and not q.ready.estimated)
        assert queue.gap.value == 100
        assert queue.oldest.value is not None
        before = watched.view(polls=3).server.buffers
        assert before is not None
        assert before < 1500
        # The slow read finds messages that return to the front.
        query(database, f"UPDATE {design} SET status = 0 WHERE queue_id = 7")
        watched.queue(design, lambda q: q.gap.value == 20_000 - 6 and q.ready.estimated)


def test_a_heap_is_counted_exactly_while_it_is_small_and_says_what_it_cannot_tell_when_it_is_not(database: str) -> None:
    installed(database, "heap")
    push(database, "heap", 900)
    query(database, "UPDATE heap SET enqueued_at = now() - interval '20 minutes' WHERE ctid = '(3,1)'")
    with watching(database) as watched, connected(database, autocommit=False) as consumer:
        small = watched.queue("heap", lambda q: q.ready.value == 900)
        assert not small.ready.estimated
        assert small.oldest.value == pytest.approx(1200, abs=30)
        consumer.execute("SELECT * FROM heap_pop_batch(3)").fetchall()
        assert watched.queue("heap", lambda q: q.in_progress.value == 3).ready.value == 897
        consumer.rollback()
        push(database, "heap", 20_000)
        deep = watched.queue("heap", lambda q: q.ready.estimated and q.ready.value == 20_900)
        assert deep.in_progress.value is None
        assert has(deep.in_progress.reason, Reason.POP_DELETES)
        assert deep.oldest.value is None
        assert has(deep.oldest.reason, Reason.NO_ORDER)


@pytest.mark.parametrize("design", sorted(set(DESIGNS) - {"heap"}))
def test_the_rows_of_every_design_can_be_listed(database: str, design: str) -> None:
    installed(database, design)
    push(database, design, 12)
    with watching(database) as watched, connected(database, autocommit=False) as consumer:
        got = consumer.execute(f"SELECT id FROM {design}_pop()").fetchall()
        if design in COMPLETING:
            consumer.commit()
        watched.poller.set_focus(ReadScope(rows_of=design))
        queue = watched.queue(design, lambda q: q.messages)
        assert queue.failures == ()
        assert queue.messages is not None
        first = queue.messages[0]
        assert first.id == str(got[0][0]) == ("12" if design == "lifo" else "1")
        assert first.payload == f"m{first.id}"
        assert (first.age_s or -1) >= 0
        if design != "ring_subscribers":  # the second subscriber has not drawn it
            assert first.state == "in_progress"
        if design not in COMPLETING:
            ids = [int(message.id) for message in queue.messages]
            assert ids == sorted(range(1, 13), reverse=design == "lifo")
        opened = Operator(create_context(target_of(database))).read_message(queue.layout, first.id, first.owner)
        assert opened is not None
        assert opened.payload is not None
        assert opened.payload.value == first.payload
        assert opened.owner == first.owner
        shown = has(opened.doing, MessageText.SESSION, session=first.owner)
        assert shown == (first.owner is not None and design not in COMPLETING)
        consumer.rollback()
