"""Which list of messages the queue screen shows, and which page of it."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from qmon.model import text
from qmon.model.figure import Figure
from qmon.model.first_list import first_list
from qmon.model.layout.layout import Layout
from qmon.model.layout.lists import STATES, from_the_end, offered, why_not
from qmon.model.samples.listing import Listing, PageSample, Place
from qmon.model.view import QueueView
from qmon.monitor.source import ROW_LIMIT
from qmon.tui.sanitize import clean, shorten

KEYS: Final = ("list", "list-before", "next-page", "page-before")
_PROBES: Final = ("messages", "group_messages", "group_page")
# Sorted by nothing: in the order of the list.
IN_ORDER: Final = ("", False)
TITLES: Final = {
    "ready": "ready messages",
    "scheduled": "scheduled messages",
    "in_progress": "messages in progress",
    "stuck": "stuck messages",
    "blocked": "blocked messages",
    "dead": "dead messages",
    "done": "done messages",
}


class MessageLists:
    """The list that was chosen of one queue, and the pages gone through. Another queue begins with what is in progress,
    or at its head."""

    def __init__(self) -> None:
        self._queue = ""
        self._state: str | None = None
        self._descending = False
        self._places: list[Place | None] = [None]
        # Messages on each page that was left for the next one.
        self._counts: list[int] = []
        self._last: tuple[QueueView, Listing | None] | None = None

    @property
    def number(self) -> int:
        """Which page it is, from 1."""
        return len(self._places)

    @property
    def before(self) -> int:
        """Messages on the pages before this one, as they were."""
        return sum(self._counts)

    def wanted(self, queue: str | None) -> Listing | None:
        """The page that is wanted; ``None``: what is in progress, or at the head."""
        if self._state is None or queue != self._queue:
            return None
        return Listing(self._state, self._places[-1], self._descending)

    def filled(self, queue: QueueView, listing: Listing | None) -> QueueView:
        """The queue with the messages that were read last, where they are read less often than it."""
        if queue.messages is not None:
            self._last = queue, listing
        elif self._last is not None and any(each.probe.startswith(_PROBES) for each in queue.throttled):
            last, wanted = self._last
            if (last.name, wanted) == (queue.name, listing):
                return replace(queue, messages=last.messages, page=last.page)
        return queue

    def choose(self, layout: Layout, by: int) -> str:
        """Go to the next list that this queue has, or the one before; returns why those between are left out."""
        # Few tables have a state for blocked messages, so its absence is not worth a notice.
        listed = (state for state in STATES if state != "blocked" or layout.has("blocked") or state == self._state)
        asked: tuple[str | None, ...] = (None, *listed)
        at = asked.index(self._state) if layout.queue == self._queue else 0
        left_out: dict[str, list[str]] = {}
        for step in range(1, len(asked) + 1):
            state = asked[(at + by * step) % len(asked)]
            why = "" if state is None else why_not(layout, state)
            if not why:
                self._queue, self._state = layout.queue, state
                self._descending = state is not None and from_the_end(layout, state)
                self._begin()
                break
            left_out.setdefault(why, []).append(str(state).replace("_", " "))
        return "; ".join(f"no list of {', '.join(states)}: {why}" for why, states in left_out.items())

    def reverse(self) -> None:
        """Turn the order of the whole list around; its first page."""
        self._descending = not self._descending
        self._begin()

    def _begin(self) -> None:
        self._places, self._counts = [None], []

    def turn(self, page: PageSample, listed: int, by: int) -> str:
        """Go to the next page, or to the one before; returns why there is none. ``listed``: messages on this one."""
        if by < 0:
            if self.number == 1:
                return "this is the first page"
            del self._places[-1], self._counts[-1]
        elif page.next is None:
            return "this is the last page"
        else:
            self._places.append(page.next)
            self._counts.append(listed)
        return ""


def unavailable(queue: QueueView | None, listing: Listing | None, fixed: str) -> dict[str, str]:
    """By the id of a key why it can do nothing. ``fixed``: why nothing more can be read than there is."""
    none = queue is None or not offered(queue.layout)
    why = fixed or ("no queue is chosen" if queue is None else why_not(queue.layout, "ready") if none else "")
    if why:
        return dict.fromkeys(KEYS, why)
    return {} if listing is not None else dict.fromkeys(KEYS[2:], "press l for a list that has pages")


def shown_page(queue: QueueView, listing: Listing | None, fixed: str) -> PageSample | None:
    """The page that is shown; ``None``: what is in progress, or at the head, or the page has not been read yet."""
    return queue.page if is_wanted(queue, listing, fixed) else None


def is_wanted(queue: QueueView, listing: Listing | None, fixed: str) -> bool:
    """Whether the messages that were read are those that are wanted."""
    read = None if queue.page is None else queue.page.listing
    return bool(fixed) or read == listing or (listing is None and read == first_list(queue.layout))


def counted(queue: QueueView, page: PageSample, lists: MessageLists | None, shown: int, listed: int) -> str:
    """Which of how many, which page, what they go by, and what may be missing.

    ``lists``: where the page was chosen, ``None``: it was recorded. ``shown``: of so many that are ``listed``.
    """
    figure: Figure = getattr(queue, page.listing.state)
    before, number = (0, 1) if lists is None else (lists.before, lists.number)
    which = f"{text.count(before + 1)}–{text.count(before + listed)}" if before and listed else text.count(listed)
    if shown != listed:
        which = f"{shown} of {listed}"
    elif figure.value is not None:
        which += f" of {counted_at(figure)}"
    if number > 1 or page.next is not None:
        which += f", page {number}{'' if page.next is not None else ', the last'}"
    parts = [which]
    order = f"`{shorten(clean(page.order), 30)}`"
    first = ", the greatest first" if page.listing.descending else ""
    if page.every:
        parts.append(f"no index leads to them: {text.count(page.looked)} rows by {order} looked at{first}")
    elif page.order:
        parts.append(f"by {order}{first}")
    if page.cut and page.order:
        parts.append(f"too many have the same {order}: some are left out")
    elif page.cut:
        parts.append(f"unordered, since no index gives an order: only {text.count(page.looked)} rows looked at")
    return " · ".join(parts)


def first_count(queue: QueueView, title: str, shown: int, listed: int) -> str:
    """How many messages are listed before a list is chosen, and the figure of the same messages if it differs."""
    if shown != listed:
        return f"{shown} of {listed}"
    figure: Figure | None = {TITLES["in_progress"]: queue.in_progress, TITLES["stuck"]: queue.stuck}.get(title)
    first = "the first " if listed >= ROW_LIMIT else ""
    differs = figure is not None and figure.value is not None and figure.value != listed
    return f"{first}{shown} of {counted_at(figure)}" if figure is not None and differs else f"{first}{shown}"


def counted_at(figure: Figure) -> str:
    """``~50``, followed by when it was counted if that was before the poll that read the list."""
    shown = figure.text(text.count)
    return f"{shown} counted {text.duration(figure.age_s)} ago" if figure.age_s >= 1 else shown


def nothing(page: PageSample, *, paged: bool = True) -> str:
    """What to say if there is no message on a page. ``paged``: there is a key for the next one."""
    what = TITLES[page.listing.state].replace("messages", "message").replace("done message", "message that is done")
    if page.next is not None:
        more = ". goes on" if paged else "l lists all, page by page"
        return f"no {what} among these {text.count(page.looked)} rows; {more}"
    return f"no {what}" if page.listing.after is None else f"no {what} here any more"
