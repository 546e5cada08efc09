"""Find an engine by its name or by a target. The driver is loaded only when needed."""

from __future__ import annotations

from functools import cache
from typing import Final

from qmon.engines.base import Engine, EngineName, Target
from qmon.engines.bounded_calls import log_in
from qmon.engines.odbc_keywords import lookup_keyword
from qmon.errors import BadInput
from qmon.texts import Text


class RegistryText(Text):
    """Errors about kinds of servers."""

    NOT_SUPPORTED = "{target}: qmon supports PostgreSQL and SQL Server, not {kind}"


# Words in the names of drivers and servers, in lower case.
_ENGINE_WORDS: Final[tuple[tuple[str, EngineName], ...]] = (
    ("postgres", "postgres"),
    ("psqlodbc", "postgres"),
    ("sql server", "sqlserver"),
    ("msodbcsql", "sqlserver"),
    ("freetds", "sqlserver"),
    ("tdsodbc", "sqlserver"),
)
_LOGIN_S: Final = 5.0


@cache
def engine_named(name: EngineName) -> Engine:
    """Return the engine with this name."""
    if name == "postgres":
        from qmon.engines.postgres.postgres_engine import Postgres

        return Postgres()
    from qmon.engines.sqlserver.sqlserver_engine import SqlServer

    return SqlServer()


def engine_for(target: Target) -> Engine:
    """Return the engine of a target, judged by the target's URL, the driver's name, or the server itself.

    This function connects only if it must ask the server. Raises ``BadInput`` for an unknown server or DSN. Errors
    while connecting pass through.
    """
    if target.engine is not None:
        return engine_named(target.engine)
    driver = lookup_keyword(target.parameters, "Driver")
    if driver is None and (dsn := lookup_keyword(target.parameters, "DSN")) is not None:
        from qmon.engines import odbc

        driver = odbc.find_dsn_driver(dsn)
    name = engine_from_words(driver or "")
    return engine_named(name) if name is not None else engine_named(_read_engine_name(target))


def engine_from_words(text: str) -> EngineName | None:
    """Return the engine of a driver or server with this name, or ``None`` if the name does not show the engine."""
    lowered = text.lower()
    return next((name for mark, name in _ENGINE_WORDS if mark in lowered), None)


def _read_engine_name(target: Target) -> EngineName:
    """Connect and ask the server for its product name."""
    from qmon.engines import odbc
    from qmon.engines.postgres import postgres_errors

    def ask() -> str:
        # No timeout is given, because psqlODBC refuses a timeout if the DSN has a connect_timeout.
        raw = odbc.connect(
            dict(target.parameters),
            target.password,
            None,
            lambda fault: postgres_errors.connecting_error(fault, target),
        )
        try:
            return odbc.server_kind(raw)
        finally:
            raw.close()

    kind = log_in(target.name, _LOGIN_S, ask, lambda _: None)
    name = engine_from_words(kind)
    if name is None:
        raise BadInput(RegistryText.NOT_SUPPORTED.render(target=target.name, kind=kind or "this server"))
    return name
