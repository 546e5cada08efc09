"""Read pages of messages as a poll does, and a user's table whose messages are listed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from qmon.engines.base import Connection
from qmon.engines.result_records import to_records
from qmon.model.layout.layout import Layout, ObjectName, OwnerColumn, StateColumn
from qmon.model.samples.listing_samples import PAGE_SIZE, ListedSample, PageRequest, PageSample
from qmon.model.samples.polled_samples import MessageSample
from qmon.monitor.catalog.resolve import resolve_queues
from qmon.monitor.poll.poller import POLL
from qmon.monitor.probes.message_pages import closer_listing, page_from_results, statements_for_page
from qmon.monitor.probes.probe_statements import Results, StatementCache
from qmon.monitor.probes.queue_probes import QueueProbes, QueueSpec
from tests.facts import connected, query
from tests.queues import ENGINE, target_of

STATES = StateColumn("status", "ready", "working", "done", "dead")


@dataclass
class Reader:
    """Reads pages of one queue as a poll does. ``read``: the rows that the last statement returned."""

    connection: Connection
    probes: QueueProbes
    read: int = 0

    def page(self, listing: PageRequest) -> tuple[list[str], PageSample]:
        """Return the ids of a page, and its number of messages if known."""
        messages, page = self.messages(listing)
        return [each.id for each in messages], page

    def messages(self, listing: PageRequest) -> tuple[tuple[MessageSample, ...], PageSample]:
        """Return the messages of a page."""
        results = self._results(listing)
        self.probes.page_read = closer_listing(self.probes, listing, results)
        if self.probes.page_read is not None:
            results = self._results(self.probes.page_read)
        found = page_from_results(self.probes, listing, results)
        assert found is not None
        return found

    def messages_without_statements(self, listing: PageRequest) -> tuple[tuple[MessageSample, ...], PageSample]:
        """Return the page of a list for which nothing is read."""
        found = page_from_results(self.probes, listing, {})
        assert found is not None
        return found

    def _results(self, listing: PageRequest) -> Results:
        statements = StatementCache(ENGINE, self.connection.version)
        results: Results = {}
        for each in statements_for_page(statements, self.probes, listing):
            rows = to_records(ListedSample, self.connection.fetch(each.bound))
            self.read = len(rows)
            key = each.queue, each.probe
            results[key] = results.get(key, ()) + tuple(rows)
        return results

    def pages(self, state: str, *, descending: bool = False) -> Iterator[tuple[list[str], PageSample]]:
        """Yield all pages, one after the other."""
        listing: PageRequest | None = PageRequest(state, descending=descending)
        while listing is not None:
            ids, page = self.page(listing)
            yield ids, page
            assert self.read <= PAGE_SIZE + 4
            listing = None if page.next is None else replace(listing, after=page.next)

    def ids(self, state: str, *, descending: bool = False) -> list[str]:
        """Return the ids of all pages."""
        return [id for ids, _ in self.pages(state, descending=descending) for id in ids]


@contextmanager
def reading(url: str, *layouts: Layout) -> Iterator[Reader]:
    """Yield a connection like the poller's, and the queue as resolved there; without layouts, an installed one."""
    connection = ENGINE.connect(target_of(url), POLL)
    try:
        resolved = resolve_queues(connection, ENGINE, layouts)
        assert not resolved.problems, resolved.problems
        (found,) = resolved.layouts
        spec = QueueSpec(found, resolved.facts[found.queue])
        yield Reader(connection, QueueProbes(StatementCache(ENGINE, connection.version), spec))
    finally:
        connection.close()


def jobs(**changes: object) -> Layout:
    """A user's table with messages in all states."""
    plain = Layout(
        "jobs",
        "status",
        ObjectName("public", "jobs"),
        id="id",
        state=STATES,
        started_at="started_at",
        enqueued_at="pushed_at",
        owner=OwnerColumn("owner"),
        attempts="attempts",
        payload="payload",
        timeout_s=60.0,
    )
    return replace(plain, **changes)  # type: ignore[arg-type]  # the names are checked by replace


COLUMNS = (
    "status text NOT NULL, started_at timestamptz, pushed_at timestamptz NOT NULL DEFAULT now(), due_at timestamptz"
    " NOT NULL DEFAULT now(), owner text, attempts int NOT NULL DEFAULT 0, payload text"
)


def table(url: str, *more: str, key: str = "id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY") -> None:
    """Create the table, and run statements that change it."""
    with connected(url) as connection:
        for statement in (f"CREATE TABLE jobs ({key}, {COLUMNS})", *more):
            connection.execute(statement)


def fill(state: str, count: int, columns: str = "", values: str = "") -> str:
    """Return SQL that inserts rows in a state."""
    return (
        f"INSERT INTO jobs (status{', ' if columns else ''}{columns})"
        f" SELECT '{state}'{', ' if values else ''}{values} FROM generate_series(1, {count}) AS n"
    )


def ids_of(url: str, state: str, order: str = "id") -> list[str]:
    """Return the ids in a state, from the table."""
    return [str(row[0]) for row in query(url, f"SELECT id FROM jobs WHERE status = '{state}' ORDER BY {order}")]


BY_ID = "CREATE INDEX ON jobs (status, id)"


def touched(reader: Reader, listing: PageRequest) -> int:
    """Return the buffers used by reading a page."""
    (asked,) = statements_for_page(StatementCache(ENGINE, reader.connection.version), reader.probes, listing)
    explained = replace(
        asked.bound.statement, text=f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {asked.bound.statement.text}", columns=()
    )
    ((plan,),) = reader.connection.fetch(replace(asked.bound, statement=explained)).rows
    top = json.loads(str(plan))[0]["Plan"]
    return int(top["Shared Hit Blocks"] + top["Shared Read Blocks"])
