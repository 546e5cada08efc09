"""Read a page of a queue's messages in one state.

The rows are read in the order of an index, so the last page costs as much as the first. If rows share a value or must
be filtered, a page scans at most a few thousand rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from qmon.engines.base import Value
from qmon.engines.sql.condition_sql import GroupNames
from qmon.engines.sql.list_page import ColumnTest, PagePart, PageRows, RowTest, TimeTest
from qmon.engines.sql.queries import Name
from qmon.model.groups.conditions import AnyOf, Condition
from qmon.model.groups.group import FoundGroup
from qmon.model.layout.layout import Layout
from qmon.model.layout.list_states import reason_without_list, row_state
from qmon.model.layout.table_facts import ListPath
from qmon.model.samples.listing_samples import (
    MAX_ROWS_READ,
    PAGE_SIZE,
    ListedSample,
    PagePosition,
    PageRequest,
    PageSample,
)
from qmon.model.samples.polled_samples import MessageSample
from qmon.monitor.probes.message_diagnostics import with_text_payloads
from qmon.monitor.probes.probe_names import probe_names_for
from qmon.monitor.probes.probe_statements import ProbeStatement, Results, StatementCache
from qmon.monitor.probes.queue_probes import QueueProbes, QueueSpec
from qmon.monitor.probes.ring_pages import ring_page_from_results, statements_for_ring_page

PAGE_PROBE: Final = "messages_page"
SPLIT_PAGE_PROBE: Final = "messages_page_split"
GROUP_PAGE_PROBE: Final = "group_page"
Page = tuple[tuple[MessageSample, ...], PageSample]

# Number of rows read around a page: the last row of the page before it, and the first row of the next page.
_BOUNDARY: Final = 2


def statements_for_page(statements: StatementCache, probes: QueueProbes, listing: PageRequest) -> list[ProbeStatement]:
    """Return the statement that reads a page; empty if no index gives the rows an order."""
    if probes.layout.ring is not None:
        return statements_for_ring_page(statements, probes, listing)
    spec, layout, facts = probes.spec, probes.layout, probes.facts
    path = _list_path(spec, listing)
    if path is None or reason_without_list(layout, listing.state):
        return []
    led, more = _state_tests(spec, listing.state, path)
    after = listing.after or _ready_start(probes, listing, path)
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
    names: dict[str, Name] = probe_names_for(layout, facts) | {
        "columns": tuple(dict.fromkeys(each for each in read if each is not None)),
        "look": PagePart(rows, "look"),
        "empty": PagePart(rows, "empty"),
        "list": PagePart(rows, "list"),
        "at": path.column.name if path.column else None,
        "called": layout.ids,
        "since": layout.time_column(since),
        "page_index": path.index,
    }
    values: dict[str, Value] = {
        "state": row_state(listing.state),
        "walk": _scan_limit(layout, path, listing, more),
        "limit": PAGE_SIZE + 1,
    }
    return [
        statements.uncached_statement_for(
            SPLIT_PAGE_PROBE if split else PAGE_PROBE, ListedSample, values, names, layout.queue
        )
    ]


def page_from_results(probes: QueueProbes, listing: PageRequest, results: Results) -> Page | None:
    """Return the messages of a page and its description; ``None`` if this poll did not read it."""
    if probes.layout.ring is not None:
        return ring_page_from_results(probes, listing, results)
    spec, layout, path = probes.spec, probes.layout, _list_path(probes.spec, listing)
    if why := reason_without_list(layout, listing.state):
        return (), PageSample(listing, why=why)
    if path is None:
        column = layout.state.column if layout.state is not None else layout.ids[-1]
        return (), PageSample(listing, why=f"no index leads with `{column}` or `{layout.ids[-1]}`")
    was = probes.page_read or listing
    found = _to_page(
        results, layout, path, was, _scan_limit(layout, path, was, _state_tests(spec, listing.state, path)[1])
    )
    return (
        None
        if found is None
        else (with_text_payloads(layout, spec.facts, found[0]), replace(found[1], listing=listing))
    )


def closer_listing(probes: QueueProbes, listing: PageRequest, results: Results) -> PageRequest | None:
    """Return the page to read instead if all scanned rows share one value and an index also sorts these rows by id."""
    path, queue, after = _list_path(probes.spec, listing), probes.layout.queue, listing.after
    rows: Sequence[ListedSample] = results.get((queue, PAGE_PROBE), results.get((queue, SPLIT_PAGE_PROBE), ()))
    if path is None or path.then is None or not rows or (after is not None and after.within):
        return None
    end = next((row for row in rows if row.place == row.known == MAX_ROWS_READ), None)
    if end is None or rows[0].at != end.at:
        return None
    id = after.id if after is not None and after.value == end.at else None
    return replace(listing, after=PagePosition(end.at, id, within=True))


def statements_for_group_page(
    statements: StatementCache, found: FoundGroup, layout: Layout, listing: PageRequest
) -> list[ProbeStatement]:
    """Return the statement that reads a page of a group's queue; empty if no index gives the rows an order."""
    group, path, part = found.group, _walk_path(found, layout), layout.part
    if path is None or path.column is None or part is None or reason_without_list(layout, listing.state):
        return []
    led: tuple[RowTest, ...] = () if path.within is None else (ColumnTest(path.within, "=", part.value),)
    states = [state for state in group.states if state.kind == row_state(listing.state)]
    own = GroupNames(group)
    is_in: Condition = AnyOf(tuple(state.when for state in states))
    columns = [name for table, name in sorted(group.columns_read.columns) if table == group.table.name]
    rows = PageRows(path.column, led, (), (group.id,), listing.descending, listing.after)
    names: dict[str, Name] = {
        **own.row_names(states),
        "rows": own.condition(is_in, group.late_condition(states))
        if listing.state == "stuck"
        else own.condition(is_in),
        "columns": tuple(dict.fromkeys((*columns, path.column.name))),
        "look": PagePart(rows, "look"),
        "list": PagePart(rows, "list"),
        "at": path.column.name,
        "page_index": path.index,
    }
    values: dict[str, Value] = {
        "state": row_state(listing.state),
        "queue": part.value,
        "walk": MAX_ROWS_READ,
        "limit": PAGE_SIZE + 1,
    }
    return [statements.uncached_statement_for(GROUP_PAGE_PROBE, ListedSample, values, names, layout.queue)]


def group_page_from_results(found: FoundGroup, layout: Layout, listing: PageRequest, results: Results) -> Page | None:
    """Return the messages of a group's page and its description; see ``page_from_results``."""
    path = _walk_path(found, layout)
    if why := reason_without_list(layout, listing.state):
        return (), PageSample(listing, why=why)
    if path is None or path.column is None:
        return (), PageSample(listing, why=f"no index leads with `{found.group.id}`")
    return _to_page(results, layout, path, listing, MAX_ROWS_READ)


def _walk_path(found: FoundGroup, layout: Layout) -> ListPath | None:
    """Return the index by which to read. An index that begins with the queue column needs a queue name."""
    named = layout.part is not None and layout.part.value is not None
    return found.walk if found.walk is None or found.walk.within is None or named else None


def _to_page(results: Results, layout: Layout, path: ListPath, listing: PageRequest, walk: int) -> Page | None:
    """Return the page that was read. ``walk``: maximum number of rows scanned."""
    rows: Sequence[ListedSample] | None = next(
        (
            results[layout.queue, probe]
            for probe in (PAGE_PROBE, SPLIT_PAGE_PROBE, GROUP_PAGE_PROBE)
            if (layout.queue, probe) in results
        ),
        None,
    )
    if rows is None:
        return None
    listed, following, cut = _cut_page(rows, walk, layout, path, listing.after)
    page = PageSample(
        listing, path.column.name if path.column else "", rows[0].looked if rows else 0, path.every, following, cut
    )
    return tuple(map(_message, listed)), page


def _message(row: ListedSample) -> MessageSample:
    error = None if row.state == "done" else row.error  # for a done message, libraries store the result in `error`
    return MessageSample(row.id, row.state, row.age_s, row.owner, row.attempts, row.payload, error)


def _ready_start(probes: QueueProbes, listing: PageRequest, path: ListPath) -> PagePosition | None:
    """Return the place of the first ready message. The index may still contain popped rows before this place."""
    facts = probes.facts
    known = None if "walk" in facts.indexes or probes.layout.due_at is not None else probes.memo.head_bound()
    by = path.column.name if path.column is not None else None
    if known is None or listing.state != "ready" or listing.descending or path.every or by != facts.order_by:
        return None
    return PagePosition(known)


def _list_path(spec: QueueSpec, listing: PageRequest) -> ListPath | None:
    return spec.facts.lists.get(row_state(listing.state))


def _scan_limit(layout: Layout, path: ListPath, listing: PageRequest, more: Sequence[RowTest]) -> int:
    """Return how many rows to scan: only the rows of the page, if no row must be filtered and values are unique."""
    within = listing.after is not None and listing.after.within
    return PAGE_SIZE + _BOUNDARY if (within or _has_unique_values(layout, path)) and not more else MAX_ROWS_READ


def _state_tests(spec: QueueSpec, state: str, path: ListPath) -> tuple[tuple[RowTest, ...], tuple[RowTest, ...]]:
    """Return the conditions for messages in a state: conditions that the index can search for, and all others."""
    layout, states = spec.layout, spec.layout.state
    led: list[RowTest] = []
    more: list[RowTest] = []
    if states is not None and (typed := spec.facts.column_or_untyped(states.column)) is not None:
        value = states.ready if state == "scheduled" else getattr(states, row_state(state))
        (more if path.every else led).append(ColumnTest(typed, "=", value))
    goes_by = None if path.column is None or path.every else path.column.name
    due, started = layout.time_column(layout.due_at), layout.time_column(layout.started_at)
    if due is not None and state in ("ready", "scheduled"):
        led_by = goes_by == due.name
        how: TimeTest = TimeTest(due, ">") if state == "scheduled" else TimeTest(due, "<=", null=not led_by)
        (led if led_by else more).append(how)
    if started is not None and state == "stuck":
        (led if goes_by == started.name else more).append(TimeTest(started, "<", int(layout.timeout_s)))
    return tuple(led), tuple(more)


def _cut_page(
    rows: Sequence[ListedSample], walk: int, layout: Layout, path: ListPath, after: PagePosition | None
) -> tuple[Sequence[ListedSample], PagePosition | None, bool]:
    """Return the rows of the page, the place where the next page begins, and whether rows may be missing.

    Rows with the same value are not scanned in id order. If the scan may have ended before the last row with a value,
    all rows with this value are left for the next page, unless the page has no other rows.
    """
    if after is not None and after.within:
        listed = [row for row in rows if row.listed]
        last = (
            listed[PAGE_SIZE - 1] if len(listed) > PAGE_SIZE else rows[-1] if rows and rows[-1].looked >= walk else None
        )
        return (
            listed[:PAGE_SIZE],
            PagePosition(after.value, past=True) if last is None else replace(_place_of_row(last), within=True),
            False,
        )
    if not rows:
        return (), None, False
    known, looked = rows[0].known, rows[0].looked
    full = known >= walk
    listed = [row for row in rows if row.listed and (row.place <= known or not full)]
    page = listed[:PAGE_SIZE]
    more = _place_of_row(page[-1]) if len(listed) > PAGE_SIZE else None
    if not full:
        return page, more, looked - known >= walk
    end = next(row for row in rows if row.place == known)
    if _has_unique_values(layout, path):
        return page, more or _place_of_row(end), False
    if more is not None and more.value != end.at:
        return page, more, False
    before = [row for row in page if row.at != end.at]
    alone = rows[0].at == end.at
    if before or not page:
        return before, PagePosition(end.at, past=alone), alone
    return page, more or PagePosition(end.at, past=True), True


def _has_unique_values(layout: Layout, path: ListPath) -> bool:
    return path.column is not None and layout.ids == (path.column.name,)


def _place_of_row(row: ListedSample) -> PagePosition:
    return PagePosition(row.at, row.id)
