"""Adds queues to ``qmon.toml``: what is in the file stays as it is, and the new lines come at its end."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from qmon import files
from qmon.config.file import Config, parse_config
from qmon.config.write import target_to_toml
from qmon.errors import BadInput


def free_name(wanted: str, config: Config) -> str:
    """A name for a new target that none has yet: ``shop``, else ``shop-2`` …"""
    name, number = wanted, 1
    while name in config.targets:
        number += 1
        name = f"{wanted}-{number}"
    return name


def add(path: Path, name: str, connect: str | None, blocks: Sequence[str]) -> Config:
    """Write blocks of a target at the end of the file, which need not be there; returns what the file says now.

    ``connect``: of a target that is not in the file yet, without a password. Raises ``BadInput`` where the file cannot
    be read with them, or cannot be written; then it is as it was.
    """
    try:
        place = files.real_path(path)  # a link to the file stays one
        before = place.read_text(encoding="utf-8") if place.exists() else ""
    except (OSError, UnicodeError) as problem:
        reason = problem.strerror if isinstance(problem, OSError) else "it is not UTF-8 text"
        raise BadInput(f"{path}: cannot be read: {reason}") from None
    new = [*([] if connect is None else [target_to_toml(name, connect)]), *blocks]
    text = "\n".join([*([before if before.endswith("\n") else f"{before}\n"] if before else []), *new])
    config = parse_config(text, path)
    try:
        files.make_folder(place.parent)
        files.replace(place, text)
    except OSError as problem:
        raise BadInput(f"{path}: cannot be written: {problem.strerror}") from None
    return config
