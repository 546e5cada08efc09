"""Attacks on the trust boundaries, from every side, on every PostgreSQL that is installed."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from qmon.demo.embedded_server import EmbeddedServer
from tests.contract.trust import COMMANDS, faults_of_twins
from tests.contract.versions import PROGRAMS
from tests.contract.watching import installed
from tests.facts import query

# The tests that play one attack each, in the order of the threat model in SECURITY.md.
ATTACKS: Final = (
    "tests/contract/test_foreign_code.py",
    "tests/contract/test_qualified.py",
    "tests/contract/test_trust.py",
    "tests/contract/test_acting_roles.py",
    "tests/contract/test_acting_kept.py",
    "tests/contract/test_acting_triggers.py",
    "tests/cli/test_refusals.py",
    "tests/unit/test_server_texts.py",
    "tests/unit/test_redact.py",
    "tests/cli/test_typed_secrets.py",
    "tests/unit/test_files.py",
    "tests/contract/test_silent.py",
    "tests/cli/test_silent.py",
    "tests/cli/test_serve_limits.py",
    "tests/cli/test_serve_access.py",
    "tests/cli/test_connect_hostile.py",
    "tests/recording/test_foreign.py",
    "tests/unit/test_absurd_files.py",
)


def trust() -> Iterator[str]:
    """Play every attack; a line for each part as it ends. Raises ``AssertionError`` if one gets anywhere."""
    for bin_dir in PROGRAMS:
        began = time.monotonic()
        with (
            EmbeddedServer(bin_dir=bin_dir, settings={"fsync": "off"}) as server,
            tempfile.TemporaryDirectory() as folder,
        ):
            url = server.url()
            installed(url, "fifo", "status")
            query(url, "SELECT fifo_push('a'), fifo_push('b'), status_push('c')")
            names = (str(name) for (name,) in query(url, "SELECT DISTINCT proname FROM pg_proc"))
            faults = faults_of_twins(url, Path(folder), names)
        version = "embedded" if bin_dir is None else bin_dir.parent.name
        assert faults == [], "\n".join(faults)
        seconds = time.monotonic() - began
        yield f"PostgreSQL {version}: twins of every function and operator, {len(COMMANDS)} commands, {seconds:.0f} s"
    for file in ATTACKS:
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-n", "2", "-m", "soak or not soak", file],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout[-5000:]
        yield f"{file}: {done.stdout.strip().splitlines()[-1]}"
