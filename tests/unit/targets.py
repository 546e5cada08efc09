"""A target from a connection string."""

from __future__ import annotations

from pathlib import Path

from qmon.config.chosen_target import find_target
from qmon.config.config_file import Config
from qmon.engines.base import Target


def target(text: str) -> Target:
    return find_target(text, Config(Path("qmon.toml")), {}).target
