"""Completes targets and queues in a shell, as far as qmon knows them without a connection."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from qmon.cli.shared_options import shared_value
from qmon.errors import QmonError

if TYPE_CHECKING:
    from qmon.config.config_file import Config

# The completed words, each with the description that some shells show.
Completions = list[tuple[str, str]]


def complete_targets(context: typer.Context, incomplete: str) -> Completions:
    """Return the targets of the configuration and the DSNs."""
    from qmon.config.known_targets import known_targets

    config = _read_named_config(context)
    known = () if config is None else known_targets(config)
    return [(each.name, each.place) for each in known if each.name.startswith(incomplete)]


def complete_queues(context: typer.Context, incomplete: str) -> Completions:
    """Return the configured queues of the targets that were typed before.

    Other queues are unknown without a connection. When an option's value is completed, the target is not known yet. In
    this case, the queues of all targets are returned.
    """
    from qmon.model.groups.configured_queue import configured_name

    config = _read_named_config(context)
    if config is None:
        return []
    params = context.params
    typed = [*filter(None, [params.get("target")]), *(params.get("targets") or ())]
    wanted = [config.targets[name] for name in typed or config.targets if name in config.targets]
    names = dict.fromkeys(configured_name(queue) for target in wanted for queue in target.queues)
    return [(name, "") for name in names if name.startswith(incomplete)]


def _read_named_config(context: typer.Context) -> Config | None:
    """Return the named or the default configuration, or ``None`` if the configuration cannot be read."""
    from qmon.config.config_file import read_config

    given: Any = shared_value(context, "config")
    try:
        return read_config(None if given is None else Path(given))
    except QmonError:
        return None
