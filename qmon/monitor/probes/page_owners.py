"""Find the tables and indexes of the pages that sessions wait for (SQL Server, which returns one page per query)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from qmon.model.samples.wait_samples import LatchSample, PageOwnerSample
from qmon.monitor.probes.probe_statements import ProbeStatement, Results, StatementCache

_PROBE: Final = "page_owner"
# Seconds after which a page is read again, because it may belong to another index by then.
_ASKED_S: Final = 60.0
# Page numbers. Pages that serve the whole file have a suffix, such as `2:1 (PFS)`, and belong to no table.
_PAGE: Final = re.compile(r"(\d+):(\d+)")


class PageOwners:
    """The tables and indexes of pages, on one connection. Not thread-safe.

    Reading a page's header needs the same latch that the sessions wait for. Therefore, each poll reads at most one
    page: the page with the most waiting sessions. The same page is read at most once a minute.
    """

    def __init__(self) -> None:
        # When each page was read (our clock, seconds), keyed by page.
        self._asked: dict[str, float] = {}
        self._owners: dict[str, PageOwnerSample] = {}
        self._hot = ""

    def statements_for_poll(self, statements: StatementCache, now: float) -> list[ProbeStatement]:
        """Return the statement of this poll, if there is a page to read. ``now``: our clock, seconds."""
        self._asked = {page: at for page, at in self._asked.items() if now - at < _ASKED_S}
        self._owners = {page: owner for page, owner in self._owners.items() if page in self._asked}
        place = _PAGE.fullmatch(self._hot)
        if place is None or self._hot in self._asked:
            return []
        self._asked[self._hot] = now
        return statements.optional_statements_for(_PROBE, {"file_id": int(place[1]), "page_id": int(place[2])})

    def name(self, latches: Sequence[LatchSample] | None, results: Results) -> tuple[LatchSample, ...] | None:
        """Return the sessions with the table and index of their page, if known.

        Also chooses the page to read next: the page for which most of the other sessions wait. ``latches``: the
        sessions that wait for pages; ``None`` if unknown.
        """
        found: Sequence[PageOwnerSample] = results.get(("", _PROBE), ())
        self._owners |= {each.page: each for each in found}
        unnamed = Counter(each.page for each in latches or () if each.table_id is None and each.page not in self._asked)
        self._hot = next((page for page, _ in unnamed.most_common() if _PAGE.fullmatch(page)), "")
        return None if latches is None else tuple(self._with_owner(each) for each in latches)

    def _with_owner(self, each: LatchSample) -> LatchSample:
        owner = self._owners.get(each.page)
        if owner is None or each.table_id is not None:
            return each
        return replace(each, table_id=owner.table_id, index_id=owner.index_id)
