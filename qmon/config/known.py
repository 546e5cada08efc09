"""The targets that can be named: those of ``qmon.toml`` and the ODBC DSNs. Nothing is connected."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from qmon.config.file import Config
from qmon.config.targets import address_of
from qmon.engines.base import EngineName
from qmon.engines.drivers import dsn_of
from qmon.engines.registry import engine_by_words
from qmon.errors import BadInput, MissingDriver

# URLs, for somebody who has never written one.
HOW_TO_WRITE: Final = (
    "postgresql://user@host/database",
    "mssql://login@host/Database",
    "mssql://host/Database (your own account)",
)


@dataclass(frozen=True, slots=True)
class KnownTarget:
    """A target by the name that ``choose`` takes.

    Attributes:
        name: as it is typed.
        engine: its engine; ``None`` where only the server can tell.
        place: where it is, free of secrets: ``db1/shop``; of a DSN the driver's name.
        dsn: it is a DSN that the configuration does not name; ``dsn_of``: whose, ``user`` or ``system``, where that is
            known.
        environment: as the configuration says; ``prod`` and ``read_only``, too.
        queues: how many queues or tables of queues the configuration names.
        problem: why it cannot be used; one line, empty where nothing is known against it.
    """

    name: str
    engine: EngineName | None
    place: str
    dsn: bool = False
    dsn_of: str = ""
    environment: str = ""
    prod: bool = False
    read_only: bool = False
    queues: int = 0
    problem: str = ""


def known_targets(config: Config) -> tuple[KnownTarget, ...]:
    """Those of the configuration in its order, then the DSNs by name. Without a driver manager there are no DSNs."""
    from_file = [_configured(name, config) for name in config.targets]
    return (*from_file, *(each for each in _dsns() if each.name not in config.targets))


def _configured(name: str, config: Config) -> KnownTarget:
    named = config.targets[name]
    engine, place, problem = named.engine, "", ""
    try:
        target = address_of(named, config)
    except BadInput as found:
        problem = str(found)
    else:
        engine, place = engine or target.engine, target.name
    return KnownTarget(
        name,
        engine,
        place,
        environment=named.environment,
        prod=named.prod,
        read_only=named.read_only,
        queues=len(named.queues),
        problem=problem,
    )


def _dsns() -> list[KnownTarget]:
    try:
        from qmon.engines import odbc
    except MissingDriver:
        return []
    return [
        KnownTarget(name, engine_by_words(driver), driver, dsn=True, dsn_of=dsn_of(name))
        for name, driver in sorted(odbc.dsns().items())
    ]
