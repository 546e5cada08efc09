"""Processor time and buffers of a server's processes, by the client they work for."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Final, Self

import psutil
import pyodbc

from tests.facts import odbc

# Clients: qmon's connections, all other connections, and the server itself (WAL writer, …).
WHOSE = QMON, LOAD, SERVER = "qmon", "load", "server"
_EVERY_S: Final = 0.5
_ACTIVITY: Final = """
SELECT a.pid, a.backend_type = 'client backend' OR a.leader_pid IS NOT NULL AS works,
    coalesce(l.application_name, a.application_name) LIKE 'qmon %' AS is_qmon, b.pages
FROM pg_stat_activity AS a
LEFT JOIN pg_stat_activity AS l ON l.pid = a.leader_pid
LEFT JOIN LATERAL (
    SELECT CAST(sum(coalesce(i.hits, 0) + coalesce(i.reads, 0)) AS bigint) AS pages
    FROM pg_stat_get_backend_io(a.pid) AS i
) AS b ON true
WHERE a.pid <> pg_backend_pid()
"""


@dataclass(frozen=True, slots=True)
class Used:
    """Totals by client: seconds of processor time and buffers used."""

    seconds: Mapping[str, float]
    pages: Mapping[str, float]

    def since(self, before: Used) -> Used:
        """Return the use after ``before``."""
        return Used(
            {whose: self.seconds[whose] - before.seconds[whose] for whose in self.seconds},
            {whose: self.pages[whose] - before.pages[whose] for whose in self.pages},
        )


class ServerUsage:
    """Reads twice a second what each process of an embedded server (18 or later) has used, until it is closed.

    A process that already runs at the beginning counts from then on, a later one from its start. The last half second
    of a process at most is lost. Our own session is left out.
    """

    def __init__(self, url: str, postmaster: int) -> None:
        self._connection = pyodbc.connect(odbc(url), autocommit=True)
        self._postmaster = postmaster
        self._before: dict[int, tuple[float, int]] = {}
        self._seconds, self._pages = dict.fromkeys(WHOSE, 0.0), dict.fromkeys(WHOSE, 0.0)
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._read()
        self._seconds, self._pages = dict.fromkeys(WHOSE, 0.0), dict.fromkeys(WHOSE, 0.0)
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        self._thread.join()
        self._connection.close()

    def now(self) -> Used:
        """Return the use up to now."""
        with self._lock:
            self._read()
            return Used(dict(self._seconds), dict(self._pages))

    def _run(self) -> None:
        while not self._over.wait(_EVERY_S):
            with self._lock:
                self._read()

    def _read(self) -> None:
        rows = self._connection.execute(_ACTIVITY).fetchall()
        whose = {row.pid: (QMON if row.is_qmon else LOAD) if row.works else SERVER for row in rows}
        pages = {row.pid: int(row.pages or 0) for row in rows}
        there = [self._postmaster, *whose]
        for pid in there:
            with contextlib.suppress(OSError):  # the process has ended
                seconds = int((Path("/proc") / str(pid) / "schedstat").read_text().split()[0]) / 1e9
                had_s, had_pages = self._before.get(pid, (0.0, 0))
                if seconds < had_s:  # another process with the same id
                    had_s, had_pages = 0.0, 0
                self._seconds[whose.get(pid, SERVER)] += seconds - had_s
                self._pages[whose.get(pid, SERVER)] += max(0, pages.get(pid, 0) - had_pages)
                self._before[pid] = (seconds, max(pages.get(pid, 0), had_pages))
        self._before = {pid: was for pid, was in self._before.items() if pid in there}


def processor_s(*pids: int) -> float:
    """Return the processor seconds that these processes have used, with all their threads."""
    times = [psutil.Process(pid).cpu_times() for pid in pids]
    return float(sum(each.user + each.system for each in times))
