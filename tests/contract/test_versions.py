"""Every PostgreSQL on this machine: all designs are installed, driven and watched, and no probe fails."""

from __future__ import annotations

from pathlib import Path

import pytest

from qmon.demo.embedded_server import EmbeddedServer
from qmon.monitor.source import ReadScope
from tests.contract.versions import PROGRAMS
from tests.contract.watching import installed, watching
from tests.facts import connected

DESIGNS = ("naive", "fifo", "ring", "status", "batch_fast")


@pytest.mark.parametrize("bin_dir", PROGRAMS, ids=lambda path: "embedded" if path is None else path.parent.name)
def test_all_probes_work_on_this_version(bin_dir: Path | None) -> None:
    with EmbeddedServer(bin_dir=bin_dir, settings={"fsync": "off"}) as server:
        installed(server.url(), *DESIGNS)
        with watching(server.url()) as watched, connected(server.url()) as client:
            watched.view(polls=2)
            for design in DESIGNS:
                payload = "'x1'::bytea" if design in ("fifo", "status") else "'x1'"
                for _ in range(40):
                    client.execute(f"SELECT {design}_push({payload})").fetchall()
                for _ in range(10):
                    client.execute(f"SELECT * FROM {design}_pop()").fetchall()
            if int(str(client.execute("SHOW server_version_num").fetchval())) >= 150000:
                # Otherwise an idle session keeps its counters for 10 s.
                client.execute("SELECT pg_stat_force_next_flush()").fetchall()
            view = watched.view(lambda v: all(q.ready.value == 30 for q in v.queues))
            watched.poller.set_focus(ReadScope(rows_of="status"))
            rows = watched.queue("status", lambda q: q.messages)
            moved = watched.view(lambda v: all((q.push_rate.value or 0) > 0 and q.pop_rate.value for q in v.queues))
    assert view.failures == ()
    assert all(q.failures == () for q in view.queues)
    assert {q.name for q in moved.queues} == set(DESIGNS)
    assert rows.messages is not None
    assert len(rows.messages) == 10
    assert (view.server.buffers is None) == (int(view.server_version.split(".")[0]) < 18)
