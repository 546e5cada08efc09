"""Which messages of a queue are listed until the operator chooses a list."""

from __future__ import annotations

from qmon.model.layout.layout import Layout
from qmon.model.layout.list_states import reason_without_list
from qmon.model.rates.flow import pops_in_transaction
from qmon.model.samples.listing_samples import PageRequest


def default_listing(layout: Layout) -> PageRequest:
    """Return the page of messages that is read if no index supports the default list."""
    return PageRequest("ready" if begins_at_head(layout) else "in_progress")


def begins_at_head(layout: Layout) -> bool:
    """Return whether the next messages are listed first, because no row is marked in progress before a pop commits."""
    unknown = layout.part is None and bool(reason_without_list(layout, "in_progress")) and bool(layout.id_columns)
    return layout.ring is not None or pops_in_transaction(layout) or unknown
