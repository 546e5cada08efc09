"""``qmon connect`` in a real terminal, twice: the second run has the interval, order and theme of the first."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from qmon.tui.shared.header import HeaderText
from tests.facts import wait_until
from tests.jobs import configuration, fill
from tests.tui.tmux import Tmux


def opened(place: Path, *more: str) -> Tmux:
    """Run the dashboard on the configured target, with its state next to the configuration."""
    program = [
        "env",
        f"XDG_STATE_HOME={place.parent}",
        sys.executable,
        "-m",
        "qmon",
        "connect",
        "shop",
        "--config",
        str(place),
    ]
    return Tmux(program=[*program, *more], cells=100, rows=24)


def test_the_next_dashboard_has_what_was_chosen(database: str, tmp_path: Path) -> None:
    fill(database, dead=3, alive=2, ready=4)
    place = tmp_path / "qmon.toml"
    place.write_text(configuration(database, settings='interval = "500ms"'), encoding="utf-8")
    stored = tmp_path / "qmon" / "screen.json"
    first = opened(place, "--read-only")
    try:
        first.expect(HeaderText.LIVE)
        first.keys("s", "-", "t")
        wait_until(lambda: first.shows(HeaderText.EVERY, duration="1.0 s"), what="the interval")
        first.expect("qmon-light")
        first.keys("qmon-light", "Enter")
        wait_until(lambda: stored.is_file() and "light" in stored.read_text("utf-8"), what="it is remembered")
    finally:
        first.close()
    found = json.loads(stored.read_text("utf-8"))
    assert found["theme"] == "qmon-light"
    assert found["targets"]["shop"]["sort"] == ["queue", False]
    before = place.read_text("utf-8")
    second = opened(place)
    try:
        wait_until(lambda: second.shows(HeaderText.EVERY, duration="1.0 s"), what="the interval")
        second.expect("QUEUE▴")
    finally:
        second.close()
    third = opened(place, "--interval", "2s")
    try:
        wait_until(lambda: third.shows(HeaderText.EVERY, duration="2.0 s"), what="the interval")
    finally:
        third.close()
    assert place.read_text("utf-8") == before
