"""Faults of rings: full, a hole, an orphan."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence

from qmon.model.layout import Layout
from tests.laboratory.case import Case
from tests.laboratory.laboratory import Laboratory


@contextlib.contextmanager
def full(lab: Laboratory, layout: Layout) -> Iterator[Sequence[str]]:
    """Poppers pop a third of what is pushed, into a ring of 60 slots."""
    lab.load.change(layout.queue, "pusher", rate=60.0)
    lab.load.change(layout.queue, "popper", rate=5.0)
    yield ()
    lab.load.change(layout.queue, "pusher", rate=10.0)
    lab.load.change(layout.queue, "popper", rate=60.0)


CASES = (
    Case(
        "ring full", "ring full", "ring", full, reads_s=3.0, ring_size=60,
        true_too=frozenset({"pushers outrun poppers"}),
    ),
)  # fmt: skip
