"""Finds a target's baselines, which have a value for each hour of the week. Reloads the file when it changes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from qmon.cli.output import clean_text, print_note

if TYPE_CHECKING:
    from qmon.cli.target_session import ChosenTarget
    from qmon.config.config_file import Config
    from qmon.model.baseline_bands import Baselines
    from qmon.recording.history.baselines_reader import FoundBaselines


def baselines_source(target: str, config: Config, recordings: Path | None) -> Callable[[], FoundBaselines]:
    """Return a function that returns the current baselines. The function reads the file again after a change.

    The file is the file named in the configuration or, if none is named, the file in the folder of recordings. Raises
    ``BadInput`` if the configured file cannot be read.
    """
    from qmon.recording.history.baselines_reader import (
        FILE_NAME,
        FoundBaselines,
        ReloadingBaselines,
        find_baselines,
        read_baselines,
    )

    configured = config.targets.get(target)
    path = configured.baselines if configured is not None else None
    if path is not None:
        return ReloadingBaselines(path, FoundBaselines(read_baselines(path)))
    if recordings is None:
        return FoundBaselines
    found = find_baselines(recordings)
    if found.problem:
        print_note(f"qmon: {clean_text(found.problem)}")
    return ReloadingBaselines(recordings / FILE_NAME, found)


def baselines_of(chosen: ChosenTarget, recordings: Path | None) -> Callable[[], Baselines]:
    """Return a function like that of ``baselines_source``, for a process without a screen."""
    usual = baselines_source(chosen.target.name, chosen.config, recordings)
    return lambda: usual().baselines
