"""Recording: bytes of a day, the recorder's share of a core, and the time to show a moment of a day.

A real run with twenty queues under load is recorded. Its last two minutes, repeated with later times by the
recorder's own writer, make a day.
"""

from __future__ import annotations

import json
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from typing import Any, Final

import msgspec

from qmon.model.snapshot import Snapshot
from qmon.model.view import View
from qmon.monitor.open import open_poller
from qmon.monitor.source import Event, SourceState
from qmon.monitor.state.target_history import TargetHistory
from qmon.recording.format.codec import encode
from qmon.recording.format.poll_figures import figures_from_view
from qmon.recording.format.records import End, Line, SessionLine
from qmon.recording.read.recording_paths import list_segments
from qmon.recording.read.recording_reader import open_recording
from qmon.recording.read.replay import Replay
from qmon.recording.write.recorder import Recorder, RecorderStatus
from qmon.recording.write.rolling_writer import RollingWriter
from qmon.recording.write.segment_writer import FRAME_S
from qmon.workload.load_driver import Load
from qmon.workload.load_plan import QueueLoad
from tests.benchmarks.queues import TWELVE, bench_server, bench_target, install_queues
from tests.benchmarks.results import Bound, Part

DAY_MB: Final = 60.0
CORE: Final = 0.01
SEEK_MS: Final = 300.0
QUEUES: Final = 20
_DESIGNS: Final = (*TWELVE, "status", "status", "fifo", "lifo", "batch_fast", "pending", "flag", "ring")
INTERVAL_S: Final = 2.0
_BEGIN: Final = 1_795_219_200.0


@dataclass(frozen=True, slots=True)
class Live:
    """A recorded run: its polls and their views, the state of the recorder, and the length in seconds."""

    polls: list[tuple[Snapshot, View]]
    status: RecorderStatus
    seconds: float


def run(*, quick: bool = False) -> Part:
    """Record a run at 2 s, make a day of its last two minutes, and show twenty moments of that day."""
    minutes, hours = (0.5, 1) if quick else (FRAME_S / 60, 24)
    part = Part("recording", {"interval_s": INTERVAL_S, "minutes": minutes, "hours": hours})
    with tempfile.TemporaryDirectory() as folder:
        live = live_run(Path(folder) / "live", minutes * 60)
        queues = len(live.polls[0][0].queues)
        day = made_day(Path(folder) / "day", live, hours)
        read_ms, seek_ms = _times(day)
    per_poll = live.status.bytes / len(live.polls)
    a_day = day.bytes / day.polls * 86_400 / INTERVAL_S / 1e6 * QUEUES / queues
    core = live.status.cpu_s / live.seconds * QUEUES / queues
    part.conditions["queues"] = queues
    part.rows.append(
        {
            "queues": queues,
            "polls": len(live.polls),
            "bytes a poll": per_poll,
            "MB a day, 20 queues": a_day,
            "share of a core, 20 queues": core,
            "reading all ms": read_ms,
            "seek ms, median": median(seek_ms),
            "seek ms, worst": max(seek_ms),
            "all / seek": read_ms / median(seek_ms),
        }
    )
    part.bounds = [
        Bound("MB of a day of 20 queues", a_day, DAY_MB),
        Bound("share of a core", core, CORE),
        Bound("ms until a moment is shown, worst", max(seek_ms), SEEK_MS),
    ]
    return part


@dataclass(frozen=True, slots=True)
class Day:
    """A generated day: its folder, bytes, polls, first and last time."""

    root: Path
    bytes: int
    polls: int
    first_at: float
    last_at: float


def _as_it_is(figures: Any, at: float) -> Any:
    return figures


def live_run(root: Path, seconds: float) -> Live:
    """Poll and record queues under load as ``qmon connect --record`` does it."""
    polls: list[tuple[Snapshot, View]] = []
    history = TargetHistory()
    with bench_server() as server:
        target = bench_target(server.url())
        layouts = install_queues(target, _DESIGNS)
        loads = [QueueLoad(layout, rate=20, pop_rate=22, keeper=layout.design == "batch_fast") for layout in layouts]
        with Load(target, loads):
            threading.Event().wait(5.0)
            recorder = Recorder(root, "bench", interval_s=INTERVAL_S)

            def sink(event: Event) -> None:
                if isinstance(event, SourceState):
                    recorder.record_state(event)
                    return
                polls.append((event, history.record_snapshot(event)))
                recorder.record_snapshot(*polls[-1])

            poller = open_poller(target, layouts, interval_s=INTERVAL_S)
            began = time.monotonic()
            poller.start(sink)
            threading.Event().wait(seconds)
            poller.close()
            status = recorder.close()
    return Live(polls, status, time.monotonic() - began)


def made_day(root: Path, live: Live, hours: int, vary: Callable[[Any, float], Any] = _as_it_is) -> Day:
    """Repeat the run's last two minutes, one frame, with later times.

    ``vary``: changes the figures.
    """
    polls = live.polls[-int(FRAME_S / INTERVAL_S) :]
    figures = [json.loads(encode(figures_from_view(view))) for _, view in polls]
    writer = RollingWriter(root, "0123456789ab", SessionLine("bench", "", "", "bench", "UTC", INTERVAL_S, _BEGIN))
    at, count = _BEGIN, 0
    writer.open_segment(at, ())
    for count in range(int(hours * 3600 / FRAME_S) * len(polls)):
        frame, place = divmod(count, len(polls))
        at = _BEGIN + FRAME_S * (frame + place / len(polls))
        snapshot, _ = polls[place]
        now_at = at + snapshot.sampled_at % 1e-3
        server = replace(snapshot.server, now_at=now_at)
        writer.roll_segment(at, ())
        writer.add_snapshot(replace(snapshot, sequence=count + 1, sampled_at=now_at, taken_at=at, server=server), at)
        said = vary(figures[place], at) | {"sequence": count + 1, "sampled_at": now_at}
        writer.add_line(Line("", 0, at, "figures", msgspec.json.encode(said)))
        writer.flush(at)
    writer.seal_segment(at, End("closed"))
    return Day(root, sum(path.stat().st_size for path in list_segments(root)), count + 1, _BEGIN, at)


def _times(day: Day) -> tuple[float, list[float]]:
    """Return the milliseconds to read everything, and to show each of twenty moments of the day in an open replay."""
    began = time.perf_counter()
    count = sum(1 for _, line in open_recording(day.root).read_lines(0.0) if line.kind == "snapshot")
    read_ms = (time.perf_counter() - began) * 1000
    if count != day.polls:
        raise RuntimeError(f"of {day.polls} polls {count} were read")
    replay = Replay(open_recording(day.root), playing=False)
    shown = threading.Semaphore(0)

    def sink(event: Event) -> None:
        if isinstance(event, Snapshot):
            replay.fold(event)
            shown.release()

    replay.start(sink)
    shown.acquire(timeout=60)
    found = []
    for number in range(20):
        at = day.first_at + (day.last_at - day.first_at) * ((number * 7 + 3) % 20) / 20
        while shown.acquire(timeout=0.01):
            pass
        began = time.perf_counter()
        replay.seek(at)
        shown.acquire(timeout=60)
        found.append((time.perf_counter() - began) * 1000)
    replay.close()
    return read_ms, found
