"""The baselines file of the configuration: its errors are reported before a screen is opened."""

from __future__ import annotations

from pathlib import Path

import pytest

from qmon.cli.baselines_source import baselines_source
from qmon.cli.dashboard_past import replay_past, target_past
from qmon.config.config_file import Config, TargetConfig
from qmon.recording.history.baselines_reader import FILE_NAME, BaselinesText
from qmon.recording.read.recording_reader import open_recording
from qmon.recording.read.replay import Replay
from tests.cli.calling import call
from tests.contract.watching import target_of
from tests.recording.days import BEGIN, usual, written
from tests.wordings import has

NOWHERE = "postgresql://nobody@127.0.0.1:1/orders"


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    """An hour of recording with a baselines file next to it."""
    written(tmp_path / "day", 0.2, snapshots=1.0)
    usual(tmp_path / "day")
    return tmp_path / "day"


@pytest.mark.server
def test_a_file_that_is_not_there_or_damaged_is_refused(recording: Path, tmp_path: Path) -> None:
    (tmp_path / "damaged.json").write_text("{")
    config = tmp_path / "qmon.toml"
    for name, text in (("none.json", BaselinesText.NO_FILE), ("damaged.json", BaselinesText.NOT_JSON)):
        config.write_text(f'[target.orders-prod]\nconnect = "{NOWHERE}"\nbaselines = "{name}"\n')
        for command in (("replay", str(recording)), ("connect", "orders-prod")):
            done = call(*command, "--config", str(config))
            assert done.exit_code == 2 and has(done.stderr, text, path=tmp_path / name)


def test_the_file_beside_the_recordings_is_found(
    recording: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    replay = Replay(open_recording(recording), playing=False)
    nothing = Config(tmp_path / "qmon.toml")
    known = replay_past(replay, baselines_source(replay.target, nothing, recording))
    assert "orders-prod" in known.baselines.hours and known.here is not None and known.here() == BEGIN
    live = target_past(target_of(NOWHERE).name, nothing, recording)
    assert "orders-prod" in live.baselines.hours and live.archive is not None and live.go is None
    assert target_past(target_of(NOWHERE).name, nothing, None).archive is None
    (recording / FILE_NAME).write_text("[]")
    problem = target_past(target_of(NOWHERE).name, nothing, recording).problem
    assert problem == BaselinesText.FOREIGN.render(path=FILE_NAME)
    foreign = BaselinesText.FOREIGN.render(path=recording / FILE_NAME)
    assert foreign in capsys.readouterr().err
    known_target = TargetConfig("orders-prod", NOWHERE, baselines=usual(tmp_path, "elsewhere"))
    configured = Config(tmp_path / "qmon.toml", {"orders-prod": known_target})
    assert "elsewhere" in replay_past(replay, baselines_source(replay.target, configured, recording)).baselines.hours
    assert "elsewhere" in target_past("orders-prod", configured, recording).baselines.hours
