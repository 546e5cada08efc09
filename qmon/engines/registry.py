"""The engines by name, and which of them a target needs. Nothing here loads the driver before it must."""

from __future__ import annotations

from functools import cache
from typing import Final

from qmon.engines.base import Engine, EngineName, Target
from qmon.engines.bounded_calls import log_in
from qmon.engines.keywords import lookup
from qmon.errors import BadInput

# Words in the names of drivers and servers, in lower case.
_MARKS: Final[tuple[tuple[str, EngineName], ...]] = (
    ("postgres", "postgres"),
    ("psqlodbc", "postgres"),
    ("sql server", "sqlserver"),
    ("msodbcsql", "sqlserver"),
    ("freetds", "sqlserver"),
    ("tdsodbc", "sqlserver"),
)
_LOGIN_S: Final = 5.0


@cache
def engine(name: EngineName) -> Engine:
    """The engine of this name."""
    if name == "postgres":
        from qmon.engines.postgres.engine import Postgres

        return Postgres()
    from qmon.engines.sqlserver.engine import SqlServer

    return SqlServer()


def engine_for(target: Target) -> Engine:
    """The engine of a target: as its URL says, or its driver's name, or else what the server says it is.

    Only the last connects. Raises ``BadInput`` for a server qmon does not know or a DSN there is none of, and what
    connecting raises.
    """
    if target.engine is not None:
        return engine(target.engine)
    driver = lookup(target.parameters, "Driver")
    if driver is None and (dsn := lookup(target.parameters, "DSN")) is not None:
        from qmon.engines import odbc

        driver = odbc.dsn_driver(dsn)
    name = engine_by_words(driver or "")
    return engine(name) if name is not None else engine(_ask(target))


def engine_by_words(words: str) -> EngineName | None:
    """The engine of a driver or server that is called so; ``None`` where the words do not tell."""
    lowered = words.lower()
    return next((name for mark, name in _MARKS if mark in lowered), None)


def _ask(target: Target) -> EngineName:
    """Connect and let the server say what it is."""
    from qmon.engines import odbc
    from qmon.engines.postgres import errors

    def ask() -> str:
        # No timeout of ours: psqlODBC refuses one beside a connect_timeout in the DSN.
        raw = odbc.connect(
            dict(target.parameters), target.password, None, lambda fault: errors.connecting(fault, target)
        )
        try:
            return odbc.server_kind(raw)
        finally:
            raw.close()

    kind = log_in(target.name, _LOGIN_S, ask, lambda _: None)
    name = engine_by_words(kind)
    if name is None:
        raise BadInput(f"{target.name}: qmon knows PostgreSQL and SQL Server, not {kind or 'this server'}")
    return name
