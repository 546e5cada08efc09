"""Dead owners, failures at the head, messages with two consumers, losses of rings: caused for real, and named."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from qmon.model.layout.layout import OwnerColumn
from qmon.model.verdicts.flow_verdicts import FlowText
from qmon.model.verdicts.message_verdicts import MessageVerdictText
from qmon.model.view import QueueView
from tests.contract.watching import Watched, installed, watching
from tests.facts import connected, query
from tests.wordings import has, pattern


def proof(queue: QueueView, code: str) -> str:
    return next((v.proof for v in queue.verdicts if v.code == code), "")


def says(code: str, *words: str) -> Callable[[QueueView], bool]:
    return lambda q: all(re.search(word, proof(q, code)) for word in words) and bool(proof(q, code))


def silent(watched: Watched, name: str, code: str) -> None:
    """Wait until the verdict is gone."""
    watched.queue(name, lambda q: not proof(q, code))


def test_a_dead_owner_is_named_at_once_a_living_one_after_the_timeout(database: str) -> None:
    (plain,) = installed(database, "status")
    assert plain.owner is not None
    kept = replace(plain.owner, held_while_working=True)
    layout = replace(plain, owner=kept, timeout_s=2.0)
    query(database, "SELECT status_push('x') FROM generate_series(1, 2)")
    with watching(database, [layout]) as watched, connected(database) as living:
        living.execute("SELECT * FROM status_pop()").fetchall()
        ((owner,),) = query(database, "SELECT owner FROM status WHERE owner IS NOT NULL")
        with connected(database) as dying:
            dying.execute("SELECT * FROM status_pop()").fetchall()
        watched.queue("status", says("stuck in progress", pattern(FlowText.DEAD_OWNER, count=1)))
        both = pattern(FlowText.LATE, count=2, longer=FlowText.LATE_BY_TIMEOUT.render(timeout="2.0 s"))
        told = watched.queue("status", says("stuck in progress", both, pattern(FlowText.LIVE_OWNER, count=1))).verdict
        whose = FlowText.OWNER_HAS_HAD.render(owner=owner)
        assert has(told.proof, FlowText.MESSAGE_OF_OWNER, whose=whose, message=1)
        assert told.key == "r"
        query(database, "DELETE FROM status WHERE status = 2")
        silent(watched, "status", "stuck in progress")


def test_a_message_that_is_given_back_again_and_again_is_named_while_others_go_on(database: str) -> None:
    installed(database, "status", "strict_fifo")
    query(database, "SELECT status_push('x'), strict_fifo_push('x') FROM generate_series(1, 50)")
    with watching(database) as watched, connected(database) as worker, connected(database, autocommit=False) as strict:
        code = "poison message at the head"
        for _ in range(60):
            for number, attempt in worker.execute("SELECT id, attempt FROM status_pop()").fetchall():
                worker.execute("SELECT status_fail(?, ?, 99)", number, attempt).fetchall()
            strict.execute("SELECT * FROM strict_fifo_pop()").fetchall()
            strict.rollback()
            if all(proof(queue, code) for queue in watched.view().queues):
                break
        both = {queue.name: proof(queue, code) for queue in watched.views[-1].queues}
        assert has(both["status"], MessageVerdictText.GIVEN_BACK, message="1")
        assert has(both["status"], MessageVerdictText.ATTEMPTS)
        assert has(both["strict_fifo"], MessageVerdictText.GIVEN_BACK, message="1")
        query(database, "DELETE FROM status WHERE id = 1")
        query(database, "DELETE FROM strict_fifo WHERE id = 1")
        silent(watched, "status", code)
        silent(watched, "strict_fifo", code)


def test_a_message_popped_again_while_its_first_owner_is_at_it_is_in_two_hands(database: str) -> None:
    (plain,) = installed(database, "status")
    layout = replace(plain, owner=OwnerColumn("owner", "session", held_while_working=True))
    query(database, "SELECT status_push('x')")
    with watching(database, [layout]) as watched, connected(database) as first, connected(database) as second:
        for each in (first, second):
            each.execute("SELECT 1").fetchall()
        first.execute("SELECT * FROM status_pop()").fetchall()
        watched.view(polls=3)  # the first poll reads what owners prove, later ones who they are
        ((one,),) = query(database, "SELECT owner FROM status")
        query(database, "SELECT status_requeue(0)")
        second.execute("SELECT * FROM status_pop()").fetchall()
        ((two,),) = query(database, "SELECT owner FROM status")
        queue = watched.queue("status", says("delivered twice"))
        assert has(proof(queue, "delivered twice"), MessageVerdictText.POPPED_TWICE, message=1, second=two, first=one)
        first.execute("SELECT 1").fetchall()
        silent(watched, "status", "delivered twice")


def test_what_a_ring_has_lost_is_named_by_number_and_the_session_that_may_yet_push(database: str) -> None:
    installed(database, "ring", ring_size=2500)
    query(database, "SELECT ring_push('x') FROM generate_series(1, 5)")
    with watching(database) as watched:
        with connected(database, autocommit=False) as producer:
            ((number, pid),) = producer.execute("SELECT nextval('ring_push_seq'), pg_backend_pid()").fetchall()
            # These consumers have drawn their numbers and died. A live one would pop their messages.
            query(database, "SELECT nextval('ring_pop_seq') FROM generate_series(1, 6)")
            queue = watched.queue("ring", lambda q: says("ring hole")(q) and says("ring orphans")(q))
            assert has(proof(queue, "ring hole"), MessageVerdictText.NUMBER_WITHOUT_MESSAGE, number=number)
            assert f"{MessageVerdictText.SESSION.render(session=pid)} (idle in transaction" in proof(queue, "ring hole")
            assert has(
                proof(queue, "ring orphans"),
                MessageVerdictText.ORPHANS,
                count=MessageVerdictText.MESSAGES.render(count=5),
                number=1,
            )
        query(database, "SELECT ring_fill_hole(6)")
        query(database, "SELECT ring_pop() FROM generate_series(1, 5)")
        silent(watched, "ring", "ring hole")
        silent(watched, "ring", "ring orphans")
