"""Read a page of a ring's messages in one state, slot by slot forward or backward from the pop position.

Ready messages are in neighboring slots, so the cost of a page does not depend on the depth. Messages in progress may be
in any slot, so a page scans at most a few thousand slots.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from qmon.engines.base import Value
from qmon.engines.sql.list_page import PagePart, PageRows
from qmon.engines.sql.queries import Name
from qmon.model.layout.list_states import reason_without_list
from qmon.model.layout.table_facts import Column
from qmon.model.samples.listing_samples import (
    MAX_ROWS_READ,
    PAGE_SIZE,
    ListedSample,
    PagePosition,
    PageRequest,
    PageSample,
)
from qmon.model.samples.polled_samples import MessageSample
from qmon.model.texts import Text
from qmon.monitor.probes.message_diagnostics import with_text_payloads
from qmon.monitor.probes.probe_names import probe_names_for
from qmon.monitor.probes.probe_statements import ProbeStatement, Results, StatementCache
from qmon.monitor.probes.queue_probes import QueueProbes


class RingPageText(Text):
    """Why the messages of a ring are not listed."""

    POSITIONS_UNREADABLE = "the positions of this ring cannot be read"
    POSITIONS_UNKNOWN = "the positions of this ring are unknown"


RING_PAGE_PROBE: Final = "messages_page_ring"
SPLIT_RING_PAGE_PROBE: Final = "messages_page_ring_split"
_BEFORE_ALL: Final = -1
_BEHIND_ALL: Final = 2**63 - 1


def statements_for_ring_page(
    statements: StatementCache, probes: QueueProbes, listing: PageRequest
) -> list[ProbeStatement]:
    """Return the statement that reads a page of a ring; empty if its slots or positions cannot be read."""
    layout, facts, ring = probes.layout, probes.facts, probes.layout.ring
    if ring is None or reason_without_list(layout, listing.state) or _why_unreadable(probes):
        return []
    by_slot = PageRows(Column(ring.slot, "int", not_null=True), (), (), (ring.message_id,), listing.descending)
    names: dict[str, Name] = probe_names_for(layout, facts) | {"look": PagePart(by_slot, "look")}
    at = None if listing.after is None or listing.after.value is None else int(listing.after.value)
    values: dict[str, Value] = {
        "push_sequence": str(facts.push_sequence_id),
        "pop_sequences": probes.pop_sequence_ids,
        "state": listing.state,
        "above": _BEFORE_ALL if at is None or listing.descending else at,
        "below": _BEHIND_ALL if at is None or not listing.descending else at,
        "down": int(listing.descending),
        "walk": min(MAX_ROWS_READ, ring.size),
        "limit": PAGE_SIZE + 1,
    }
    probe = RING_PAGE_PROBE if layout.data_table is None else SPLIT_RING_PAGE_PROBE
    return [statements.uncached_statement_for(probe, values, names, layout.queue)]


def ring_page_from_results(
    probes: QueueProbes, listing: PageRequest, results: Results
) -> tuple[tuple[MessageSample, ...], PageSample] | None:
    """Return the messages of a ring's page and its description; see ``page_from_results``."""
    layout, ring = probes.layout, probes.layout.ring
    why = reason_without_list(layout, listing.state) or _why_unreadable(probes)
    if why or ring is None:
        return (), PageSample(listing, why=why)
    probe = RING_PAGE_PROBE if layout.data_table is None else SPLIT_RING_PAGE_PROBE
    rows: Sequence[ListedSample] | None = results.get((layout.queue, probe))
    if rows is None:
        return None
    if not rows:
        return (), PageSample(listing, why=RingPageText.POSITIONS_UNREADABLE)
    *listed, end = rows
    page = listed[:PAGE_SIZE]
    last = page[-1] if len(listed) > PAGE_SIZE else end
    found = PageSample(
        listing,
        order=ring.message_id,
        looked=last.place,
        every=listing.state == "in_progress",
        next=None if last.at is None else PagePosition(last.at),
    )
    messages = tuple(MessageSample(r.id, r.state, r.age_s, r.owner, r.attempts, r.payload) for r in page)
    return with_text_payloads(layout, probes.facts, messages), found


def _why_unreadable(probes: QueueProbes) -> str:
    """Return why the slots or positions of this ring cannot be read; empty if they can be read."""
    facts = probes.facts
    if facts.push_sequence_id is not None and facts.pop_sequence_id is not None and probes.can_seek_slots:
        return ""
    return facts.unknown.get("ready") or facts.slow.get("ready") or RingPageText.POSITIONS_UNKNOWN
