"""Add queues to ``qmon.toml``. Existing lines stay unchanged. New lines are appended."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from qmon import files
from qmon.config.config_file import Config, ConfigText, parse_config
from qmon.config.toml_writer import target_to_toml
from qmon.errors import BadInput


def unused_name(base_name: str, config: Config) -> str:
    """Return an unused name for a new target, such as ``shop`` or ``shop-2``."""
    name, number = base_name, 1
    while name in config.targets:
        number += 1
        name = f"{base_name}-{number}"
    return name


def append_blocks(path: Path, name: str, connect: str | None, blocks: Sequence[str]) -> Config:
    """Append blocks of a target to the file, which need not exist. Return the new configuration.

    ``connect``: connection of a new target, without a password; ``None`` if the file already has the target. Raises
    ``BadInput`` if the result would be invalid or the file cannot be written. The file then stays unchanged.
    """
    try:
        place = files.real_path(path)  # a symbolic link stays a link
        before = place.read_text(encoding="utf-8") if place.exists() else ""
    except (OSError, UnicodeError) as problem:
        reason = problem.strerror if isinstance(problem, OSError) else ConfigText.NOT_UTF8
        raise BadInput(ConfigText.UNREADABLE.render(path=path, reason=reason)) from None
    new = [*([] if connect is None else [target_to_toml(name, connect)]), *blocks]
    text = "\n".join([*([before if before.endswith("\n") else f"{before}\n"] if before else []), *new])
    config = parse_config(text, path)
    try:
        files.make_folder(place.parent)
        files.replace_file(place, text)
    except OSError as problem:
        raise BadInput(ConfigText.UNWRITABLE.render(path=path, reason=problem.strerror)) from None
    return config
