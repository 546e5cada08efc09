"""A superuser's commands in a database where every name in SQL has a twin that is found first."""

from __future__ import annotations

from pathlib import Path

from tests.contract.trust import called_in_sql, faults_of_twins
from tests.contract.watching import installed
from tests.facts import query


def test_no_twin_of_a_function_operator_type_or_catalog_is_used(database: str, tmp_path: Path) -> None:
    """The long form is ``make soak ARGS=--trust``: all commands, all functions, every PostgreSQL that is installed."""
    installed(database, "fifo", "status")
    query(database, "SELECT fifo_push('a'), fifo_push('b'), status_push('c')")
    commands = (("doctor",), ("purge", "status", "--dry-run"))
    assert faults_of_twins(database, tmp_path, called_in_sql(), commands) == []
