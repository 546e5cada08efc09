"""The cost of a held horizon on servers with a version store (SQL Server), and the gain if it is released."""

from __future__ import annotations

from typing import Final

from qmon.model import formatting
from qmon.model.samples.horizon_samples import VersionStoreSample
from qmon.model.texts import Text
from qmon.model.view import View
from qmon.tui.sanitize import clean, shorten
from qmon.tui.spans import Line, Span
from qmon.tui.waits.usage_panel import per_pop_spans, trend_text

_COSTS: Final = 3


class VersionStoreText(Text):
    """The parts of the texts about the version store."""

    NOT_READ = "the size of the version store was not read"
    IN_TEMPDB = "{size} in tempdb"
    IN_TEMPDB_FOR_ALL = "{size} in tempdb of all databases"
    IN_DATABASE = "{size} in the database itself"
    GAIN = "the server can remove up to {size} of row versions, and ghost rows; {then}{key}"
    GAIN_OF_UNKNOWN_SIZE = "the server can remove old row versions, and ghost rows; {then}{key}"


def has_version_store(view: View) -> bool:
    """Return True if this server keeps old rows in a version store.

    PostgreSQL has no version store: old rows stay in the tables as dead rows.
    """
    return view.engine == "sqlserver"


def size_spans(store: VersionStoreSample | None) -> Line:
    """Return ``row versions 1.2 GB in tempdb, 3 MB in the database``."""
    if store is None:
        return ((VersionStoreText.NOT_READ, "muted"),)
    shared = VersionStoreText.IN_TEMPDB_FOR_ALL if store.whole_server else VersionStoreText.IN_TEMPDB
    places = [(store.bytes, shared), (store.persistent_bytes, VersionStoreText.IN_DATABASE)]
    known = [text.render(size=formatting.size(value)) for value, text in places if value is not None]
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


def gain_text(store: VersionStoreSample | None, then: str, key: str) -> str:
    """Return a text about the rows that the server can remove after the oldest holder has ended.

    ``then``: the next holder of the horizon. ``key``: the key that ends the holder, or empty.
    """
    if store is None:
        return VersionStoreText.GAIN_OF_UNKNOWN_SIZE.render(then=then, key=key)
    return VersionStoreText.GAIN.render(size=formatting.size(store.total), then=then, key=key)
