"""Statements for the tables of libraries on SQL Server: whole T-SQL, every value bound."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from qmon.engines.sqlserver.sqlserver_engine import SqlServer
from qmon.libraries.library import Library, TableQueue
from qmon.libraries.library_catalog import all_libraries
from qmon.libraries.recognition import Columns, find_table_queues, recognize_libraries
from qmon.model.groups.group import FoundGroup, Group
from qmon.model.samples.group_samples import GroupStateSample
from qmon.monitor.probes.group_probes import GroupProbes
from qmon.monitor.probes.probe_statements import ProbeStatement, StatementCache
from tests.library_tables import tables

KNOWN: Final = [library for library in all_libraries(Path("/nowhere")) if library.engine == "sqlserver"]


def one_type(queue: TableQueue) -> Columns:
    """Return the columns of such a table."""
    return {name: types[0] for name, types in queue.columns.items()}


def statements(library: Library) -> Iterator[ProbeStatement]:
    """Return all statements for one queue whose messages are shown."""
    given = {"dbo": tables(library, "") | {f"Q{n}": one_type(each) for n, each in enumerate(library.queues)}}
    groups = [group for each in recognize_libraries(KNOWN, "sqlserver", given) for group in each.groups]
    for group in (*groups, *(each for each in find_table_queues(KNOWN, "sqlserver", given) if isinstance(each, Group))):
        probes = GroupProbes(StatementCache(SqlServer(), (11, 0)), FoundGroup(group, 1, 1000))
        results = {
            (group.name, f"group_states:{state.key}"): (GroupStateSample(state.name, "mails", 1, 1.0, 0),)
            for state in group.states
        }
        probes.record_results(results, 1.0, 1.0)
        yield from probes.statements_for_poll(100.0, f"{group.name}/mails", 50)


GROUPS: Final = [library for library in KNOWN if any(statements(library))]


@pytest.mark.parametrize("library", GROUPS, ids=lambda library: library.name)
def test_each_state_is_asked_for_with_its_values_bound(library: Library) -> None:
    asked = list(statements(library))
    assert {each.probe.partition(":")[0] for each in asked} >= {"group_states", "group_messages"}
    for each in asked:
        assert each.bound.statement.text.count("?") == len(each.bound.statement.parameters)


def asked_of_libraries() -> list[str]:
    """Return the statements for the queues of libraries."""
    texts = [each.bound.statement.text.replace("?", "@x") for library in KNOWN for each in statements(library)]
    assert {library.name for library in KNOWN} - {library.name for library in GROUPS} == {"nservicebus"}
    assert len(texts) > 10
    return texts
