"""Find the settings of a server, a database and its tables that harm a queue, and explain the harm."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

from qmon.model.samples.server_state_samples import SettingSample
from qmon.texts import Text


class HarmText(Text):
    """How a setting harms a queue."""

    LOCKS_KEPT = "a pop without BEGIN TRANSACTION keeps its locks until the program commits"
    WRITES_FAIL = "writes to tables with filtered indexes fail"
    COUNT_UNSEEN = "consumers cannot see how many rows their UPDATE changed"
    RARE_STATISTICS = "statistics are updated only after 20 % of a table has changed, so pops run with outdated plans"
    COMMITS_LOST = "a crash loses the last commits: pushed messages are lost, popped messages become ready again"
    DEAD_ROWS = "dead rows of popped messages are not removed, so each pop reads more of them"
    REPORTS_WAIT = "reports wait for rows that consumers have changed, and consumers wait for reports"
    LONG_ROLLBACK = "the rollback of a large batch takes as long as the batch and keeps its locks"
    NO_ROW_LOCKS = "a DELETE without UPDLOCK leaves no lock on the row: in progress and stuck are lower bounds"
    OUTDATED_PLANS = "pops run with outdated plans unless a job updates the statistics"
    POPS_WAIT = "a pop that needs outdated statistics waits until they are updated"
    LOCK_ESCALATION = "a statement that locks about 5,000 rows locks the whole table or partition, so consumers wait"
    POPS_FAIL = "a pop fails (40001) if another consumer took the message in the meantime"
    DATABASE_LOST = "a crash of the machine can destroy the database"
    SESSIONS_UNKNOWN = "states and statements of sessions are unknown, so blockers have no statement"
    ROWS_UNCOUNTED = "the server counts no rows: rates are unknown, and autovacuum does not start"
    MESSAGES_KEPT = "a consumer that hangs in a transaction keeps its messages until its connection ends"
    TABLE_EMPTIED = "a crash empties the table"
    OPTION = "{option}: {harm}"
    NO_OPTIONS = "none"
    OF_TABLES = "{setting} of {tables}"
    NOT_REPORTED = "this version does not report it for other sessions, or not at all"


# Shown if a value is unknown. Probes do not read settings that a version does not have.
NOT_REPORTED: Final = HarmText.NOT_REPORTED

# Lowest compatibility level at which fewer changes trigger an update of the statistics of a large table.
_NEW_THRESHOLD: Final = 130

# Bits of the server option "user options" (documentation of `sp_configure`).
_USER_OPTIONS: Final = {
    1: "DISABLE_DEF_CNST_CHK",
    2: "IMPLICIT_TRANSACTIONS",
    4: "CURSOR_CLOSE_ON_COMMIT",
    8: "ANSI_WARNINGS",
    16: "ANSI_PADDING",
    32: "ANSI_NULLS",
    64: "ARITHABORT",
    128: "ARITHIGNORE",
    256: "QUOTED_IDENTIFIER",
    512: "NOCOUNT",
    1024: "ANSI_NULL_DFLT_ON",
    2048: "ANSI_NULL_DFLT_OFF",
    4096: "CONCAT_NULL_YIELDS_NULL",
    8192: "NUMERIC_ROUNDABORT",
    16384: "XACT_ABORT",
}

# How default options of new sessions affect a queue, unless a session's driver changes the options.
_HARMFUL_OPTIONS: Final = {
    "IMPLICIT_TRANSACTIONS": HarmText.LOCKS_KEPT,
    "NUMERIC_ROUNDABORT": HarmText.WRITES_FAIL,
    "NOCOUNT": HarmText.COUNT_UNSEEN,
}


def _user_options(value: str) -> list[str]:
    """Return the names of the bits that are set. A value that is not a number has no bits."""
    bits = int(value) if value.isdecimal() else 0
    return [name for bit, name in _USER_OPTIONS.items() if bits & bit]


def _harm_if_in(values: str, harm: str) -> Callable[[str], str]:
    """Return a function from a setting's value to its harm. ``values``: harmful values, separated by bars."""
    harmful = frozenset(values.split("|"))
    return lambda value: harm if value in harmful else ""


def _options_harm(value: str) -> str:
    return "; ".join(
        HarmText.OPTION.render(option=o, harm=_HARMFUL_OPTIONS[o])
        for o in _user_options(value)
        if o in _HARMFUL_OPTIONS
    )


def _level_harm(value: str) -> str:
    old = value.isdecimal() and int(value) < _NEW_THRESHOLD
    return HarmText.RARE_STATISTICS if old else ""


_SQLSERVER: Final[dict[str, Callable[[str], str]]] = {
    "compatibility level": _level_harm,
    "read committed snapshot": _harm_if_in("off", HarmText.REPORTS_WAIT),
    "accelerated recovery": _harm_if_in("off", HarmText.LONG_ROLLBACK),
    "optimized locking": _harm_if_in("on", HarmText.NO_ROW_LOCKS),
    "delayed durability": _harm_if_in("forced", HarmText.COMMITS_LOST),
    "auto update statistics": _harm_if_in("off", HarmText.OUTDATED_PLANS),
    "asynchronous statistics": _harm_if_in("off", HarmText.POPS_WAIT),
    "lock escalation": _harm_if_in("table|auto", HarmText.LOCK_ESCALATION),
    "user options": _options_harm,
}
_POSTGRES: Final[dict[str, Callable[[str], str]]] = {
    "default_transaction_isolation": _harm_if_in("repeatable read|serializable", HarmText.POPS_FAIL),
    "synchronous_commit": _harm_if_in("off", HarmText.COMMITS_LOST),
    "fsync": _harm_if_in("off", HarmText.DATABASE_LOST),
    "autovacuum": _harm_if_in("off", HarmText.DEAD_ROWS),
    "autovacuum_enabled": _harm_if_in("off", HarmText.DEAD_ROWS),
    "track_activities": _harm_if_in("off", HarmText.SESSIONS_UNKNOWN),
    "track_counts": _harm_if_in("off", HarmText.ROWS_UNCOUNTED),
    "idle_in_transaction_session_timeout": _harm_if_in("0", HarmText.MESSAGES_KEPT),
    "persistence": _harm_if_in("unlogged", HarmText.TABLE_EMPTIED),
}
_HARM: Final = {"sqlserver": _SQLSERVER, "postgres": _POSTGRES}


@dataclass(frozen=True, slots=True)
class Setting:
    """One line of the database card.

    Attributes:
        object: the tables that have the setting; empty for the server or the database.
        value: ``None`` if unknown.
        harm: why the setting harms a queue; empty if the setting is harmless or the value is unknown.
    """

    name: str
    object: str
    value: str | None
    harm: str

    @property
    def display_name(self) -> str:
        """The setting's name, followed by the tables that have the setting."""
        return HarmText.OF_TABLES.render(setting=self.name, tables=self.object) if self.object else self.name


def database_card(engine: str, samples: Iterable[SettingSample]) -> tuple[Setting, ...]:
    """Return the database card: each setting with its value and its harm to a queue."""
    return tuple(_with_harm(_HARM.get(engine, {}), each) for each in samples)


def _with_harm(harm: dict[str, Callable[[str], str]], sample: SettingSample) -> Setting:
    if sample.value is None:
        return Setting(sample.name, sample.object, None, "")
    judge = harm.get(sample.name)
    shown = sample.value
    if judge is _options_harm:
        shown = ", ".join(_user_options(sample.value)) or HarmText.NO_OPTIONS
    return Setting(sample.name, sample.object, shown, judge(sample.value) if judge is not None else "")
