"""The cost of a held horizon on servers with a version store (SQL Server), and the gain if it is released."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from qmon.model import formatting
from qmon.model.samples.horizon_samples import HolderKind, HorizonSample, VersionStoreSample
from qmon.model.view import View
from qmon.tui.sanitize import clean, shorten
from qmon.tui.spans import Line, Span
from qmon.tui.waits.usage_panel import per_pop_spans, trend_text

_COSTS: Final = 3


def has_version_store(view: View) -> bool:
    """Return True if this server keeps old rows in a version store.

    PostgreSQL has no version store: old rows stay in the tables as dead rows.
    """
    return view.engine == "sqlserver"


def size_spans(store: VersionStoreSample | None) -> Line:
    """Return ``row versions 1.2 GB in tempdb, 3 MB in the database``."""
    if store is None:
        return (("the size of the version store was not read", "muted"),)
    whose = " of all databases" if store.whole_server else ""
    places = [(store.bytes, f" in tempdb{whose}"), (store.persistent_bytes, " in the database itself")]
    known = [f"{formatting.size(value)}{where}" for value, where in places if value is not None]
    return (("row versions ", "muted"), (", ".join(known) or "none", "text"))


def cost_lines(view: View) -> list[Line]:
    """Return the size of the version store, and the queues whose pops read the most pages."""
    found = [size_spans(view.server.version_store)]
    paying = [(q, q.use) for q in view.queues if q.use is not None and q.use.touched_per_pop.value is not None]
    paying.sort(key=lambda pair: pair[1].touched_per_pop.value or 0.0, reverse=True)
    for queue, use in paying[:_COSTS]:
        head: list[Span] = [(shorten(clean(queue.name), 20), "strong"), ("  ", "text"), *per_pop_spans(use)]
        found.append((*head, (f" {trend_text(use, 16)}", "accent")))
    return found


def gain_text(view: View, holders: Sequence[HorizonSample], next_holder: str) -> str:
    """Return a text about the rows that the server can remove after the oldest holder has ended.

    ``next_holder``: the next holder of the horizon, or empty.
    """
    store = view.server.version_store
    much = f"up to {formatting.size(store.total)} of row versions" if store is not None else "old row versions"
    then = f"next holder: {next_holder}" if next_holder else "no next holder"
    key = " · [E] ends the holder" if holders[0].kind == HolderKind.SESSION else ""
    return f"the server can remove {much}, and ghost rows; {then}{key}"
