"""Which rights our role has of those that qmon can use, and what each gives: the map that ``qmon doctor`` prints."""

from __future__ import annotations

from dataclasses import dataclass

from qmon.engines.base import Bound, Connection, Engine
from qmon.engines.rows import records
from qmon.engines.sql import queries


@dataclass(frozen=True, slots=True)
class Right:
    """One right. ``grant``: the statement that gives it; whoever may grant runs it, qmon never does."""

    name: str
    held: bool
    gives: str
    grant: str


def rights(connection: Connection, engine: Engine) -> tuple[Right, ...]:
    """The rights of this engine and version, the most useful first. Raises what ``Connection.fetch`` raises."""
    query = queries.load(engine.name, "catalog/rights", connection.version)
    statement = queries.render(query, {}, engine)
    return tuple(records(Right, connection.fetch(Bound(statement))))
