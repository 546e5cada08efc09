"""Read a page of a queue's messages in one state.

The rows are read in the order of an index, so the last page costs as much as the first. If rows share a value or must
be filtered, a page scans at most a few thousand rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from qmon.engines.base import Value
from qmon.engines.sql.condition_sql import GroupNames
from qmon.engines.sql.list_page import ColumnTest, NotNullTest, PagePart, PageRows, RowTest, TimeTest
from qmon.engines.sql.queries import Name
from qmon.model.groups.conditions import AnyOf, Condition, IsNull
from qmon.model.groups.group import ResolvedGroup
from qmon.model.layout.layout import Layout
from qmon.model.layout.list_states import (
    FAILED,
    failed_states,
    reason_without_list,
    reason_without_search,
    row_state,
)
from qmon.model.layout.table_facts import Column, ListPath
from qmon.model.samples.listing_samples import (
    FAILED_PAGE_SIZE,
    MAX_ROWS_READ,
    PAGE_SIZE,
    ListedSample,
    PagePosition,
    PageRequest,
    PageSample,
)
from qmon.model.samples.polled_samples import MessageSample
from qmon.monitor.catalog.access_paths import IndexText
from qmon.monitor.probes.message_diagnostics import with_text_payloads
from qmon.monitor.probes.message_search import group_search_condition, search_condition
from qmon.monitor.probes.probe_names import probe_names_for
from qmon.monitor.probes.probe_statements import ProbeStatement, Results, StatementCache
from qmon.monitor.probes.queue_probes import QueueProbes, QueueSpec
from qmon.texts import Text

PAGE_PROBE: Final = "messages_page"
SPLIT_PAGE_PROBE: Final = "messages_page_split"
GROUP_PAGE_PROBE: Final = "group_page"
Page = tuple[tuple[MessageSample, ...], PageSample]

# Number of rows read around a page: the last row of the page before it, and the first row of the next page.
_BOUNDARY: Final = 2


@dataclass(frozen=True, slots=True)
class _StateList:
    """The rows of a page that are in one state.

    ``size``: maximum number of its messages on the page. ``with_error``: only messages that have a last error.
    """

    state: str
    size: int = PAGE_SIZE
    with_error: bool = False


def _state_lists(layout: Layout, listing: PageRequest) -> tuple[_StateList, ...]:
    """Return the lists that make up a page: one for each state of failed messages, otherwise a single list."""
    if listing.state != FAILED:
        return (_StateList(listing.state),)
    # A group's page is bounded by the rows that are read. All states must read the same rows, so that the next page
    # can continue after these rows.
    size = FAILED_PAGE_SIZE if layout.part is None else MAX_ROWS_READ
    states = failed_states(layout)
    if layout.part is None and listing.after is not None:  # only the list of dead messages has several pages
        states = states[:1]
    return tuple(_StateList(state, size, state != "dead") for state in states)


def _reason_without_page(layout: Layout, listing: PageRequest) -> str:
    """Return why a page cannot be read, or an empty text if an index may make it possible."""
    return reason_without_list(layout, listing.state) or (reason_without_search(layout) if listing.search else "")


def statements_for_page(statements: StatementCache, probes: QueueProbes, listing: PageRequest) -> list[ProbeStatement]:
    """Return the statements that read a page; empty if no index gives the rows an order."""
    if probes.layout.ring is not None:
        return statements_for_ring_page(statements, probes, listing)
    if _reason_without_page(probes.layout, listing):
        return []
    lists = _state_lists(probes.layout, listing)
    return [
        replace(each, part="" if len(lists) == 1 else one.state)
        for one in lists
        for each in _state_statements(statements, probes, listing, one)
    ]


def _state_statements(
    statements: StatementCache, probes: QueueProbes, listing: PageRequest, state_list: _StateList
) -> list[ProbeStatement]:
    spec, layout, facts = probes.spec, probes.layout, probes.facts
    path = _list_path(spec, state_list.state)
    if path is None or reason_without_list(layout, state_list.state):
        return []
    led, more = _state_tests(spec, state_list, path, listing.search)
    after = listing.after or _ready_start(probes, state_list.state, path, descending=listing.descending)
    rows = PageRows(path.column, led, more, layout.id_columns, listing.descending, after, path.then)
    since = layout.started_at if row_state(state_list.state) == "in_progress" else layout.enqueued_at
    split = layout.data_table is not None and layout.data_id is not None and layout.id is not None
    read = [
        *layout.id_columns,
        path.column.name if path.column else None,
        layout.state.column if layout.state else None,
        since,
        layout.due_at,
        layout.started_at if state_list.state == "stuck" else None,
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
        "called": layout.id_columns,
        "since": layout.time_column(since),
        "page_index": path.index,
    }
    values: dict[str, Value] = {
        "state": row_state(state_list.state),
        "walk": _scan_limit(spec, path, listing, state_list),
        "limit": state_list.size + 1,
    }
    return [statements.uncached_statement_for(SPLIT_PAGE_PROBE if split else PAGE_PROBE, values, names, layout.queue)]


def page_from_results(probes: QueueProbes, listing: PageRequest, results: Results) -> Page | None:
    """Return the messages of a page and its description; ``None`` if this poll did not read it."""
    if probes.layout.ring is not None:
        return ring_page_from_results(probes, listing, results)
    spec, layout = probes.spec, probes.layout
    if why := _reason_without_page(layout, listing):
        return (), PageSample(listing, why=why)
    lists = _state_lists(layout, listing)
    paths = {one: path for one in lists if (path := _list_path(spec, one.state)) is not None}
    if not paths:
        column = layout.state.column if layout.state is not None else layout.id_columns[-1]
        return (), PageSample(
            listing, why=IndexText.NO_INDEX_LEADS_EITHER.render(column=column, id=layout.id_columns[-1])
        )
    was = probes.page_read or listing
    rows = _rows_read(results, layout)
    if rows is None:
        return None
    pages = [_to_page(rows, layout, path, was, one, _scan_limit(spec, path, was, one)) for one, path in paths.items()]
    messages, page = _joined_page(pages, listing)
    if lists[0] not in paths:  # only the first of the lists has several pages
        page = replace(page, next=None)
    return with_text_payloads(layout, spec.facts, messages), page


def _joined_page(pages: Sequence[Page], listing: PageRequest) -> Page:
    """Return the pages of several states as one page. The first page decides where the next page starts."""
    page = replace(
        pages[0][1],
        listing=listing,
        looked=sum(page.looked for _, page in pages),
        every=any(page.every for _, page in pages),
        cut=any(page.cut for _, page in pages),
    )
    return tuple(message for messages, _ in pages for message in messages), page


def closer_listing(probes: QueueProbes, listing: PageRequest, results: Results) -> PageRequest | None:
    """Return the page to read instead if all scanned rows share one value and an index also sorts these rows by id."""
    path, queue, after = _list_path(probes.spec, listing.state), probes.layout.queue, listing.after
    rows: Sequence[ListedSample] = results.get((queue, PAGE_PROBE), results.get((queue, SPLIT_PAGE_PROBE), ()))
    if path is None or path.then is None or not rows or (after is not None and after.within):
        return None
    end = next((row for row in rows if row.place == row.known == MAX_ROWS_READ), None)
    if end is None or rows[0].at != end.at:
        return None
    id = after.id if after is not None and after.value == end.at else None
    return replace(listing, after=PagePosition(end.at, id, within=True))


def statements_for_group_page(
    statements: StatementCache, resolved: ResolvedGroup, layout: Layout, listing: PageRequest
) -> list[ProbeStatement]:
    """Return the statements that read a page of a group's queue; empty if no index gives the rows an order."""
    path = _walk_path(resolved, layout)
    if path is None or path.column is None or layout.part is None or _reason_without_page(layout, listing):
        return []
    lists = _state_lists(layout, listing)
    return [
        replace(
            _group_state_statement(statements, resolved, layout, listing, one, path),
            part="" if len(lists) == 1 else one.state,
        )
        for one in lists
    ]


def _group_state_statement(
    statements: StatementCache,
    resolved: ResolvedGroup,
    layout: Layout,
    listing: PageRequest,
    state_list: _StateList,
    path: ListPath,
) -> ProbeStatement:
    group, part, order = resolved.group, layout.part, path.column
    assert part is not None and order is not None  # noqa: S101 - see ``statements_for_group_page``
    led: tuple[RowTest, ...] = () if path.within is None else (ColumnTest(path.within, "=", part.value),)
    states = [state for state in group.states if state.kind == row_state(state_list.state)]
    own = GroupNames(group)
    conditions: list[Condition] = [AnyOf(tuple(state.when for state in states))]
    if state_list.state == "stuck":
        conditions.append(group.late_condition(states))
    if state_list.with_error and group.error is not None:
        conditions.append(IsNull(group.error, negated=True))
    if listing.search:
        conditions.append(group_search_condition(group, listing.search))
    columns = [name for table, name in sorted(group.columns_read.columns) if table == group.table.name]
    rows = PageRows(order, led, (), (group.id,), listing.descending, listing.after)
    names: dict[str, Name] = {
        **own.row_names(states),
        "rows": own.condition(*conditions),
        "columns": tuple(dict.fromkeys((*columns, order.name))),
        "look": PagePart(rows, "look"),
        "list": PagePart(rows, "list"),
        "at": order.name,
        "page_index": path.index,
    }
    values: dict[str, Value] = {
        "state": row_state(state_list.state),
        "queue": part.value,
        "walk": MAX_ROWS_READ,
        "limit": state_list.size + 1,
    }
    return statements.uncached_statement_for(GROUP_PAGE_PROBE, values, names, layout.queue)


def group_page_from_results(
    resolved: ResolvedGroup, layout: Layout, listing: PageRequest, results: Results
) -> Page | None:
    """Return the messages of a group's page and its description; see ``page_from_results``."""
    path = _walk_path(resolved, layout)
    if why := _reason_without_page(layout, listing):
        return (), PageSample(listing, why=why)
    if path is None or path.column is None:
        return (), PageSample(listing, why=IndexText.NO_INDEX_LEADS.render(column=resolved.group.id))
    rows = _rows_read(results, layout)
    if rows is None:
        return None
    pages = [_to_page(rows, layout, path, listing, one, MAX_ROWS_READ) for one in _state_lists(layout, listing)]
    messages, page = _joined_page(pages, listing)
    return messages, replace(page, looked=max(page.looked for _, page in pages))


def _walk_path(resolved: ResolvedGroup, layout: Layout) -> ListPath | None:
    """Return the index by which to read. An index that begins with the queue column needs a queue name."""
    named = layout.part is not None and layout.part.value is not None
    return resolved.walk if resolved.walk is None or resolved.walk.within is None or named else None


def _rows_read(results: Results, layout: Layout) -> Sequence[ListedSample] | None:
    """Return the rows that were read for a page; ``None`` if this poll did not read them."""
    return next(
        (
            results[layout.queue, probe]
            for probe in (PAGE_PROBE, SPLIT_PAGE_PROBE, GROUP_PAGE_PROBE)
            if (layout.queue, probe) in results
        ),
        None,
    )


def _to_page(
    read: Sequence[ListedSample],
    layout: Layout,
    path: ListPath,
    listing: PageRequest,
    state_list: _StateList,
    walk: int,
) -> Page:
    """Return the part of a page in one state. ``read``: the rows of all states. ``walk``: maximum rows scanned."""
    rows = [row for row in read if row.state == row_state(state_list.state)]
    listed, following, cut = _cut_page(rows, walk, layout, path, listing.after, state_list.size)
    page = PageSample(
        listing, path.column.name if path.column else "", rows[0].looked if rows else 0, path.every, following, cut
    )
    messages = map(_message, listed)
    return tuple(each for each in messages if each.error is not None or not state_list.with_error), page


def _message(row: ListedSample) -> MessageSample:
    error = None if row.state == "done" else row.error  # for a done message, libraries store the result in `error`
    return MessageSample(row.id, row.state, row.age_s, row.owner, row.attempts, row.payload, error)


def _ready_start(probes: QueueProbes, state: str, path: ListPath, *, descending: bool) -> PagePosition | None:
    """Return the place of the first ready message. The index may still contain popped rows before this place."""
    facts = probes.facts
    known = None if "walk" in facts.indexes or probes.layout.due_at is not None else probes.memo.head_bound()
    by = path.column.name if path.column is not None else None
    if known is None or state != "ready" or descending or path.every or by != facts.order_by:
        return None
    return PagePosition(known)


def _list_path(spec: QueueSpec, state: str) -> ListPath | None:
    return spec.facts.lists.get(row_state(state))


def _scan_limit(spec: QueueSpec, path: ListPath, listing: PageRequest, state_list: _StateList) -> int:
    """Return how many rows to scan: only the rows of the page, if no row must be filtered and values are unique."""
    within = listing.after is not None and listing.after.within
    _, more = _state_tests(spec, state_list, path, listing.search)
    fits = (within or _has_unique_values(spec.layout, path)) and not more
    return state_list.size + _BOUNDARY if fits else MAX_ROWS_READ


def _state_tests(
    spec: QueueSpec, state_list: _StateList, path: ListPath, search: str
) -> tuple[tuple[RowTest, ...], tuple[RowTest, ...]]:
    """Return the conditions for messages in a state: conditions that the index can search for, and all others."""
    layout, states, state = spec.layout, spec.layout.state, state_list.state
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
    if state_list.with_error and layout.error is not None:
        more.append(NotNullTest(layout.error))
    if search:
        more.append(search_condition(layout, spec.facts, search))
    return tuple(led), tuple(more)


def _cut_page(
    rows: Sequence[ListedSample],
    walk: int,
    layout: Layout,
    path: ListPath,
    after: PagePosition | None,
    size: int,
) -> tuple[Sequence[ListedSample], PagePosition | None, bool]:
    """Return the rows of the page, the place where the next page begins, and whether rows may be missing.

    Rows with the same value are not scanned in id order. If the scan may have ended before the last row with a value,
    all rows with this value are left for the next page, unless the page has no other rows.
    """
    if after is not None and after.within:
        listed = [row for row in rows if row.listed]
        last = listed[size - 1] if len(listed) > size else rows[-1] if rows and rows[-1].looked >= walk else None
        return (
            listed[:size],
            PagePosition(after.value, past=True) if last is None else replace(_place_of_row(last), within=True),
            False,
        )
    if not rows:
        return (), None, False
    known, looked = rows[0].known, rows[0].looked
    full = known >= walk
    listed = [row for row in rows if row.listed and (row.place <= known or not full)]
    page = listed[:size]
    more = _place_of_row(page[-1]) if len(listed) > size else None
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
    return path.column is not None and layout.id_columns == (path.column.name,)


def _place_of_row(row: ListedSample) -> PagePosition:
    return PagePosition(row.at, row.id)


class RingPageText(Text):
    """Why the messages of a ring are not listed."""

    POSITIONS_UNREADABLE = "the positions of this ring cannot be read"
    POSITIONS_UNKNOWN = "the positions of this ring are unknown"


RING_PAGE_PROBE: Final = "messages_page_ring"
SPLIT_RING_PAGE_PROBE: Final = "messages_page_ring_split"
_BEFORE_ALL: Final = -1
_BEHIND_ALL: Final = 2**63 - 1


def statements_for_ring_page(
    statements: StatementCache, probes: QueueProbes, listing: PageRequest
) -> list[ProbeStatement]:
    """Return the statement that reads a page of a ring; empty if its slots or positions cannot be read."""
    layout, facts, ring = probes.layout, probes.facts, probes.layout.ring
    if ring is None or _reason_without_page(layout, listing) or _why_unreadable(probes):
        return []
    by_slot = PageRows(Column(ring.slot, "int", not_null=True), (), (), (ring.message_id,), listing.descending)
    names: dict[str, Name] = probe_names_for(layout, facts) | {"look": PagePart(by_slot, "look")}
    at = None if listing.after is None or listing.after.value is None else int(listing.after.value)
    values: dict[str, Value] = {
        "push_sequence": str(facts.push_sequence_id),
        "pop_sequences": probes.pop_sequence_ids,
        "state": listing.state,
        "above": _BEFORE_ALL if at is None or listing.descending else at,
        "below": _BEHIND_ALL if at is None or not listing.descending else at,
        "down": int(listing.descending),
        "walk": min(MAX_ROWS_READ, ring.size),
        "limit": PAGE_SIZE + 1,
    }
    probe = RING_PAGE_PROBE if layout.data_table is None else SPLIT_RING_PAGE_PROBE
    return [statements.uncached_statement_for(probe, values, names, layout.queue)]


def ring_page_from_results(
    probes: QueueProbes, listing: PageRequest, results: Results
) -> tuple[tuple[MessageSample, ...], PageSample] | None:
    """Return the messages of a ring's page and its description; see ``page_from_results``."""
    layout, ring = probes.layout, probes.layout.ring
    why = _reason_without_page(layout, listing) or _why_unreadable(probes)
    if why or ring is None:
        return (), PageSample(listing, why=why)
    probe = RING_PAGE_PROBE if layout.data_table is None else SPLIT_RING_PAGE_PROBE
    rows: Sequence[ListedSample] | None = results.get((layout.queue, probe))
    if rows is None:
        return None
    if not rows:
        return (), PageSample(listing, why=RingPageText.POSITIONS_UNREADABLE)
    *listed, end = rows
    page = listed[:PAGE_SIZE]
    last = page[-1] if len(listed) > PAGE_SIZE else end
    found = PageSample(
        listing,
        order=ring.message_id,
        looked=last.place,
        every=listing.state == "in_progress",
        next=None if last.at is None else PagePosition(last.at),
    )
    messages = tuple(MessageSample(r.id, r.state, r.age_s, r.owner, r.attempts, r.payload) for r in page)
    return with_text_payloads(layout, probes.facts, messages), found


def _why_unreadable(probes: QueueProbes) -> str:
    """Return why the slots or positions of this ring cannot be read; empty if they can be read."""
    facts = probes.facts
    if facts.push_sequence_id is not None and facts.pop_sequence_id is not None and probes.can_seek_slots:
        return ""
    return facts.unknown.get("ready") or facts.slow.get("ready") or RingPageText.POSITIONS_UNKNOWN
