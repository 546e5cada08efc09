"""Gives the dashboard its past: the recordings of its target, and the baselines for each hour of the week."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from qmon.cli.output import clean_text, print_note

if TYPE_CHECKING:
    from qmon.config.config_file import Config
    from qmon.recording.history.baselines_reader import FoundBaselines
    from qmon.recording.read.replay import Replay
    from qmon.tui.past_reader import KnownPast

BaselinesPath = Annotated[
    Path | None,
    typer.Option(
        "--baselines",
        metavar="FILE",
        help="Baselines written by `qmon pipeline baselines`. Default: .baselines.json next to the recordings.",
        dir_okay=False,
    ),
]


def target_past(target: str, config: Config, baselines: Path | None, recordings: Path | None) -> KnownPast:
    """Return the past of a watched target. ``recordings``: the folder it is recorded to, if any.

    Baselines come from the given file, otherwise from the one in the configuration, otherwise from the one next to the
    recordings. Raises ``BadInput`` if a given file cannot be read.
    """
    from qmon.recording.history.recording_archive import live_archive
    from qmon.recording.times import local_zone
    from qmon.tui.past_reader import KnownPast

    configured = config.targets.get(target)
    named = baselines or (configured.baselines if configured is not None else None)
    usual = _baselines_source(named, recordings)
    archive = live_archive(recordings, target, local_zone()) if recordings is not None else None
    return KnownPast(archive, usual)


def replay_past(replay: Replay, recordings: Path, baselines: Path | None) -> KnownPast:
    """Return the past of a replay. Raises ``BadInput`` if the given baselines file cannot be read."""
    from qmon.recording.history.recording_archive import archive_from_reader
    from qmon.tui.past_reader import KnownPast

    usual = _baselines_source(baselines, recordings if recordings.is_dir() else None)
    return KnownPast(archive_from_reader(replay.reader), usual, lambda: replay.position, replay.seek)


def _baselines_source(path: Path | None, recordings: Path | None) -> Callable[[], FoundBaselines]:
    """Return a function for the current baselines. The file may be written while the dashboard is open."""
    from qmon.recording.history.baselines_reader import (
        FILE_NAME,
        FoundBaselines,
        ReloadingBaselines,
        find_baselines,
        read_baselines,
    )

    if path is not None:
        return ReloadingBaselines(path, FoundBaselines(read_baselines(path)))
    if recordings is None:
        return FoundBaselines
    found = find_baselines(recordings)
    if found.problem:
        print_note(f"qmon: {clean_text(found.problem)}")
    return ReloadingBaselines(recordings / FILE_NAME, found)
