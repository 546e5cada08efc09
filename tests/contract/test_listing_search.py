"""Searches in the lists of messages: the text of payloads and errors, read on the server a page at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from qmon.model.layout.list_states import ListText, searched_texts
from qmon.model.samples.listing_samples import MAX_ROWS_READ, PAGE_SIZE, PageRequest, PageSample
from tests.contract.listing import BY_ID, Reader, fill, jobs, reading, table
from tests.facts import query
from tests.queues import BYTES, DESIGNS, call, made, opened

# Far more than the characters of a payload that a list shows.
FAR = 5_000


def pages(reader: Reader, listing: PageRequest) -> Iterator[tuple[list[str], PageSample]]:
    """Yield all pages of a search, one after the other."""
    ids, page = reader.page(listing)
    yield ids, page
    while page.next is not None:
        ids, page = reader.page(replace(listing, after=page.next))
        yield ids, page


def found_by_sql(url: str, text: str) -> list[str]:
    """Return the ids of the dead messages whose payload or error contains this text."""
    both = "coalesce(payload, '') || chr(1) || coalesce(failure, '')"
    where = f"status = 'dead' AND position(lower(?) IN lower({both})) > 0"
    return [str(id) for (id,) in query(url, f"SELECT id FROM jobs WHERE {where} ORDER BY id", text)]


@pytest.mark.parametrize(
    "text", ["order 4999", "CARD DECLINED", "needle", "100%_", "'; DROP TABLE jobs; --", "nowhere", "a\\b", "ÄPFEL"]
)
def test_a_search_reads_all_messages_of_the_list_page_by_page(database: str, text: str) -> None:
    table(
        database,
        BY_ID,
        "ALTER TABLE jobs ADD COLUMN failure text",
        fill(
            "dead",
            5_000,
            "payload, failure",
            "'order ' || n, CASE WHEN n % 700 = 0 THEN 'card declined ' || n WHEN n = 11 THEN 'a\\b Äpfel' END",
        ),
        f"UPDATE jobs SET payload = repeat('x', {FAR}) || ' needle' WHERE id = 4321",
        "UPDATE jobs SET payload = '100%_ of ''; DROP TABLE jobs; --' WHERE id = 77",
        fill("ready", 10, "payload", "'needle ' || n"),
    )
    with reading(database, jobs(error="failure")) as reader:
        found = list(pages(reader, PageRequest("dead", search=text)))
        assert [id for ids, _ in found for id in ids] == found_by_sql(database, text)
        assert all(page.looked <= MAX_ROWS_READ for _, page in found)
        assert len(found) <= 5_000 / MAX_ROWS_READ + 2
        assert found[-1][1].next is None


def test_a_page_of_a_search_ends_after_a_page_of_messages(database: str) -> None:
    table(database, BY_ID, fill("dead", 450, "payload", "'order ' || n"))
    with reading(database, jobs()) as reader:
        found = list(pages(reader, PageRequest("dead", search="order", descending=True)))
        assert [len(ids) for ids, _ in found] == [PAGE_SIZE] * 4 + [50]
        assert [id for ids, _ in found for id in ids] == [str(n) for n in range(450, 0, -1)]


@pytest.mark.parametrize("design", sorted(set(DESIGNS) - {"heap"}))
def test_the_messages_of_each_design_are_searched(database: str, design: str) -> None:
    layout, listing = made(database, design, "orders"), PageRequest("ready", search="M3")
    with opened(database) as connection:
        for n in range(1, 6):
            value = f"convert_to('m{n}', 'UTF8')" if layout.design in BYTES else f"'m{n}'"
            call(connection, layout, "push", value)
    with reading(database) as reader:
        if layout.ring is not None:
            assert reader.page(listing) == ([], PageSample(listing, why=ListText.NO_SEARCH_OF_RING))
            return
        assert "payload" in searched_texts(layout)
        messages, page = reader.messages(listing)
        assert [each.payload for each in messages] == ["m3"]
        assert (page.next, page.looked) == (None, 5)
