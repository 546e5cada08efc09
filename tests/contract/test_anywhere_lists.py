"""Lists of messages by state, on every engine."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import pytest

from qmon.model.layout.list_states import STATES, reason_without_list
from qmon.model.samples.listing_samples import PAGE_SIZE, PageRequest
from qmon.model.view import QueueView
from qmon.monitor.source import ReadScope
from tests.contract.anywhere import Place
from tests.contract.anywhere_tables import ROWS, TABLES, layouts
from tests.contract.watching import Watched, watching
from tests.queues import DESIGNS

pytestmark = pytest.mark.once  # qmon polls in READ UNCOMMITTED, without row versions

# The messages in each state of the tables.
IDS: Final = {
    ("tasks", "ready"): ["1", "2"],
    ("tasks", "scheduled"): ["3"],
    ("tasks", "in_progress"): ["4"],
    ("tasks", "stuck"): ["4"],
    ("tasks", "dead"): ["5"],
    ("ranked", "ready"): ["1", "2", "3"],
    ("staged", "ready"): ["1", "2"],
    ("staged", "in_progress"): ["3"],
    ("loose", "ready"): ["1", "2"],
    ("loose", "in_progress"): ["3"],
    ("local", "ready"): ["1", "2"],
}


def listed(watched: Watched, queue: str, listing: PageRequest) -> QueueView:
    """Return the queue once this page of it has been read."""
    watched.poller.set_focus(ReadScope(rows_of=queue, listing=listing))
    return watched.queue(queue, lambda q: q.page is not None and q.page.listing == listing)


def ids(found: QueueView) -> list[str]:
    """Return the ids of its page."""
    return [message.id for message in found.messages or ()]


def test_each_state_of_tables_of_every_making_is_listed_in_both_orders(place: Place) -> None:
    place.run(*TABLES, *ROWS)
    with watching(place.url, layouts(place)) as watched:
        seen = {}
        for layout in layouts(place):
            for state in (each for each in STATES if not reason_without_list(layout, each)):
                found = listed(watched, layout.queue, PageRequest(state))
                assert found.failures == ()
                seen[layout.queue, state] = ids(found)
                turned = listed(watched, layout.queue, PageRequest(state, descending=True))
                assert ids(turned) == ids(found)[::-1]
        assert seen == IDS


def test_lists_and_messages_in_progress_have_the_newest_end_of_their_errors(place: Place) -> None:
    old = f'["{"x" * 300}", "no such host"]'
    place.run(*TABLES, *ROWS, "ALTER TABLE tasks ADD failed varchar(400)")
    place.run(
        f"UPDATE tasks SET failed = CASE WHEN id = 4 THEN 'refused' WHEN id = 5 THEN '{old}' WHEN id = 1 THEN '' END"
    )
    with watching(place.url, [replace(layouts(place)[0], error="failed")]) as watched:
        for state, error in (("dead", old[-200:]), ("in_progress", "refused"), ("scheduled", None)):
            found = listed(watched, "tasks", PageRequest(state))
            assert found.failures == ()
            assert [message.error for message in found.messages or ()] == [error]
        watched.poller.set_focus(ReadScope(rows_of="tasks"))
        found = watched.queue("tasks", lambda q: q.page is None and q.messages)
        assert [message.error for message in found.messages or ()] == ["refused"]


def test_pages_go_on_where_the_last_one_ended(place: Place) -> None:
    place.run(*TABLES)
    digits = ", ".join(f"({n})" for n in range(10))
    numbers = f"(SELECT a.n * 100 + b.n * 10 + c.n AS n FROM (VALUES {digits}) a(n), (VALUES {digits}) b(n),"
    numbers += f" (VALUES {digits}) c(n)) AS s"
    place.run(
        "INSERT INTO tasks (state, run_at, started_at, attempts)"
        " SELECT CASE WHEN n < 230 THEN 3 ELSE 1 END, {now}, CASE WHEN n < 600 THEN {hour_ago} END, 0"
        f" FROM {numbers}",
    )
    tasks = layouts(place)[0]
    with watching(place.url, [tasks]) as watched:
        for state, count in (("dead", 230), ("in_progress", 770)):
            pages: list[list[str]] = []
            listing: PageRequest | None = PageRequest(state)
            while listing is not None:
                found = listed(watched, "tasks", listing)
                pages.append(ids(found))
                after = None if found.page is None else found.page.next
                listing = None if after is None else PageRequest(state, after)
            assert [len(page) for page in pages[:-1]] == [PAGE_SIZE] * (len(pages) - 1)
            every = [id for page in pages for id in page]
            assert len(every) == len(set(every)) == count


def test_ready_messages_of_each_design_are_listed_with_their_payloads(place: Place) -> None:
    with place.opened() as connection:
        for design in DESIGNS:
            place.push(connection, place.made(design), 3)
    with watching(place.url) as watched:
        watched.view(lambda v: {queue.name for queue in v.queues} == set(DESIGNS))
        for design in DESIGNS:
            found = listed(watched, design, PageRequest("ready"))
            assert found.failures == ()
            assert found.page is not None
            if why := reason_without_list(found.layout, "ready"):
                assert (found.page.why, found.messages) == (why, ())
            else:
                assert {row.payload for row in found.messages or ()} == {"m0", "m1", "m2"}, design
