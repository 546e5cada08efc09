"""``qmon record``: records targets without a screen until it is stopped. A failure does not affect other targets."""

from __future__ import annotations

import contextlib
import signal
import threading
import time
from collections.abc import Callable, Collection
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from qmon.cli import options
from qmon.cli.output import Meter, clean_text, print_note
from qmon.cli.signals import stop_on_signals
from qmon.model.formatting import count_text, duration, size
from qmon.system import HANGUP
from qmon.texts import Text

if TYPE_CHECKING:
    from qmon.cli.target_session import ChosenTarget
    from qmon.model.view import View
    from qmon.monitor.source import Event, SourceState
    from qmon.recording.write.headless_target import HeadlessTarget, TargetRecordingStatus
    from qmon.recording.write.retention import RetentionResult


class RecordingText(Text):
    """Progress and end of recordings, why they end, and segments that lakes have not read."""

    PROGRESS = "{target} {phase}{problem}: {snapshots}, {size}{lost}"
    STOPPED_EARLIER = "{target} stopped: {problem}"
    SEALED = "{target}: {snapshots} recorded{lost}, {size}, sealed{missing}"
    LOST = ", {count:,} lost"
    NO_QUEUE = "no queue {queues}"
    LAKE = "{lake}{since} (if that lake is gone or was moved, delete {file})"
    DAMAGED_LAKE = "a lake whose mark is damaged"
    LAST_BATCH = ", last batch {age} ago"
    DELETED_UNREAD = "deleted {segments} that exceeded --max-size before these lakes had read them"
    LENGTH_OVER = "--for is over"
    OTHER_TARGET_FAILED = "another target cannot be recorded"
    QMON_FAILED = "qmon has failed"
    WAITING = "cannot delete {segments}, because these lakes have not read all of them"


_CHECK_S: Final = 1.0
_TIDY_S: Final = 60.0

# Interval of warnings about lakes that do not read the recordings.
_WARN_S: Final = 3600.0
_SHOW_EVERY_S: Final = 60.0
_STOPPED: Final = 1


def register_commands(app: typer.Typer) -> None:
    app.command("record", epilog="Example: qmon record orders-prod mails --to /var/lib/qmon --keep 30d --max-size 5GB")(
        record
    )


def record(
    context: typer.Context,
    to: Annotated[Path, typer.Option("--to", metavar="DIR", help="Folder of the recordings.", show_default=False)],
    targets: options.Targets = None,
    all_targets: options.AllTargets = False,
    every: Annotated[float, options.duration_option("--every", help="Poll interval, 500ms to 1m.", default="2s")] = 2.0,
    keep: Annotated[
        float | None,
        options.duration_option("--keep", help="Delete recordings older than this, such as 30d."),
    ] = None,
    max_size: Annotated[
        str | None,
        typer.Option(
            "--max-size",
            metavar="SIZE",
            help="Maximum total size, such as 5GB. Deletes the oldest recordings first.",
        ),
    ] = None,
    queues: options.Queues = None,
    length: Annotated[float | None, options.duration_option("--for", help="End after this time.")] = None,
    payloads: Annotated[
        bool, typer.Option("--payloads", help="Also record payloads and last errors of messages.")
    ] = False,
) -> None:
    """Record targets without a screen.

    `qmon replay` shows recordings. On SIGTERM or Ctrl-C, the command seals the files and ends. A failing target does
    not affect other targets. The command also sends the alerts of qmon.toml.
    """
    from qmon.cli.alerting_setup import headless_alerting
    from qmon.cli.target_session import check_poll_interval, resolve_targets
    from qmon.recording.write.retention import parse_size

    config = options.config_path(context)
    most = parse_size(max_size) if max_size is not None else None
    check_poll_interval(every)
    known = resolve_targets(targets or (), config, all_targets=all_targets)
    with headless_alerting(known) as take:
        running = start_targets(known, to, every, payloads, take, queues=queues or ())
        with stop_on_signals(signal.SIGTERM, signal.SIGINT, HANGUP) as (ending, why):
            watch_recordings(running, ending, length, retention_task(to, keep, most))
        ended = [recorder.close(why[0] if why else RecordingText.LENGTH_OVER) for recorder in running]
    report_endings(ended)


def start_targets(
    targets: list[ChosenTarget],
    recordings_folder: Path | None,
    every: float,
    payloads: bool,
    on_view: Callable[[str, View | SourceState], None],
    on_event: Callable[[str, Event], None] = lambda name, event: None,
    queues: Collection[str] = (),
) -> list[HeadlessTarget]:
    """Start to poll the targets, and record them below ``root`` if given.

    ``on_view`` and ``on_event`` get the target's name and each event; ``HeadlessTarget`` describes when. If nothing can
    be written, stops the targets that were already started, and raises ``BadInput``.
    """
    from qmon.cli.baselines_source import baselines_of
    from qmon.recording.write.headless_target import HeadlessTarget
    from qmon.redact import build_redactor

    running = []
    with contextlib.ExitStack() as unless_all:
        for each in targets:
            recorder = HeadlessTarget(
                each.target,
                each.configured,
                recordings_folder,
                interval_s=every,
                redact=build_redactor(each.config.settings.redact),
                record_payloads=payloads,
                queues=queues,
                baselines=baselines_of(each, recordings_folder),
                on_view=partial(on_view, each.target.name),
                on_event=partial(on_event, each.target.name),
            )
            unless_all.callback(recorder.close, RecordingText.OTHER_TARGET_FAILED)
            running.append(recorder)
        unless_all.pop_all()
    return running


def watch_recordings(
    running: list[HeadlessTarget],
    ending: threading.Event,
    length: float | None,
    tidy: Callable[[], RetentionResult | None],
) -> None:
    """Wait for the end. In the meantime, print progress and delete recordings beyond the limits.

    If ``tidy`` raises an error, seals the recordings and raises the error.
    """
    with contextlib.ExitStack() as unless_ended:
        for recorder in running:
            unless_ended.callback(recorder.close, RecordingText.QMON_FAILED)
        _watch_until_end(running, ending, length, tidy)
        unless_ended.pop_all()


def _watch_until_end(
    running: list[HeadlessTarget],
    ending: threading.Event,
    length: float | None,
    tidy: Callable[[], RetentionResult | None],
) -> None:
    began = time.monotonic()
    tidied = warned = -_WARN_S
    unread = 0
    meter = Meter(_SHOW_EVERY_S, at_once=True)
    while not ending.wait(_CHECK_S if length is None else max(0.0, min(_CHECK_S, began + length - time.monotonic()))):
        now = time.monotonic() - began
        if length is not None and now >= length:
            break
        statuses = [recorder.status for recorder in running]
        if all(each.recording.stopped for each in statuses):
            break
        if now - tidied >= _TIDY_S:
            tidied, kept = now, tidy()
            unread += kept.unread if kept is not None else 0
            if kept is not None and (unread or kept.waiting) and now - warned >= _WARN_S:
                print_note(clean_text(f"qmon: {waiting_text(replace(kept, unread=unread), time.time())}"))
                warned, unread = now, 0
        meter.show_progress(clean_text("qmon: " + " · ".join(_progress_text(each) for each in statuses)), now)
    meter.clear_line()


def waiting_text(retention: RetentionResult, now: float) -> str:
    """Describe which lakes have not read old segments, and what to do if a lake is gone."""
    lakes = "; ".join(
        RecordingText.LAKE.render(
            lake=mark.lake or RecordingText.DAMAGED_LAKE,
            since=RecordingText.LAST_BATCH.render(age=duration(now - mark.at)) if mark.at is not None else "",
            file=mark.file,
        )
        for mark in retention.lakes
    )
    texts = []
    if retention.unread:
        texts.append(RecordingText.DELETED_UNREAD.render(segments=count_text(retention.unread, "segment")))
    if retention.waiting:
        texts.append(RecordingText.WAITING.render(segments=count_text(retention.waiting, "old segment")))
    return f"{'; '.join(texts)}: {lakes}"


def report_endings(ended: list[TargetRecordingStatus]) -> None:
    """Print how each recording ended. Raises ``typer.Exit`` if a recording stopped early."""
    for each in ended:
        print_note(f"qmon: {_ending_text(each)}")
    if any(each.recording.stopped for each in ended):
        raise typer.Exit(_STOPPED)


def _progress_text(status: TargetRecordingStatus) -> str:
    done = status.recording
    if done.stopped:
        return RecordingText.STOPPED_EARLIER.render(target=status.target, problem=done.stopped)
    lost = RecordingText.LOST.render(count=done.lost) if done.lost else ""
    why = status.problem or _missing_text(status)
    problem = f" ({why})" if why else ""
    return RecordingText.PROGRESS.render(
        target=status.target,
        phase=status.phase,
        problem=problem,
        snapshots=count_text(done.snapshots, "snapshot"),
        size=size(done.bytes),
        lost=lost,
    )


def _ending_text(status: TargetRecordingStatus) -> str:
    done = status.recording
    if done.stopped:
        return f"{status.target}: {done.stopped_text}"
    lost = RecordingText.LOST.render(count=done.lost) if done.lost else ""
    missing = f"; {_missing_text(status)}" if status.missing else ""
    return RecordingText.SEALED.render(
        target=status.target,
        snapshots=count_text(done.snapshots, "snapshot"),
        lost=lost,
        size=size(done.bytes),
        missing=missing,
    )


def _missing_text(status: TargetRecordingStatus) -> str:
    return RecordingText.NO_QUEUE.render(queues=" or ".join(status.missing)) if status.missing else ""


def retention_task(
    recordings_folder: Path, keep_s: float | None, max_bytes: int | None
) -> Callable[[], RetentionResult | None]:
    """Return a function that deletes recordings older than ``keep_s``, and the oldest if all exceed ``max_bytes``."""
    from qmon.recording.write.retention import apply_retention

    if keep_s is None and max_bytes is None:
        return lambda: None
    return lambda: apply_retention(recordings_folder, keep_s=keep_s, max_bytes=max_bytes, now=time.time())
