"""Sessions that fight over the same pages of a queue's table or of its indexes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

from qmon.model.figure import Severity
from qmon.model.samples.waits import LatchSample
from qmon.model.verdicts.rule import Rule
from qmon.model.verdicts.signs import RuleInput
from qmon.model.waits.known import PAGE_LATCHES

SHARE: Final = 0.25
"""At least that share of the sessions at work waits for a page in memory."""
SESSIONS: Final = 2.0


def _latch(s: RuleInput) -> str | None:
    waiting, seen = s.target.waiting, s.snapshot.latches if s.snapshot is not None else None
    if waiting is None or not seen or s.samples is None or s.layout is None:
        return None
    rates = waiting.of(PAGE_LATCHES)
    sessions = sum(rate.sessions for rate in rates)
    if sessions < SESSIONS or sessions < SHARE * waiting.busy:
        return None
    tables = {c.table_id for c in (s.samples.counters, s.samples.data_counters) if c is not None}
    mine = [each for each in seen if each.table_id in tables]
    if 2 * len({each.session for each in mine}) < len({each.session for each in seen}):
        return None  # most of them work on something else
    names = ", ".join(rate.name for rate in rates[:2])
    return f"{sessions:.1f} of {waiting.busy:.1f} sessions at work wait for a page of {_where(s, mine)} ({names})"


def _where(s: RuleInput, seen: Sequence[LatchSample]) -> str:
    """The index and the page as the server tells them, else the indexes, the one whose pages are touched most first."""
    table = str(s.layout.table) if s.layout is not None else ""
    parts = s.queue.use.parts if s.queue.use is not None else ()
    known = Counter((each.index_id, each.page) for each in seen if each.index_id is not None)
    if known:
        (index, page), _ = known.most_common(1)[0]
        name = next((part.name for part in parts if part.id == index and index), "")
        place = f"index {name} of {table}" if name else table
        return f"{place}, most for page {page}" if page else place
    indexes = sorted((p for p in parts if p.role != "table"), key=lambda p: -(p.pages or 0.0))
    if not indexes:
        return table
    names = ", ".join(part.name for part in indexes[:3])
    return f"{table} or its index{'' if len(indexes) == 1 else 'es'} {names}"


LATCH = Rule("latch-bound", Severity.WARNING, 8.0, _latch, "3")
