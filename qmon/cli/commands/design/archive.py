"""``qmon design archive``: moves done messages to the archive, so that the queue's table stays small."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING, Annotated, Final

import typer

from qmon.cli import options
from qmon.cli.output import Meter, clean_text, print_output
from qmon.cli.signals import stop_on_signals
from qmon.model.formatting import count_text, duration, milliseconds
from qmon.system import HANGUP
from qmon.texts import Text

if TYPE_CHECKING:
    from qmon.operate.actions.archiver import ArchiveProgress, ArchiveResult


class ArchiveEnd(Text):
    """How an archive run ends."""

    NOTHING_LEFT = "nothing is left to archive"
    FAILED = "failed; messages archived so far stay archived"


class ArchiveResultText(Text):
    """Progress and result of an archive run."""

    PROGRESS = "{queue}: archived {messages:,}   {rate:,.0f}/s   batches of {batch:,}, {pause} between   {held_up}"
    RESULT = "{queue}: archived {messages} in {batches}, {duration} ({rate:,.1f}/s); {end}"
    HELD_UP = "{batches} waited for a lock or took too long, and ran again later"
    UNSURE = "the connection broke during {batches}, not counted: each such batch is fully archived, or not at all"


_PIPED_EVERY_S: Final = 10.0
# Minimum pause between two batches, in seconds. After a slow batch, the pause is longer.
_LEAST_PAUSE_S: Final = 0.1
_ENDINGS: Final = {
    "empty": ArchiveEnd.NOTHING_LEFT,
    "stopped": "stopped",
    "failed": ArchiveEnd.FAILED,
}


def register_commands(app: typer.Typer) -> None:
    app.command("archive", epilog="Example: qmon design archive shop mails --batch 200 --until-empty")(archive)


def archive(
    context: typer.Context,
    target: options.Target,
    queue: options.InstalledQueue,
    batch: Annotated[
        int, typer.Option("--batch", metavar="N", min=1, max=10_000, help="Maximum number of messages per batch.")
    ] = 500,
    until_empty: Annotated[
        bool, typer.Option("--until-empty", help="End when nothing is left to archive. Default: keep running.")
    ] = False,
) -> None:
    """Move done messages of a queue to its archive.

    The command works in small batches. After a batch, it pauses at least three times as long as the batch took. If a
    batch is slow or waits for a lock, batches become smaller and pauses longer. Ctrl-C or SIGTERM ends the command
    after the current batch, with exit code 0.
    """
    from qmon.cli.target_session import check_not_read_only, open_target
    from qmon.operate.actions.archiver import ARCHIVE_SESSION, Archiver, check_can_archive
    from qmon.operate.run.pacing import archive_pace

    config = options.config_path(context)
    with open_target(target, config, "archive", needs_primary=True) as at:
        check_not_read_only(at.target)
        layout = at.layout_with_archive(queue)
        check_can_archive(at.connection, at.engine, layout)
        known, engine = at.target, at.engine
    meter = Meter(_PIPED_EVERY_S)
    pace = archive_pace(batch, _LEAST_PAUSE_S)
    with stop_on_signals(signal.SIGINT, signal.SIGTERM, HANGUP) as (stop, _):
        archiver = Archiver(lambda: engine.connect(known, ARCHIVE_SESSION), engine, layout, pace, stop)
        try:
            archiver.run(
                lambda now: meter.show_progress(_progress_line(clean_text(queue), now), now.elapsed_s),
                until_empty=until_empty,
            )
        finally:
            meter.clear_line()
            _print_result(queue, archiver.result())


def _print_result(queue: str, outcome: ArchiveResult) -> None:
    rate = outcome.moved / outcome.seconds if outcome.seconds else 0.0
    print_output(
        ArchiveResultText.RESULT.render(
            queue=clean_text(queue),
            messages=count_text(outcome.moved, "message"),
            batches=_batches_text(outcome.batches),
            duration=duration(outcome.seconds),
            rate=rate,
            end=_ENDINGS.get(outcome.ended, outcome.ended),
        )
    )
    if outcome.held_up:
        print_output(ArchiveResultText.HELD_UP.render(batches=_batches_text(outcome.held_up)))
    if outcome.unsure:
        print_output(ArchiveResultText.UNSURE.render(batches=_batches_text(outcome.unsure)))


def _batches_text(number: int) -> str:
    return f"{number:,} batch{'' if number == 1 else 'es'}"


def _progress_line(queue: str, now: ArchiveProgress) -> str:
    return ArchiveResultText.PROGRESS.render(
        queue=queue,
        messages=now.moved,
        rate=now.rate,
        batch=now.batch,
        pause=milliseconds(now.pause_s * 1000),
        held_up=clean_text(now.held_up),
    ).rstrip()
