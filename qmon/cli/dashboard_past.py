"""Finds the past of a target: recordings, and baselines for each hour of the week."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from qmon.config.config_file import Config
    from qmon.recording.history.baselines_reader import FoundBaselines
    from qmon.recording.read.replay import Replay
    from qmon.tui.past_reader import KnownPast


def target_past(target: str, config: Config, recordings: Path | None) -> KnownPast:
    """Return the past of a watched target. ``recordings``: the folder to which qmon records the target, or ``None``.

    Baselines come from the file named in the configuration or, if none is named, from the file next to the recordings.
    Raises ``BadInput`` if the configured file cannot be read.
    """
    from qmon.cli.baselines_source import baselines_source
    from qmon.recording.history.recording_archive import live_archive
    from qmon.recording.times import local_zone
    from qmon.tui.past_reader import KnownPast

    usual = baselines_source(target, config, recordings)
    archive = live_archive(recordings, target, local_zone()) if recordings is not None else None
    return KnownPast(archive, usual)


def replay_past(replay: Replay, usual: Callable[[], FoundBaselines]) -> KnownPast:
    """Return the past of a replay. ``usual``: returns the current baselines."""
    from qmon.recording.history.recording_archive import archive_from_reader
    from qmon.tui.past_reader import KnownPast

    return KnownPast(archive_from_reader(replay.reader), usual, lambda: replay.position, replay.seek)
