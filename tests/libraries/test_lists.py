"""Lists of messages by state, for queues of libraries."""

from __future__ import annotations

import pytest

from qmon.model.layout.list_states import listable_states
from qmon.model.samples.listing_samples import PageRequest
from qmon.model.view import QueueView
from qmon.monitor.source import ReadScope
from tests.contract.watching import Watched, watching
from tests.libraries.every import LIBRARIES
from tests.libraries.library import QUEUES, Library

pytestmark = pytest.mark.server


@pytest.fixture(params=LIBRARIES)
def library(request: pytest.FixtureRequest, database: str) -> Library:
    """Each library, with its tables in a fresh database."""
    made: Library = request.param()
    made.install(database)
    return made


def listed(watched: Watched, queue: str, listing: PageRequest) -> QueueView:
    """Return the queue once this page of it has been read."""
    watched.poller.set_focus(ReadScope(rows_of=queue, listing=listing))
    return watched.queue(queue, lambda q: q.page is not None and q.page.listing == listing)


def test_the_messages_of_each_state_are_listed_and_those_of_no_other_queue(library: Library, database: str) -> None:
    mails, invoices = QUEUES
    _, two, _ = library.push(database, mails, ["one", "two", "three"])
    library.push(database, mails, ["tomorrow", "as well"], due_in_s=86_400)
    library.push(database, invoices, ["another"])
    with watching(database) as watched:
        view = watched.view(lambda v: len(v.queues) == len(QUEUES))
        name = next(queue.name for queue in view.queues if queue.name.endswith(f"/{mails}"))
        layout = watched.queue(name).layout
        assert {"ready", "scheduled"} <= set(listable_states(layout))
        every: list[str] = []
        for state in listable_states(layout):
            found = listed(watched, name, PageRequest(state))
            assert found.failures == ()
            assert found.page is not None
            assert (found.page.why, found.page.next) == ("", None)
            ids = [message.id for message in found.messages or ()]
            assert len(ids) == {"ready": 3, "scheduled": 2}.get(state, 0), state
            turned = listed(watched, name, PageRequest(state, descending=True))
            assert [message.id for message in turned.messages or ()] == ids[::-1]
            every += ids
        assert len(set(every)) == 5
        searched = listed(watched, name, PageRequest("ready", search="TWO"))
        assert [message.id for message in searched.messages or ()] == [two.id.rpartition("/")[2]]
        assert searched.page is not None
        assert (searched.page.why, searched.page.next) == ("", None)
