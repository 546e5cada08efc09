"""The meaning of the special words that screens show. The help of a screen lists the words that are on this screen."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final


@dataclass(frozen=True, slots=True)
class Term:
    """A word or phrase, and its meaning in one line.

    Attributes:
        forms: other forms of the word, such as a plural.
        is_exact: capital letters matter, because the word is an abbreviation that is also a common word.
    """

    name: str
    meaning: str
    forms: tuple[str, ...] = ()
    is_exact: bool = False
    _pattern: re.Pattern[str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Build the pattern that finds the term."""
        each = "|".join(re.escape(form).replace(r"\ ", r"\s+") for form in (self.name, *self.forms))
        flags = re.NOFLAG if self.is_exact else re.IGNORECASE
        object.__setattr__(self, "_pattern", re.compile(rf"(?<![\w-])(?:{each})(?![\w/-])", flags))

    def is_in(self, text: str) -> bool:
        """Return whether the text contains the term as a whole word."""
        return self._pattern.search(text) is not None


# In alphabetical order. Words of the columns and figures are not listed here, because the help contains these anyway.
GLOSSARY: Final = (
    Term("budget", "the server time that polling may use, by default 1 % of one processor"),
    Term("buffers", "pages of 8 kB that the server reads, from memory or from disk"),
    Term("BUFFERS/s", "buffers read per second; see buffers", is_exact=True),
    Term("cost", "server time of polling, as a share of its budget; key i of screen 3 shows details", ("costs",)),
    Term("dead rows", "old versions of rows that vacuum has not removed yet", ("dead row",)),
    Term("ESC/s", "locks of rows that became a lock of the whole table, per second", is_exact=True),
    Term("FRAG", "fragmentation: share of the index's pages that are out of order", is_exact=True),
    Term("FWD/s", "rows that moved and are read in two steps, per second", is_exact=True),
    Term("GHOST/s", "deleted rows that the server has not removed yet, per second", is_exact=True),
    Term("head blocker", "session that blocks others and does not wait itself", ("head blockers",)),
    Term("hole", "number of a ring without a message; consumers wait for it", ("holes",)),
    Term("horizon", "oldest state of the data that a transaction may still read; rows deleted later stay in the table"),
    Term("HOT", "share of updates that changed no index (heap-only tuples); a higher share is cheaper", is_exact=True),
    Term("idle wait", "wait that delays no queue: an idle client, or a timer", ("idle waits",)),
    Term("in flight", "taken by a consumer that has not committed"),
    Term("IO/s", "waits for reads and writes of pages, per second", is_exact=True),
    Term("latch", "short lock of the server on a page or structure in memory", ("latches", "latch-bound")),
    Term("LATCH/s", "waits for latches per second; see latch", is_exact=True),
    Term("LOCK/s", "waits for locks per second", is_exact=True),
    Term("OLD ROWS", "deleted and replaced rows that still take space in the table", is_exact=True),
    Term("orphan", "message that a consumer took but did not pop before it was gone", ("orphans", "orphaned")),
    Term("peak", "greatest value in the time that the plot shows"),
    Term("probe", "one query of a poll", ("probes",)),
    Term("rolled back", "number of a push that was undone; it will never have a message"),
    Term(
        "rows touched per pop",
        "rows that the server reads to find one message; many: deleted rows not cleaned up, or no index",
    ),
    Term("ROWS/s", "rows read per second", is_exact=True),
    Term("SCANS/s", "searches of the table or index per second", is_exact=True),
    Term("skipped", "number that will never have a message: the sequence left it out"),
    Term("SPLIT/s", "pages divided because they were full, per second", is_exact=True),
    Term("throttled", "read less often, so that polling stays within its budget"),
    Term("TRIED/s", "attempts to replace locks of rows by a lock of the table, per second", is_exact=True),
    Term("tx/s", "transactions per second on this database, without those of qmon"),
    Term("uncommitted", "number of a push whose transaction is still open"),
    Term("xid", "number of a transaction"),
)


def terms_in(text: str) -> tuple[Term, ...]:
    """Return the terms that the text contains."""
    return tuple(term for term in GLOSSARY if term.is_in(text))
