"""Collects the pages of failed messages of one queue until enough were read, and starts again after a while."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from qmon.model.failures import FailureGroup, group_failures
from qmon.model.layout.list_states import FAILED
from qmon.model.samples.listing_samples import PageRequest, PageSample
from qmon.model.samples.polled_samples import MessageSample
from qmon.model.view import QueueView, View

# Maximum number of pages to read. A page has at most a few hundred messages.
MOST_PAGES: Final = 10
# Seconds until failures with several pages are read again. A single page is read again in each poll.
REREAD_S: Final = 30.0
_NEWEST: Final = PageRequest(FAILED, descending=True)


@dataclass(frozen=True, slots=True)
class Failures:
    """The failed and retried messages that were read, newest first.

    Attributes:
        read_at: time of the first page, server clock, seconds since the epoch.
        looked: number of rows read.
        complete: all pages were read, so that no older message is missing.
        why: why no messages can be read, or an empty text.
    """

    groups: tuple[FailureGroup, ...]
    read_at: float
    looked: int
    complete: bool
    why: str = ""

    @property
    def count(self) -> int:
        """Number of messages."""
        return sum(group.count for group in self.groups)


class FailureReading:
    """Reads the failures of one queue, one page per poll. ``listing`` is the page that the next poll must read."""

    def __init__(self) -> None:
        self.listing = _NEWEST
        # The result of the last reading that has ended, or of the first one while it is under way.
        self.failures: Failures | None = None
        self._pages: list[tuple[PageSample, tuple[MessageSample, ...], float]] = []
        self._has_ended = False
        self._sequence = -1

    def restart(self) -> None:
        """Read all pages again, beginning with the next poll."""
        self.listing, self._pages, self._has_ended = _NEWEST, [], False

    def record_view(self, view: View, queue: QueueView) -> None:
        """Record the page of this poll, if the poll has read the requested page."""
        page, messages = queue.page, queue.messages
        if view.sequence == self._sequence or page is None or messages is None or page.listing != self.listing:
            return
        self._sequence = view.sequence
        if self._has_ended:
            if len(self._pages) > 1 and view.sampled_at - self._pages[0][2] < REREAD_S:
                return
            self._pages = []
        self._pages.append((page, messages, view.sampled_at))
        self._has_ended = page.next is None or len(self._pages) >= MOST_PAGES
        self.listing = _NEWEST if self._has_ended else replace(_NEWEST, after=page.next)
        if self._has_ended or self.failures is None or not self.failures.complete:
            self.failures = self._join_pages()

    def _join_pages(self) -> Failures:
        first_at = self._pages[0][2]
        # The ages of later pages refer to later polls. A message that moved to a later page counts once.
        messages = {
            message.id: message if message.age_s is None else replace(message, age_s=message.age_s + first_at - at)
            for _, listed, at in self._pages
            for message in listed
        }
        last = self._pages[-1][0]
        looked = sum(page.looked for page, _, _ in self._pages)
        return Failures(
            group_failures(messages.values(), first_at), first_at, looked, last.next is None, self._pages[0][0].why
        )
