"""The commands never see the configuration of whoever runs the tests."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty configuration folder; returns where qmon.toml would be."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    for name in ("QMON_PASSWORD", "PGPASSWORD", "QMON_DEBUG", "QMON_LOG"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path / "config" / "qmon" / "qmon.toml"
