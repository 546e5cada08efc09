"""``qmon connect --record`` around the dashboard: its snapshots are recorded; the exit code reports failures."""

from __future__ import annotations

import resource
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from qmon.cli.polled_dashboard import attach_operator, open_dashboard_target, run_recorded
from qmon.cli.target_session import ChosenTarget
from qmon.config.config_file import Config
from qmon.errors import BadInput
from qmon.model.snapshot import Snapshot
from qmon.monitor.source import Phase, SourceState
from qmon.recording.read.recording_paths import list_segments
from qmon.recording.write.recorder import RecorderText
from qmon.tui.watched_target import DashboardTarget
from tests.contract.watching import target_of
from tests.facts import wait_until
from tests.recording.writing import lines_of, run_of, sequences, value
from tests.tui.scripted import Scripted
from tests.wordings import has, pattern

pytestmark = pytest.mark.server  # it tries to read the operations of a target that does not exist

NOWHERE = "postgresql://nobody@127.0.0.1:1/orders"


def show_recorded(root: Path | None, count: int, until_stopped: bool = False) -> int:
    """Run a dashboard that takes this number of snapshots, and is left with exit code 0. Return the exit code."""
    chosen = ChosenTarget(target_of(NOWHERE), (), Config(Path()))
    targets: list[DashboardTarget] = []

    def show() -> int:
        shown = open_dashboard_target(chosen, Saying(), read_only=False, record=root)
        targets.append(shown)
        attach_operator(shown, chosen.operator_context())
        shown.source.start(lambda event: None)
        for snapshot in run_of(count):
            assert shown.fold(snapshot).sequence == snapshot.sequence
        if (recorder := shown.recorder) is not None:
            wait_until(lambda: recorder.status.stopped if until_stopped else recorder.status.snapshots == count)
        return 0

    return run_recorded(targets, show)


class Saying(Scripted):
    """Reports that it is live as soon as it is started."""

    def start(self, sink: Callable[[Snapshot | SourceState], None]) -> None:
        """Begin."""
        sink(SourceState("orders", Phase.LIVE))


def test_what_is_shown_is_recorded_and_sealed(tmp_path: Path) -> None:
    assert show_recorded(tmp_path, 5) == 0
    assert not any(path.name.startswith("_") for path in list_segments(tmp_path))
    assert sequences(tmp_path) == [1, 2, 3, 4, 5]
    assert [value(line) for line in lines_of(tmp_path) if line.kind == "state"] == [{"phase": "live"}]


def test_without_a_folder_nothing_is_recorded(tmp_path: Path) -> None:
    assert show_recorded(None, 5) == 0


def test_the_exit_code_says_that_recording_has_stopped(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, limits[1]))
    try:
        code = show_recorded(tmp_path, 200, until_stopped=True)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, before)
    assert code == 1
    assert has(capsys.readouterr().err, RecorderText.STOPPED)


def test_a_folder_that_cannot_be_written_is_said_before_anything_is_shown(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(BadInput, match=pattern(RecorderText.OTHER_FOLDER)):
        show_recorded(tmp_path / "file", 1)
