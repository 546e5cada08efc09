"""A page of a queue's messages: which is wanted, its rows as they are read, and where the next one begins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

# Messages of a page.
PAGE: Final = 100
# Rows that are looked at for a page, at most, where no index gives exactly those.
LOOKED_AT: Final = 2_000


@dataclass(frozen=True, slots=True)
class Place:
    """A place in the order of a list: by the value of the column that it goes by, as text, and then by the id.

    ``value``: ``None`` where that is NULL, which is behind all others. ``id``: of the last message before this place;
    ``None``: the place is before all of that value, or where it is ``past`` behind them. ``within``: so many messages
    have that value that they are read by themselves, along an index that has them in the order of their ids.
    """

    value: str | None
    id: str | None = None
    past: bool = False
    within: bool = False


@dataclass(frozen=True, slots=True)
class Listing:
    """The page that is wanted. ``state``: ready, scheduled, in_progress, stuck, dead or done; ``after``: where it
    begins, ``None``: at the beginning of the list, or where it is ``descending`` at the end."""

    state: str
    after: Place | None = None
    descending: bool = False


@dataclass(frozen=True, slots=True)
class ListedSample:
    """One row that was looked at for a page: those listed, and the first and last of all.

    ``at``: the value that the list goes by, as text; ``listed``: 1 where the row is of the page or behind it;
    ``place``: which of those looked at, from 1, of which there are ``looked``, ``known`` of them with a value to go by.
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
    """What was read for a page, beside its messages.

    ``order``: the column that the list goes by, empty where none gives an order. ``looked``: rows that were looked at;
    ``every``: they were of whatever state, since no index leads to those of this one. ``next``: where the next page
    begins, ``None``: there is none. ``cut``: more rows have the same value than are looked at, and some may be missing.
    ``why``: why no page can be read, else empty.
    """

    listing: Listing
    order: str = ""
    looked: int = 0
    every: bool = False
    next: Place | None = None
    cut: bool = False
    why: str = ""
