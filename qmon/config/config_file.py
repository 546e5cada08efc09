"""Read ``qmon.toml``. Every error is one line with the file and the path of the key."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import platformdirs

from qmon import files
from qmon.config.receivers import Receiver, receivers_from_list
from qmon.config.slo import Objective, objectives_from_list
from qmon.engines.base import EngineName
from qmon.errors import BadInput
from qmon.libraries.library_catalog import add_config_folder, all_libraries
from qmon.model.alerts.alert_rules import AlertRule, matches_pattern
from qmon.model.alerts.rule_parser import rules_from_list
from qmon.model.config_reader import Keys, suggest_nearest
from qmon.model.cost_budget import Budget, parse_budget
from qmon.model.groups.configured_queue import ConfiguredQueue, NamedLibrary, configured_name, queue_from_dict
from qmon.model.layout.layout import ObjectName
from qmon.redact import build_redactor
from qmon.system import read_text
from qmon.texts import Text


class ConfigText(Text):
    """Faults of the configuration file."""

    NO_FILE = "{path}: there is no such file"
    NOT_UTF8 = "it is not UTF-8 text"
    UNREADABLE = "{path}: cannot be read: {reason}"
    UNWRITABLE = "{path}: cannot be written: {reason}"
    UNSAFE = "{path}: contains {what}, but {why}"
    A_COMMAND = "a command to run"
    A_DRIVER = "the path of a driver"
    NESTED = "{path}: brackets are nested too deeply"
    NOT_TOML = "{path}: {problem}"
    NAME_TAKEN = "a target already has this name"
    NO_FLEET_NAME = "a fleet needs a name"
    NO_FLEET_TARGETS = "{key}: a fleet needs targets"
    NO_SUCH_TARGET = "{key}: no target is called {pattern!r}{nearest}"
    NO_TARGET_NAME = "{key}: a target needs a name"
    NO_TARGET_KEYS = "{key}: a target needs keys"
    AT_KEY = "{key}: {problem}"
    BUDGET = '{key}: must be like "1%" of one processor, "10ms/s", or "100ms" per poll'
    QUEUE_TWICE = "{key}.name: a queue {queue!r} is already defined above"
    INTERVAL = "{key}: must be from 500ms to 1m"
    BUDGET_PERCENT = "{key}: must be more than 0 and at most 100"


MIN_INTERVAL_S: Final = 0.5
MAX_INTERVAL_S: Final = 60.0
_MAX_BYTES: Final = 4 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of qmon.

    - ``interval_s``: seconds between polls.
    - ``budget_percent``: the share of one of the server's processors that qmon may use, in percent.
    - ``theme``: theme of the dashboard; empty for the default theme.
    - ``redact``: regular expressions. All screens and reports hide matching parts of payloads.
    - ``trash_days``: days for which purged rows are kept.
    """

    interval_s: float = 2.0
    budget_percent: float = 1.0
    theme: str = ""
    redact: tuple[str, ...] = ()
    trash_days: float = 7.0


@dataclass(frozen=True, slots=True)
class TargetConfig:
    """One ``[target.NAME]``. ``connect`` is a DSN name, a connection string or a URL, without a password.

    - ``written``: the target's queues, keyed by name, as written in the file.
    - ``budget``: cost budget of this target; ``None`` if the budget of the settings applies.
    - ``baselines``: file with the usual values for each hour of the week.
    """

    name: str
    connect: str
    engine: EngineName | None = None
    environment: str = ""
    prod: bool = False
    read_only: bool = False
    schema_owner: str = ""
    queues: tuple[ConfiguredQueue, ...] = ()
    written: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    budget: Budget | None = None
    baselines: Path | None = None

    def names_table(self, table: ObjectName) -> bool:
        """Return whether the target has a queue in this table. A name without a schema matches any schema."""
        named = [each.table for each in self.queues if not isinstance(each, NamedLibrary)]
        return any(each.name == table.name and each.schema in ("", table.schema) for each in named)


_DRIVER_LIBRARY: Final = re.compile(r"driver\s*=\s*\{?[^;&}]*(?:[/\\]|%2f|%5c)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class AlertSettings:
    """How alerts are reported.

    ``bell``: true to ring the terminal's bell. ``group_wait_s``: seconds for which a notice waits for other notices.
    """

    bell: bool = True
    group_wait_s: float = 10.0


@dataclass(frozen=True, slots=True)
class Config:
    """The whole configuration. ``path``: path of the file, which may be missing.

    ``fleets``: names of the targets of each fleet.
    """

    path: Path
    targets: Mapping[str, TargetConfig] = field(default_factory=dict)
    settings: Settings = field(default_factory=Settings)
    alerts: tuple[AlertRule, ...] = ()
    alerting: AlertSettings = field(default_factory=AlertSettings)
    receivers: tuple[Receiver, ...] = ()
    fleets: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    objectives: tuple[Objective, ...] = ()


def default_path() -> Path:
    """Return the default path of ``qmon.toml``. It is in the user's configuration folder."""
    return platformdirs.user_config_path("qmon") / "qmon.toml"


def read_config(path: Path | None = None) -> Config:
    """Read the file. Without ``path``, read the default file, which need not exist.

    From now on, this process also uses the library files next to this file.

    Raises ``BadInput`` with the file and the key. Also raises ``BadInput`` if other users may change the file and it
    contains a command or driver to run.
    """
    place = path or default_path()
    add_config_folder(place.parent)
    try:
        text, why = read_text(place, _MAX_BYTES), files.why_others_can_write(place)
    except FileNotFoundError:
        if path is None:
            return Config(place)
        raise BadInput(ConfigText.NO_FILE.render(path=place)) from None
    except (OSError, UnicodeError) as problem:
        reason = problem.strerror if isinstance(problem, OSError) else ConfigText.NOT_UTF8
        raise BadInput(ConfigText.UNREADABLE.render(path=place, reason=reason)) from None
    config = parse_config(text, place)
    if why is not None and (named := _describe_executed(config)):
        raise BadInput(ConfigText.UNSAFE.render(path=place, what=named, why=why))
    return config


def _describe_executed(config: Config) -> str:
    """Describe the command, or the library of a driver, that qmon would run as the user; empty if there is none."""
    if any(each.command for each in config.receivers):
        return ConfigText.A_COMMAND
    return ConfigText.A_DRIVER if any(_DRIVER_LIBRARY.search(each.connect) for each in config.targets.values()) else ""


def parse_config(text: str, path: Path) -> Config:
    """Return the configuration in the text of a file. Raises ``BadInput`` with the file and the key."""
    try:
        raw = tomllib.loads(text)
    except RecursionError:
        raise BadInput(ConfigText.NESTED.render(path=path)) from None
    except ValueError as problem:  # also raised for a number with more digits than Python reads
        raise BadInput(ConfigText.NOT_TOML.render(path=path, problem=problem)) from None
    keys = Keys(raw, f"{path}: ")
    targets = keys.nested_keys("target")
    settings = keys.parse_nested("settings", _read_settings) or Settings()
    alerts = rules_from_list(keys.tables("alert"), keys.path("alert"))
    alerting = keys.parse_nested("alerts", lambda alerts: alerts.record(AlertSettings)) or AlertSettings()
    receivers = receivers_from_list(keys.tables("notify"), keys.path("notify"))
    objectives = objectives_from_list(keys.tables("slo"), keys.path("slo"))
    fleets = keys.nested_keys("fleets")
    keys.reject_unknown_keys()
    found = {} if targets is None else {name: _read_target(targets, name, path.parent) for name in targets.raw}
    named = {} if fleets is None else {name: _read_fleet(fleets, name, found) for name in fleets.raw}
    return Config(path, found, settings, alerts, alerting, receivers, named, objectives)


def _read_fleet(fleets: Keys, name: str, targets: Collection[str]) -> tuple[str, ...]:
    """Return the targets of one fleet without duplicates, sorted by their patterns and then as in the file."""
    where, patterns = fleets.path(name), fleets.texts(name)
    if not name.strip() or name in targets:
        raise BadInput(f"{where}: " + (ConfigText.NAME_TAKEN if name in targets else ConfigText.NO_FLEET_NAME))
    if not patterns:
        raise BadInput(ConfigText.NO_FLEET_TARGETS.render(key=where))
    out: dict[str, None] = {}
    for pattern in patterns:
        fitting = [target for target in targets if matches_pattern(pattern, target)]
        if not fitting:
            raise BadInput(
                ConfigText.NO_SUCH_TARGET.render(
                    key=where, pattern=pattern, nearest=suggest_nearest(pattern, sorted(targets))
                )
            )
        out |= dict.fromkeys(fitting)
    return tuple(out)


def _read_target(targets: Keys, name: str, folder: Path) -> TargetConfig:
    if not name.strip():
        raise BadInput(ConfigText.NO_TARGET_NAME.render(key=targets.where))
    keys = targets.nested_keys(name)
    if keys is None:
        raise BadInput(ConfigText.NO_TARGET_KEYS.render(key=targets.where))
    queues = _read_queues(keys)
    return keys.record(
        TargetConfig,
        {Budget: _read_budget, Path: lambda keys, key: _read_path(keys, key, folder)},
        name=name,
        queues=queues,
        written=dict(zip(map(configured_name, queues), keys.tables("queue"), strict=True)),
    )


def _read_path(keys: Keys, name: str, folder: Path) -> Path | None:
    """Return the path of a file. A relative path starts at the folder of the configuration file."""
    text = keys.text(name)
    if text is None:
        return None
    try:
        return files.resolve_user_path(text, folder)
    except BadInput as problem:
        raise BadInput(ConfigText.AT_KEY.render(key=keys.path(name), problem=problem)) from None


def _read_budget(keys: Keys, name: str) -> Budget | None:
    text = keys.text(name)
    budget = parse_budget(text) if text is not None else None
    if text is not None and budget is None:
        raise BadInput(ConfigText.BUDGET.render(key=keys.path(name)))
    return budget


def _read_queues(keys: Keys) -> tuple[ConfiguredQueue, ...]:
    out: dict[str, ConfiguredQueue] = {}
    found = keys.tables("queue")
    known = sorted({library.name for library in all_libraries()}) if any("library" in raw for raw in found) else []
    for number, raw in enumerate(found, 1):
        where = f"{keys.path('queue')}[{number}]"
        queue = queue_from_dict(raw, where=where, libraries=known)
        name = configured_name(queue)
        if name in out:
            raise BadInput(ConfigText.QUEUE_TWICE.render(key=where, queue=name))
        out[name] = queue
    return tuple(out.values())


def _read_settings(keys: Keys) -> Settings:
    trash_s = keys.seconds("trash")
    trash_days = Settings().trash_days if trash_s is None else trash_s / 86_400.0
    settings = keys.record(Settings, redact=_read_redact(keys), trash_days=trash_days)
    if not MIN_INTERVAL_S <= settings.interval_s <= MAX_INTERVAL_S:
        raise BadInput(ConfigText.INTERVAL.render(key=keys.path("interval")))
    if not 0 < settings.budget_percent <= 100:
        raise BadInput(ConfigText.BUDGET_PERCENT.render(key=keys.path("budget_percent")))
    return settings


def _read_redact(keys: Keys) -> tuple[str, ...]:
    patterns = tuple(keys.texts("redact"))
    for pattern in patterns:
        try:
            build_redactor([pattern])
        except BadInput as problem:
            raise BadInput(ConfigText.AT_KEY.render(key=keys.path("redact"), problem=problem)) from None
    return patterns
