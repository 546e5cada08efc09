"""The baselines file while a dashboard is open: rewritten, written for the first time, damaged, deleted."""

from __future__ import annotations

import json
from pathlib import Path

from qmon.recording.history.baselines_reader import (
    FILE_NAME,
    RELOAD_EVERY_S,
    BaselinesText,
    FoundBaselines,
    ReloadingBaselines,
    find_baselines,
)
from tests.facts import wait_until
from tests.recording.baselines import WHOLE


class Clock:
    """A clock that a test advances."""

    at = 0.0

    def __call__(self) -> float:
        return self.at


def write(path: Path, text: str) -> None:
    """Write the file as ``qmon pipeline baselines`` does: under another name first."""
    path.with_name("new").write_text(text)
    path.with_name("new").replace(path)


def test_a_file_that_is_written_anew_is_known_after_a_minute(tmp_path: Path) -> None:
    path, clock = tmp_path / FILE_NAME, Clock()
    renewed = ReloadingBaselines(path, find_baselines(tmp_path), clock)
    write(path, json.dumps(WHOLE))
    clock.at = RELOAD_EVERY_S - 1
    assert renewed() == FoundBaselines()
    clock.at = RELOAD_EVERY_S
    renewed()
    wait_until(lambda: "shop" in renewed().baselines.hours, what="the file")
    write(path, json.dumps(WHOLE | {"queues": {"depot": {}}}))
    clock.at += RELOAD_EVERY_S
    renewed()
    wait_until(lambda: "depot" in renewed().baselines.hours, what="the next file")


def test_one_that_cannot_be_read_leaves_what_was_known(tmp_path: Path) -> None:
    path = tmp_path / FILE_NAME
    write(path, json.dumps(WHOLE))
    renewed = ReloadingBaselines(path, find_baselines(tmp_path))
    known = renewed().baselines
    write(path, "{")
    renewed.check_file()
    assert renewed().baselines == known and renewed().problem == BaselinesText.NOT_JSON.render(path=path)
    path.unlink()
    renewed.check_file()
    assert renewed().baselines == known
    write(path, json.dumps(WHOLE))
    renewed.check_file()
    assert renewed() == FoundBaselines(known)
