"""Pages of a queue that shares its table with others: its rows are walked, a limited number for each page."""

from __future__ import annotations

from typing import Final

import pytest

from qmon.model.layout.list_states import ListText
from qmon.model.samples.listing_samples import MAX_ROWS_READ, PAGE_SIZE, PageRequest
from qmon.monitor.catalog.access_paths import IndexText
from tests.contract.groups import configured, listed
from tests.contract.hostile_names import EVIL, QUOTED
from tests.contract.watching import Watched, watching
from tests.facts import query

pytestmark = pytest.mark.server

TEXT: Final = """
[[target.t.queue]]
name = "jobs"
table = "jobs"
id = "id"
queue = "q"
started_at = "taken"
timeout = "1m"
state = { column = "status", ready = "new", in_progress = "busy", dead = "dead" }
payload = "body"
"""
TABLE: Final = "CREATE TABLE jobs (id bigserial PRIMARY KEY, q text, status text, taken timestamptz, body text)"


def fill(url: str, queue: str, status: str, count: int, taken: str = "NULL") -> None:
    """Insert rows of one queue in a state."""
    query(
        url,
        f"INSERT INTO jobs (q, status, taken, body) SELECT ?, ?, {taken}, 'm' || n FROM generate_series(1, ?) AS n",
        queue,
        status,
        count,
    )


def pages(watched: Watched, queue: str, state: str) -> list[list[str]]:
    """Return the payloads of all pages."""
    out: list[list[str]] = []
    listing: PageRequest | None = PageRequest(state)
    while listing is not None:
        found = listed(watched, queue, listing)
        assert found.failures == ()
        assert found.page is not None
        assert found.page.every
        assert found.page.looked <= MAX_ROWS_READ
        assert not found.page.cut
        out.append([str(message.payload) for message in found.messages or ()])
        listing = None if found.page.next is None else PageRequest(state, found.page.next)
    return out


def test_every_message_of_the_queue_is_on_one_page(database: str) -> None:
    query(database, TABLE)
    fill(database, "a", "dead", 230)
    fill(database, "b", "dead", 3_000)
    fill(database, "a", "new", 20)
    fill(database, "a", "dead", 5)
    fill(database, "a", "busy", 3, "now() - interval '1 h'")
    fill(database, "a", "busy", 2, "now()")
    with watching(database, configured(TEXT)) as watched:
        watched.view(lambda view: len(view.queues) == 2)
        dead = pages(watched, "jobs/a", "dead")
        assert [payload for page in dead for payload in page] == [f"m{n}" for n in (*range(1, 231), *range(1, 6))]
        assert [len(page) for page in dead][:2] == [PAGE_SIZE, PAGE_SIZE]
        assert [payload for page in pages(watched, "jobs/a", "ready") for payload in page] == [
            f"m{n}" for n in range(1, 21)
        ]
        assert sum(len(page) for page in pages(watched, "jobs/a", "stuck")) == 3
        assert sum(len(page) for page in pages(watched, "jobs/a", "in_progress")) == 5
        found = listed(watched, "jobs/a", PageRequest("done"))
        assert found.page is not None
        assert found.page.why == ListText.NO_COLUMN_FOR_STATE.render(state="done")


def test_an_index_by_queues_leads_to_its_own(database: str) -> None:
    query(
        database,
        TABLE.replace("bigserial PRIMARY KEY", "bigserial").replace("body text", "body text, PRIMARY KEY (q, id)"),
    )
    fill(database, "a", "new", 5_000)
    fill(database, "b", "dead", 130)
    with watching(database, configured(TEXT)) as watched:
        watched.view(lambda view: len(view.queues) == 2)
        assert [len(page) for page in pages(watched, "jobs/b", "dead")] == [PAGE_SIZE, 30]


def test_hostile_names_stay_names(database: str) -> None:
    query(database, f'CREATE TABLE "{QUOTED}" ("{QUOTED}" text, id bigserial PRIMARY KEY)')
    query(database, f'INSERT INTO "{QUOTED}" ("{QUOTED}") VALUES (?), (?), (?)', EVIL, EVIL, "it's")
    text = f"[[target.t.queue]]\nname = '[a]]b].[c d]'\ntable = '[{EVIL}]'\nid = 'id'\nqueue = '{EVIL}'\n"
    with watching(database, configured(text)) as watched:
        watched.view(lambda view: len(view.queues) == 2)
        found = listed(watched, f"[a]]b].[c d]/{EVIL}", PageRequest("ready", descending=True))
        assert [message.id for message in found.messages or ()] == ["2", "1"]


def test_without_an_index_to_walk_along_it_is_said(database: str) -> None:
    query(database, TABLE.replace(" PRIMARY KEY", ""))
    fill(database, "a", "dead", 3)
    with watching(database, configured(TEXT)) as watched:
        found = listed(watched, "jobs/a", PageRequest("dead"))
        assert found.page is not None
        assert found.page.why == IndexText.NO_INDEX_LEADS.render(column="id")
