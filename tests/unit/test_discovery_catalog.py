"""Every catalog statement of both engines returns exactly the fields of its record."""

from __future__ import annotations

from dataclasses import fields

import pytest

from qmon.engines.base import EngineName
from qmon.engines.odbc import COUNT_COLUMNS
from qmon.engines.sql import queries
from qmon.monitor.catalog.catalog import (
    Activity,
    ColumnRow,
    IndexRow,
    ReferenceRow,
    RoleRow,
    SequenceRow,
    TableRow,
    ValuesRow,
)
from qmon.monitor.catalog.discovery.candidates import SlotsRow
from qmon.monitor.catalog.newest_times import TimesRow
from qmon.monitor.catalog.queue_registry import RegistryRow, RegistryState
from qmon.monitor.catalog.state_values import ValueRow
from qmon.operate.install import control_setup
from qmon.pipeline.messages import archive_reader

NEWEST = {"postgres": (99, 0), "sqlserver": (99, 0)}
RECORDS = {
    "catalog/tables": TableRow,
    "catalog/columns": ColumnRow,
    "catalog/indexes": IndexRow,
    "catalog/sequences": SequenceRow,
    "catalog/values": ValuesRow,
    "catalog/activity": Activity,
    "catalog/references": ReferenceRow,
    "catalog/role": RoleRow,
    "catalog/registry": RegistryState,
    "catalog/peek_index": ValueRow,
    "catalog/peek_far": ValueRow,
    "catalog/peek_few": ValueRow,
    "catalog/peek_times": TimesRow,
    "catalog/ring_slots": SlotsRow,
    "catalog/archive_columns": archive_reader.ArchiveColumnRow,
    "catalog/archive_ends": archive_reader.EndsRow,
    "catalog/archive_writers": archive_reader.WriterRow,
    "catalog/archive_messages": archive_reader.ArchivedMessage,
    "catalog/setup": control_setup._ExistingSetup,
    "catalog/setup_objects": control_setup._QueueObject,
    "catalog/setup_right": control_setup._Right,
    "control/registry": RegistryRow,
}


@pytest.mark.parametrize("engine", queries.ENGINES)
@pytest.mark.parametrize("name", RECORDS)
def test_columns_are_fields(engine: EngineName, name: str) -> None:
    query = queries.load_query(engine, name, NEWEST[engine])
    assert set(query.columns) == {field.name for field in fields(RECORDS[name])}


BOTH = sorted(
    name
    for name in {file.name for file in queries.all_files() if file.kind in ("control", "catalog")}
    if all(queries.has_query(engine, name, NEWEST[engine]) for engine in queries.ENGINES)
)


@pytest.mark.parametrize("name", BOTH)
def test_a_statement_of_both_engines_takes_and_gives_the_same_on_both(name: str) -> None:
    postgres, sqlserver = (queries.load_query(engine, name, NEWEST[engine]) for engine in queries.ENGINES)
    one_by_one = tuple("table_id" if parameter == "tables" else parameter for parameter in postgres.parameters)
    assert sqlserver.parameters in (postgres.parameters, one_by_one)
    assert postgres.names - sqlserver.names <= {"schema"}  # which needs its own right on PostgreSQL only
    assert sqlserver.columns in (
        postgres.columns,
        COUNT_COLUMNS,
    )  # PostgreSQL itself reports the number of changed rows


def test_both_engines_have_what_discovery_and_the_registry_ask_for() -> None:
    wanted = {*RECORDS, "control/01_schema", "control/02_queues", "control/register", "control/unregister"}
    assert wanted <= set(BOTH)
