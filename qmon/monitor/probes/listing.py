"""Read a page of a queue's messages in one state.

The rows are read along an index, so that the last page costs as much as the first. If several rows share a value, or
rows have to be filtered, at most a few thousand rows are scanned.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from qmon.engines.base import Value
from qmon.engines.sql.conditions import GroupNames
from qmon.engines.sql.page import Holds, PagePart, PageRows, Since, Test
from qmon.engines.sql.queries import Name
from qmon.model.groups.conditions import Condition, Some
from qmon.model.groups.group import FoundGroup
from qmon.model.layout.layout import Layout
from qmon.model.layout.lists import row_state, why_not
from qmon.model.layout.table_facts import ListPath
from qmon.model.samples.listing import LOOKED_AT, PAGE, ListedSample, Listing, PageSample, Place
from qmon.model.samples.polled import MessageSample
from qmon.monitor.probes.messages import legible
from qmon.monitor.probes.names import names_of
from qmon.monitor.probes.queue import QueueProbes, Spec
from qmon.monitor.probes.ring_listing import ring_page_of, ring_page_statement
from qmon.monitor.probes.statements import ProbeStatement, Results, StatementCache

PLAIN: Final = "messages_page"
SPLIT: Final = "messages_page_split"
OF_A_GROUP: Final = "group_page"
Page = tuple[tuple[MessageSample, ...], PageSample]

# Rows next to those of the page: the last of the page before, and the first of the next one.
_BOUNDARY: Final = 2


def page_statement(statements: StatementCache, probes: QueueProbes, listing: Listing) -> list[ProbeStatement]:
    """Return the statement that reads a page; none if there is no index for it and none to walk along."""
    if probes.layout.ring is not None:
        return ring_page_statement(statements, probes, listing)
    spec, layout, facts = probes.spec, probes.layout, probes.facts
    path = _path(spec, listing)
    if path is None or why_not(layout, listing.state):
        return []
    led, more = _tests(spec, listing.state, path)
    after = listing.after or _head(probes, listing, path)
    rows = PageRows(path.column, led, more, layout.ids, listing.descending, after, path.then)
    since = layout.started_at if row_state(listing.state) == "in_progress" else layout.enqueued_at
    split = layout.data_table is not None and layout.data_id is not None and layout.id is not None
    read = [
        *layout.ids,
        path.column.name if path.column else None,
        layout.state.column if layout.state else None,
        since,
        layout.due_at,
        layout.started_at if listing.state == "stuck" else None,
        layout.attempts,
        layout.owner.column if layout.owner else None,
        layout.error,
        None if split else layout.payload,
    ]
    names: dict[str, Name] = names_of(layout, facts) | {
        "columns": tuple(dict.fromkeys(each for each in read if each is not None)),
        "look": PagePart(rows, "look"),
        "empty": PagePart(rows, "empty"),
        "list": PagePart(rows, "list"),
        "at": path.column.name if path.column else None,
        "called": layout.ids,
        "since": layout.timed(since),
        "page_index": path.index,
    }
    values: dict[str, Value] = {
        "state": row_state(listing.state),
        "walk": _walk(layout, path, listing, more),
        "limit": PAGE + 1,
    }
    return [statements.anew(SPLIT if split else PLAIN, ListedSample, values, names, layout.queue)]


def page_of(probes: QueueProbes, listing: Listing, results: Results) -> Page | None:
    """Return the messages of a page and its description; ``None`` if this poll did not read it."""
    if probes.layout.ring is not None:
        return ring_page_of(probes, listing, results)
    spec, layout, path = probes.spec, probes.layout, _path(probes.spec, listing)
    if why := why_not(layout, listing.state):
        return (), PageSample(listing, why=why)
    if path is None:
        column = layout.state.column if layout.state is not None else layout.ids[-1]
        return (), PageSample(listing, why=f"no index leads with `{column}`, and none with `{layout.ids[-1]}`")
    was = probes.page_read or listing
    found = _page(results, layout, path, was, _walk(layout, path, was, _tests(spec, listing.state, path)[1]))
    return None if found is None else (legible(layout, spec.facts, found[0]), replace(found[1], listing=listing))


def closer(probes: QueueProbes, listing: Listing, results: Results) -> Listing | None:
    """Return what to read instead if all scanned rows share one value and an index sorts these rows by id."""
    path, queue, after = _path(probes.spec, listing), probes.layout.queue, listing.after
    rows: Sequence[ListedSample] = results.get((queue, PLAIN), results.get((queue, SPLIT), ()))
    if path is None or path.then is None or not rows or (after is not None and after.within):
        return None
    end = next((row for row in rows if row.place == row.known == LOOKED_AT), None)
    if end is None or rows[0].at != end.at:
        return None
    id = after.id if after is not None and after.value == end.at else None
    return replace(listing, after=Place(end.at, id, within=True))


def group_page_statement(
    statements: StatementCache, found: FoundGroup, layout: Layout, listing: Listing
) -> list[ProbeStatement]:
    """Return the statement that reads a page of a queue of a group; none if there is no index to walk along."""
    group, path, part = found.group, _walked(found, layout), layout.part
    if path is None or path.column is None or part is None or why_not(layout, listing.state):
        return []
    led: tuple[Test, ...] = () if path.within is None else (Holds(path.within, "=", part.value),)
    states = [state for state in group.states if state.kind == row_state(listing.state)]
    own = GroupNames(group)
    is_in: Condition = Some(tuple(state.when for state in states))
    columns = [name for table, name in sorted(group.uses.columns) if table == group.table.name]
    rows = PageRows(path.column, led, (), (group.id,), listing.descending, listing.after)
    names: dict[str, Name] = {
        **own.rows(states),
        "rows": own.where(is_in, group.late(states)) if listing.state == "stuck" else own.where(is_in),
        "columns": tuple(dict.fromkeys((*columns, path.column.name))),
        "look": PagePart(rows, "look"),
        "list": PagePart(rows, "list"),
        "at": path.column.name,
        "page_index": path.index,
    }
    values: dict[str, Value] = {
        "state": row_state(listing.state),
        "queue": part.value,
        "walk": LOOKED_AT,
        "limit": PAGE + 1,
    }
    return [statements.anew(OF_A_GROUP, ListedSample, values, names, layout.queue)]


def group_page_of(found: FoundGroup, layout: Layout, listing: Listing, results: Results) -> Page | None:
    """Return the messages of a group's page and its description; see ``page_from_results``."""
    path = _walked(found, layout)
    if why := why_not(layout, listing.state):
        return (), PageSample(listing, why=why)
    if path is None or path.column is None:
        return (), PageSample(listing, why=f"no index leads with `{found.group.id}`")
    return _page(results, layout, path, listing, LOOKED_AT)


def _walked(found: FoundGroup, layout: Layout) -> ListPath | None:
    """Return the index to walk along. An index that leads with the queue is useless without a queue name."""
    named = layout.part is not None and layout.part.value is not None
    return found.walk if found.walk is None or found.walk.within is None or named else None


def _page(results: Results, layout: Layout, path: ListPath, listing: Listing, walk: int) -> Page | None:
    """Return the page that was read. ``walk``: maximum number of rows scanned."""
    rows: Sequence[ListedSample] | None = next(
        (results[layout.queue, probe] for probe in (PLAIN, SPLIT, OF_A_GROUP) if (layout.queue, probe) in results), None
    )
    if rows is None:
        return None
    listed, following, cut = _cut(rows, walk, layout, path, listing.after)
    page = PageSample(
        listing, path.column.name if path.column else "", rows[0].looked if rows else 0, path.every, following, cut
    )
    return tuple(map(_message, listed)), page


def _message(row: ListedSample) -> MessageSample:
    error = None if row.state == "done" else row.error  # libraries also keep the result of a done message there
    return MessageSample(row.id, row.state, row.age_s, row.owner, row.attempts, row.payload, error)


def _head(probes: QueueProbes, listing: Listing, path: ListPath) -> Place | None:
    """Return where the ready messages begin, because rows popped earlier may still be in the index."""
    facts = probes.facts
    known = None if "walk" in facts.indexes or probes.layout.due_at is not None else probes.memo.bound()
    by = path.column.name if path.column is not None else None
    if known is None or listing.state != "ready" or listing.descending or path.every or by != facts.order_by:
        return None
    return Place(known)


def _path(spec: Spec, listing: Listing) -> ListPath | None:
    return spec.facts.lists.get(row_state(listing.state))


def _walk(layout: Layout, path: ListPath, listing: Listing, more: Sequence[Test]) -> int:
    """Return how many rows to scan: only the page, if every row belongs to it and has a unique value."""
    within = listing.after is not None and listing.after.within
    return PAGE + _BOUNDARY if (within or _unique(layout, path)) and not more else LOOKED_AT


def _tests(spec: Spec, state: str, path: ListPath) -> tuple[tuple[Test, ...], tuple[Test, ...]]:
    """Return the conditions for messages in a state: those that the index serves, and the others."""
    layout, states = spec.layout, spec.layout.state
    led: list[Test] = []
    more: list[Test] = []
    if states is not None and (typed := spec.facts.typed(states.column)) is not None:
        value = states.ready if state == "scheduled" else getattr(states, row_state(state))
        (more if path.every else led).append(Holds(typed, "=", value))
    goes_by = None if path.column is None or path.every else path.column.name
    due, started = layout.timed(layout.due_at), layout.timed(layout.started_at)
    if due is not None and state in ("ready", "scheduled"):
        led_by = goes_by == due.name
        how: Since = Since(due, ">") if state == "scheduled" else Since(due, "<=", null=not led_by)
        (led if led_by else more).append(how)
    if started is not None and state == "stuck":
        (led if goes_by == started.name else more).append(Since(started, "<", int(layout.timeout_s)))
    return tuple(led), tuple(more)


def _cut(
    rows: Sequence[ListedSample], walk: int, layout: Layout, path: ListPath, after: Place | None
) -> tuple[Sequence[ListedSample], Place | None, bool]:
    """Return the rows of the page, where the next one begins, and whether some may be missing.

    Rows with the same value are not scanned in id order. If more of them may follow than were scanned, they are left to
    the next page, unless this page contains nothing else.
    """
    if after is not None and after.within:
        listed = [row for row in rows if row.listed]
        last = listed[PAGE - 1] if len(listed) > PAGE else rows[-1] if rows and rows[-1].looked >= walk else None
        return listed[:PAGE], Place(after.value, past=True) if last is None else replace(_at(last), within=True), False
    if not rows:
        return (), None, False
    known, looked = rows[0].known, rows[0].looked
    full = known >= walk
    listed = [row for row in rows if row.listed and (row.place <= known or not full)]
    page = listed[:PAGE]
    more = _at(page[-1]) if len(listed) > PAGE else None
    if not full:
        return page, more, looked - known >= walk
    end = next(row for row in rows if row.place == known)
    if _unique(layout, path):
        return page, more or _at(end), False
    if more is not None and more.value != end.at:
        return page, more, False
    before = [row for row in page if row.at != end.at]
    alone = rows[0].at == end.at
    if before or not page:
        return before, Place(end.at, past=alone), alone
    return page, more or Place(end.at, past=True), True


def _unique(layout: Layout, path: ListPath) -> bool:
    return path.column is not None and layout.ids == (path.column.name,)


def _at(row: ListedSample) -> Place:
    return Place(row.at, row.id)
