"""The horizon panel: who holds the horizon, since when, what it costs the queues, and what releasing it gains."""

from __future__ import annotations

from collections.abc import Sequence

from qmon.model import text
from qmon.model.rates.usage import QueueUse
from qmon.model.samples.horizon import HolderKind, HorizonSample
from qmon.model.snapshot import SESSIONS_PROBE
from qmon.model.view import QueueView, View
from qmon.model.waits.horizon_holders import culprit, next_one
from qmon.tui import figures
from qmon.tui.sanitize import clean, shorten
from qmon.tui.spans import Line, Span, cut, entry, fit
from qmon.tui.waits import versions
from qmon.tui.waits.usage import per_pop, queue_parts, trend

_COSTS = 3


def lines(view: View | None, cells: int, rows: int) -> list[Line]:
    """Return the panel in at most ``rows`` lines."""
    if view is None:
        return []
    holders = view.server.horizon
    if holders is None:
        return [((f" {figures.not_read(view, 'the holder', 'horizon', SESSIONS_PROBE)}", "muted"),)]
    holder = culprit(holders)
    if holder is None:
        return [_nobody(view, holders, cells)]
    out: list[Line] = [((" held by   ", "muted"), *_who(holder, cells - 11))]
    paid = versions.costs(view) if versions.keeps(view) else costs(view)
    for index, line in enumerate(paid[: max(1, rows - 3)]):
        out.append(cut(((" costs     " if index == 0 else " " * 11, "muted"), *line), cells))
    out += entry("once gone", gain(view, holders), cells, "strong", most=max(1, min(2, rows - len(out))))
    out += entry("statement", holder.statement, cells, "muted", most=2)
    return out[:rows]


def _nobody(view: View, holders: Sequence[HorizonSample], cells: int) -> Line:
    kept = versions.keeps(view)
    removable = "old row versions can be removed" if kept else "all dead rows can be removed"
    if holders:
        line: Line = ((f" nobody holds it for long: the oldest is {clean(short(holders[0]))}", "muted"),)
    else:
        line = ((f" no holder: {removable}", "muted"),)
    return cut((*line, (" · ", "faint"), *versions.held(view.server.version_store)), cells) if kept else line


def of_queue(queue: QueueView, view: View, cells: int, rows: int) -> list[Line]:
    """Return the lines for the queue screen: who keeps its dead rows, if anything does, and what its pops touch."""
    touched = fit(queue_parts(queue, cells), cells - 2)
    return [*_held(queue, view, cells), ((" ", "text"), *touched)][:rows]


def _held(queue: QueueView, view: View, cells: int) -> list[Line]:
    holder, use = culprit(view.server.horizon), queue.use
    store = view.server.version_store
    if holder is None or use is None or not (use.dead or (store is not None and store.total)):
        return []
    since = f" for {text.duration(holder.held_s)}" if holder.held_s is not None else ""
    kept = f"{use.dead:,} dead rows here" if use.dead else "row versions"
    spans: list[Span] = [
        (" horizon ", "muted"),
        (f"{named(holder)}{since}", "strong"),
        (f" keeps {kept}", "text"),
        (" [3]", "muted"),
    ]
    return [cut(spans, cells)]


def short(holder: HorizonSample) -> str:
    """Return ``session 61 (0.4 s)``."""
    age = f" ({text.duration(holder.held_s)})" if holder.held_s is not None else ""
    return f"{named(holder)}{age}"


def named(holder: HorizonSample) -> str:
    """Return ``session 61``, ``prepared transaction pay-7``, ``replication slot copy`` or ``standby walreceiver``."""
    if holder.kind == HolderKind.SESSION:
        return f"session {holder.session}"
    what = {HolderKind.PREPARED: "prepared transaction", HolderKind.SLOT: "replication slot"}
    return f"{what.get(HolderKind(holder.kind), 'standby')} {shorten(clean(holder.name), 30)}"


def _who(holder: HorizonSample, cells: int) -> Line:
    spans: list[Span] = [(named(holder), "alarm")]
    if holder.held_s is not None:
        spans.append((f" for {text.duration(holder.held_s)}", "strong"))
    ids = f"xid {holder.xid}, {holder.age:,} transactions ago"
    where = f"{holder.login}@{holder.host}" if holder.login and holder.host else holder.login or holder.host
    for part in (holder.state if holder.kind != HolderKind.PREPARED else "", holder.application, where, ids):
        if part:
            spans += [(" · ", "faint"), (clean(part), "text")]
    return cut(spans, cells)


def costs(view: View) -> list[Line]:
    """Return the queues that pay most, each with its dead rows and what a pop touches."""
    paying = [(q, q.use) for q in view.queues if q.use is not None and q.use.dead]
    paying.sort(key=lambda pair: _pays(pair[1]), reverse=True)
    found: list[Line] = []
    for queue, use in paying[:_COSTS]:
        dead: Span = (f"{use.dead:,} dead row{'' if use.dead == 1 else 's'}", "text")
        head: list[Span] = [(shorten(clean(queue.name), 20), "strong"), ("  ", "text"), dead]
        touched = per_pop(use)
        if use.rows_per_pop.value is not None:
            head += [(" · ", "faint"), *touched, (f" {trend(use, 16)}", "accent")]
        found.append(tuple(head))
    return found or [(("no queue has dead rows yet", "muted"),)]


def _pays(use: QueueUse) -> tuple[float, int]:
    return use.rows_per_pop.value or 0.0, use.dead or 0


def gain(view: View, holders: Sequence[HorizonSample]) -> str:
    """Return what can be removed once the oldest holder is gone, and who holds the horizon next."""
    if versions.keeps(view):
        after = next_one(holders)
        return versions.gain(view, holders, "" if after is None else short(after))
    dead = sum(q.use.dead or 0 for q in view.queues if q.use is not None)
    after = next_one(holders)
    partly = any(failure.probe == SESSIONS_PROBE for failure in view.failures)
    none = "the next holder is not visible to our role" if partly else "no session holds it next"
    then = none if after is None or partly else f"{short(after)} holds it next"
    key = " · [E] ends it" if holders[0].kind == HolderKind.SESSION else ""
    return f"vacuum can then remove up to {dead:,} dead rows of the queues; {then}{key}"
