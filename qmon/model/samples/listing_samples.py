"""A page of a queue's messages: the requested page, the rows read, and where the next page starts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

# Messages per page.
PAGE_SIZE: Final = 100

# Maximum number of rows read for a page, if no index returns exactly its rows.
MAX_ROWS_READ: Final = 2_000


@dataclass(frozen=True, slots=True)
class Place:
    """A place in a list, which is sorted by the value of a column (as text here) and then by id.

    Attributes:
        value: value of the sort column; ``None`` for NULL, which sorts last.
        id: id of the last message before this place. ``None``: the place is before all messages with that value, or
            after them if ``past``.
        within: many messages have that value, so they are read separately, through an index that sorts them by id.
    """

    value: str | None
    id: str | None = None
    past: bool = False
    within: bool = False


@dataclass(frozen=True, slots=True)
class Listing:
    """The requested page.

    Attributes:
        state: ready, scheduled, in_progress, stuck, dead or done.
        after: where it starts; ``None``: at the start of the list, or at its end if ``descending``.
    """

    state: str
    after: Place | None = None
    descending: bool = False


@dataclass(frozen=True, slots=True)
class ListedSample:
    """One row for a page. The probe returns the messages of the page, and the first and the last row that it read.

    Attributes:
        at: value of the sort column, as text.
        listed: 1 if the row is on the page or after it.
        place: position among the rows read, from 1.
        known: rows read that have a sort value.
        looked: rows read.
    """

    id: str
    state: str
    age_s: float | None
    owner: str | None
    attempts: int | None
    payload: str | None
    error: str | None
    at: str | None
    listed: int
    place: int
    known: int
    looked: int


@dataclass(frozen=True, slots=True)
class PageSample:
    """The facts about a page without its messages.

    Attributes:
        order: the sort column; empty if the list has no order.
        looked: rows read.
        every: rows of all states were read, because no index leads to this state.
        next: where the next page starts; ``None``: there is none.
        cut: more rows have the same value than a page reads, so messages may be missing.
        why: why no page can be read, else empty.
    """

    listing: Listing
    order: str = ""
    looked: int = 0
    every: bool = False
    next: Place | None = None
    cut: bool = False
    why: str = ""
