"""Find the session whose lock on a table blocks even readers.

qmon searches only after a lock timeout. The search does not wait for locks.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from qmon.model.formatting import one_line, time_of_day
from qmon.redact import hide_secrets
from qmon.texts import Text


class LockHolderText(Text):
    """Names of what holds a lock."""

    SESSION = "session {session}"
    PREPARED = "prepared transaction {transaction}"
    SINCE = "in a transaction since {time}"
    WAITS = "{who} waits to lock the table, and readers wait for that session"
    LOCKED_BY = "locked by {who}"


PROBE: Final = "lock_holders"

# Parts of a statement that may be data, perhaps truncated: comments, strings, long numbers.
_VALUES: Final = re.compile(
    r"/\*.*?(?:\*/|$)|--[^\n]*|'(?:[^']|'')*(?:'|$)|\$(\w*)\$.*?(?:\$\1\$|$)|\b\d{4,}\b", re.DOTALL
)

# psqlodbc puts this before each statement of a transaction.
_DRIVER: Final = re.compile(r"(?:RELEASE|SAVEPOINT) _EXEC_SVP_\w+;\s*")
_LENGTH: Final = 80


@dataclass(frozen=True, slots=True)
class LockHolderSample:
    """One row per locked table: the session that holds the lock or, if ``waits``, the first session that waits for it.

    Session 0 is a prepared or distributed transaction, and ``gid`` is its name. ``since_at``: the start of the
    session's transaction, server clock, seconds since the epoch.
    """

    table_id: int
    session: int
    gid: str
    waits: bool
    login: str
    application: str
    since_at: float | None
    statement: str

    @property
    def summary(self) -> str:
        """One line: the session, how long its transaction has been open, and its statement without data."""
        who = (
            LockHolderText.SESSION.render(session=self.session)
            if self.session
            else LockHolderText.PREPARED.render(transaction=one_line(self.gid))
        )
        since = LockHolderText.SINCE.render(time=time_of_day(self.since_at)) if self.since_at is not None else ""
        about = ", ".join(one_line(hide_secrets(each)) for each in (self.login, self.application, since) if each)
        runs = one_line(_VALUES.sub("…", _DRIVER.sub("", hide_secrets(self.statement))), _LENGTH)
        by = f"{who} ({about})" if about else who
        verb = LockHolderText.WAITS.render(who=by) if self.waits else LockHolderText.LOCKED_BY.render(who=by)
        return f"{verb}: {runs}" if runs else verb
