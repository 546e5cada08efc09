"""What the dashboard is given of the past: the recordings of its target, and what is usual at each hour of the week."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from qmon.cli.output import clean, note

if TYPE_CHECKING:
    from qmon.config.file import Config
    from qmon.recording.history.baselines import FoundBaselines
    from qmon.recording.read.replay import Replay
    from qmon.tui.past_reader import KnownPast

BaselinesPath = Annotated[
    Path | None,
    typer.Option(
        "--baselines",
        metavar="FILE",
        help="What is usual, as `qmon pipeline baselines` wrote it. Default: .baselines.json beside the recordings.",
        dir_okay=False,
    ),
]


def of_target(target: str, config: Config, baselines: Path | None, recordings: Path | None) -> KnownPast:
    """For a target of this name that is watched, and recorded below ``recordings`` where that is given.

    The file of what is usual is the one that was named, else that of the configuration, else the one beside the
    recordings. Raises ``BadInput`` where a file was named that cannot be read.
    """
    from qmon.recording.history.archive import live_archive
    from qmon.recording.times import local_zone
    from qmon.tui.past_reader import KnownPast

    configured = config.targets.get(target)
    named = baselines or (configured.baselines if configured is not None else None)
    usual = _usual(named, recordings)
    archive = live_archive(recordings, target, local_zone()) if recordings is not None else None
    return KnownPast(archive, usual)


def of_replay(replay: Replay, recordings: Path, baselines: Path | None) -> KnownPast:
    """For a replay. Raises ``BadInput`` where a file was named that cannot be read."""
    from qmon.recording.history.archive import recorded_archive
    from qmon.tui.past_reader import KnownPast

    usual = _usual(baselines, recordings if recordings.is_dir() else None)
    return KnownPast(recorded_archive(replay.reader), usual, lambda: replay.at, replay.seek)


def _usual(named: Path | None, recordings: Path | None) -> Callable[[], FoundBaselines]:
    """What is usual, from now on: the file may be written anew, or for the first time, while the dashboard is open."""
    from qmon.recording.history.baselines import (
        FILE,
        FoundBaselines,
        ReloadingBaselines,
        find_baselines,
        read_baselines,
    )

    if named is not None:
        return ReloadingBaselines(named, FoundBaselines(read_baselines(named)))
    if recordings is None:
        return FoundBaselines
    found = find_baselines(recordings)
    if found.problem:
        note(f"qmon: {clean(found.problem)}")
    return ReloadingBaselines(recordings / FILE, found)
