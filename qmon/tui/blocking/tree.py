"""The rows of the blocking screen: a tree with head blockers on top, and the details of a session."""

from __future__ import annotations

from typing import Final

from qmon.model import formatting
from qmon.model.samples.polled_samples import BlockingSample
from qmon.model.snapshot import SESSIONS_PROBE
from qmon.model.view import View
from qmon.model.waits.lock_chains import LockChainLine, LockChains, LockRole, SessionKey
from qmon.tui import figures
from qmon.tui.sanitize import clean, shorten
from qmon.tui.spans import Line, entry_lines
from qmon.tui.widgets.filter_bar import matches_filter
from qmon.tui.widgets.grid_table import GridColumn, GridRow

# The number of tree levels that are drawn. For a deeper level, only its number is shown.
MAX_LEVELS: Final = 6

COLUMNS: Final = (
    GridColumn(
        "session",
        "SESSION",
        least=12,
        most=30,
        sortable=False,
        about="■ head blocker: waits for no session, and has its waiters below; ↻ listed in full elsewhere",
    ),
    GridColumn(
        "state", "STATE", least=10, most=20, shrinks_to=10, sortable=False, about="current state of the session"
    ),
    GridColumn(
        "blocks",
        "BLOCKS",
        True,
        1,
        least=7,
        most=7,
        sortable=False,
        about="sessions that wait for this one, directly or indirectly",
    ),
    GridColumn(
        "waited",
        "WAITED",
        True,
        0,
        least=8,
        most=10,
        sortable=False,
        about="how long the session has waited for a lock",
    ),
    GridColumn(
        "open",
        "TRANS.",
        True,
        2,
        least=8,
        most=10,
        sortable=False,
        about="how long the session's transaction has been open",
    ),
    GridColumn(
        "wants",
        "WAITS FOR",
        rank=4,
        least=12,
        most=48,
        shrinks_to=14,
        sortable=False,
        about="the lock that the session waits for; for a head blocker, the queue rows that it has locked",
    ),
    GridColumn(
        "client", "CLIENT", rank=3, least=8, most=36, shrinks_to=12, sortable=False, about="application, login and host"
    ),
    GridColumn(
        "statement",
        "STATEMENT",
        rank=5,
        least=16,
        grows=True,
        sortable=False,
        from_width=132,
        about="last statement of the session",
    ),
)

STATES: Final = {
    LockRole.IDLE: ("idle in transaction", "alarm"),
    LockRole.PREPARED: ("prepared", "alarm"),
    LockRole.RUNNING: ("running", "accent"),
    LockRole.CYCLE: ("in a cycle", "alarm"),
    LockRole.WAITING: ("waiting", "text"),
}


def rows_for(places: list[LockChainLine]) -> tuple[GridRow, ...]:
    """Return one row per line of the tree. Each repetition of a session has its own row key."""
    return tuple(_row(place, key) for place, key in zip(places, row_keys(places), strict=True))


def row_keys(places: list[LockChainLine]) -> list[str]:
    """Return the row keys. A key is the session's name; for a repetition, the name of its blocker follows."""
    path: list[SessionKey] = []
    found = []
    for place in places:
        del path[len(place.rails) :]
        path.append(place.key)
        found.append(
            "@".join(session_name(key) for key in (path[-1:] + path[-2:-1] if place.is_repeated else path[-1:]))
        )
    return found


def session_name(key: SessionKey) -> str:
    """Return a session's number, or the name of a prepared transaction."""
    return str(key[0]) if not key[1] else clean(key[1])


def filter_sessions(chains: LockChains, filter_text: str) -> list[LockChainLine]:
    """Return the lines that match the filter, and all their ancestors in the tree."""
    path: list[int] = []
    keep: set[int] = set()
    for index, place in enumerate(chains.places):
        del path[len(place.rails) :]
        path.append(index)
        if matches_filter(filter_text, searchable_text(place)):
            keep.update(path)
    return [place for index, place in enumerate(chains.places) if index in keep]


def searchable_text(place: LockChainLine) -> str:
    """Return the text that the filter searches."""
    s = place.session
    held = " ".join(each.queue for each in place.held)
    return (
        f"{session_name(place.key)} {STATES[place.role][0]} {s.state} {s.login} {s.application} {s.host} "
        f"{s.object} {held} {s.statement}"
    )


def _row(place: LockChainLine, key: str) -> GridRow:
    s = place.session
    state, tone = STATES[place.role]
    if place.is_repeated:
        cells = [(_tree_text(place), "muted"), ("see above", "muted"), *[("", "muted")] * (len(COLUMNS) - 2)]
        return GridRow(key, tuple(cells), id=session_name(place.key))
    waits = bool(place.blockers)
    return GridRow(
        key,
        (
            (_tree_text(place), "strong" if place.is_head else "text"),
            (_state_text(s) if place.role is LockRole.RUNNING else state, tone),
            (formatting.count(place.blocks) if place.blocks else "", "alarm" if place.is_head else "text"),
            (
                formatting.duration(s.waiting_s)
                if waits and s.waiting_s is not None
                else formatting.UNKNOWN
                if waits
                else "",
                "text",
            ),
            (formatting.duration(s.transaction_s), "text")
            if s.transaction_s is not None
            else (formatting.UNKNOWN, "faint"),
            (clean(_lock_text(place)), "text"),
            (client_text(s), "text"),
            (clean(s.statement), "muted"),
        ),
        id=session_name(place.key),
    )


def _tree_text(place: LockChainLine) -> str:
    """Return the branches that lead to a session, its symbol and its number."""
    end = f"{session_name(place.key)}{' ↻' if place.is_repeated else ''}"
    if place.is_head:
        return f"■ {end}"
    branch = "├─ " if place.rails[-1] else "└─ "
    if len(place.rails) > MAX_LEVELS:
        return f"  {len(place.rails):>3} deep {branch}{end}"
    return "  " + "".join("│  " if more else "   " for more in place.rails[:-1]) + branch + end


def _state_text(session: BlockingSample) -> str:
    if session.state == "active":
        return "running" if session.kind in ("client backend", "") else clean(session.kind)
    return clean(session.state) or "not visible"


def client_text(session: BlockingSample) -> str:
    """Return ``mailer · shop@10.0.0.7``."""
    if session.session == 0:
        return f"two-phase commit · {clean(session.login)}" if session.login else "two-phase commit"
    who = (
        f"{clean(session.login)}@{clean(session.host)}"
        if session.login and session.host
        else clean(session.login or session.host)
    )
    return " · ".join(part for part in (clean(session.application), who) if part) or formatting.UNKNOWN


def _lock_text(place: LockChainLine) -> str:
    s = place.session
    if not place.blockers:
        return f"holds {held_rows_text(place)}" if place.held else ""
    lock = f"{s.object} ({mode_text(s)})" if s.mode else s.object
    return f"{lock}, {len(place.blockers)} blockers" if len(place.blockers) > 1 else lock


def mode_text(session: BlockingSample) -> str:
    """Return the lock mode: ``AccessExclusive``, ``X``."""
    return session.mode.removesuffix("Lock")


def held_rows_text(place: LockChainLine) -> str:
    """Return ``≥200 rows of mails, 3 rows of orders``."""
    return ", ".join(
        f"{'≥' if h.at_least else ''}{formatting.count_text(h.rows, 'row')} of {h.queue}" for h in place.held
    )


def blockers_text(place: LockChainLine) -> str:
    """Return the first blockers of the session, the number of further blockers, and its place in the lock queue."""
    s = place.session
    listed = ", ".join(session_name(key) for key in place.blockers)
    more = max(0, s.holders - len(place.blockers)) if s.holders else 0
    out = f"waits for {listed}" + (f" and {more} more" if more else "")
    if s.holders:
        return f"{out}, behind {s.line} more in the lock queue" if s.line else out
    return f"waits in the lock queue behind {listed}" + (f" ({s.line} in all)" if s.line > len(place.blockers) else "")


def panel_lines(place: LockChainLine | None, cells: int, rows: int) -> list[Line]:
    """Return the panel about one session in at most ``rows`` lines."""
    if place is None:
        return []
    s = place.session
    out: list[Line] = entry_lines(
        shorten(session_name(place.key), 9), _situation_text(place), cells, most=max(1, rows - 2)
    )
    out += entry_lines(
        "client", f"{client_text(s)} · database {clean(s.database)}" if s.database else client_text(s), cells, most=1
    )
    out += entry_lines("statement", s.statement, cells, "muted", most=max(1, rows - len(out)))
    return out[:rows]


def _situation_text(place: LockChainLine) -> str:
    s = place.session
    parts = []
    if place.role is LockRole.IDLE:
        parts.append(f"{s.state}{_duration_suffix(s.state_s)}: the session runs no statement and keeps its locks")
    elif place.role is LockRole.PREPARED:
        parts.append(
            "a transaction without a session, prepared for a two-phase commit: holds its locks until commit or rollback"
        )
    elif place.role is LockRole.CYCLE:
        parts.append("part of a cycle (deadlock): the server will cancel one of the sessions to end the deadlock")
    elif place.role is LockRole.RUNNING:
        undone = f", {formatting.percent(s.undone)} of its rollback is done" if s.undone is not None else ""
        parts.append(f"{_state_text(s)}{_duration_suffix(s.state_s)}{undone}")
    if place.blockers:
        waited = f" for {formatting.duration(s.waiting_s)}" if s.waiting_s is not None else ""
        parts.append(f"{blockers_text(place)}{waited}, to lock {s.object} as {mode_text(s)}")
    if s.transaction_s is not None:
        parts.append(f"transaction open {formatting.duration(s.transaction_s)}")
    if place.blocks:
        longest = f", the longest for {formatting.duration(place.longest_s)}" if place.longest_s is not None else ""
        parts.append(f"blocks {formatting.count_text(place.blocks, 'session')}, {place.directly} directly{longest}")
    if place.held:
        parts.append(f"holds {held_rows_text(place)}")
    return "; ".join(parts)


def _duration_suffix(seconds: float | None) -> str:
    return f" for {formatting.duration(seconds)}" if seconds is not None else ""


def detail_lines(place: LockChainLine, cells: int) -> list[Line]:
    """Return all known facts about one session."""
    s = place.session
    what = f"session {session_name(place.key)}" if s.session else f"prepared transaction {session_name(place.key)}"
    began = figures.moment_text(s.started_at, seconds=True) if s.started_at is not None else ""
    opened = f"open for {formatting.duration(s.transaction_s)}" if s.transaction_s is not None else ""
    waited = f" for {formatting.duration(s.waiting_s)}" if s.waiting_s is not None else ""
    longest = f", the longest for {formatting.duration(place.longest_s)}" if place.longest_s is not None else ""
    blocks = f"{formatting.count_text(place.blocks, 'session')}, {place.directly} directly{longest}"
    return [
        (),
        *entry_lines("what", f"{what}, {STATES[place.role][0]}", cells, "strong"),
        *entry_lines("state", f"{s.state or 'not visible'}{_duration_suffix(s.state_s)}", cells),
        *entry_lines("trans.", " · ".join(part for part in (opened, *_transaction_parts(s)) if part), cells),
        *entry_lines(
            "waits",
            f"{blockers_text(place)}{waited}{_threads_suffix(s)}" if place.blockers else "for no session",
            cells,
            most=8,
        ),
        *entry_lines("lock", f"{mode_text(s)} on {s.object}" if place.blockers else "", cells),
        *entry_lines("blocks", blocks if place.blocks else "none", cells),
        *entry_lines("holds", held_rows_text(place), cells),
        *entry_lines("client", client_text(s), cells),
        *entry_lines("database", s.database, cells),
        *entry_lines("process", f"{s.kind}, began {began}" if began else s.kind, cells),
        *entry_lines("work", _resources_text(s), cells),
        *entry_lines("statement", s.statement, cells, most=20),
        (),
    ]


def _transaction_parts(session: BlockingSample) -> tuple[str, ...]:
    """Return the open transactions, isolation level and last batch, if known."""
    many = formatting.count_text(session.transactions, "transaction") if session.transactions is not None else ""
    return (
        f"{many} open" if many else "",
        session.isolation,
        f"last batch began {formatting.duration(session.batch_s)} ago" if session.batch_s is not None else "",
    )


def _resources_text(session: BlockingSample) -> str:
    """Return ``1,204 pages read · 12 pages written · 4.0 MB granted for sorts and hashes``."""
    parts = []
    if session.reads is not None:
        parts.append(f"{formatting.count_text(session.reads, 'page')} read")
    if session.writes is not None:
        parts.append(f"{formatting.count_text(session.writes, 'page')} written")
    if session.memory:
        parts.append(f"{formatting.size(session.memory)} granted for sorts and hashes")
    if session.undone is not None:
        parts.append(f"{formatting.percent(session.undone)} of its rollback is done")
    return " · ".join(parts)


def _threads_suffix(session: BlockingSample) -> str:
    return f" ({session.threads} of its threads)" if session.threads is not None and session.threads > 1 else ""


def blocking_summary(chains: LockChains) -> str:
    """Return ``14 waiting · 2 head blockers``."""
    heads = len(chains.heads)
    return f"{chains.waiters} waiting · {formatting.count_text(heads, 'head blocker')}" if chains.places else ""


def empty_text(view: View | None, filter_text: str) -> str:
    """Return the text to show if there are no rows."""
    if view is None:
        return "waiting for the first figures"
    found = view.server.blocking
    if found is not None and found.places:
        return f"no session matches {clean(filter_text)}"
    if found is not None:
        return "no session waits for a lock"
    return figures.unread_reason(view, "blocking", "blocking", "waits", SESSIONS_PROBE)
