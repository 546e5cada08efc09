"""The rows of the blocking screen: a tree with head blockers on top, and the details of a session."""

from __future__ import annotations

from typing import Final

from qmon.model import text
from qmon.model.samples.polled import BlockingSample
from qmon.model.snapshot import SESSIONS_PROBE
from qmon.model.view import View
from qmon.model.waits.blocking import Forest, ForestLine, Key, Role
from qmon.tui import figures
from qmon.tui.sanitize import clean, shorten
from qmon.tui.spans import Line, entry
from qmon.tui.widgets.columns import GridColumn, GridRow
from qmon.tui.widgets.filter_bar import fits

# The number of levels that are drawn. Deeper levels are written as a number.
DEEPEST: Final = 6

COLUMNS: Final = (
    GridColumn(
        "session",
        "SESSION",
        least=12,
        most=30,
        sortable=False,
        about="■ a head blocker, waiting for nobody; below it those that wait for it; ↻ listed in full elsewhere",
    ),
    GridColumn("state", "STATE", least=10, most=20, shrinks_to=10, sortable=False, about="what it does now"),
    GridColumn(
        "blocks",
        "BLOCKS",
        True,
        1,
        least=7,
        most=7,
        sortable=False,
        about="sessions that wait for it, directly or behind others",
    ),
    GridColumn(
        "waited", "WAITED", True, 0, least=8, most=10, sortable=False, about="how long it has waited for the lock"
    ),
    GridColumn("open", "TRANS.", True, 2, least=8, most=10, sortable=False, about="how long its transaction is open"),
    GridColumn(
        "wants",
        "WAITS FOR",
        rank=4,
        least=12,
        most=48,
        shrinks_to=14,
        sortable=False,
        about="the lock that it waits for; for a head blocker, the rows of queues that it has locked",
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
        about="its last statement",
    ),
)

STATES: Final = {
    Role.IDLE: ("idle in transaction", "alarm"),
    Role.PREPARED: ("prepared", "alarm"),
    Role.RUNNING: ("running", "accent"),
    Role.CYCLE: ("in a cycle", "alarm"),
    Role.WAITING: ("waiting", "text"),
}


def rows(places: list[ForestLine]) -> tuple[GridRow, ...]:
    """Return one row per line of the tree. A repeated session has a row key of its own."""
    return tuple(_row(place, key) for place, key in zip(places, keys(places), strict=True))


def keys(places: list[ForestLine]) -> list[str]:
    """Return the row keys: the session's name, followed by its blocker's name if the session is a repetition."""
    path: list[Key] = []
    found = []
    for place in places:
        del path[len(place.rails) :]
        path.append(place.key)
        found.append("@".join(name(key) for key in (path[-1:] + path[-2:-1] if place.again else path[-1:])))
    return found


def name(key: Key) -> str:
    """Return a session's number, or the name of a prepared transaction."""
    return str(key[0]) if not key[1] else clean(key[1])


def kept(found: Forest, wanted: str) -> list[ForestLine]:
    """Return the lines that match the filter, with all lines above them in the tree."""
    path: list[int] = []
    keep: set[int] = set()
    for index, place in enumerate(found.places):
        del path[len(place.rails) :]
        path.append(index)
        if fits(wanted, words(place)):
            keep.update(path)
    return [place for index, place in enumerate(found.places) if index in keep]


def words(place: ForestLine) -> str:
    """Return the text that the filter searches."""
    s = place.session
    held = " ".join(each.queue for each in place.held)
    return (
        f"{name(place.key)} {STATES[place.role][0]} {s.state} {s.login} {s.application} {s.host} {s.object} {held}"
        f" {s.statement}"
    )


def _row(place: ForestLine, key: str) -> GridRow:
    s = place.session
    state, tone = STATES[place.role]
    if place.again:
        cells = [(_tree(place), "muted"), ("see above", "muted"), *[("", "muted")] * (len(COLUMNS) - 2)]
        return GridRow(key, tuple(cells), id=name(place.key))
    waits = bool(place.blockers)
    return GridRow(
        key,
        (
            (_tree(place), "strong" if place.is_head else "text"),
            (_state(s) if place.role is Role.RUNNING else state, tone),
            (text.count(place.blocks) if place.blocks else "", "alarm" if place.is_head else "text"),
            (
                text.duration(s.waiting_s) if waits and s.waiting_s is not None else text.UNKNOWN if waits else "",
                "text",
            ),
            (text.duration(s.transaction_s), "text") if s.transaction_s is not None else (text.UNKNOWN, "faint"),
            (clean(_wants(place)), "text"),
            (client(s), "text"),
            (clean(s.statement), "muted"),
        ),
        id=name(place.key),
    )


def _tree(place: ForestLine) -> str:
    """Return the branches that lead to a session, its symbol and its number."""
    end = f"{name(place.key)}{' ↻' if place.again else ''}"
    if place.is_head:
        return f"■ {end}"
    branch = "├─ " if place.rails[-1] else "└─ "
    if len(place.rails) > DEEPEST:
        return f"  {len(place.rails):>3} deep {branch}{end}"
    return "  " + "".join("│  " if more else "   " for more in place.rails[:-1]) + branch + end


def _state(s: BlockingSample) -> str:
    if s.state == "active":
        return "running" if s.kind in ("client backend", "") else clean(s.kind)
    return clean(s.state) or "not visible"


def client(s: BlockingSample) -> str:
    """Return ``mailer · shop@10.0.0.7``."""
    if s.session == 0:
        return f"two-phase commit · {clean(s.login)}" if s.login else "two-phase commit"
    who = f"{clean(s.login)}@{clean(s.host)}" if s.login and s.host else clean(s.login or s.host)
    return " · ".join(part for part in (clean(s.application), who) if part) or text.UNKNOWN


def _wants(place: ForestLine) -> str:
    s = place.session
    if not place.blockers:
        return f"holds {held_words(place)}" if place.held else ""
    lock = f"{s.object} ({mode(s)})" if s.mode else s.object
    return f"{lock}, {len(place.blockers)} blockers" if len(place.blockers) > 1 else lock


def mode(s: BlockingSample) -> str:
    """Return the lock mode: ``AccessExclusive``, ``X``."""
    return s.mode.removesuffix("Lock")


def held_words(place: ForestLine) -> str:
    """Return ``≥200 rows of mails, 3 rows of orders``."""
    return ", ".join(f"{'≥' if h.at_least else ''}{text.counted(h.rows, 'row')} of {h.queue}" for h in place.held)


def blockers_words(place: ForestLine) -> str:
    """Return whom the session waits for: the blockers in the tree, how many others, and its place in the lock queue."""
    s = place.session
    listed = ", ".join(name(key) for key in place.blockers)
    more = max(0, s.holders - len(place.blockers)) if s.holders else 0
    out = f"waits for {listed}" + (f" and {more} more" if more else "")
    if s.holders:
        return f"{out}, behind {s.line} more in the lock queue" if s.line else out
    return f"waits in the lock queue behind {listed}" + (f" ({s.line} in all)" if s.line > len(place.blockers) else "")


def lines(place: ForestLine | None, cells: int, rows: int) -> list[Line]:
    """Return the panel about one session in at most ``rows`` lines."""
    if place is None:
        return []
    s = place.session
    out: list[Line] = entry(shorten(name(place.key), 9), _summary(place), cells, most=max(1, rows - 2))
    out += entry("client", f"{client(s)} · database {clean(s.database)}" if s.database else client(s), cells, most=1)
    out += entry("statement", s.statement, cells, "muted", most=max(1, rows - len(out)))
    return out[:rows]


def _summary(place: ForestLine) -> str:
    s = place.session
    parts = []
    if place.role is Role.IDLE:
        parts.append(f"{s.state}{_for(s.state_s)}: it runs nothing and keeps its locks")
    elif place.role is Role.PREPARED:
        parts.append(
            "prepared for a two-phase commit: no session; holds its locks until it is committed or rolled back"
        )
    elif place.role is Role.CYCLE:
        parts.append("part of a cycle: a deadlock, which the server ends by cancelling one of its sessions")
    elif place.role is Role.RUNNING:
        undone = f", {text.percent(s.undone)} of its rollback is done" if s.undone is not None else ""
        parts.append(f"{_state(s)}{_for(s.state_s)}{undone}")
    if place.blockers:
        waited = f" for {text.duration(s.waiting_s)}" if s.waiting_s is not None else ""
        parts.append(f"{blockers_words(place)}{waited}, to lock {s.object} as {mode(s)}")
    if s.transaction_s is not None:
        parts.append(f"transaction open {text.duration(s.transaction_s)}")
    if place.blocks:
        longest = f", the longest for {text.duration(place.longest_s)}" if place.longest_s is not None else ""
        parts.append(f"blocks {text.counted(place.blocks, 'session')}, {place.directly} directly{longest}")
    if place.held:
        parts.append(f"holds {held_words(place)}")
    return "; ".join(parts)


def _for(seconds: float | None) -> str:
    return f" for {text.duration(seconds)}" if seconds is not None else ""


def details(place: ForestLine, cells: int) -> list[Line]:
    """Return everything known about one session."""
    s = place.session
    what = f"session {name(place.key)}" if s.session else f"prepared transaction {name(place.key)}"
    began = figures.moment(s.started_at, seconds=True) if s.started_at is not None else ""
    opened = f"open for {text.duration(s.transaction_s)}" if s.transaction_s is not None else ""
    waited = f" for {text.duration(s.waiting_s)}" if s.waiting_s is not None else ""
    longest = f", the longest for {text.duration(place.longest_s)}" if place.longest_s is not None else ""
    blocks = f"{text.counted(place.blocks, 'session')}, {place.directly} directly{longest}"
    return [
        (),
        *entry("what", f"{what}, {STATES[place.role][0]}", cells, "strong"),
        *entry("state", f"{s.state or 'not visible'}{_for(s.state_s)}", cells),
        *entry("trans.", " · ".join(part for part in (opened, *_transaction(s)) if part), cells),
        *entry(
            "waits", f"{blockers_words(place)}{waited}{_threads(s)}" if place.blockers else "for none", cells, most=8
        ),
        *entry("lock", f"{mode(s)} on {s.object}" if place.blockers else "", cells),
        *entry("blocks", blocks if place.blocks else "none", cells),
        *entry("holds", held_words(place), cells),
        *entry("client", client(s), cells),
        *entry("database", s.database, cells),
        *entry("process", f"{s.kind}, began {began}" if began else s.kind, cells),
        *entry("work", _work(s), cells),
        *entry("statement", s.statement, cells, most=20),
        (),
    ]


def _transaction(s: BlockingSample) -> tuple[str, ...]:
    """Return the known ones of: open transactions, isolation level, last batch."""
    many = text.counted(s.transactions, "transaction") if s.transactions is not None else ""
    return (
        f"{many} open" if many else "",
        s.isolation,
        f"last batch began {text.duration(s.batch_s)} ago" if s.batch_s is not None else "",
    )


def _work(s: BlockingSample) -> str:
    """Return ``1,204 pages read · 12 pages written · 4.0 MB granted for sorts and hashes``."""
    parts = []
    if s.reads is not None:
        parts.append(f"{text.counted(s.reads, 'page')} read")
    if s.writes is not None:
        parts.append(f"{text.counted(s.writes, 'page')} written")
    if s.memory:
        parts.append(f"{text.size(s.memory)} granted for sorts and hashes")
    if s.undone is not None:
        parts.append(f"{text.percent(s.undone)} of its rollback is done")
    return " · ".join(parts)


def _threads(s: BlockingSample) -> str:
    return f" ({s.threads} of its threads)" if s.threads is not None and s.threads > 1 else ""


def summary(found: Forest) -> str:
    """Return ``14 waiting · 2 head blockers``."""
    heads = len(found.heads)
    return f"{found.waiters} waiting · {text.counted(heads, 'head blocker')}" if found.places else ""


def nothing(view: View | None, wanted: str) -> str:
    """Return what to show if there are no rows."""
    if view is None:
        return "waiting for the first figures"
    found = view.server.blocking
    if found is not None and found.places:
        return f"no session matches {clean(wanted)}"
    if found is not None:
        return "no session waits for a lock"
    return figures.not_read(view, "blocking", "blocking", "waits", SESSIONS_PROBE)
