"""A page of a queue's messages: the requested page, the rows read, and where the next page starts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

# Messages per page.
PAGE_SIZE: Final = 100

# Messages in each state per page of the list of failed messages.
FAILED_PAGE_SIZE: Final = 500

# Maximum number of rows read for a page, if no index returns exactly the rows of the page.
MAX_ROWS_READ: Final = 2_000


@dataclass(frozen=True, slots=True)
class PagePosition:
    """A place in a list. The list is sorted by the value of a column and then by id.

    Attributes:
        value: value of the sort column as text; ``None`` for NULL, which sorts last.
        id: id of the last message before this place. ``None``: the place is before all messages with this value, or
            after these messages if ``past`` is true.
        within: true if so many messages have this value that they are read separately, through an index that sorts them
            by id.
    """

    value: str | None
    id: str | None = None
    past: bool = False
    within: bool = False


@dataclass(frozen=True, slots=True)
class PageRequest:
    """The requested page.

    Attributes:
        state: ready, scheduled, in_progress, stuck, dead or done; ``failed``: dead messages, and messages in other
            states that have a last error. This list has several states, so it is read newest first, in larger pages.
        after: where the page starts; ``None``: at the start of the list, or at the end if ``descending``.
        search: only messages whose payload or last error contains this text, ignoring case; empty: all messages.
    """

    state: str
    after: PagePosition | None = None
    descending: bool = False
    search: str = ""


@dataclass(frozen=True, slots=True)
class ListedSample:
    """One row for a page. The probe returns the messages of the page, and also the first and last row that it read.

    Attributes:
        at: value of the sort column, as text.
        listed: 1 if the row is on the page or after it.
        place: position among the rows read, from 1.
        known: number of read rows that have a sort value.
        looked: number of rows read.
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
        looked: number of rows read.
        every: true if rows of all states were read, because no index finds the rows of this state.
        next: where the next page starts; ``None`` if there is no next page.
        cut: true if more rows have the same value than a page reads, so that messages may be missing.
        why: why no page can be read, else empty.
    """

    listing: PageRequest
    order: str = ""
    looked: int = 0
    every: bool = False
    next: PagePosition | None = None
    cut: bool = False
    why: str = ""
