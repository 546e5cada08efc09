"""Statements for the tables of libraries on SQL Server: whole T-SQL, every value bound."""

from __future__ import annotations

import pytest

from qmon.libraries.library import Library
from tests.unit.sent_tsql import WITH_STATEMENTS, library_statements


@pytest.mark.parametrize("library", WITH_STATEMENTS, ids=lambda library: library.name)
def test_each_state_is_asked_for_with_its_values_bound(library: Library) -> None:
    asked = list(library_statements(library))
    assert {each.probe.partition(":")[0] for each in asked} >= {"group_states", "group_messages"}
    for each in asked:
        assert each.bound.statement.text.count("?") == len(each.bound.statement.parameters)
