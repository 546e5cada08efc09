"""Find the target that the user named by a name in ``qmon.toml``, a URL, a connection string or a DSN."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from qmon.config.config_file import Config, TargetConfig
from qmon.config.credentials import (
    KEYRING_SERVICE,
    command_line_warning,
    password_advice,
    password_from_environment,
    password_variable,
)
from qmon.engines.base import Target
from qmon.engines.odbc_keywords import lookup_keyword, parse_connection_string, split_password
from qmon.engines.registry import engine_from_words
from qmon.engines.urls import read_url
from qmon.errors import BadInput
from qmon.model.config_reader import suggest_nearest
from qmon.model.cost_budget import Budget
from qmon.model.groups.configured_queue import ConfiguredQueue
from qmon.texts import Text


class TargetText(Text):
    """Why a text does not name a target that qmon may connect to."""

    VARIABLE_TAKEN = (
        "{variable} holds the password of {targets} in {path}, but this may be another server: name that target"
        " instead, or unset the variable"
    )
    ALL_AND_NAMES = "--all selects every target in the configuration: leave out the names"
    ALL_OF_NONE = "--all selects every target in {path}, but this file has no targets"
    NO_TARGET = "TARGET is missing: name one or more targets or fleets, or give --all"
    SHARED_VARIABLE = (
        "{variable} would hold the password of {target} and of {others}: give one target another name, or store their"
        " passwords with 'keyring set {service} {target}' and unset the variable"
    )
    KEY = "{path}: target.{target}.connect"
    AT_KEY = "{key}: {problem}"
    NOT_FOR_THE_FILE = "{key}: contains a password, which must not be in this file; remove it and {advice}"
    QMON_SERVE = "only qmon connect can connect to a qmon serve; give the database instead"
    JDBC = "qmon does not read JDBC URLs; write {url}"
    ADO_NET = "the connection string has neither DRIVER nor DSN; if it is for ADO.NET, write {url}"
    NO_DRIVER = "the connection string has neither DRIVER nor DSN"
    EMPTY = "the target is empty: give a DSN, a URL, a connection string, or a name from qmon.toml"
    FLEET = "{name!r} is a fleet in {path}, but this command needs a single target"
    PART_OF_URL = "this is not a target; a URL starts with postgresql:// or mssql://"
    UNKNOWN = "{name!r} is neither a target in {path} nor a DSN{nearest}"


_ODBC: Final = re.compile(r"(?:^|;)\s*(?:driver|dsn|filedsn)\s*=", re.I)
COMMAND_LINE: Final = "the command line"


@dataclass(frozen=True, slots=True)
class FoundTarget:
    """A target, its configured queues, and warnings for the user."""

    target: Target
    queues: tuple[ConfiguredQueue, ...] = ()
    warnings: tuple[str, ...] = ()


def find_target(text: str, config: Config, environment: Mapping[str, str] | None = None) -> FoundTarget:
    """Return the target that the user named, without connecting.

    Raises ``BadInput`` with the nearest name if there is no such target. Raises ``MissingDriver`` if ``text`` may be a
    DSN but there is no driver manager. No message repeats a URL or connection string, because ``text`` may contain a
    password.
    """
    environment = os.environ if environment is None else environment
    named = config.targets.get(text)
    if named is not None:
        _refuse_shared(text, config, environment)
        return _with_password(_configured_target(named, config), named.queues, (), environment)
    target = _parse_target(text.strip(), COMMAND_LINE)
    if target is None:
        target = _dsn_target(text.strip(), config)
    warnings: tuple[str, ...] = ()
    if target.password is not None:
        warnings = (command_line_warning(target.name),)
    elif taken := _targets_sharing_variable(target.name, config, environment):
        raise BadInput(
            TargetText.VARIABLE_TAKEN.render(
                variable=password_variable(target.name), targets=", ".join(taken), path=config.path
            )
        )
    target = replace(target, budget=default_budget(config), raised_hidden=bool(config.settings.redact))
    return _with_password(target, (), warnings, environment)


def expand_names(texts: Sequence[str], config: Config, *, all_targets: bool = False) -> list[str]:
    """Return the names of the targets to use. A fleet is replaced by those of its targets that are not already listed.

    If ``texts`` contains the name of a target twice, so does the result. ``all_targets``: return all targets of the
    file instead. Raises ``BadInput`` if no target is named, or if names are given together with ``all_targets``.
    """
    if all_targets and texts:
        raise BadInput(TargetText.ALL_AND_NAMES)
    if all_targets and not config.targets:
        raise BadInput(TargetText.ALL_OF_NONE.render(path=config.path))
    if not all_targets and not texts:
        raise BadInput(TargetText.NO_TARGET)
    out: list[str] = []
    for text in config.targets if all_targets else texts:
        members = config.fleets.get(text)
        out += [text] if members is None else [name for name in members if name not in out and name not in texts]
    return out


def _refuse_shared(name: str, config: Config, environment: Mapping[str, str]) -> None:
    """Raise ``BadInput`` if another target has the same password variable."""
    same = [other for other in _targets_sharing_variable(name, config, environment) if other != name]
    if same:
        raise BadInput(
            TargetText.SHARED_VARIABLE.render(
                variable=password_variable(name), target=name, others=", ".join(same), service=KEYRING_SERVICE
            )
        )


def _targets_sharing_variable(name: str, config: Config, environment: Mapping[str, str]) -> list[str]:
    """Return the configured targets with the same password variable as ``name``. Empty if the variable is not set."""
    mine = password_variable(name)
    return (
        sorted(other for other in config.targets if password_variable(other) == mine)
        if environment.get(mine or "")
        else []
    )


def default_budget(config: Config) -> Budget:
    """Return the cost budget of targets without their own budget: ``budget_percent`` of the settings."""
    return Budget(config.settings.budget_percent / 100)


def _with_password(
    target: Target, queues: tuple[ConfiguredQueue, ...], warnings: tuple[str, ...], environment: Mapping[str, str]
) -> FoundTarget:
    if target.password is None:
        target = replace(target, password=password_from_environment(target, environment))
    return FoundTarget(target, queues, warnings)


def target_at_address(named_target: TargetConfig, config: Config) -> Target:
    """Return the target at the configured address. Its name is the address. Raises ``BadInput`` with file and key."""
    where = TargetText.KEY.render(path=config.path, target=named_target.name)
    try:
        target = _parse_target(named_target.connect, where)
    except BadInput as problem:
        raise BadInput(TargetText.AT_KEY.render(key=where, problem=problem)) from None
    if target is None:
        target = Target(f"DSN {named_target.connect}", None, {"DSN": named_target.connect})
    if target.password is not None:
        raise BadInput(TargetText.NOT_FOR_THE_FILE.render(key=where, advice=password_advice(named_target.name)))
    return target


def _configured_target(named_target: TargetConfig, config: Config) -> Target:
    target = target_at_address(named_target, config)
    return replace(
        target,
        name=named_target.name,
        engine=named_target.engine or target.engine,
        environment=named_target.environment,
        prod=named_target.prod,
        read_only=named_target.read_only,
        schema_owner=named_target.schema_owner,
        budget=named_target.budget or default_budget(config),
        raised_hidden=bool(config.settings.redact),
    )


def _parse_target(text: str, origin: str) -> Target | None:
    """Return the target of a URL or connection string, or ``None`` if the text is something else."""
    if text.lower().startswith(("http://", "https://")):
        raise BadInput(TargetText.QMON_SERVE)
    if re.match(r"[A-Za-z][A-Za-z0-9+.-]*://", text):
        address = read_url(text, origin)
        return Target(address.place, address.engine, address.keywords, password=address.password)
    if text.lower().startswith("jdbc:"):
        raise BadInput(TargetText.JDBC.render(url=_url_for(text)))
    if "=" not in text:
        return None
    if not _ODBC.search(text):
        raise BadInput(TargetText.ADO_NET.render(url=_url_for(text)))
    keywords, password = split_password(parse_connection_string(text), origin)
    driver, dsn = lookup_keyword(keywords, "Driver"), lookup_keyword(keywords, "DSN")
    if not (driver or dsn or lookup_keyword(keywords, "FILEDSN")):
        raise BadInput(TargetText.NO_DRIVER)
    server, database = (
        lookup_keyword(keywords, "Server", "Servername") or "",
        lookup_keyword(keywords, "Database") or "",
    )
    server = "localhost" if server.startswith("/") else server.removeprefix("tcp:")
    name = dsn or "/".join(part for part in (server, database) if part) or "localhost"
    return Target(name, engine_from_words(driver or ""), keywords, password=password)


def _url_for(text: str) -> str:
    """Return an example URL to use instead of a JDBC URL or .NET connection string. It repeats no part of ``text``."""
    if re.search(r"postgresql|(?:^|;)\s*(?:host|username)\s*=", text, re.I):
        return "postgresql://user@host:5432/database"
    return "mssql://user@host:1433/Database"


def _dsn_target(name: str, config: Config) -> Target:
    from qmon.engines import odbc

    if not name:
        raise BadInput(TargetText.EMPTY)
    driver = odbc.find_dsn_driver(name)
    if driver is None:
        if name in config.fleets:
            raise BadInput(TargetText.FLEET.render(name=name, path=config.path))
        known = (*config.targets, *odbc.known_dsns())
        if "@" in name:  # a URL whose beginning is missing, possibly with a password
            raise BadInput(TargetText.PART_OF_URL)
        raise BadInput(TargetText.UNKNOWN.render(name=name, path=config.path, nearest=suggest_nearest(name, known)))
    return Target(name, engine_from_words(driver), {"DSN": name})
