"""What tests of actions need: a desk at a test's database with an audit of its own, and applying a plan to the end."""

from __future__ import annotations

from pathlib import Path

from qmon.engines.base import Connection, Session
from qmon.model.operations import Progress, Result
from qmon.operate.acting import Desk, Permission, Prepared, Who
from tests.queues import ENGINE, target_of

REASON = Permission("a test")


def desk_at(url: str, folder: Path, **more: object) -> Desk:
    """A desk at the database of the URL, whose audit is in the folder. ``more``: other fields of it."""
    target = target_of(url)

    def connect(purpose: str) -> Connection:
        return ENGINE.connect(target, Session(purpose, statement_timeout_s=60, lock_timeout_s=5))

    given: dict[str, object] = {"target": target, "audit": folder / "operations.jsonl", "who": Who("anna@test"), **more}
    return Desk(connect, ENGINE, **given)  # type: ignore[arg-type]


def applied(prepared: Prepared, permission: Permission = REASON) -> Result:
    """Apply a plan, without ever stopping it."""
    told: list[Progress] = []
    result = prepared.apply(permission, told.append, lambda: False)
    for each in told:
        assert each.done + each.skipped + each.changed <= each.total
    return result
