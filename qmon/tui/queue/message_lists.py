"""Selects the list of messages and the page that the queue screen shows."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from qmon.model import formatting
from qmon.model.default_list import default_listing
from qmon.model.figure import Figure
from qmon.model.layout.layout import Layout
from qmon.model.layout.list_states import (
    STATES,
    is_listed_descending,
    listable_states,
    reason_without_list,
    reason_without_search,
    searched_texts,
)
from qmon.model.probe_table import is_probe_of
from qmon.model.samples.listing_samples import PagePosition, PageRequest, PageSample
from qmon.model.view import QueueView
from qmon.monitor.source import ROW_LIMIT
from qmon.texts import Text
from qmon.tui.queue.message_rows import ListTitle, OneMessage
from qmon.tui.sanitize import clean, shorten
from qmon.tui.screen_texts import ScreenText


class ListsText(Text):
    """The texts about lists and their pages."""

    NO_LIST = "no list of {states}: {why}"
    FIRST_PAGE = "this is the first page"
    LAST_PAGE = "this is the last page"
    OPEN_LIST_FIRST = "press l to open a list with pages"
    PART = "{first}–{last}"
    SHOWN_OF = "{shown} of {count}"
    FIRST_SHOWN = "the first {shown}"
    FIRST_SHOWN_OF = "the first {shown} of {count}"
    PAGE = "{messages}, page {number}"
    THE_LAST_PAGE = "{messages}, page {number}, the last"
    HIGHEST_FIRST = ", highest first"
    BY = "by {order}{direction}"
    NO_INDEX = "no index for this list: {count} rows read by {order}{direction}"
    MANY_SHARE = "too many messages share one {order}: some messages are missing"
    UNSORTED = "unsorted, because no index gives an order: only {count} rows read"
    COUNTED_AGO = "{count} counted {age} ago"
    NONE = "no {message}"
    NONE_ANY_MORE = "no {message} here any more"
    NONE_ON_PAGE = "no {message} among these {count} rows; . continues"
    NONE_AMONG_FIRST = "no {message} among these {count} rows; l lists all, page by page"
    FOUND = "{shown} found in the {texts} of {count} rows"
    FOUND_AND_MORE = "{shown} found in the {texts} of {count} rows; . searches on"
    NOT_FOUND = "no {message} with this text among these {count} rows"
    NOT_FOUND_YET = "no {message} with this text among these {count} rows; . searches on"
    ONLY_READ = "{shown} of the {count} rows on this page match, payloads to {characters} characters"
    SEARCHES_READ_ROWS = "only the rows on screen are searched: {why}"


LIST_KEYS: Final = ("list", "list-before", "next-page", "page-before")
_PROBES: Final = ("messages", "messages_page", "group_messages", "group_page")
# No sort column: rows keep the order of the list.
LIST_ORDER: Final = ("", False)


class MessageLists:
    """The chosen list of one queue, and the pages that the user has opened.

    If the user has chosen no list, a queue shows its messages in progress, or the next messages to pop.
    """

    def __init__(self) -> None:
        self._queue = ""
        self._state: str | None = None
        self._descending = False
        # The text that the messages of the list must contain, and whether only the search opened the list.
        self._search = ""
        self._opened_by_search = False
        self._places: list[PagePosition | None] = [None]
        # The number of messages on each earlier page.
        self._counts: list[int] = []
        self._last: tuple[QueueView, PageRequest | None] | None = None

    @property
    def page_number(self) -> int:
        """The number of the page. The first page is 1."""
        return len(self._places)

    @property
    def messages_before(self) -> int:
        """The number of messages that the earlier pages had when they were read."""
        return sum(self._counts)

    def listing_for(self, queue: str | None) -> PageRequest | None:
        """Return the chosen page of ``queue``; ``None`` if the user has chosen no list."""
        if self._state is None or queue != self._queue:
            return None
        return PageRequest(self._state, self._places[-1], self._descending, self._search)

    def fill_messages(self, queue: QueueView, listing: PageRequest | None) -> QueueView:
        """Return the queue with the messages that were last read, if messages are polled less often than figures."""
        if queue.messages is not None:
            self._last = queue, listing
        elif self._last is not None and any(is_probe_of(each.probe, _PROBES) for each in queue.throttled):
            last, wanted = self._last
            if (last.name, wanted) == (queue.name, listing):
                return replace(queue, messages=last.messages, page=last.page)
        return queue

    def choose_list(self, layout: Layout, by: int) -> str:
        """Go to the next (``1``) or previous (``-1``) list of this queue. Return why lists were skipped."""
        # Few tables have a state for blocked messages. If the state is missing, its list is skipped without a notice.
        listed = (
            state for state in STATES if state != "blocked" or layout.has_figure("blocked") or state == self._state
        )
        asked: tuple[str | None, ...] = (None, *listed)
        at = asked.index(self._state) if layout.queue == self._queue else 0
        left_out: dict[str, list[str]] = {}
        for step in range(1, len(asked) + 1):
            state = asked[(at + by * step) % len(asked)]
            why = "" if state is None else reason_without_list(layout, state)
            if not why:
                self._queue, self._state = layout.queue, state
                self._descending = state is not None and is_listed_descending(layout, state)
                self._search, self._opened_by_search = "", False
                self._reset_pages()
                break
            left_out.setdefault(why, []).append(str(state).replace("_", " "))
        return "; ".join(
            ListsText.NO_LIST.render(states=", ".join(states), why=why) for why, states in left_out.items()
        )

    def reverse_order(self) -> None:
        """Reverse the order of the whole list and go to its first page."""
        self._descending = not self._descending
        self._reset_pages()

    def search(self, layout: Layout, text: str) -> str:
        """List only messages whose payload or last error contains ``text``; an empty text lists all messages again.

        If the user has chosen no list, the search opens the list that is on screen. Return why the server cannot search
        this list, or an empty text.
        """
        is_open = layout.queue == self._queue and self._state is not None
        if not text:
            if self._search:
                self._state = None if self._opened_by_search else self._state
                self._search, self._opened_by_search = "", False
                self._reset_pages()
            return ""
        state = self._state if is_open and self._state is not None else default_listing(layout).state
        if why := reason_without_search(layout) or reason_without_list(layout, state):
            return why
        if not is_open:
            self._queue, self._state, self._opened_by_search = layout.queue, state, True
            self._descending = is_listed_descending(layout, state)
        self._search = text
        self._reset_pages()
        return ""

    def _reset_pages(self) -> None:
        self._places, self._counts = [None], []

    def turn_page(self, page: PageSample, listed: int, by: int) -> str:
        """Go to the next (``1``) or previous (``-1``) page. Return why there is no such page, or an empty text.

        ``listed``: the number of messages on this page.
        """
        if by < 0:
            if self.page_number == 1:
                return ListsText.FIRST_PAGE
            del self._places[-1], self._counts[-1]
        elif page.next is None:
            return ListsText.LAST_PAGE
        else:
            self._places.append(page.next)
            self._counts.append(listed)
        return ""


def disabled_list_keys(queue: QueueView | None, listing: PageRequest | None, fixed: str) -> dict[str, str]:
    """Return why keys are disabled, keyed by binding id. ``fixed``: why no other list can be read, or an empty text."""
    none = queue is None or not listable_states(queue.layout)
    why = fixed or (
        ScreenText.NO_QUEUE_SELECTED if queue is None else reason_without_list(queue.layout, "ready") if none else ""
    )
    if why:
        return dict.fromkeys(LIST_KEYS, why)
    return {} if listing is not None else dict.fromkeys(LIST_KEYS[2:], ListsText.OPEN_LIST_FIRST)


def shown_page(queue: QueueView, listing: PageRequest | None, fixed: str) -> PageSample | None:
    """Return the page on screen; ``None`` if no list is chosen or the page has not been read yet."""
    return queue.page if is_chosen_list(queue, listing, fixed) else None


def is_chosen_list(queue: QueueView, listing: PageRequest | None, fixed: str) -> bool:
    """Return whether the messages that were read belong to the chosen list."""
    read = None if queue.page is None else queue.page.listing
    return bool(fixed) or read == listing or (listing is None and read == default_listing(queue.layout))


def page_count_text(queue: QueueView, page: PageSample, lists: MessageLists | None, shown: int, listed: int) -> str:
    """Return a text with the position, total, page and order of a list, and which messages may be missing.

    ``lists``: the lists in which the page was chosen; ``None`` for a recorded page. ``shown``: how many of the
    ``listed`` messages match the filter.
    """
    if page.listing.search:
        return _found_text(queue, page, shown)
    figure: Figure = getattr(queue, page.listing.state)
    before, number = (0, 1) if lists is None else (lists.messages_before, lists.page_number)
    which = formatting.count(listed)
    if before and listed:
        which = ListsText.PART.render(first=formatting.count(before + 1), last=formatting.count(before + listed))
    if shown != listed:
        which = ListsText.SHOWN_OF.render(shown=shown, count=listed)
    elif figure.value is not None:
        which = ListsText.SHOWN_OF.render(shown=which, count=dated_count_text(figure))
    if number > 1 or page.next is not None:
        text = ListsText.THE_LAST_PAGE if page.next is None else ListsText.PAGE
        which = text.render(messages=which, number=number)
    parts, looked = [which], formatting.count(page.looked)
    order = f"`{shorten(clean(page.order), 30)}`"
    direction = ListsText.HIGHEST_FIRST if page.listing.descending else ""
    if page.every:
        parts.append(ListsText.NO_INDEX.render(count=looked, order=order, direction=direction))
    elif page.order:
        parts.append(ListsText.BY.render(order=order, direction=direction))
    if page.cut and page.order:
        parts.append(ListsText.MANY_SHARE.render(order=order))
    elif page.cut:
        parts.append(ListsText.UNSORTED.render(count=looked))
    return " · ".join(parts)


def _found_text(queue: QueueView, page: PageSample, shown: int) -> str:
    """Return the number of messages that a search has found on this page, and the rows and texts that it has read."""
    texts = " and ".join(f"{name}s" for name in searched_texts(queue.layout))
    text = ListsText.FOUND if page.next is None else ListsText.FOUND_AND_MORE
    return text.render(shown=formatting.count(shown), texts=texts, count=formatting.count(page.looked))


def first_list_count_text(queue: QueueView, title: ListTitle, shown: int, listed: int) -> str:
    """Return the count for the list that is shown before the user chooses one.

    If the queue's figure is different, the text also contains the figure.
    """
    if shown != listed:
        return ListsText.SHOWN_OF.render(shown=shown, count=listed)
    figure: Figure | None = {ListTitle.IN_PROGRESS: queue.in_progress, ListTitle.STUCK: queue.stuck}.get(title)
    is_cut = listed >= ROW_LIMIT
    if figure is not None and figure.value is not None and figure.value != listed:
        text = ListsText.FIRST_SHOWN_OF if is_cut else ListsText.SHOWN_OF
        return text.render(shown=shown, count=dated_count_text(figure))
    return ListsText.FIRST_SHOWN.render(shown=shown) if is_cut else f"{shown}"


def dated_count_text(figure: Figure) -> str:
    """Return ``~50``. If the messages were counted before the list was polled, the age of the count follows."""
    shown = figure.text(formatting.count)
    if figure.age_s < 1:
        return shown
    return ListsText.COUNTED_AGO.render(count=shown, age=formatting.duration(figure.age_s))


def empty_text(page: PageSample, *, paged: bool = True) -> str:
    """Return the text for a page without messages. ``paged``: a key goes to the next page."""
    what = OneMessage[page.listing.state.upper()]
    if page.listing.search:
        found = ListsText.NOT_FOUND if page.next is None else ListsText.NOT_FOUND_YET
        return found.render(message=what, count=formatting.count(page.looked))
    if page.next is not None:
        text = ListsText.NONE_ON_PAGE if paged else ListsText.NONE_AMONG_FIRST
        return text.render(message=what, count=formatting.count(page.looked))
    return (ListsText.NONE if page.listing.after is None else ListsText.NONE_ANY_MORE).render(message=what)
