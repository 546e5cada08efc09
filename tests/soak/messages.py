"""``qmon pipeline messages`` killed with SIGKILL at random moments during archiving and ``tidy``; then it is read."""

from __future__ import annotations

import random
import tempfile
import time
from collections import Counter
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from subprocess import Popen
from typing import Final
from urllib.parse import urlsplit, urlunsplit

from deltalake import DeltaTable

from qmon.demo.embedded_server import EmbeddedServer
from qmon.engines.urls import read_url
from qmon.model.layout.layout import Layout
from qmon.pipeline.lake.maintenance import LakeRetention, tidy_lake
from qmon.pipeline.messages.message_intake import MessageIntake
from qmon.pipeline.spark_session import start_session
from tests.facts import query, wait_until
from tests.pipeline.archiving import archivers, finished, found, kept
from tests.pipeline.conftest import small
from tests.queues import made, routine
from tests.soak.killing import LONG_S, Readers, ended, kill, newest, started

_MODES: Final = ("--once", "--continuous")
# Messages that exist at the beginning.
_BEFORE: Final = 20_000
# Messages that come with each start, so that there is always something to read.
_MORE: Final = 2_000


def messages_killed(times: int) -> str:
    """Kill each mode this number of times, half of them during a ``tidy``. Each archived message is in the lake once.

    The password is in none of Spark's files.
    """
    with tempfile.TemporaryDirectory() as name, EmbeddedServer(settings={"fsync": "off"}, tcp=True) as server:
        folder, rng = Path(name), random.Random(times)
        (folder / "events").mkdir()
        url = server.url()
        password = urlsplit(url).password or ""
        assert password
        layout = made(url, "batch_fast")
        session = start_session("local[2]", small(folder))
        taking = _Taking(folder, url, password, layout, Readers(session, folder / "lake"))
        struck: Counter[str] = Counter()
        taking.done(_BEFORE)
        with archivers(url, layout, 3):
            before = time.monotonic()
            taking.whole("--once")
            whole_s = time.monotonic() - before
            for mode in _MODES:
                done = 0
                while done < times:
                    if taking.strike(mode, rng, whole_s, beside_tidy=bool(done % 2)):
                        done += 1
                        struck[mode] += 1
                    else:
                        struck["ended before"] += 1
        query(url, f"SELECT {routine(layout, 'archive')}({taking.messages})")
        taking.whole("--once")
        for path in folder.rglob("*"):
            assert not path.is_file() or password.encode() not in path.read_bytes(), path
        upto, reads = taking.agree(), taking.readers.reads
        session.stop()
        keys = kept(url, found(url, layout))
    assert len(keys) == taking.messages
    moments = ", ".join(f"{number} {what}" for what, number in struck.items())
    return (
        f"messages taken in while three archive, some roll back and others tidy ({moments}): {len(keys):,} messages up "
        f"to number {upto:,}: none lost, none twice; {reads:,} times read by three readers alike"
    )


@dataclass
class _Taking:
    """One archive that is ingested into one lake."""

    folder: Path
    url: str
    password: str
    layout: Layout
    readers: Readers
    messages: int = 0

    def done(self, number: int) -> None:
        """Finish this number of messages, so that they can be archived."""
        finished(self.url, self.layout, number)
        self.messages += number

    def strike(self, mode: str, rng: random.Random, whole_s: float, *, beside_tidy: bool) -> bool:
        """Start the program and kill it at a random moment. Return False if it had ended before.

        If it runs continuously, half of the kills come after its first take. ``beside_tidy``: the lake is tidied
        meanwhile.
        """
        before = newest(self.readers.place, "messages")
        self.done(_MORE)
        with self._program(mode) as child:
            if mode == "--continuous" and rng.random() < 0.5:
                wait_until(lambda: newest(self.readers.place, "messages") > before, LONG_S, what="a take")
            at = time.monotonic() + rng.uniform(0.2, 1.0) * whole_s
            if beside_tidy:
                tidy_lake(str(self.readers.place), LakeRetention())
            if ended(child, max(0.0, at - time.monotonic())):
                return False
            kill(child)
        self.agree()
        return True

    def whole(self, mode: str) -> None:
        """Run the program to its end."""
        with self._program(mode) as child:
            assert ended(child, LONG_S)

    def agree(self) -> int:
        """Check that three readers find all archived messages up to the mark, except for late ones, without duplicates.

        Returns the mark's number.
        """
        store, place = MessageIntake(self.readers.lake), str(self.readers.place / "messages")
        mark = store.read_state().watermark_for(read_url(self.url, "the URL").place, "orders")
        if not DeltaTable.is_deltatable(place):
            return 0
        assert self.readers.same("messages", DeltaTable(place)).rows == mark.messages
        here = {row.archive_id: row.payload_bytes for row in store.all_messages().collect()}
        there = kept(self.url, found(self.url, self.layout))
        awaited = {key for gap in mark.gaps for key in range(gap.first, gap.last + 1)}
        assert here.keys() == {key for key in there if key <= mark.upto} - awaited
        assert all(size == len(there[key]) for key, size in here.items())
        return mark.upto

    def _program(self, mode: str) -> AbstractContextManager[Popen[bytes]]:
        """Start the program with the password only in its environment."""
        parts = urlsplit(self.url)
        plain = urlunsplit(parts._replace(netloc=parts.netloc.replace(f":{self.password}@", "@")))
        assert self.password not in plain
        events = (self.folder / "events").as_uri()
        settings = ("spark.eventLog.enabled=true", f"spark.eventLog.dir={events}")
        more = [word for setting in settings for word in ("--conf", setting)]
        lake = ("--lake", str(self.readers.place))
        return started(self.folder, "messages", plain, "orders", *lake, mode, *more, QMON_PASSWORD=self.password)
