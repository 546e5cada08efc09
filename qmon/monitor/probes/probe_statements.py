"""Statements of a poll, the record type of their rows, and the results."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from qmon.engines.base import Bound, Engine, Statement, Value
from qmon.engines.sql import queries
from qmon.engines.sql.queries import Name
from qmon.model.groups.conditions import TableColumn
from qmon.model.probe_table import PROBES
from qmon.model.samples.polled_samples import CounterSample, SequenceSample

# Separates a probe's name from its part.
PART: Final = "@"

# The records of each successful statement, keyed by queue and probe.
Results = dict[tuple[str, str], tuple[Any, ...]]


@dataclass(frozen=True, slots=True)
class ProbeStatement:
    """One statement of a poll. ``queue`` is empty for the whole target; ``record`` is the type of its rows.

    ``part``: distinguishes several statements of one probe, whose rows are merged. ``key``: the key of the result until
    the parts are merged.
    """

    probe: str
    record: type
    bound: Bound
    queue: str = ""
    part: str = ""
    key: tuple[str, str] = field(init=False)

    def __post_init__(self) -> None:
        name = f"{self.probe}{PART}{self.part}" if self.part else self.probe
        object.__setattr__(self, "key", (self.queue, name))


@dataclass(slots=True)
class StatementCache:
    """Render each statement once per queue and connection, and cache it until ``retain_only`` drops it."""

    engine: Engine
    version: tuple[int, int]
    _rendered: dict[tuple[str, str], Statement] = field(default_factory=dict)

    def retain_only(self, queues: Collection[str], tables: Collection[int]) -> None:
        """Drop the statements of queues and tables that are not listed. Listed queues and tables must be unchanged."""
        stay = {"", *queues, *(f"{PART}{table}" for table in tables)}
        self._rendered = {key: statement for key, statement in self._rendered.items() if key[0] in stay}

    def has_probe(self, probe: str) -> bool:
        """Return whether this engine, at this version, has the probe."""
        return queries.has_query(self.engine.name, _query_name(probe), self.version)

    def required_names(self, probe: str) -> frozenset[str]:
        """Return the names without which the probe has no statement."""
        return queries.load_query(self.engine.name, _query_name(probe), self.version).required

    def statement_for(
        self,
        probe: str,
        values: Mapping[str, Value] | None = None,
        names: Mapping[str, Name] | None = None,
        queue: str = "",
    ) -> ProbeStatement:
        """Return the statement for one probe of one queue. ``names`` may contain unused names."""
        statement = self._rendered.get((queue, probe))
        if statement is None:
            query = queries.load_query(self.engine.name, _query_name(probe), self.version)
            wanted = {name: (names or {}).get(name) for name in query.names}
            statement = self._rendered[queue, probe] = queries.render(query, wanted, self.engine)
        bound = {name: value for name, value in (values or {}).items() if name in statement.parameters}
        return ProbeStatement(probe, PROBES[probe].record, Bound(statement, bound), queue)

    def uncached_statement_for(
        self, probe: str, values: Mapping[str, Value], names: Mapping[str, Name], queue: str
    ) -> ProbeStatement:
        """Return a statement whose text differs from poll to poll, without caching it."""
        query = queries.load_query(self.engine.name, f"probe/{probe}", self.version)
        statement = queries.render(query, {name: names.get(name) for name in query.names}, self.engine)
        return ProbeStatement(probe, PROBES[probe].record, Bound(statement, values), queue)

    def statement_for_target(self, probe: str, values: Mapping[str, Value] | None = None) -> ProbeStatement:
        """Return the statement for one of ``TARGET_PROBES``. ``values`` replace the values that the probe declares."""
        declared = PROBES[probe]
        ids: dict[str, Value] = {declared.ids: self.engine.ids_value((0,))} if declared.ids else {}
        return self.statement_for(probe, {**ids, **declared.values, **(values or {})})

    def optional_statements_for(self, probe: str, values: Mapping[str, Value] | None = None) -> list[ProbeStatement]:
        """Return the statement of ``statement_for_target``; empty if this engine, at this version, lacks the probe."""
        return [self.statement_for_target(probe, values)] if self.has_probe(probe) else []

    def statements_for_tables(
        self, probe: str, tables: Sequence[int], names: Mapping[int, Mapping[str, Name]] | None = None
    ) -> list[ProbeStatement]:
        """Return the statements of a probe about tables: a single statement if the engine allows it, or one per table.

        A statement for one table gets its id as ``part``. ``names``: the identifiers for the statement of each table,
        keyed by table id.
        """
        if not tables or not self.has_probe(probe):
            return []
        query = queries.load_query(self.engine.name, f"probe/{probe}", self.version)
        if "table_id" not in query.parameters:
            return [self.statement_for(probe, {"tables": self.engine.ids_value(tables)})]
        own = names or {}
        asked = [
            (str(i), self.statement_for(probe, {"table_id": i}, own.get(i), f"{PART}{i}"))
            for i in dict.fromkeys(tables)
        ]
        return [replace(statement, queue="", part=part) for part, statement in asked]


def _query_name(probe: str) -> str:
    declared = PROBES.get(probe)
    return f"probe/{probe if declared is None else declared.query or probe}"


def first_record(results: Results, probe: str, queue: str = "") -> Any:
    """Return the first record of a probe; ``None`` if the probe returned no record, failed or was not run."""
    return next(iter(results.get((queue, probe), ())), None)


@dataclass(frozen=True, slots=True)
class IndexedResults:
    """The results of a poll, indexed once, so that the cost of a lookup does not depend on the number of queues.

    ``queues``: queue → probe → its records. ``partial``: table → why the server shows our role only some of its rows.
    ``masked``: table → masked column → the remedy.
    """

    queues: Mapping[str, Mapping[str, tuple[Any, ...]]]
    counters: Mapping[int, CounterSample]
    partial: Mapping[int, str]
    masked: Mapping[int, Mapping[str, str]]
    sequences: Mapping[int, SequenceSample]

    def records_for(self, queue: str) -> Mapping[str, tuple[Any, ...]]:
        """Return the records of each successful probe of this queue."""
        return self.queues.get(queue, {})

    def masked_in(self, tables: Iterable[tuple[str, int]]) -> dict[TableColumn, str]:
        """Return the remedy for each masked column of these tables, keyed by column.

        ``tables``: the name and the id of each table.
        """
        return {(name, column): helps for name, i in tables for column, helps in self.masked.get(i, {}).items()}


def index_results(results: Results) -> IndexedResults:
    """Index the results of a poll."""
    queues: defaultdict[str, dict[str, tuple[Any, ...]]] = defaultdict(dict)
    for (queue, probe), records in results.items():
        queues[queue][probe] = records
    every = queues[""]
    masked: defaultdict[int, dict[str, str]] = defaultdict(dict)
    for each in every.get("partial", ()):
        if each.column_name is not None:
            masked[each.table_id][each.column_name] = each.helps
    return IndexedResults(
        queues,
        {each.table_id: each for each in every.get("counters", ())},
        {each.table_id: each.why for each in every.get("partial", ()) if each.column_name is None},
        masked,
        {each.sequence_id: each for each in every.get("sequences", ())},
    )
