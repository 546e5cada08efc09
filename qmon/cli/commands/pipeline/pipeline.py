"""``qmon pipeline``: rolls up recordings with Spark, and writes reports and baselines."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from qmon import files
from qmon.cli import options
from qmon.cli.commands.pipeline.archived_messages import messages
from qmon.cli.commands.pipeline.forget_command import forget
from qmon.cli.commands.pipeline.pipeline_options import EVERY_S, declare_lake_options, open_lake
from qmon.cli.commands.pipeline.tidy_command import tidy, views
from qmon.cli.output import Format, clean_text, print_note, print_output
from qmon.cli.output import print_report as write
from qmon.cli.signals import stop_on_signals
from qmon.errors import BadInput
from qmon.model.formatting import count_text
from qmon.recording.read.recording_paths import SEGMENT_S, is_open, list_segments, segment_start
from qmon.recording.write.retention import unread_bytes
from qmon.texts import Text

if TYPE_CHECKING:
    from qmon.pipeline.ingest.segment_intake import BatchResult
    from qmon.pipeline.lake.lake import LakeView


class PipelineResultText(Text):
    """Progress and results of the pipeline."""

    BATCH = "batch {number}: {counts} so far"
    LAKE = "the lake has {days}: {counts}"
    COUNTS = "{samples} of {segments}, {duplicates} left out, {bad_lines}"
    BAD_LINES = "the table bad of the lake contains each bad line with its file and the reason"
    FUTURE_DAYS = (
        "{target}: qmon ignored days in the future, up to {day:%Y-%m-%d}; check the clock of the target's recorder"
    )
    BASELINE_REMOVED = "{target}: baseline removed, because the last {weeks} weeks do not have enough data"
    ZONE = "{target}: hours of the week in {zone} ({source})"
    ZONE_OPTION = "from --zone"
    ZONE_OF_RECORDER = "from the target's recorder; to change the zone, use --zone"
    NO_HISTORY = "not enough history: no hour of the week was recorded four times; {file}"
    FILE_KEPT = "qmon keeps the existing file; delete the file if it is wrong"
    FILE_EMPTY = "the file is empty"
    BASELINES = "wrote baselines for {hours} of the week of {queues}"


class PipelineText(Text):
    """Faults of the options of the pipeline, the end of a run, and segments that it did not read."""

    NOT_A_TIME = "{text!r} is not a day or time such as 2026-11-21 or 2026-11-21T14:00"
    NO_RECORDINGS = "the folder {path} does not exist; create recordings with: qmon record TARGET --to DIR"
    NO_FOLDER = "the folder {path} does not exist"
    OPEN_SEGMENTS = (
        "not in the lake yet: {segments}; qmon record seals open segments at {at:%H:%M} UTC or when it ends, and the"
        " next run reads them"
    )
    LATE_SEGMENTS = (
        "not in the lake yet: {segments} that should have been sealed; if the recorder was killed, its next start"
        " seals them"
    )
    STOPPED = "stopped; the next start finishes the interrupted batch"
    NOT_A_ZONE = "--zone needs a time zone such as Europe/Berlin, or TARGET=ZONE; not {name!r}"


# A run with fewer bytes of new segments counts as brief. In a brief run, Java's second compiler costs more time than it
# saves. In a measurement, cost and gain were equal at 640 MB.
_BRIEF_BYTES: Final = 250_000_000


def _parse_time(text: str | float) -> float:
    """Return a day or time in UTC as seconds since the epoch. Raises a usage error for any other text."""
    if isinstance(text, float):
        return text
    try:
        at = datetime.fromisoformat(text)
        return (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        raise typer.BadParameter(PipelineText.NOT_A_TIME.render(text=text)) from None


def register_commands(app: typer.Typer) -> None:
    group = typer.Typer(
        help="Summarize recordings with Spark. Needs the extra `pipeline`.",
        no_args_is_help=True,
        callback=declare_lake_options,
    )
    group.command("baselines", epilog="Example: qmon pipeline baselines --lake /var/lake --recordings /var/qmon")(
        baselines
    )
    group.command("forget", epilog="Example: qmon pipeline forget --lake /var/lake --target orders-old --dry-run")(
        forget
    )
    group.command("messages", epilog="Example: qmon pipeline messages shop mails --lake /var/lake")(messages)
    group.command(
        "report", epilog="Example: qmon pipeline report --lake /var/lake --from 2026-11-01 --file report.html"
    )(report)
    group.command("run", epilog="Example: qmon pipeline run --recordings /var/qmon --lake /var/lake --once")(run)
    group.command("tidy", epilog="Example: qmon pipeline tidy --lake /var/lake --keep-samples 90d")(tidy)
    group.command("views", epilog="Example: qmon pipeline views --lake /var/lake | duckdb -init /dev/stdin")(views)
    app.add_typer(group, name="pipeline")


def run(
    context: typer.Context,
    recordings: Annotated[
        str, typer.Option("--recordings", metavar="PATH", help="Folder that `qmon record` writes to.")
    ],
    continuous: Annotated[
        bool,
        typer.Option(
            "--continuous/--once", help="Look for new segments every minute, or end when all segments are read."
        ),
    ] = False,
    output: options.Output = "table",
) -> None:
    """Read each sealed segment into the lake exactly once.

    qmon also updates all tables for the affected hours. If the process is killed and restarted, no sample is lost or
    duplicated. Ctrl-C or SIGTERM ends the command with exit code 0. The next start finishes an interrupted batch.
    """
    recordings = files.expand_home(recordings)
    if "://" not in recordings and not Path(recordings).is_dir():  # checked before Spark starts and creates a lake
        raise BadInput(PipelineText.NO_RECORDINGS.render(path=recordings))
    little_data = not continuous and unread_bytes(Path(recordings)) < _BRIEF_BYTES
    with open_lake(context, little_data=little_data) as target:
        from qmon.pipeline.ingest.segment_intake import SegmentIntake
        from qmon.pipeline.ingest.segment_intake import run_intake as take_in

        intake = SegmentIntake(target, recordings)
        with stop_on_signals(signal.SIGINT, signal.SIGTERM) as (stop, _):
            # cron sends every line of standard error by mail, so progress is not printed there.
            shown = _print_progress if continuous or sys.stderr.isatty() else None
            take_in(intake, every_s=EVERY_S if continuous else None, on_batch=shown, stop=stop)
        if stop.is_set():
            print_note(PipelineText.STOPPED)
            return
        _print_totals(target.view(), output)
    if output == "table" and "://" not in recordings:
        for line in describe_unsealed_segments(Path(recordings), time.time()):
            print_output(line)


def describe_unsealed_segments(recordings: Path, now: float) -> list[str]:
    """Return lines about the segments that are still open, so that they are not in the lake yet.

    ``now``: seconds since the epoch.
    """
    left = [path for path in list_segments(recordings) if is_open(path)]
    due = [segment_start(path) // SEGMENT_S * SEGMENT_S + SEGMENT_S for path in left]
    growing = [at for at in due if at >= now]
    lines = []
    if growing:
        at = datetime.fromtimestamp(max(growing), UTC)
        lines.append(PipelineText.OPEN_SEGMENTS.render(segments=count_text(len(growing), "open segment"), at=at))
    if len(left) > len(growing):
        late = count_text(len(left) - len(growing), "segment")
        lines.append(PipelineText.LATE_SEGMENTS.render(segments=late))
    return lines


def report(
    context: typer.Context,
    since: Annotated[
        float | None,
        typer.Option(
            "--from",
            parser=_parse_time,
            metavar="DAY",
            help="First day or time, UTC. Default: a week before --to, or the first hour of the lake.",
        ),
    ] = None,
    until: Annotated[
        float | None,
        typer.Option("--to", parser=_parse_time, metavar="DAY", help="Last day or time, UTC. Default: now."),
    ] = None,
    queue: Annotated[str | None, typer.Option("--queue", metavar="NAME", help="Only queues with this name.")] = None,
    target: Annotated[
        list[str] | None, typer.Option("--target", metavar="TARGET", help="Only this target. Repeatable.")
    ] = None,
    environment: Annotated[
        list[str] | None,
        typer.Option(
            "--environment", metavar="NAME", help="Only targets of this environment, such as prod. Repeatable."
        ),
    ] = None,
    file: Annotated[
        Path | None,
        typer.Option("--file", "-f", metavar="FILE", help="Write one HTML file instead of printing.", dir_okay=False),
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option("--data", metavar="FOLDER", help="Write the data of the report as one CSV file per table."),
    ] = None,
    output: options.Output = "table",
) -> None:
    """Report on a period as text, JSON, one HTML file, or data files.

    The report starts with a summary and the three most important findings. For each queue, it shows service levels,
    incidents, unusual figures, a comparison with the previous period, capacity and coverage. Entries [[slo]] of
    qmon.toml define the service levels.
    """
    config = options.config_path(context)
    for path in (file, data):
        if path is not None and not (place := files.resolve_user_path(path).parent).is_dir():
            raise BadInput(PipelineText.NO_FOLDER.render(path=place))
    from qmon.config.config_file import read_config

    objectives = read_config(config).objectives
    with open_lake(context) as source:
        from qmon.pipeline.report.data_files import write_csv
        from qmon.pipeline.report.facts import ReportRequest, gather_facts, report_period, skip_time_before_data
        from qmon.pipeline.report.html import report_page

        request = ReportRequest(queue, objectives, tuple(target or ()), tuple(environment or ()))
        view, period = source.view(), report_period(since, until, time.time())
        if since is None:
            period = skip_time_before_data(view, period)
        found = gather_facts(view, period, request)
    if file is not None:
        files.replace_file(file, report_page(found))
        print_output(
            f"{file}: {count_text(len(found.queues), 'queue')}, {count_text(len(found.incidents), 'incident')}"
        )
    if data is not None:
        print_output(f"{data}: {', '.join(write_csv(found, data))}")
    if (file, data) != (None, None):
        return
    from qmon.cli.commands.pipeline.report_object import report_object
    from qmon.cli.commands.pipeline.report_text import print_period

    if output == "table":
        print_period(found)
    else:
        from qmon.cli.reports.pipeline_reports import PeriodReport

        write(output, report_object(found), PeriodReport, "queues")


def baselines(
    context: typer.Context,
    recordings: Annotated[
        str,
        typer.Option("--recordings", metavar="PATH", help="Folder of the recordings, for the file .baselines.json."),
    ],
    weeks: Annotated[
        int,
        typer.Option(
            "--weeks",
            metavar="N",
            min=4,
            max=520,
            help="Number of weeks to use, counted back from the target's last data.",
        ),
    ] = 12,
    zone: Annotated[
        list[str] | None,
        typer.Option(
            "--zone",
            metavar="ZONE",
            help="Time zone of the hours, such as Europe/Berlin, or TARGET=ZONE for one target. Repeatable. "
            "Default: the zone of the machine that recorded the target.",
        ),
    ] = None,
) -> None:
    """Write baselines: the usual figures for each hour of the week.

    A baseline contains the median and the usual deviation of a queue's figure. Minutes within incidents do not count.
    Hours of the week with fewer than four readings have no baseline.
    """
    stated, recordings = _parse_zones(zone or ()), files.expand_home(recordings)
    with open_lake(context) as source:
        from qmon.pipeline.report.baselines_file import write_baselines

        found = write_baselines(source, recordings, weeks, stated)
    for target, newest in sorted(found.ahead.items()):
        day = datetime.fromtimestamp(newest, UTC)
        print_note(PipelineResultText.FUTURE_DAYS.render(target=clean_text(target), day=day))
    for target in found.lost:
        print_note(PipelineResultText.BASELINE_REMOVED.render(target=clean_text(target), weeks=weeks))
    for target, name in sorted(found.zones.items()):
        is_stated = not {"", target}.isdisjoint(stated)
        origin = PipelineResultText.ZONE_OPTION if is_stated else PipelineResultText.ZONE_OF_RECORDER
        print_output(PipelineResultText.ZONE.render(target=clean_text(target), zone=name, source=origin))
    if not found.hours:
        stays = PipelineResultText.FILE_KEPT if found.kept else PipelineResultText.FILE_EMPTY
        print_output(PipelineResultText.NO_HISTORY.render(file=stays))
        return
    hours, queues = count_text(found.hours, "hour"), count_text(found.queues, "queue")
    print_output(PipelineResultText.BASELINES.render(hours=hours, queues=queues))


def _parse_zones(texts: Iterable[str]) -> dict[str, str]:
    """Return time zones, keyed by target, with ``""`` for all other targets.

    Raises ``BadInput`` for an unknown zone.
    """
    from qmon.recording.times import is_zone

    zones = {}
    for text in texts:
        target, _, name = text.rpartition("=")
        if not is_zone(name):
            raise BadInput(PipelineText.NOT_A_ZONE.render(name=name))
        zones[target] = name
    return zones


def _print_progress(done: BatchResult) -> None:
    print_note(PipelineResultText.BATCH.render(number=done.batch, counts=_intake_counts_text(done.totals)))


def _print_totals(view: LakeView, output: Format) -> None:
    counts = view.counts()
    if output != "table":
        from qmon.cli.reports.pipeline_reports import IngestReport

        write(output, {**counts, "schema": 1, "batches": view.batch}, IngestReport)
        return
    days = count_text(len(view.dates()), "day")
    print_output(PipelineResultText.LAKE.render(days=days, counts=_intake_counts_text(counts)))
    if counts["bad"]:
        print_output(PipelineResultText.BAD_LINES)


def _intake_counts_text(counts: Mapping[str, int]) -> str:
    return PipelineResultText.COUNTS.render(
        samples=count_text(counts["samples"], "sample"),
        segments=count_text(counts["segments"], "segment"),
        duplicates=count_text(counts["duplicates"], "duplicate"),
        bad_lines=count_text(counts["bad"], "bad line"),
    )
