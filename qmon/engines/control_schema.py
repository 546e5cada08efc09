"""Check that no untrusted role can run code through qmon's own schema in a database."""

from __future__ import annotations

from dataclasses import dataclass

from qmon.engines.base import Bound, Connection, Engine
from qmon.engines.result_records import to_records
from qmon.engines.sql import queries
from qmon.errors import BadInput
from qmon.texts import Text


class ControlSchemaText(Text):
    """Why qmon ignores its schema."""

    SCHEMA_IGNORED = "qmon ignores the schema qmon of this database: {object} {problem}; {advice}"
    NOTHING_CHANGED = "{reason}; nothing was changed"


@dataclass(frozen=True, slots=True)
class _Finding:
    object: str
    problem: str
    advice: str


def why_untrusted(connection: Connection, engine: Engine) -> str | None:
    """Return one line that explains why the schema ``qmon`` must not be used and what to do.

    Returns ``None`` if the schema can be trusted or does not exist. Reads only the system catalog. Exceptions of
    ``Connection.fetch`` pass through.
    """
    query = queries.load_query(engine.name, "catalog/trust", connection.version)
    found = to_records(_Finding, connection.fetch(Bound(queries.render(query, {}, engine))))
    if not found:
        return None
    first = found[0]
    return ControlSchemaText.SCHEMA_IGNORED.render(object=first.object, problem=first.problem, advice=first.advice)


def check_trusted(connection: Connection, engine: Engine) -> None:
    """Raise ``BadInput`` if the schema ``qmon`` must not be used; see ``why_untrusted``."""
    if (why := why_untrusted(connection, engine)) is not None:
        raise BadInput(ControlSchemaText.NOTHING_CHANGED.render(reason=why))
