"""The horizon panel: the holder of the horizon, its age, its cost, and the gain if the holder ends."""

from __future__ import annotations

from collections.abc import Sequence

from qmon.model import formatting
from qmon.model.rates.queue_use import QueueUse
from qmon.model.samples.horizon_samples import HolderKind, HorizonSample, VersionStoreSample
from qmon.model.snapshot import SESSIONS_PROBE
from qmon.model.view import QueueView, View
from qmon.model.waits.horizon_holders import HolderText, long_holder, next_holder
from qmon.texts import Text
from qmon.tui import figures
from qmon.tui.sanitize import clean, shorten
from qmon.tui.spans import Line, Span, cut_line, entry_lines, fit_parts
from qmon.tui.waits.usage_panel import per_pop_spans, queue_parts, trend_text

_COSTS = 3


class HorizonText(Text):
    """The parts of the texts about the holder of the horizon."""

    SHORT = "{holder} ({duration})"
    FOR_TIME = "{holder} for {duration}"
    TIME = " for {duration}"
    NOT_FOR_LONG = "no session holds the horizon for a long time; the oldest is {holder}"
    NO_HOLDER = "no holder: all dead rows can be removed"
    NO_HOLDER_OF_VERSIONS = "no holder: old row versions can be removed"
    KEEPS_DEAD_ROWS = "keeps {count:,} dead rows here"
    KEEPS_VERSIONS = "keeps row versions"
    TRANSACTION = "xid {xid}, {age:,} transactions ago"
    NO_DEAD_ROWS = "no queue has dead rows yet"
    GAIN = "vacuum can remove up to {count:,} dead rows of the queues; {then}{key}"
    NEXT_HOLDER = "next holder: {holder}"
    NO_NEXT_HOLDER = "no next holder"
    NEXT_HOLDER_UNKNOWN = "your role cannot see the next holder"
    END_KEY = " · [E] ends the holder"


def horizon_lines(view: View | None, cells: int, rows: int) -> list[Line]:
    """Return the panel in at most ``rows`` lines."""
    if view is None:
        return []
    holders = view.server.horizon
    if holders is None:
        return [((f" {figures.unread_reason(view, 'the holder', 'horizon', SESSIONS_PROBE)}", "muted"),)]
    holder = long_holder(holders)
    if holder is None:
        return [_no_holder_line(view, holders, cells)]
    out: list[Line] = [((" held by   ", "muted"), *_holder_line(holder, cells - 11))]
    paid = version_store_cost_lines(view) if has_version_store(view) else dead_row_cost_lines(view)
    for index, line in enumerate(paid[: max(1, rows - 3)]):
        out.append(cut_line(((" costs     " if index == 0 else " " * 11, "muted"), *line), cells))
    out += entry_lines("once gone", gain_text(view, holders), cells, "strong", most=max(1, min(2, rows - len(out))))
    out += entry_lines("statement", holder.statement, cells, "muted", most=2)
    return out[:rows]


def _no_holder_line(view: View, holders: Sequence[HorizonSample], cells: int) -> Line:
    kept = has_version_store(view)
    words: str = HorizonText.NO_HOLDER_OF_VERSIONS if kept else HorizonText.NO_HOLDER
    if holders:
        words = HorizonText.NOT_FOR_LONG.render(holder=clean(short_holder_text(holders[0])))
    line: Line = ((f" {words}", "muted"),)
    return (
        cut_line((*line, (" · ", "faint"), *version_store_size_spans(view.server.version_store)), cells)
        if kept
        else line
    )


def queue_lines(queue: QueueView, view: View, cells: int, rows: int) -> list[Line]:
    """Return the lines for the queue screen: the holder of the queue's dead rows, and the rows that a pop touches."""
    touched = fit_parts(queue_parts(queue, cells), cells - 2)
    return [*_queue_holder_lines(queue, view, cells), ((" ", "text"), *touched)][:rows]


def _queue_holder_lines(queue: QueueView, view: View, cells: int) -> list[Line]:
    holder, use = long_holder(view.server.horizon), queue.use
    store = view.server.version_store
    if holder is None or use is None or not (use.dead or (store is not None and store.total)):
        return []
    held_by = holder_name(holder)
    if holder.held_s is not None:
        held_by = HorizonText.FOR_TIME.render(holder=held_by, duration=formatting.duration(holder.held_s))
    kept = HorizonText.KEEPS_DEAD_ROWS.render(count=use.dead) if use.dead else HorizonText.KEEPS_VERSIONS
    spans: list[Span] = [
        (" horizon ", "muted"),
        (held_by, "strong"),
        (f" {kept}", "text"),
        (" [3]", "muted"),
    ]
    return [cut_line(spans, cells)]


def short_holder_text(holder: HorizonSample) -> str:
    """Return ``session 61 (0.4 s)``."""
    name = holder_name(holder)
    if holder.held_s is None:
        return name
    return HorizonText.SHORT.render(holder=name, duration=formatting.duration(holder.held_s))


def holder_name(holder: HorizonSample) -> str:
    """Return ``session 61``, ``prepared transaction pay-7``, ``replication slot copy`` or ``standby walreceiver``."""
    if holder.kind == HolderKind.SESSION:
        return HolderText.SESSION.render(session=holder.session)
    known = {HolderKind.PREPARED: HolderText.PREPARED, HolderKind.SLOT: HolderText.SLOT}
    return known.get(HolderKind(holder.kind), HolderText.STANDBY).render(name=shorten(clean(holder.name), 30))


def _holder_line(holder: HorizonSample, cells: int) -> Line:
    spans: list[Span] = [(holder_name(holder), "alarm")]
    if holder.held_s is not None:
        spans.append((HorizonText.TIME.render(duration=formatting.duration(holder.held_s)), "strong"))
    ids = HorizonText.TRANSACTION.render(xid=holder.xid, age=holder.age)
    where = f"{holder.login}@{holder.host}" if holder.login and holder.host else holder.login or holder.host
    for part in (holder.state if holder.kind != HolderKind.PREPARED else "", holder.application, where, ids):
        if part:
            spans += [(" · ", "faint"), (clean(part), "text")]
    return cut_line(spans, cells)


def dead_row_cost_lines(view: View) -> list[Line]:
    """Return the queues with the highest cost, each with its dead rows and the rows that a pop touches."""
    paying = [(q, q.use) for q in view.queues if q.use is not None and q.use.dead]
    paying.sort(key=lambda pair: _cost_key(pair[1]), reverse=True)
    found: list[Line] = []
    for queue, use in paying[:_COSTS]:
        dead: Span = (formatting.count_text(use.dead or 0, "dead row"), "text")
        head: list[Span] = [(shorten(clean(queue.name), 20), "strong"), ("  ", "text"), dead]
        touched = per_pop_spans(use)
        if use.rows_per_pop.value is not None:
            head += [(" · ", "faint"), *touched, (f" {trend_text(use, 16)}", "accent")]
        found.append(tuple(head))
    return found or [((HorizonText.NO_DEAD_ROWS, "muted"),)]


def _cost_key(use: QueueUse) -> tuple[float, int]:
    return use.rows_per_pop.value or 0.0, use.dead or 0


def gain_text(view: View, holders: Sequence[HorizonSample]) -> str:
    """Return which rows can be removed after the oldest holder has ended, and which holder is next."""
    after = next_holder(holders)
    partly = any(failure.probe == SESSIONS_PROBE for failure in view.failures)
    then: str = HorizonText.NEXT_HOLDER_UNKNOWN if partly else HorizonText.NO_NEXT_HOLDER
    if after is not None and not partly:
        then = HorizonText.NEXT_HOLDER.render(holder=short_holder_text(after))
    key = HorizonText.END_KEY if holders[0].kind == HolderKind.SESSION else ""
    if has_version_store(view):
        return version_store_gain_text(view.server.version_store, then, key)
    dead = sum(q.use.dead or 0 for q in view.queues if q.use is not None)
    return HorizonText.GAIN.render(count=dead, then=then, key=key)


def has_version_store(view: View) -> bool:
    """Return True if this server keeps old rows in a version store.

    PostgreSQL has no version store: old rows stay in the tables as dead rows.
    """
    return view.engine == "sqlserver"


class VersionStoreText(Text):
    """The parts of the texts about the version store."""

    NOT_READ = "the size of the version store was not read"
    IN_TEMPDB = "{size} in tempdb"
    IN_TEMPDB_FOR_ALL = "{size} in tempdb of all databases"
    IN_DATABASE = "{size} in the database itself"
    GAIN = "the server can remove up to {size} of row versions, and ghost rows; {then}{key}"
    GAIN_OF_UNKNOWN_SIZE = "the server can remove old row versions, and ghost rows; {then}{key}"


def version_store_size_spans(store: VersionStoreSample | None) -> Line:
    """Return ``row versions 1.2 GB in tempdb, 3 MB in the database``."""
    if store is None:
        return ((VersionStoreText.NOT_READ, "muted"),)
    shared = VersionStoreText.IN_TEMPDB_FOR_ALL if store.whole_server else VersionStoreText.IN_TEMPDB
    places = [(store.bytes, shared), (store.persistent_bytes, VersionStoreText.IN_DATABASE)]
    known = [text.render(size=formatting.size(value)) for value, text in places if value is not None]
    return (("row versions ", "muted"), (", ".join(known) or "none", "text"))


def version_store_cost_lines(view: View) -> list[Line]:
    """Return the size of the version store, and the queues whose pops read the most pages."""
    found = [version_store_size_spans(view.server.version_store)]
    paying = [(q, q.use) for q in view.queues if q.use is not None and q.use.touched_per_pop.value is not None]
    paying.sort(key=lambda pair: pair[1].touched_per_pop.value or 0.0, reverse=True)
    for queue, use in paying[:_COSTS]:
        head: list[Span] = [(shorten(clean(queue.name), 20), "strong"), ("  ", "text"), *per_pop_spans(use)]
        found.append((*head, (f" {trend_text(use, 16)}", "accent")))
    return found


def version_store_gain_text(store: VersionStoreSample | None, then: str, key: str) -> str:
    """Return a text about the rows that the server can remove after the oldest holder has ended.

    ``then``: the next holder of the horizon. ``key``: the key that ends the holder, or empty.
    """
    if store is None:
        return VersionStoreText.GAIN_OF_UNKNOWN_SIZE.render(then=then, key=key)
    return VersionStoreText.GAIN.render(size=formatting.size(store.total), then=then, key=key)
