"""Reads the server's counters before and after a run, and what sessions wait for in between."""

from __future__ import annotations

import threading
import time
from collections import Counter
from dataclasses import dataclass
from typing import Final

from qmon.engines.base import Bound
from qmon.engines.rows import records
from qmon.workload.bench.loops import GATE
from qmon.workload.bench.results import Wait
from qmon.workload.bench.site import Site

_GONE_WITHIN_S: Final = 20.0


@dataclass(frozen=True, slots=True)
class Counters:
    """A row of ``readings.sql``."""

    wal: int
    heap: int
    idx: int
    toast: int
    missed: int
    dead: int
    updated: int
    hot: int
    vacuums: int
    bytes: int
    deadlocks: int

    @property
    def buffers(self) -> int:
        """Buffers touched in all."""
        return self.heap + self.idx + self.toast


def counters(site: Site) -> Counters:
    """The counters as the server shows them now."""
    bound = Bound(site.statement("readings"), {"schema": site.schema, "gate": GATE})
    (found,) = records(Counters, site.connection.fetch(bound))
    return found


def wait_until_gone(site: Site) -> None:
    """Wait until no pusher or popper is left: then all have handed in their counts."""
    deadline = time.monotonic() + _GONE_WITHIN_S
    while time.monotonic() < deadline:
        if site.rows("sessions", {"prefix": site.load}) == ((0,),):
            return
        threading.Event().wait(0.02)


class BenchWaitSampler:
    """Samples the load's sessions now and then, on the bench's own connection."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._seen: Counter[str] = Counter()

    def sample(self) -> None:
        """Take one sample."""
        for kind, event, sessions in self._site.rows("waits", {"prefix": self._site.load}):
            self._seen[f"{kind}:{event}" if event else str(kind)] += int(str(sessions))

    @property
    def samples(self) -> int:
        """Samples of sessions taken so far."""
        return self._seen.total()

    def top(self, number: int = 5) -> tuple[Wait, ...]:
        """The most frequent, with their share."""
        total = max(1, self.samples)
        return tuple(Wait(name, count / total) for name, count in self._seen.most_common(number))
