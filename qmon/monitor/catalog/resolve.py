"""Find the queues of a target from the configuration and the registry. If neither names a queue, find them by shape."""

from __future__ import annotations

import contextlib
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import Final

from qmon.engines.base import Connection, Engine
from qmon.errors import BadInput, LockTimeout
from qmon.model.config_reader import suggest_nearest
from qmon.model.groups.configured_queue import ConfiguredQueue, NamedLibrary
from qmon.model.groups.group import Group, ResolvedGroup
from qmon.model.layout.layout import Layout, LayoutSource, ObjectName
from qmon.model.layout.table_facts import TableFacts
from qmon.model.layout.time_zones import Zone
from qmon.model.reasons import Reason
from qmon.model.snapshot import ProbeFailure
from qmon.monitor.catalog.access_paths import table_facts
from qmon.monitor.catalog.catalog import Catalog, SequenceRows, TableDetails, TableRow
from qmon.monitor.catalog.column_zones import require_due_zone, server_zone, with_zones
from qmon.monitor.catalog.complete_layout import check_ids, complete_layout
from qmon.monitor.catalog.discovery.candidates import Candidate, discover_queues, is_likely
from qmon.monitor.catalog.discovery.relatives import ancestors
from qmon.monitor.catalog.group_resolution import LibraryQueues, complete_group, find_library_queues
from qmon.monitor.catalog.queue_registry import read_registered_layouts
from qmon.monitor.catalog.relation_kind import why_not_a_table
from qmon.monitor.catalog.state_values import (
    KnownValues,
    check_state,
    drop_missing_state_labels,
    fill_gaps,
    known_values,
    needs_list_of_states,
    state_meanings,
    words_by_state,
)
from qmon.texts import Text


class ResolveText(Text):
    """Why a queue was found, or why it cannot be watched."""

    FROM_REGISTRY = "missing settings come from the registry"
    RECOGNIZED = "its table was recognized by its columns"
    INSTALLED = "installed by qmon"
    WATCHED_BEFORE = "was watched before"
    NAME_TAKEN = "{other} already has the name {name}; give {table} another name"
    NO_DATA_ID = "{table} has no column {column!r}: name its key with data_id"
    NO_SLOT_SWEEP = "qmon does not search for holes and orphans: your role may not read {table}"
    UNREADABLE = "your role may not read {table}"
    SEVERAL_TABLES = "several tables have the name {name}: {tables}; add the schema"
    MOVED = "there is no table {name}: it is now {now}"
    NO_TABLE = "there is no table {name}, or your role may not see it{hint}"
    LIST_TABLES = "; to list the tables: qmon queues TARGET"


# The table with a ring's spare numbers has the ring's name and this suffix.
SPARE_SUFFIX: Final = "_spare"


@dataclass(frozen=True, slots=True)
class Resolved:
    """The queues of a target.

    Attributes:
        layouts: queues that can be watched, in the order of the configuration, then of the registry; names are unique.
        facts: queue → the facts about its tables, from the catalog.
        reasons: queue → one line for each part of the layout that was found and not configured.
        problems: one line for each queue that cannot be watched, with the statement that would help, if any.
        lost: queues that cannot be watched. Their layout is still known, because they are configured or registered, or
            were watched before.
        places: queue → the id of its table when the table last existed. Includes lost queues.
        unread: queues, or possible queues, that could not be examined because a session locks their table. Each also
            has a problem. They are not remembered for the next catalog reading.
        locked: some part of a table was not read because of a lock, so the catalog should be read again soon.
        groups: tables of libraries or of the configuration in which conditions give the states of rows.
        explained: one line for each table that has a name of a library: why it was recognized or not.
        of_libraries: all tables of libraries. Discovery by shape ignores them.
        seen: queue → state values that polls have found and that were unknown until then.
    """

    layouts: tuple[Layout, ...] = ()
    facts: Mapping[str, TableFacts] = field(default_factory=dict)
    reasons: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    problems: tuple[ProbeFailure, ...] = ()
    lost: tuple[Layout, ...] = ()
    places: Mapping[str, int] = field(default_factory=dict)
    unread: tuple[Layout, ...] = ()
    locked: bool = False
    groups: tuple[ResolvedGroup, ...] = ()
    of_libraries: frozenset[ObjectName] = frozenset()
    explained: tuple[str, ...] = ()
    seen: Mapping[str, frozenset[str]] = field(default_factory=dict)


NO_QUEUES: Final = Resolved()

# Maximum number of remembered queues that were found by shape only and are gone. The newest are kept.
MAX_LOST: Final = 50


def resolve_queues(
    connection: Connection,
    engine: Engine,
    configured: Sequence[ConfiguredQueue],
    *,
    before: Resolved = NO_QUEUES,
    by_shape: bool = True,
    by_library: bool | None = None,
    readable_only: bool = True,
) -> Resolved:
    """Return the queues of a target, completed from its catalog.

    ``by_shape``: if neither the configuration nor the registry names a queue, take tables that clearly look like a
    queue; such layouts have ``DISCOVERY`` as their ``source``. ``by_library``: take the queues of known libraries; by
    default in the same cases as ``by_shape``. ``readable_only``: treat a table that our role may not read as a problem.
    If false, the facts about such a table are returned anyway, so that the permission can be granted. ``before``: the
    last result. A queue that was in the last result and is gone now is a problem, unless it was uninstalled or was only
    found by its shape. A queue that cannot be resolved is a problem and does not affect the other queues. Raises the
    errors of ``Connection.fetch`` if the catalog itself cannot be read.
    """
    catalog = Catalog(connection, engine)
    registry = read_registered_layouts(catalog)
    tables = catalog.read_tables()
    sequences = catalog.read_sequences()
    if not readable_only:
        tables = [replace(table, readable=True) for table in tables]
    layouts = [each for each in configured if isinstance(each, Layout)]
    there = {table.table_id for table in tables}
    known = [
        layout
        for layout in _without_children(catalog, (*before.layouts, *before.lost), before.places)
        if layout.part is None
        and (
            layout.source is not LayoutSource.REGISTRY
            or not registry.were_read
            or before.places.get(layout.queue) in there
        )
    ]
    registered = {layout.table: layout for layout in reversed(registry.layouts)}
    work = _Resolver(catalog, tables, sequences, registry.problems, before)
    work.prefetch([*layouts, *registry.layouts, *known])
    for each in configured:
        if isinstance(each, Layout):
            work.add_configured(each, registered, before.places.get(each.queue))
        elif isinstance(each, Group):
            work.add_group(each, before.places.get(each.name))
    for layout in registry.layouts:
        work.add_registered(layout, before.places.get(layout.queue))
    names = {each.library for each in configured if isinstance(each, NamedLibrary)}
    everything = (by_shape and not configured) if by_library is None else by_library
    found = work.add_libraries(None if everything else names)
    for layout in known:
        work.add_seen_before(layout, before.places.get(layout.queue))
    named = (
        configured
        or registry.layouts
        or any(
            each.source is not LayoutSource.DISCOVERY and not each.library for each in (*before.layouts, *before.lost)
        )
    )
    if by_shape and not named:
        findings = discover_queues(
            catalog, [each for each in tables if each.name not in found.tables], sequences, before.seen
        )
        work.prefetch([finding.layout for finding in findings if finding.locked is None and is_likely(finding)])
        for finding in findings:
            if finding.locked is not None:
                work.unread[finding.layout.queue] = (finding.layout, finding.locked)
            elif is_likely(finding):
                work.add_candidate(finding)
        for group in before.groups:
            work.add_group_seen_before(group)
    return replace(work.to_resolved(), of_libraries=found.tables, explained=found.explained, seen=before.seen)


def _without_children(
    catalog: Catalog, watched_layouts: Sequence[Layout], places: Mapping[str, int]
) -> Iterator[Layout]:
    """Yield the queues watched before, without children of watched tables.

    A queue found by shape is left out if its table inherits from another queue, because the other queue includes its
    rows.
    """
    parents = catalog.read_parents() if any(layout.is_guess for layout in watched_layouts) else {}
    watched = frozenset(places.values())
    for layout in watched_layouts:
        place = places.get(layout.queue)
        if not layout.is_guess or place is None or watched.isdisjoint(ancestors(place, parents)):
            yield layout


class _Resolver:
    """Collect the layouts one by one."""

    def __init__(
        self,
        catalog: Catalog,
        tables: Sequence[TableRow],
        sequences: SequenceRows,
        problems: Sequence[ProbeFailure],
        before: Resolved = NO_QUEUES,
    ) -> None:
        self.catalog = catalog
        self.tables = tables
        self.sequences = sequences
        self.problems = list(problems)
        # The layouts found so far, keyed by queue, and their tables.
        self.layouts: dict[str, Layout] = {}
        self._taken: set[ObjectName] = set()
        self.facts: dict[str, TableFacts] = {}
        self.reasons: dict[str, tuple[str, ...]] = {}
        self.lost: dict[str, Layout] = {}
        self.places: dict[str, int] = {}
        self.groups: list[ResolvedGroup] = []
        # The layout and the id of the locked table, keyed by queue.
        self.unread: dict[str, tuple[Layout, int]] = {}
        self._before = before.facts
        self._seen = before.seen
        self._states = {each.queue: each for each in before.layouts if each.state is not None and each.state.learnt}
        self._known: dict[int, TableDetails] = {}
        self._local: Zone | None = None
        self._divided: defaultdict[int, set[str]] = defaultdict(set)
        for table_id, column in catalog.read_partition_columns():
            self._divided[table_id].add(column)
        self._by_id = {table.table_id: table for table in tables}
        # Tables, keyed by their names in lower case.
        self._by_name: defaultdict[str, list[TableRow]] = defaultdict(list)
        for table in tables:
            self._by_name[table.table_name.lower()].append(table)
        self._refusal = cache(partial(why_not_a_table, catalog))

    def to_resolved(self) -> Resolved:
        """Return the collected result."""
        guessed = [layout.queue for layout in self.lost.values() if layout.source is LayoutSource.DISCOVERY]
        dropped = set(guessed[MAX_LOST:])  # the newest come first
        watched = self.layouts.keys()
        lost = tuple(each for each in self.lost.values() if each.queue not in dropped and each.queue not in watched)
        problems = tuple(
            replace(problem, gone=problem.gone and problem.queue not in watched)
            for problem in self.problems
            if problem.queue not in dropped
        )
        known = watched | {each.queue for each in lost}
        unread = {queue: each for queue, each in self.unread.items() if queue not in known}
        holders = self.catalog.read_lock_holders() if unread else {}
        problems += tuple(
            ProbeFailure("layout", holders.get(table, Reason.LOCKED), queue) for queue, (_, table) in unread.items()
        )
        return Resolved(
            tuple(self.layouts.values()),
            self.facts,
            self.reasons,
            problems,
            lost,
            self.places,
            unread=tuple(layout for layout, _ in unread.values()),
            locked=bool(self.catalog.locked_tables),
            groups=tuple(self.groups),
        )

    def prefetch(self, layouts: Sequence[Layout]) -> None:
        """Read the catalog's details of the tables of all these queues at once."""
        wanted: dict[int, TableRow] = {}
        for layout in layouts:
            for name in (layout.table, layout.data_table):
                with contextlib.suppress(_RefusedError):
                    if name is not None and (table := self._find_table(name)).readable:
                        wanted[table.table_id] = table
        self._known |= self.catalog.read_details([table for i, table in wanted.items() if i not in self._known])

    def add_configured(
        self, layout: Layout, registered: Mapping[ObjectName, Layout], last_table_id: int | None
    ) -> None:
        """Add a queue of the configuration. If its table is registered, missing settings come from the registry.

        ``registered``: the layouts of the registry, keyed by table. ``last_table_id``: the id of its table when the
        table last existed.
        """
        with self._record_problems("layout", layout, last_table_id):
            details = self._read_details(self._find_table(layout.table, last_table_id))
            known = registered.get(details.table.name)
            reasons: tuple[str, ...] = ()
            if known is not None and known.design == layout.design:
                layout, reasons = _merge_layouts(layout, known), (ResolveText.FROM_REGISTRY,)
            seen = self._seen.get(layout.queue, frozenset())
            values = partial(known_values, details, catalog=self.catalog, seen_values=seen)
            layout, why = complete_layout(
                layout, details, self.sequences, values, self.catalog.engine.types_without_text
            )
            self._add_layout(self._with_known_states(layout), details, (*reasons, *why))

    def add_group(self, group: Group, last_table_id: int | None) -> None:
        """Add queues of the configuration that are rows of one table."""
        with self._record_problems("layout", group.queue_layout(None), last_table_id):
            found, left_out = complete_group(
                group,
                self.catalog,
                lambda table: self._read_details(self._find_table(table)),
                self._server_zone,
                strict=True,
            )
            own = self._read_details(self._find_table(found.group.table))
            check_ids(own, (found.group.id,), self.catalog.engine.types_without_text)
            self.groups.append(found)
            self.places[group.name] = found.table_id
            self.problems += [ProbeFailure("layout", each, queue=group.name) for each in left_out]

    def add_group_seen_before(self, resolved: ResolvedGroup) -> None:
        """Add a group that discovery found before, even if the server's counters no longer show it."""
        group = resolved.group
        is_guess = group.source is LayoutSource.DISCOVERY and not group.library
        known = self._taken | {each.group.table for each in self.groups}
        if is_guess and group.table not in known and resolved.table_id in self._by_id:
            self.add_group(group, resolved.table_id)

    def add_libraries(self, names: Collection[str] | None) -> LibraryQueues:
        """Add queues of libraries, except tables of the configuration. ``names``: only these; ``None``: all."""
        if names is not None and not names:
            return LibraryQueues()
        found = find_library_queues(
            self.catalog,
            self.tables,
            names,
            lambda table: self._read_details(self._find_table(table)),
            self._server_zone,
        )
        self.problems += found.problems
        taken = self._taken | {each.group.table for each in self.groups}
        self.groups += [each for each in found.groups if each.group.table not in taken]
        for layout in (each for each in found.layouts if each.table not in taken):
            with self._record_problems("library", layout):
                self._add_layout(
                    layout,
                    self._read_details(self._find_table(layout.table)),
                    (ResolveText.RECOGNIZED,),
                )
        return found

    def add_registered(self, layout: Layout, last_table_id: int | None) -> None:
        """Add a queue of the registry, unless the configuration already has its table."""
        if layout.table in self._taken:
            return
        with self._record_problems("registry", layout, last_table_id):
            self._add_layout(
                layout, self._read_details(self._find_table(layout.table, last_table_id)), (ResolveText.INSTALLED,)
            )

    def add_seen_before(self, layout: Layout, last_table_id: int | None) -> None:
        """Add a queue that was watched before, unless it was already found."""
        if layout.queue in self.layouts or layout.queue in self.lost or layout.table in self._taken:
            return
        with self._record_problems("table", layout, last_table_id):
            details = self._read_details(self._find_table(layout.table, last_table_id))
            if layout.is_guess and self._needs_list_of_states(layout, details):
                return  # discovery finds the table again, with a list of states
            layout, why = self._with_new_states(layout, details)
            self._add_layout(layout, details, (ResolveText.WATCHED_BEFORE, *why))

    def _with_known_states(self, layout: Layout) -> Layout:
        """Add state values that were found earlier, even if no row has them now."""
        before = self._states.get(layout.queue)
        state = layout.state
        if before is None or before.state is None or state is None or not state.learnt:
            return layout
        if before.table != layout.table or before.state.column != state.column:
            return layout
        return replace(layout, state=fill_gaps(before.state, state))

    def _with_new_states(self, layout: Layout, details: TableDetails) -> tuple[Layout, tuple[str, ...]]:
        """Add values for states that no row had when the queue was found, and return the reasons."""
        state = layout.state
        column = details.column(state.column) if state is not None else None
        if state is None or column is None or not state.learnt:
            return layout, ()
        known = self._known_values(layout, details, column.column_name)
        found, why = state_meanings(column, known, layout.design, flag=layout.design == "flag")
        return (layout, ()) if found is None else (replace(layout, state=fill_gaps(state, found)), why)

    def _known_values(self, layout: Layout, details: TableDetails, column: str) -> KnownValues:
        return known_values(details, column, self.catalog, self._seen.get(layout.queue, frozenset()))

    def _needs_list_of_states(self, layout: Layout, details: TableDetails) -> bool:
        """Return whether values have appeared that the queue's state column cannot express."""
        state = layout.state
        if state is None or not state.learnt or layout.id is None or layout.key or layout.data_table is not None:
            return False
        words = words_by_state(self._known_values(layout, details, state.column))
        return str(state.ready) in words.get("ready", ()) and needs_list_of_states(words)

    def add_candidate(self, finding: Candidate) -> None:
        """Add a table that looks like a queue."""
        if finding.layout.table in self._taken:
            return
        if (group := finding.group) is not None:
            self.add_group(group, None)
            return
        with self._record_problems("discovery", finding.layout):
            self._add_layout(
                finding.layout, self._read_details(self._find_table(finding.layout.table)), (*finding.why, *finding.how)
            )

    @contextlib.contextmanager
    def _record_problems(self, probe: str, layout: Layout, last_table_id: int | None = None) -> Iterator[None]:
        """Turn the failure of one queue into a problem, so that the other queues can still be resolved."""
        try:
            yield
            return
        except _RefusedError as problem:
            failure = problem.failure
        except (BadInput, LockTimeout) as problem:
            failure = ProbeFailure(probe, str(problem))
            if (table := self._locked_table(layout)) is not None:
                self.unread[layout.queue] = (layout, table)
                return
        if layout.is_guess and last_table_id is not None and not failure.grant:
            return  # the user never confirmed this queue; its table was dropped, or attached as a partition
        self.problems.append(replace(failure, probe=probe, queue=layout.queue, gone=True))
        if layout.queue not in self.layouts and layout.queue not in self.lost:
            self.lost[layout.queue] = layout
            if last_table_id is not None:
                self.places[layout.queue] = last_table_id

    def _locked_table(self, layout: Layout) -> int | None:
        """Return the id of the queue's table if part of it could not be read because of a lock."""
        found = self._tables_named(layout.table.name)
        named = (t.table_id for t in found if layout.table.schema in ("", t.table_schema))
        return next((table for table in named if table in self.catalog.locked_tables), None)

    def _add_layout(self, layout: Layout, details: TableDetails, reasons: tuple[str, ...]) -> None:
        if (other := self.layouts.get(layout.queue)) is not None:
            raise BadInput(ResolveText.NAME_TAKEN.render(other=other.table, name=layout.queue, table=layout.table))
        data = None
        if layout.data_table is not None:
            data = self._read_details(self._find_table(layout.data_table))
            layout = replace(layout, data_table=data.table.name)
            if layout.data_id is None and any(c.column_name == layout.id for c in data.columns):
                layout = replace(layout, data_id=layout.id)
            if data.column(layout.data_id) is None:
                raise BadInput(ResolveText.NO_DATA_ID.render(table=layout.data_table, column=layout.data_id))
        layout, zones = with_zones(layout, details, self._server_zone)
        require_due_zone(layout)
        layout = drop_missing_state_labels(layout, details)
        check_state(layout, details, self.catalog)
        self.layouts[layout.queue] = layout
        self._taken.add(layout.table)
        self.places[layout.queue] = details.table.table_id
        columns = frozenset(self._divided.get(details.table.table_id, ()))
        divided_by = columns if self.catalog.engine.name == "sqlserver" else frozenset[str]()
        facts = table_facts(layout, details, data, self.sequences, divided_by)
        state = layout.state.column if layout.state is not None else ""
        if state in columns:
            facts = replace(facts, unknown={**facts.unknown, "rates": Reason.PARTITIONED_BY_STATE.render(column=state)})
        was = self._before.get(layout.queue)
        if was is not None and was.table_id == facts.table_id and facts.table_id in self.catalog.locked_tables:
            facts = was  # the lock hid the conditions of its indexes
        self.facts[layout.queue] = self._with_spare_table(layout, details.table, facts)
        self.reasons[layout.queue] = tuple(dict.fromkeys((*reasons, *zones)))

    def _server_zone(self) -> Zone:
        self._local = self._local or server_zone(self.catalog)
        return self._local

    def _with_spare_table(self, layout: Layout, table: TableRow, facts: TableFacts) -> TableFacts:
        """Add the ring's table of spare numbers: numbers that were issued by a sequence and not used (SQL Server)."""
        if self.catalog.engine.name != "sqlserver" or layout.ring is None or layout.ring.turn is None:
            return facts
        name = ObjectName(table.table_schema, table.table_name + SPARE_SUFFIX)
        spare = next((t for t in self._tables_named(name.name) if t.name == name), None)
        if spare is None:
            return facts
        if not spare.readable:
            reason = ResolveText.NO_SLOT_SWEEP.render(table=spare.name)
            self.problems.append(
                ProbeFailure("slot_sweep", reason, layout.queue, self.catalog.grant_statement(spare.name))
            )
            return facts
        return replace(facts, spare_id=spare.table_id, spare=spare.name)

    def _read_details(self, table: TableRow) -> TableDetails:
        if not table.readable:
            raise _RefusedError(
                ProbeFailure(
                    "layout",
                    ResolveText.UNREADABLE.render(table=table.name),
                    grant=self.catalog.grant_statement(table.name),
                )
            )
        if table.table_id not in self._known:
            self._known.update(self.catalog.read_details([table]))
        return self._known[table.table_id]

    def _tables_named(self, name: str) -> list[TableRow]:
        """Return the tables whose names are spelled this way, in all schemas."""
        return [table for table in self._by_name.get(name.lower(), ()) if table.table_name == name]

    def _find_table(self, name: ObjectName, last_table_id: int | None = None) -> TableRow:
        """Return the table of that name. If no table or several tables match, raise ``_RefusedError`` with the problem.

        ``last_table_id``: the id of the table that had this name.
        """
        found = [t for t in self._tables_named(name.name) if name.schema in ("", t.table_schema)]
        if not found:
            schema = name.schema.lower()
            found = [t for t in self._by_name.get(name.name.lower(), ()) if schema in ("", t.table_schema.lower())]
        if len(found) > 1 and len(visible := [t for t in found if t.visible]) == 1:
            found = visible
        if len(found) > 1:
            places = ", ".join(str(t.name) for t in found[:4])
            raise _RefusedError(ProbeFailure("layout", ResolveText.SEVERAL_TABLES.render(name=name, tables=places)))
        if not found and (refused := self._refusal(name)) is not None:
            raise _RefusedError(ProbeFailure("layout", refused))
        moved = None if last_table_id is None else self._by_id.get(last_table_id)
        if not found and moved is not None:
            raise _RefusedError(ProbeFailure("layout", ResolveText.MOVED.render(name=name, now=moved.name)))
        if not found:
            known = [t for t in self.tables if name.schema in ("", t.table_schema)]
            similar = known if 0 < len(known) < 20 else [t for t in self.tables if t.table_name[:1] == name.name[:1]]
            hint = suggest_nearest(name.name, [t.table_name for t in similar], otherwise=ResolveText.LIST_TABLES)
            raise _RefusedError(ProbeFailure("layout", ResolveText.NO_TABLE.render(name=name, hint=hint)))
        return found[0]


class _RefusedError(BadInput):
    """A queue that cannot be resolved."""

    def __init__(self, failure: ProbeFailure) -> None:
        super().__init__(failure.reason)
        self.failure = failure


def _merge_layouts(layout: Layout, registered: Layout) -> Layout:
    """Fill the omitted parts of the user's layout from the registry's."""
    open_ones = {
        name: getattr(registered, name)
        for name in Layout.__dataclass_fields__
        if name not in ("queue", "design", "table", "timeout_s", "source", "producers", "consumers")
        and getattr(layout, name) in (None, ())
    }
    return replace(layout, source=LayoutSource.CONFIGURATION, **open_ones)
