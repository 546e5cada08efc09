"""Read the counters and the usage of tables and their indexes with a single statement (SQL Server)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from qmon.engines.sql.queries import Name
from qmon.model.probe_constants import TABLE_COUNTERS_PROBE
from qmon.model.samples.polled_samples import CounterSample
from qmon.model.samples.usage_samples import TableCounterSample, UseSample
from qmon.monitor.probes.probe_statements import ProbeStatement, Results, StatementCache


def statements_for_counters(
    statements: StatementCache, tables: Sequence[int], names: Mapping[int, Mapping[str, Name]] | None = None
) -> list[ProbeStatement]:
    """Return the statements for the counters of these tables, as the engine provides them.

    ``names``: see ``StatementCache.statements_for_tables``.
    """
    own = statements.statements_for_tables(TABLE_COUNTERS_PROBE, tables, names)
    return own or statements.statements_for_tables("counters", tables, names)


def split_results(results: Results) -> None:
    """Split the rows of this probe into ``counters`` and ``uses``, which are separate probes on other engines."""
    rows: tuple[TableCounterSample, ...] | None = results.pop(("", TABLE_COUNTERS_PROBE), None)
    if rows is not None:
        results["", "counters"] = tuple(_to_counters(row) for row in rows if not row.index_id)
        results["", "uses"] = tuple(_to_use(row) for row in rows if row.index_id is not None)


def _to_counters(row: TableCounterSample) -> CounterSample:
    return CounterSample(
        table_id=row.table_id,
        inserted=row.inserted or 0,
        updated=row.updated or 0,
        deleted=row.deleted or 0,
        hot_updated=0,
        live=row.live or 0,
        dead=0,
        modified_since_analyze=None,
        vacuums=0,
        analyzes=0,
        bytes=row.bytes or 0,
        called=row.called,
        files=row.files,
        readable=row.readable,
        counted=row.inserted is not None,
        partitions=row.partitions,
        altered=row.altered,
    )


def _to_use(row: TableCounterSample) -> UseSample:
    return UseSample(
        table_id=row.table_id,
        index_id=row.index_id or 0,
        name=row.name or "",
        role=row.role,
        scans=row.scans,
        rows_read=None,
        pages=None,
        own_rows=None,
        own_pages=None,
        bytes=row.bytes,
        latch_waits=row.latch_waits,
        latch_wait_s=row.latch_wait_s,
        lock_waits=row.lock_waits,
        lock_wait_s=row.lock_wait_s,
        splits=row.splits,
        forwarded=row.forwarded,
        io_waits=row.io_waits,
        escalations_tried=row.escalations_tried,
        escalations=row.escalations,
        sequential=row.sequential,
        ghosted=row.ghosted,
    )
