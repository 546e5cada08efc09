"""Lets subcommands accept options of their command group, such as ``--config`` in ``qmon status --config FILE``.

Only the help of the group explains these options. A value after the command overrides a value before the command.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any


def share_options(command: Any, groups: Mapping[str, Sequence[Any]], path: str = "qmon") -> None:
    """Add hidden copies of options to a command. Subcommands of a group also get copies of the group's options.

    Args:
        command: a command or a group of typer. Its help lists the options and names the commands that explain them.
        groups: options of the groups above the command, keyed by the path of the group, such as ``qmon pipeline``. The
            values of the copies are stored in the context of that group.
        path: path of the group that contains the command.
    """
    own = [each for each in command.params if each.param_type_name == "option"]
    names = {name for each in own for name in each.opts}
    groups = {group: [each for each in options if names.isdisjoint(each.opts)] for group, options in groups.items()}
    command.params += [_hidden_copy(option) for options in groups.values() for option in options]
    explained = [
        f"{', '.join(each.opts[0] for each in options)} (see {group} --help)"
        for group, options in reversed(groups.items())
        if options
    ]
    command.epilog = "\n\n".join(filter(None, [command.epilog, f"More options: {', '.join(explained)}."]))
    below: Mapping[str, Any] = getattr(command, "commands", {})
    for each in below.values():
        share_options(each, {**groups, f"{path} {command.name}": own}, f"{path} {command.name}")


def _hidden_copy(option: Any) -> Any:
    made = copy.copy(option)
    made.hidden, made.expose_value, made.required, made.envvar, made.default = True, False, False, None, None
    made.callback = partial(_store_value, option)
    return made


def _store_value(option: Any, context: Any, parameter: Any, value: Any) -> None:
    """Store the value in the context of the group that the option belongs to."""
    if value is None or value == ():
        return
    group = context.parent
    while option not in group.command.params:
        group = group.parent
    group.params[option.name] = value


def shared_value(context: Any, name: str) -> Any:
    """Return the value of an option of a group above the command, or ``None`` if the option was not given."""
    group = context
    while group is not None:
        if name in group.params:
            return group.params[name]
        group = group.parent
    return None
