"""The rows of the blocking screen: a tree, head blockers on top; what is said of the session under the cursor."""

from __future__ import annotations

from typing import Final

from qmon.model.samples.polled import BlockingSample
from qmon.model.view import View
from qmon.model.waits.blocking import Forest, Key, Place, Role
from qmon.tui import text
from qmon.tui.actions.plan import entry, moment
from qmon.tui.shared.sanitize import clean, shorten
from qmon.tui.spans import Line
from qmon.tui.widgets.columns import GridColumn, GridRow

DEEPEST: Final = 6
"""So many levels are drawn; below that the level is written as a number."""

COLUMNS: Final = (
    GridColumn("session", "SESSION", least=12, most=30, sortable=False,
           about="■ a head blocker: it waits for nobody; below it who waits for it; ↻ stands in full elsewhere"),
    GridColumn("state", "STATE", least=10, most=20, shrinks_to=10, sortable=False, about="what it does now"),
    GridColumn("holds_up", "HOLDS UP", True, 1, least=8, most=8, sortable=False,
           about="sessions that wait for it, directly or behind others"),
    GridColumn("waited", "WAITED", True, 0, least=8, most=8, sortable=False,
    about="how long it has waited for the lock"),
    GridColumn("open", "TRANS.", True, 2, least=7, most=8, sortable=False, about="how long its transaction is open"),
    GridColumn("wants", "WAITS FOR", rank=4, least=12, most=48, shrinks_to=14, sortable=False,
           about="what it wants to lock, and how; of a head blocker the rows of queues it holds"),
    GridColumn("client", "CLIENT", rank=3, least=8, most=36, shrinks_to=12, sortable=False,
           about="application, login and host"),
    GridColumn("statement", "STATEMENT", rank=5, least=16, grows=True, sortable=False, about="its last statement"),
)  # fmt: skip

STATES: Final = {
    Role.SLEEPING: ("sleeps", "alarm"),
    Role.PREPARED: ("prepared", "alarm"),
    Role.RUNNING: ("runs", "accent"),
    Role.CYCLE: ("in a cycle", "alarm"),
    Role.WAITING: ("waits", "text"),
}


def rows(places: list[Place]) -> tuple[GridRow, ...]:
    """One row a line of the tree. The key of a repetition is its own."""
    return tuple(_row(place, key) for place, key in zip(places, keys(places), strict=True))


def keys(places: list[Place]) -> list[str]:
    """What the rows are called: a session where it stands in full by its name, a repetition by its blocker's too."""
    path: list[Key] = []
    found = []
    for place in places:
        del path[len(place.rails) :]
        path.append(place.key)
        found.append("@".join(name(key) for key in (path[-1:] + path[-2:-1] if place.again else path[-1:])))
    return found


def name(key: Key) -> str:
    """A session's number, or the name of a prepared transaction."""
    return str(key[0]) if not key[1] else clean(key[1])


def kept(found: Forest, wanted: str) -> list[Place]:
    """The places whose words hold ``wanted`` (``!wanted``: do not), with all that stand above them."""
    inverse = wanted.startswith("!")
    needle = wanted.removeprefix("!").strip().casefold()
    if not needle:
        return list(found.places)
    path: list[int] = []
    keep: set[int] = set()
    for index, place in enumerate(found.places):
        del path[len(place.rails) :]
        path.append(index)
        if (needle in words(place).casefold()) is not inverse:
            keep.update(path)
    return [place for index, place in enumerate(found.places) if index in keep]


def words(place: Place) -> str:
    """What the filter looks at."""
    s = place.session
    held = " ".join(each.queue for each in place.held)
    return (
        f"{name(place.key)} {STATES[place.role][0]} {s.state} {s.login} {s.application} {s.host} {s.object} {held}"
        f" {s.statement}"
    )


def _row(place: Place, key: str) -> GridRow:
    s = place.session
    state, tone = STATES[place.role]
    if place.again:
        cells = [(_tree(place), "muted"), ("see above", "muted"), *[("", "muted")] * (len(COLUMNS) - 2)]
        return GridRow(key, tuple(cells))
    waits = bool(place.blockers)
    return GridRow(
        key,
        (
            (_tree(place), "strong" if place.is_head else "text"),
            (_state(s) if place.role is Role.RUNNING else state, tone),
            (text.count(place.holds_up) if place.holds_up else "", "alarm" if place.is_head else "text"),
            (text.age(s.waiting_s) if waits and s.waiting_s is not None else text.UNKNOWN if waits else "", "text"),
            (text.age(s.transaction_s), "text") if s.transaction_s is not None else (text.UNKNOWN, "faint"),
            (clean(_wants(place)), "text"),
            (client(s), "text"),
            (clean(s.statement), "muted"),
        ),
    )


def _tree(place: Place) -> str:
    """The lines that lead to a session, its sign and its number."""
    end = f"{name(place.key)}{' ↻' if place.again else ''}"
    if place.is_head:
        return f"■ {end}"
    turn = "├─ " if place.rails[-1] else "└─ "
    if len(place.rails) > DEEPEST:
        return f"  {len(place.rails):>3} deep {turn}{end}"
    return "  " + "".join("│  " if more else "   " for more in place.rails[:-1]) + turn + end


def _state(s: BlockingSample) -> str:
    if s.state == "active":
        return "runs" if s.kind in ("client backend", "") else clean(s.kind)
    return clean(s.state) or "not seen"


def client(s: BlockingSample) -> str:
    """``mailer · shop@10.0.0.7``."""
    if s.session == 0:
        return f"two-phase commit · {clean(s.login)}" if s.login else "two-phase commit"
    who = f"{clean(s.login)}@{clean(s.host)}" if s.login and s.host else clean(s.login or s.host)
    return " · ".join(part for part in (clean(s.application), who) if part) or text.UNKNOWN


def _wants(place: Place) -> str:
    s = place.session
    if not place.blockers:
        return f"holds {held_words(place)}" if place.held else ""
    told = f"{s.object} ({mode(s)})" if s.mode else s.object
    return f"{told}, {len(place.blockers)} blockers" if len(place.blockers) > 1 else told


def mode(s: BlockingSample) -> str:
    """``AccessExclusive``, ``X``."""
    return s.mode.removesuffix("Lock")


def held_words(place: Place) -> str:
    """``≥200 rows of mails, 3 rows of orders``."""
    said = (f"{'≥' if h.at_least else ''}{h.rows:,} row{'' if h.rows == 1 else 's'} of {h.queue}" for h in place.held)
    return ", ".join(said)


def blockers_words(place: Place) -> str:
    """For whom it waits: those with a line, how many more there are, and how many stand before it in the line."""
    s = place.session
    listed = ", ".join(name(key) for key in place.blockers)
    more = max(0, s.holders - len(place.blockers)) if s.holders else 0
    said = f"waits for {listed}" + (f" and {more} more" if more else "")
    if s.holders:
        return f"{said}, behind {s.line} more in the line" if s.line else said
    return f"waits in the line behind {listed}" + (f" ({s.line} in all)" if s.line > len(place.blockers) else "")


def lines(place: Place | None, cells: int, rows: int) -> list[Line]:
    """What there is to say about one session, at most ``rows`` lines."""
    if place is None:
        return []
    s = place.session
    said: list[Line] = entry(_label(place), _told(place), cells, most=max(1, rows - 2))
    said += entry("client", f"{client(s)} · database {clean(s.database)}" if s.database else client(s), cells, most=1)
    said += entry("statement", s.statement, cells, "muted", most=max(1, rows - len(said)))
    return said[:rows]


def _label(place: Place) -> str:
    return shorten(name(place.key), 9)


def _told(place: Place) -> str:
    s = place.session
    parts = []
    if place.role is Role.SLEEPING:
        parts.append(f"{s.state}{_for(s.state_s)}: it does nothing, and keeps its locks")
    elif place.role is Role.PREPARED:
        parts.append("prepared for a two-phase commit: no session, but locks, until somebody commits or rolls it back")
    elif place.role is Role.CYCLE:
        parts.append("waits for itself in a circle: a deadlock, which the server ends by cancelling one of them")
    elif place.role is Role.RUNNING:
        parts.append(f"{_state(s)}{_for(s.state_s)}")
    if place.blockers:
        waited = f" for {text.long_age(s.waiting_s)}" if s.waiting_s is not None else ""
        parts.append(f"{blockers_words(place)}{waited}, to lock {s.object} as {mode(s)}")
    if s.transaction_s is not None:
        parts.append(f"transaction open {text.long_age(s.transaction_s)}")
    if place.holds_up:
        longest = f", the longest for {text.long_age(place.longest_s)}" if place.longest_s is not None else ""
        parts.append(f"holds up {_sessions(place.holds_up)}, {place.directly} directly{longest}")
    if place.held:
        parts.append(f"holds {held_words(place)}")
    return "; ".join(parts)


def _for(seconds: float | None) -> str:
    return f" for {text.long_age(seconds)}" if seconds is not None else ""


def _sessions(count: int) -> str:
    return f"{count} session{'' if count == 1 else 's'}"


def details(place: Place, cells: int) -> list[Line]:
    """Everything that is known of one session."""
    s = place.session
    what = f"session {name(place.key)}" if s.session else f"prepared transaction {name(place.key)}"
    began = moment(s.started_at, seconds=True) if s.started_at is not None else ""
    opened = f"open for {text.long_age(s.transaction_s)}" if s.transaction_s is not None else ""
    waited = f" for {text.long_age(s.waiting_s)}" if s.waiting_s is not None else ""
    longest = f", the longest for {text.long_age(place.longest_s)}" if place.longest_s is not None else ""
    holds_up = f"{_sessions(place.holds_up)}, {place.directly} directly{longest}" if place.holds_up else "nobody"
    return [
        (),
        *entry("what", f"{what}, {STATES[place.role][0]}", cells, "strong"),
        *entry("state", f"{s.state or 'not seen'}{_for(s.state_s)}", cells),
        *entry("trans.", opened, cells),
        *entry("waits", f"{blockers_words(place)}{waited}" if place.blockers else "for nobody", cells, most=8),
        *entry("lock", f"{mode(s)} on {s.object}" if place.blockers else "", cells),
        *entry("holds up", holds_up, cells),
        *entry("holds", held_words(place), cells),
        *entry("client", client(s), cells),
        *entry("database", s.database, cells),
        *entry("process", f"{s.kind}, began {began}" if began else s.kind, cells),
        *entry("statement", s.statement, cells, most=20),
        (),
    ]


def summary(found: Forest) -> str:
    """``14 wait · 2 head blockers``."""
    heads = len(found.heads)
    return f"{found.waiters} wait · {heads} head blocker{'' if heads == 1 else 's'}" if found.places else ""


def nothing(view: View | None, wanted: str) -> str:
    """What is said where there are no rows."""
    if view is None:
        return "waiting for the first figures"
    found = view.server.blocking
    if found is not None and found.places:
        return f"no session matches {clean(wanted)}"
    for failure in view.failures:
        if failure.probe in ("blocking", "waits"):
            return clean(failure.words)
    return "nobody waits for a lock" if found is not None else "who waits for whom is not read on this server"
