"""List the targets of ``qmon.toml`` and the ODBC DSNs, without connecting."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from qmon.config.chosen_target import target_at_address
from qmon.config.config_file import Config
from qmon.engines.base import EngineName
from qmon.engines.drivers import dsn_owner
from qmon.engines.registry import engine_from_words
from qmon.errors import BadInput, MissingDriver

# Examples of URLs.
URL_EXAMPLES: Final = (
    "postgresql://user@host/database",
    "mssql://login@host/Database",
    "mssql://host/Database (your own account)",
)


@dataclass(frozen=True, slots=True)
class KnownTarget:
    """A target with a name that ``find_target`` accepts.

    Attributes:
        name: the name to type.
        engine: the target's engine; ``None`` if qmon must ask the server.
        place: the address without secrets, such as ``db1/shop``. For a DSN, the driver's name.
        dsn: true if the target is a DSN that the configuration does not name.
        dsn_of: owner of the DSN, ``user`` or ``system``, if known.
        environment, prod, read_only: as in the configuration.
        queues: number of queues, or of tables with queues, in the configuration.
        problem: why the target cannot be used, in one line; empty if no problem is known.
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
    """Return the configured targets in the order of the file, then the DSNs by name.

    If there is no driver manager, there are no DSNs.
    """
    from_file = [_configured_target(name, config) for name in config.targets]
    return (*from_file, *(each for each in _odbc_dsn_targets() if each.name not in config.targets))


def _configured_target(name: str, config: Config) -> KnownTarget:
    named = config.targets[name]
    engine, place, problem = named.engine, "", ""
    try:
        target = target_at_address(named, config)
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


def _odbc_dsn_targets() -> list[KnownTarget]:
    try:
        from qmon.engines import odbc
    except MissingDriver:
        return []
    return [
        KnownTarget(name, engine_from_words(driver), driver, dsn=True, dsn_of=dsn_owner(name))
        for name, driver in sorted(odbc.known_dsns().items())
    ]
