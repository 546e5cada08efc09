"""Depth and age of rings in which some numbers have no message: qmon's figures match the table."""

from __future__ import annotations

import pytest

from qmon.model.probe_constants import COUNT_LIMIT
from qmon.model.reasons import Reason
from qmon.model.view import QueueView
from tests.contract.plain_sql import in_table, push
from tests.contract.watching import installed, watching
from tests.facts import query

RINGS = ("ring", "ring_classic", "ring_pointer", "ring_subscribers")
# More numbers than the poll checks if only numbers in flight matter.
MANY = 200


def lose_a_number(url: str, design: str) -> None:
    """Simulate a producer that dies after it has drawn its number."""
    query(url, f"SELECT nextval('{design}_push_seq')")


@pytest.mark.parametrize("design", RINGS)
def test_numbers_without_a_message_are_not_counted_however_far_behind_they_are(database: str, design: str) -> None:
    installed(database, design, ring_size=1000)
    for _ in range(3):
        push(database, design, MANY)
        lose_a_number(database, design)
    push(database, design, MANY)
    with watching(database) as watched:
        for polls in (1, 2):  # first and later polls choose different search limits
            queue = watched.queue(design, bool, polls=polls)
            assert (queue.ready.value, queue.ready.estimated) == (in_table(database, design), False)
            assert queue.gap.value == 4 * MANY + 3


@pytest.mark.parametrize("design", RINGS)
def test_the_age_is_that_of_the_first_message_behind_a_number_that_was_lost(database: str, design: str) -> None:
    installed(database, design, ring_size=100)
    with watching(database) as watched:
        lose_a_number(database, design)
        alone = watched.queue(design, lambda q: q.gap.value == 1, polls=2)
        assert (alone.ready.value, alone.oldest.value, alone.oldest.reason) == (0, None, Reason.NOTHING_READY)
        push(database, design, 3)
        age = float(
            str(
                query(
                    database,
                    f"SELECT extract(epoch FROM clock_timestamp() - min(time)) FROM {design} "
                    "WHERE message_id IS NOT NULL",
                )[0][0]
            )
        )
        behind = watched.queue(design, lambda q: q.ready.value == 3, polls=2)
        assert behind.oldest.value is not None
        assert behind.oldest.value >= age


def test_what_is_deeper_than_is_looked_at_is_marked_as_an_estimate(database: str) -> None:
    installed(database, "ring", ring_size=4 * COUNT_LIMIT)
    with watching(database) as watched:
        lose_a_number(database, "ring")
        push(database, "ring", COUNT_LIMIT + MANY)

        def deep(queue: QueueView) -> bool:
            return (queue.ready.value or 0) > COUNT_LIMIT

        queue = watched.queue("ring", deep, polls=2)
        assert (queue.ready.value, queue.ready.estimated) == (COUNT_LIMIT + MANY + 1, True)
        query(database, f"SELECT ring_pop() FROM generate_series(1, {MANY + 10})")
        shallow = watched.queue("ring", lambda q: not q.ready.estimated, polls=2)
        assert shallow.ready.value == in_table(database, "ring")
