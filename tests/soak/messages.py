"""``qmon pipeline messages`` killed with SIGKILL at random moments, while others archive: counted at the end."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit, urlunsplit

from qmon.demo.server import EmbeddedServer
from qmon.engines.urls import read_url
from qmon.pipeline.lake.lake import Lake
from qmon.pipeline.messages.take import Messages
from qmon.pipeline.session import start
from tests.cli.calling import ROOT, program, surroundings
from tests.facts import query
from tests.pipeline.archiving import archivers, finished, found, kept
from tests.pipeline.conftest import small
from tests.queues import made, routine

_QUICK: Final = "spark.driver.extraJavaOptions=-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
_LONG_S: Final = 240.0
_MESSAGES: Final = 20_000


def messages_killed(times: int) -> str:
    """So many kills; afterwards the lake has each archived message once, and the password is in no file of Spark's."""
    with tempfile.TemporaryDirectory() as name, EmbeddedServer(settings={"fsync": "off"}, tcp=True) as server:
        folder, rng = Path(name), random.Random(times)
        (folder / "events").mkdir()
        url = server.url()
        password = urlsplit(url).password or ""
        assert password
        layout = made(url, "batch_fast")
        finished(url, layout, _MESSAGES)
        with archivers(url, layout, 3):
            began = time.monotonic()
            assert run(folder, url, password, None) == 0
            whole_s = time.monotonic() - began
            struck = sum(run(folder, url, password, rng.uniform(0.2, 1.0) * whole_s) != 0 for _ in range(times))
        query(url, f"SELECT {routine(layout, 'archive')}({_MESSAGES})")
        assert run(folder, url, password, None) == 0
        for path in folder.rglob("*"):
            assert not path.is_file() or password.encode() not in path.read_bytes(), path
        session = start("local[2]", small(folder))
        store = Messages(Lake(session, str(folder / "lake")))
        keys = [row.archive_id for row in store.frame().select("archive_id").collect()]
        mark = store.entry().mark(read_url(url, "the URL").place, "orders")
        session.stop()
        there = kept(url, found(url, layout))
    assert sorted(keys) == sorted(there)
    assert (len(keys), mark.messages, mark.awaited) == (_MESSAGES, _MESSAGES, 0)
    assert struck
    return (
        f"messages taken in while three archive and some roll back, killed {struck} of {times} times: "
        f"{len(keys):,} messages up to number {mark.upto:,}: none lost, none twice"
    )


def run(folder: Path, url: str, password: str, kill_s: float | None) -> int:
    """The program, with the password in its environment alone; killed after so many seconds. Its exit code."""
    parts = urlsplit(url)
    plain = urlunsplit(parts._replace(netloc=parts.netloc.replace(f":{password}@", "@")))
    assert password not in plain
    settings = ("spark.eventLog.enabled=true", f"spark.eventLog.dir={(folder / 'events').as_uri()}", _QUICK)
    more = [word for setting in settings for word in ("--conf", setting)]
    child = subprocess.Popen(
        program("pipeline", "messages", plain, "orders", "--lake", str(folder / "lake"), *more), cwd=ROOT,
        env=surroundings(QMON_PASSWORD=password), start_new_session=True,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        with contextlib.suppress(subprocess.TimeoutExpired):
            return child.wait(kill_s or _LONG_S)
        os.killpg(child.pid, signal.SIGKILL)
        return child.wait(_LONG_S)
    finally:
        if child.poll() is None:
            os.killpg(child.pid, signal.SIGKILL)
            child.wait()
