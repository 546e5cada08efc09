"""Set up the roles of qmon, and log in with one of them."""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Iterator

import pytest

from qmon.monitor.catalog.resolve import resolve_queues
from qmon.operate.install.control_setup import ControlRole, plan_control_setup, run_setup
from tests.facts import query
from tests.queues import ENGINE, opened


def set_up(url: str, role: ControlRole) -> None:
    """Run ``qmon setup`` as the owner of the database."""
    with opened(url) as connection:
        resolved = resolve_queues(connection, ENGINE, [], by_shape=False, readable_only=False)
        ids = [i for facts in resolved.facts.values() for i in facts.object_ids]
        outcomes = run_setup(connection, plan_control_setup(connection, ENGINE, role, ids, resolved.layouts))
    assert [each for each in outcomes if each.problem] == []


@contextlib.contextmanager
def login(url: str, role: ControlRole) -> Iterator[str]:
    """Yield the URL of the database for a new login that has only this role."""
    name = f"{role}_{secrets.token_hex(4)}"
    query(url, f"CREATE ROLE {name} LOGIN IN ROLE qmon_{role}")
    try:
        yield url.replace("postgres@", f"{name}@", 1)
    finally:
        query(url, f"DROP OWNED BY {name}")
        query(url, f"DROP ROLE {name}")


def kept_out(url: str, *statements: str) -> None:
    for statement in statements:
        with pytest.raises(Exception, match=r"42501|permission denied|must be owner"):
            query(url, statement)
