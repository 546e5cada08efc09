"""Dashboards that read from a real ``qmon serve`` over a real server, which is polled once for all of them."""

from __future__ import annotations

import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from qmon.model.view import View
from qmon.monitor.state.target_history import TargetHistory
from qmon.stream.serve_address import parse_address
from qmon.stream.served_source import ServedSource
from qmon.tui.app import QmonApp
from qmon.tui.shared.header import HeaderText
from qmon.tui.watched_target import DashboardTarget
from tests.cli.calling import program, surroundings
from tests.contract.watching import installed, watching
from tests.facts import query
from tests.tui.live import header, until
from tests.wordings import has

pytestmark = pytest.mark.server
CALLS = "SELECT coalesce(sum(calls), 0)::int FROM pg_stat_statements s JOIN pg_database d ON d.oid = s.dbid "
CALLS += "WHERE datname = current_database() AND query LIKE '%pg_last_wal_replay_lsn()%'"
"""How often the probe of the server was asked, which is once in each poll."""
POLLERS = "SELECT count(*)::int FROM pg_stat_activity WHERE datname = current_database() "
POLLERS += "AND application_name = 'qmon poll'"


@contextmanager
def serving(url: str, listen: str) -> Iterator[subprocess.Popen[str]]:
    """Start a ``qmon serve`` that polls a database."""
    command = program("serve", url, "--every", "500ms", "--listen", listen)
    with subprocess.Popen(
        command, env=surroundings(), stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    ) as child:
        try:
            assert child.stderr is not None
            assert any("serving" in line for line in child.stderr)
            yield child
        finally:
            child.kill()


class Dashboard:
    """A dashboard's source and its views."""

    def __init__(self, listen: str) -> None:
        address = parse_address(f"http://{listen}/", None, "a test")
        self.source = ServedSource(address)
        self.history, self.views = TargetHistory(), list[View]()
        self.app = QmonApp(DashboardTarget(self.source, self.fold), plain=False, served=address.host_and_port)

    def fold(self, snapshot: object) -> View:
        """Keep each view."""
        self.views.append(self.history.record_snapshot(snapshot))  # type: ignore[arg-type]
        return self.views[-1]


FIGURES = ("ready", "in_progress", "stuck", "scheduled", "dead", "done", "gap", "pop_rate", "complete_rate", "bytes")


def figures(view: View) -> dict[str, float | str]:
    """Return the only queue's figures that do not depend on the start of the watch: numbers, or reasons for none."""
    (queue,) = view.queues
    found = {name: getattr(queue, name) for name in FIGURES}
    return {name: figure.reason if figure.value is None else figure.value for name, figure in found.items()}


async def test_dashboards_read_what_a_serve_polls_once_for_all_of_them(database: str) -> None:
    query(database, "CREATE EXTENSION pg_stat_statements")
    layout = installed(database, "status")[0]
    query(database, f"INSERT INTO {layout.table} ({layout.payload}) SELECT 'x' FROM generate_series(1, 7)")
    with socket.create_server(("127.0.0.1", 0)) as free:
        listen = f"127.0.0.1:{free.getsockname()[1]}"
    one, other = Dashboard(listen), Dashboard(listen)
    async with one.app.run_test(size=(120, 40)) as pilot, other.app.run_test(size=(120, 40)) as second:
        with serving(database, listen) as child:
            for each, its in ((one, pilot), (other, second)):
                await until(its, lambda each=each: HeaderText.LIVE in header(each.app) and len(each.views) > 4, "live")  # type: ignore[misc]
            assert has(header(one.app), HeaderText.FROM_SERVE, address=listen)
            assert query(database, POLLERS) == [(1,)]
            child.send_signal(signal.SIGTERM)
            child.wait()
            for each, its in ((one, pilot), (other, second)):
                await until(its, lambda each=each: HeaderText.LOST in header(each.app), "lost")  # type: ignore[misc]
            polls = one.views[-1].sequence
            assert polls == other.views[-1].sequence
            assert query(database, CALLS) in ([(polls,)], [(polls + 1,)]), (
                "each poll was made once; the last was cut off"
            )
        one.views.clear()
        with serving(database, listen) as child:
            await until(pilot, lambda: HeaderText.LIVE in header(one.app) and bool(one.views), "live again")
            query(database, f"INSERT INTO {layout.table} ({layout.payload}) SELECT 'x' FROM generate_series(1, 3)")
            await until(pilot, lambda: one.views[-1].queues[0].ready.value == 10, "three more")
            with watching(database) as direct:
                direct.queue("status", lambda queue: queue.ready.value == 10 and queue.pop_rate.value == 0)
                await until(pilot, lambda: figures(one.views[-1]) == figures(direct.views[-1]), "the same figures")
            child.kill()
            await until(pilot, lambda: HeaderText.LOST in header(one.app), "lost at once")
            assert one.app.shown.target.startswith("localhost/test_")
    for each in (one, other):
        each.source.close()
