"""Tables of arbitrary origin, changed between plan and apply while qmon is killed, on every supported PostgreSQL."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Final

from qmon.demo.embedded_server import EmbeddedServer
from tests.contract.hostile import Count, run
from tests.contract.versions import PROGRAMS

_SETTINGS: Final = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off", "autovacuum": "off"}


def hostile(tables: int, seed: int, minutes: float) -> Iterator[str]:
    """Test this number of tables from this seed on, the same on all versions at once. Yield a line for each version.

    Raises ``AssertionError`` with the faults, or if ``minutes`` were too short for all tables.
    """
    with ProcessPoolExecutor(len(PROGRAMS)) as workers:
        until = time.monotonic() + minutes * 60
        asked = {workers.submit(_on, bin_dir, range(seed, seed + tables), until): bin_dir for bin_dir in PROGRAMS}
        for each in as_completed(asked):
            count, seconds = each.result()
            bin_dir = asked[each]
            name = "embedded" if bin_dir is None else bin_dir.parent.name
            yield f"PostgreSQL {name}, seeds from {seed}: {count}; {seconds:.0f} s"
            assert count.faults == [], "\n".join(count.faults[:20])
            assert count.tables == tables, f"only {count.tables} of {tables} tables in {minutes:g} minutes"


def _on(bin_dir: Path | None, seeds: range, until: float) -> tuple[Count, float]:
    """Return the results of these tables on a server of this version, and the seconds they took."""
    with EmbeddedServer(bin_dir=bin_dir, settings=_SETTINGS) as server, tempfile.TemporaryDirectory() as folder:
        began = time.monotonic()
        return run(server.url(), Path(folder), seeds, until), time.monotonic() - began
