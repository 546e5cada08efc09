"""The rows of the blocking screen: a tree with head blockers on top, and the details of a session."""

from __future__ import annotations

from typing import Final

from qmon.model import formatting
from qmon.model.samples.polled_samples import BlockingSample
from qmon.model.snapshot import SESSIONS_PROBE
from qmon.model.view import View
from qmon.model.waits.lock_chains import LockChainLine, LockChains, LockRole, SessionKey
from qmon.texts import Text
from qmon.tui import figures
from qmon.tui.sanitize import clean, shorten
from qmon.tui.screen_texts import ScreenText
from qmon.tui.spans import Line, entry_lines
from qmon.tui.widgets.filter_bar import matches_filter
from qmon.tui.widgets.grid_table import GridColumn, GridRow


class BlockingText(Text):
    """The parts of the texts about sessions that wait or block."""

    SEE_ABOVE = "see above"
    DEPTH = "{levels:>3} deep"
    NOT_VISIBLE = "not visible"
    TWO_PHASE_COMMIT = "two-phase commit"
    TWO_PHASE_COMMIT_BY = "two-phase commit · {login}"
    HOLDS = "holds {rows}"
    LOCK = "{object} ({mode})"
    LOCK_AND_BLOCKERS = "{lock}, {count} blockers"
    HELD_ROWS = "{rows} of {queue}"
    WAITS_FOR = "waits for {sessions}"
    WAITS_FOR_MORE = "waits for {sessions} and {count} more"
    BEHIND_MORE = "{waits}, behind {count} more in the lock queue"
    IN_LOCK_QUEUE = "waits in the lock queue behind {sessions}"
    IN_LOCK_QUEUE_OF = "waits in the lock queue behind {sessions} ({count} in all)"
    CLIENT = "{client} · database {database}"
    IDLE = "{state}{time}: the session runs no statement and keeps its locks"
    PREPARED = (
        "a transaction without a session, prepared for a two-phase commit: holds its locks until commit or rollback"
    )
    CYCLE = "part of a cycle (deadlock): the server will cancel one of the sessions to end the deadlock"
    RUNNING = "{state}{time}{rollback}"
    FOR_TIME = " for {duration}"
    ROLLED_BACK = "{share} of its rollback is done"
    AND_ROLLED_BACK = ", {share} of its rollback is done"
    TO_LOCK = "{waits}{time}, to lock {object} as {mode}"
    TRANSACTION_OPEN = "transaction open {duration}"
    BLOCKS = "blocks {sessions}, {directly} directly{longest}"
    BLOCKED_SESSIONS = "{sessions}, {directly} directly{longest}"
    LONGEST = ", the longest for {duration}"
    SESSION = "session {session}, {state}"
    PREPARED_TRANSACTION = "prepared transaction {session}, {state}"
    OPEN_FOR = "open for {duration}"
    TRANSACTIONS = "{transactions} open"
    LAST_BATCH = "last batch began {duration} ago"
    WAITS = "{waits}{time}{threads}"
    THREADS = " ({count} of its threads)"
    NO_WAIT = "for no session"
    LOCKS = "{mode} on {object}"
    BLOCKS_NONE = "none"
    BEGAN = "{process}, began {time}"
    READ = "{pages} read"
    WRITTEN = "{pages} written"
    MEMORY = "{size} granted for sorts and hashes"
    SUMMARY = "{count} waiting · {heads}"
    NONE_WAITS = "no session waits for a lock"


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
        cells = [(_tree_text(place), "muted"), (BlockingText.SEE_ABOVE, "muted"), *[("", "muted")] * (len(COLUMNS) - 2)]
        return GridRow(key, tuple(cells), id=session_name(place.key))
    waits = bool(place.blockers)
    return GridRow(
        key,
        (
            (_tree_text(place), "strong" if place.is_head else "text"),
            (_state_text(s) if place.role is LockRole.RUNNING else state, tone),
            (formatting.count(place.blocks) if place.blocks else "", "alarm" if place.is_head else "text"),
            (
                formatting.compact_duration(s.waiting_s)
                if waits and s.waiting_s is not None
                else formatting.UNKNOWN
                if waits
                else "",
                "text",
            ),
            (formatting.compact_duration(s.transaction_s), "text")
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
        return f"  {BlockingText.DEPTH.render(levels=len(place.rails))} {branch}{end}"
    return "  " + "".join("│  " if more else "   " for more in place.rails[:-1]) + branch + end


def _state_text(session: BlockingSample) -> str:
    if session.state == "active":
        return "running" if session.kind in ("client backend", "") else clean(session.kind)
    return clean(session.state) or BlockingText.NOT_VISIBLE


def client_text(session: BlockingSample) -> str:
    """Return ``mailer · shop@10.0.0.7``."""
    if session.session == 0:
        if not session.login:
            return BlockingText.TWO_PHASE_COMMIT
        return BlockingText.TWO_PHASE_COMMIT_BY.render(login=clean(session.login))
    who = (
        f"{clean(session.login)}@{clean(session.host)}"
        if session.login and session.host
        else clean(session.login or session.host)
    )
    return " · ".join(part for part in (clean(session.application), who) if part) or formatting.UNKNOWN


def _lock_text(place: LockChainLine) -> str:
    s = place.session
    if not place.blockers:
        return BlockingText.HOLDS.render(rows=held_rows_text(place)) if place.held else ""
    lock = BlockingText.LOCK.render(object=s.object, mode=mode_text(s)) if s.mode else s.object
    blockers = len(place.blockers)
    return BlockingText.LOCK_AND_BLOCKERS.render(lock=lock, count=blockers) if blockers > 1 else lock


def mode_text(session: BlockingSample) -> str:
    """Return the lock mode: ``AccessExclusive``, ``X``."""
    return session.mode.removesuffix("Lock")


def held_rows_text(place: LockChainLine) -> str:
    """Return ``≥200 rows of mails, 3 rows of orders``."""
    return ", ".join(
        BlockingText.HELD_ROWS.render(
            rows=f"{'≥' if held.at_least else ''}{formatting.count_text(held.rows, 'row')}", queue=held.queue
        )
        for held in place.held
    )


def blockers_text(place: LockChainLine) -> str:
    """Return the first blockers of the session, the number of further blockers, and its place in the lock queue."""
    s = place.session
    listed = ", ".join(session_name(key) for key in place.blockers)
    more = max(0, s.holders - len(place.blockers)) if s.holders else 0
    if s.holders:
        out = (
            BlockingText.WAITS_FOR_MORE.render(sessions=listed, count=more)
            if more
            else BlockingText.WAITS_FOR.render(sessions=listed)
        )
        return BlockingText.BEHIND_MORE.render(waits=out, count=s.line) if s.line else out
    if s.line > len(place.blockers):
        return BlockingText.IN_LOCK_QUEUE_OF.render(sessions=listed, count=s.line)
    return BlockingText.IN_LOCK_QUEUE.render(sessions=listed)


def panel_lines(place: LockChainLine | None, cells: int, rows: int) -> list[Line]:
    """Return the panel about one session in at most ``rows`` lines."""
    if place is None:
        return []
    s = place.session
    out: list[Line] = entry_lines(
        shorten(session_name(place.key), 9), _situation_text(place), cells, most=max(1, rows - 2)
    )
    client = client_text(s)
    if s.database:
        client = BlockingText.CLIENT.render(client=client, database=clean(s.database))
    out += entry_lines("client", client, cells, most=1)
    out += entry_lines("statement", s.statement, cells, "muted", most=max(1, rows - len(out)))
    return out[:rows]


def _situation_text(place: LockChainLine) -> str:
    s = place.session
    parts = []
    if place.role is LockRole.IDLE:
        parts.append(BlockingText.IDLE.render(state=s.state, time=_duration_suffix(s.state_s)))
    elif place.role is LockRole.PREPARED:
        parts.append(BlockingText.PREPARED)
    elif place.role is LockRole.CYCLE:
        parts.append(BlockingText.CYCLE)
    elif place.role is LockRole.RUNNING:
        undone = "" if s.undone is None else BlockingText.AND_ROLLED_BACK.render(share=formatting.percent(s.undone))
        parts.append(
            BlockingText.RUNNING.render(state=_state_text(s), time=_duration_suffix(s.state_s), rollback=undone)
        )
    if place.blockers:
        waits, waited = blockers_text(place), _duration_suffix(s.waiting_s)
        parts.append(BlockingText.TO_LOCK.render(waits=waits, time=waited, object=s.object, mode=mode_text(s)))
    if s.transaction_s is not None:
        parts.append(BlockingText.TRANSACTION_OPEN.render(duration=formatting.duration(s.transaction_s)))
    if place.blocks:
        parts.append(_blocked_text(place, BlockingText.BLOCKS))
    if place.held:
        parts.append(BlockingText.HOLDS.render(rows=held_rows_text(place)))
    return "; ".join(parts)


def _duration_suffix(seconds: float | None) -> str:
    return BlockingText.FOR_TIME.render(duration=formatting.duration(seconds)) if seconds is not None else ""


def _blocked_text(place: LockChainLine, text: BlockingText) -> str:
    """Return the number of sessions that this one blocks, and the longest wait among them."""
    longest_s = place.longest_s
    longest = "" if longest_s is None else BlockingText.LONGEST.render(duration=formatting.duration(longest_s))
    sessions = formatting.count_text(place.blocks, "session")
    return text.render(sessions=sessions, directly=place.directly, longest=longest)


def detail_lines(place: LockChainLine, cells: int) -> list[Line]:
    """Return all known facts about one session."""
    s = place.session
    what = (BlockingText.SESSION if s.session else BlockingText.PREPARED_TRANSACTION).render(
        session=session_name(place.key), state=STATES[place.role][0]
    )
    began = figures.moment_text(s.started_at, seconds=True) if s.started_at is not None else ""
    opened_s = s.transaction_s
    opened = "" if opened_s is None else BlockingText.OPEN_FOR.render(duration=formatting.duration(opened_s))
    waits: str = BlockingText.NO_WAIT
    if place.blockers:
        waits = BlockingText.WAITS.render(
            waits=blockers_text(place), time=_duration_suffix(s.waiting_s), threads=_threads_suffix(s)
        )
    blocks = _blocked_text(place, BlockingText.BLOCKED_SESSIONS) if place.blocks else BlockingText.BLOCKS_NONE
    lock = BlockingText.LOCKS.render(mode=mode_text(s), object=s.object) if place.blockers else ""
    return [
        (),
        *entry_lines("what", what, cells, "strong"),
        *entry_lines("state", f"{s.state or BlockingText.NOT_VISIBLE}{_duration_suffix(s.state_s)}", cells),
        *entry_lines("trans.", " · ".join(part for part in (opened, *_transaction_parts(s)) if part), cells),
        *entry_lines("waits", waits, cells, most=8),
        *entry_lines("lock", lock, cells),
        *entry_lines("blocks", blocks, cells),
        *entry_lines("holds", held_rows_text(place), cells),
        *entry_lines("client", client_text(s), cells),
        *entry_lines("database", s.database, cells),
        *entry_lines("process", BlockingText.BEGAN.render(process=s.kind, time=began) if began else s.kind, cells),
        *entry_lines("work", _resources_text(s), cells),
        *entry_lines("statement", s.statement, cells, most=20),
        (),
    ]


def _transaction_parts(session: BlockingSample) -> tuple[str, ...]:
    """Return the open transactions, isolation level and last batch, if known."""
    many = formatting.count_text(session.transactions, "transaction") if session.transactions is not None else ""
    batch_s = session.batch_s
    return (
        BlockingText.TRANSACTIONS.render(transactions=many) if many else "",
        session.isolation,
        "" if batch_s is None else BlockingText.LAST_BATCH.render(duration=formatting.duration(batch_s)),
    )


def _resources_text(session: BlockingSample) -> str:
    """Return ``1,204 pages read · 12 pages written · 4.0 MB granted for sorts and hashes``."""
    parts = []
    if session.reads is not None:
        parts.append(BlockingText.READ.render(pages=formatting.count_text(session.reads, "page")))
    if session.writes is not None:
        parts.append(BlockingText.WRITTEN.render(pages=formatting.count_text(session.writes, "page")))
    if session.memory:
        parts.append(BlockingText.MEMORY.render(size=formatting.size(session.memory)))
    if session.undone is not None:
        parts.append(BlockingText.ROLLED_BACK.render(share=formatting.percent(session.undone)))
    return " · ".join(parts)


def _threads_suffix(session: BlockingSample) -> str:
    threads = session.threads
    return BlockingText.THREADS.render(count=threads) if threads is not None and threads > 1 else ""


def blocking_summary(chains: LockChains) -> str:
    """Return ``14 waiting · 2 head blockers``."""
    if not chains.places:
        return ""
    return BlockingText.SUMMARY.render(
        count=chains.waiters, heads=formatting.count_text(len(chains.heads), "head blocker")
    )


def empty_text(view: View | None, filter_text: str) -> str:
    """Return the text to show if there are no rows."""
    if view is None:
        return ScreenText.NO_FIGURES_YET
    found = view.server.blocking
    if found is not None and found.places:
        return ScreenText.NO_MATCH.render(what="session", filter=clean(filter_text))
    if found is not None:
        return BlockingText.NONE_WAITS
    return figures.unread_reason(view, "blocking", "blocking", "waits", SESSIONS_PROBE)
