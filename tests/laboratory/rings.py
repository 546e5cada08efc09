"""Faults of rings: full, a hole, an orphan."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence

from qmon.model.layout.layout import Layout
from qmon.model.verdicts.message_verdicts import MessageVerdictText
from tests.contract.sessions import open_sessions
from tests.facts import query, wait_until
from tests.laboratory.case import Case
from tests.laboratory.laboratory import Laboratory
from tests.queues import ENGINE
from tests.wordings import pattern


@contextlib.contextmanager
def full(lab: Laboratory, layout: Layout) -> Iterator[Sequence[str]]:
    """Consumers pop at a twelfth of the push rate, from a ring of 60 slots."""
    lab.load.change_members(layout.queue, "producer", rate=60.0)
    lab.load.change_members(layout.queue, "consumer", rate=5.0)
    yield ()
    lab.load.change_members(layout.queue, "producer", rate=10.0)
    lab.load.change_members(layout.queue, "consumer", rate=60.0)


@contextlib.contextmanager
def hole(lab: Laboratory, layout: Layout) -> Iterator[Sequence[str]]:
    """A producer draws a number and sleeps before it pushes. After it ends, consumers skip the number."""
    assert layout.ring is not None
    with open_sessions(lab.url) as sessions:
        pid = sessions.open("producer", "SELECT txid_current()")
        asked = "SELECT nextval(CAST(CAST(? AS text) AS regclass))"
        cursor = sessions.connections["producer"].execute(asked, ENGINE.quote(layout.ring.push_sequence.parts))
        number = int(cursor.fetchval())
        drawn = f"SELECT 1 FROM {ENGINE.quote(layout.ring.pop_sequence.parts)} WHERE last_value >= ?"
        wait_until(lambda: query(lab.url, drawn, number), what="a consumer waits for it")
        yield (rf"\b{number:,}\b", pattern(MessageVerdictText.SESSION, session=pid) + r"\b")


@contextlib.contextmanager
def orphan(lab: Laboratory, layout: Layout) -> Iterator[Sequence[str]]:
    """A consumer draws a number and sleeps before it pops. After it ends, other consumers pop its message."""
    assert layout.ring is not None
    with open_sessions(lab.url) as sessions:
        pid = sessions.open("consumer", "SELECT txid_current()")
        asked = "SELECT nextval(CAST(CAST(? AS text) AS regclass))"
        cursor = sessions.connections["consumer"].execute(asked, ENGINE.quote(layout.ring.pop_sequence.parts))
        number = int(cursor.fetchval())
        pushed = f"SELECT 1 FROM {ENGINE.quote(layout.ring.push_sequence.parts)} WHERE last_value > ?"
        wait_until(lambda: query(lab.url, pushed, number), what="the message is there")
        yield (rf"\b{number:,}\b", pattern(MessageVerdictText.SESSION, session=pid) + r"\b")


CASES = (
    Case(
        "ring full",
        "ring full",
        "ring",
        full,
        reads_s=5.0,
        ring_size=60,
        true_too=frozenset({"consumers fall behind"}),
    ),
    Case("producer sleeps with a number", "ring hole", "ring", hole, reads_s=1.0, load={"consumers": 2}),
    Case("consumer sleeps with a number", "ring orphans", "ring", orphan, reads_s=2.0),
)
