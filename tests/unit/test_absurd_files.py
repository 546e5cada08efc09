"""Files and texts that are far larger than any of ours are refused in one line, before they are parsed."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from qmon.config.config_file import read_config
from qmon.errors import BadInput
from qmon.model.layout.layout_io import LayoutText, layout_from_json
from qmon.recording.history.baselines_reader import FILE_NAME, find_baselines, read_baselines
from qmon.system import SystemText, read_text
from tests.wordings import has, pattern


def sparse(path: Path, size: int) -> Path:
    """Return a sparse file of this size in bytes, which uses no disk space."""
    with path.open("wb") as file:
        file.truncate(size)
    return path


def test_a_configuration_is_a_small_file(tmp_path: Path) -> None:
    path = sparse(tmp_path / "qmon.toml", 2**40)
    with pytest.raises(BadInput, match=pattern(SystemText.TOO_LARGE, path=path, most_mb=4)) as refused:
        read_config(path)
    assert "\n" not in str(refused.value)


@pytest.mark.skipif(sys.platform == "win32", reason="about a device that only POSIX has")
def test_a_device_without_end_is_not_read_to_its_end() -> None:
    with pytest.raises(BadInput, match=pattern(SystemText.TOO_LARGE, path="/dev/zero")):
        read_config(Path("/dev/zero"))
    with pytest.raises(BadInput, match=pattern(SystemText.TOO_LARGE, path="/dev/zero")):
        read_text(Path("/dev/zero"), 2**20)


def test_a_file_of_what_is_usual_is_of_some_size(tmp_path: Path) -> None:
    path = sparse(tmp_path / FILE_NAME, 2**40)
    with pytest.raises(BadInput, match=pattern(SystemText.TOO_LARGE, most_mb=256)):
        read_baselines(path)
    assert has(find_baselines(tmp_path).problem, SystemText.TOO_LARGE, most_mb=256)


def test_lines_end_as_on_any_system(tmp_path: Path) -> None:
    path = tmp_path / "text"
    path.write_bytes(b"a\r\nb\n")
    assert read_text(path, 10) == "a\nb\n"
    with pytest.raises(BadInput):
        read_text(path, 4)


def test_a_layout_of_a_registry_has_a_bound() -> None:
    for text in ("[" * 10**6, '{"table": "' + "x" * 10**7 + '"}', " " * 10**6):
        with pytest.raises(
            BadInput, match=pattern(LayoutText.TOO_LONG, where="registry of orders", limit=262_144)
        ) as refused:
            layout_from_json(text, where="registry of orders")
        assert len(str(refused.value)) < 200
