"""Gives the dashboard its past: the recordings of its target, and the baselines for each hour of the week."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from qmon.cli.output import clean_text, print_note

if TYPE_CHECKING:
    from qmon.config.config_file import Config
    from qmon.recording.history.baselines_reader import FoundBaselines
    from qmon.recording.read.replay import Replay
    from qmon.tui.past_reader import KnownPast


def target_past(target: str, config: Config, recordings: Path | None) -> KnownPast:
    """Return the past of a watched target. ``recordings``: the folder it is recorded to, if any.

    Baselines come from the file in the configuration, otherwise from the one next to the recordings. Raises
    ``BadInput`` if the configured file cannot be read.
    """
    from qmon.recording.history.recording_archive import live_archive
    from qmon.recording.times import local_zone
    from qmon.tui.past_reader import KnownPast

    usual = _baselines_source(target, config, recordings)
    archive = live_archive(recordings, target, local_zone()) if recordings is not None else None
    return KnownPast(archive, usual)


def replay_past(replay: Replay, config: Config, recordings: Path) -> KnownPast:
    """Return the past of a replay. Raises ``BadInput`` if the configured baselines file cannot be read."""
    from qmon.recording.history.recording_archive import archive_from_reader
    from qmon.tui.past_reader import KnownPast

    usual = _baselines_source(replay.target, config, recordings if recordings.is_dir() else None)
    return KnownPast(archive_from_reader(replay.reader), usual, lambda: replay.position, replay.seek)


def _baselines_source(target: str, config: Config, recordings: Path | None) -> Callable[[], FoundBaselines]:
    """Return a function for the current baselines. The file may be written while the dashboard is open."""
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
