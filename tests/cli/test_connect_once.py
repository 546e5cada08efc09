"""`qmon connect`: until the screen opens, it reads the configuration once, and logs in once."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from qmon.tui.run import TerminalText
from tests.cli.calling import surroundings
from tests.wordings import has

pytestmark = pytest.mark.server

_WATCHED = """
import sys
opened = []
sys.addaudithook(lambda event, of: opened.append(str(of[0])) if event == "open" else None)
from qmon.cli import main
try:
    main()
except SystemExit:
    pass
print(sum(each.endswith("qmon.toml") for each in opened))
print(*sorted({"pyarrow", "pyspark", "keyring", "jinja2", "qmon.demo", "qmon.pipeline"} & sys.modules.keys()))
"""


def test_nothing_is_read_or_asked_twice(database: str, tmp_path: Path) -> None:
    config, log = tmp_path / "qmon.toml", tmp_path / "log"
    config.write_text(f'[target.shop]\nconnect = "{database}"\n[settings]\ninterval = "1s"\n')
    command = ["--log-file", str(log), "connect", "shop", "--config", str(config)]
    done = subprocess.run(
        [sys.executable, "-c", _WATCHED, *command],
        env=surroundings(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=True,
    )
    assert has(done.stderr, TerminalText.NO_TERMINAL, stream="input"), "it reached the screen"
    assert done.stdout.splitlines() == ["1", ""]
    threads = [line.split("[")[1].split("]")[0] for line in log.read_text().splitlines() if ": connected to" in line]
    assert threads.count("login of MainThread") == 1, "to log in"
    assert "login of qmon-poll" not in threads, "polls go on with that connection"
