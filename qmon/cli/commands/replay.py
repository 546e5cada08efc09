"""``qmon replay`` and ``qmon export``: show, print or export recordings."""

from __future__ import annotations

from json import loads
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from qmon.cli import options
from qmon.cli.output import Format, print_note, print_report
from qmon.errors import BadInput
from qmon.model.formatting import size
from qmon.texts import Text

if TYPE_CHECKING:
    from qmon.model.view import View
    from qmon.recording.read.recording_reader import RecordingReader


class ReplayText(Text):
    """Errors about empty recordings, and the results of exports."""

    NOTHING_BEFORE = "nothing was recorded before {at}; the recording covers {begins} to {ends}"
    EXPORTED = "qmon: {snapshots:,} snapshots, {first} to {last}, {size} in {file}"


Recording = Annotated[
    Path, typer.Argument(metavar="DIR|FILE", help="Folder of recordings, or an exported file.", show_default=False)
]
TargetName = Annotated[
    str | None,
    typer.Option("--target", metavar="NAME", help="Target, if the folder contains several targets."),
]
_WHEN = "14:03, 14:03:20, '2026-11-21 14:03', or -10m from the end; in the recording's time zone."


def register_commands(app: typer.Typer) -> None:
    app.command("replay", epilog="Example: qmon replay /var/lib/qmon --target orders-prod --at 14:03")(replay)
    app.command("export", epilog="Example: qmon export /var/lib/qmon incident.qmon --from 14:00 --to 14:20")(export)


def replay(
    context: typer.Context,
    recording: Recording,
    target: TargetName = None,
    at: Annotated[str | None, typer.Option("--at", metavar="TIME", help=f"Start at this time: {_WHEN}")] = None,
    output: Annotated[
        Format | None,
        typer.Option("--output", "-o", help="Print the figures like `qmon status`, at --at or at the end."),
    ] = None,
) -> None:
    """Show a recording in the dashboard.

    Keys: A plays or pauses, n and b step, + and - change the speed, < and > jump to incidents and operations, @ goes to
    a time, 5 plots any range.
    """
    from qmon.cli.baselines_source import baselines_source
    from qmon.cli.dashboard_past import replay_past
    from qmon.recording.read.recording_reader import open_recording
    from qmon.recording.read.replay import Replay

    reader = open_recording(recording, target)
    begin_at = None if at is None else _parse_moment(reader, at)
    if output is not None:
        _print_moment(reader, reader.ends_at if begin_at is None else begin_at, output)
    else:
        from qmon.config.config_file import read_config
        from qmon.config.preferences import read_preferences
        from qmon.tui import DashboardTarget, run

        config, folder = read_config(options.config_path(context)), recording if recording.is_dir() else None
        usual = baselines_source(reader.session.target, config, folder)
        played = Replay(reader, begin_at, baselines=lambda: usual().baselines)
        past = replay_past(played, usual)
        environment, preferences = reader.session.environment, read_preferences()
        shown = DashboardTarget(played, played.fold, environment=environment, past=past)
        code = run([shown], preferences=preferences)
        _note_damage(reader)
        raise typer.Exit(code)
    _note_damage(reader)


def export(
    recording: Recording,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="File to write.", show_default=False)],
    since: Annotated[str, typer.Option("--from", metavar="TIME", help=f"Start: {_WHEN}", show_default=False)],
    until: Annotated[str, typer.Option("--to", metavar="TIME", help="End, written like --from.", show_default=False)],
    target: TargetName = None,
) -> None:
    """Export part of a recording to one file.

    `qmon replay FILE` shows the file. The file also contains the two minutes before the start.
    """
    from qmon.recording import segment_export as exporting
    from qmon.recording.read.recording_reader import open_recording
    from qmon.recording.times import local_time

    reader = open_recording(recording, target)
    done = exporting.export_range(reader, _parse_moment(reader, since), _parse_moment(reader, until), file)
    zone = reader.session.zone
    first, last = local_time(done.first_at, zone), local_time(done.last_at, zone)
    print_note(
        ReplayText.EXPORTED.render(snapshots=done.snapshots, first=first, last=last, size=size(done.bytes), file=file)
    )
    _note_damage(reader)


def _note_damage(reader: RecordingReader) -> None:
    if reader.damage:
        print_note(f"qmon: {reader.damage}")


def _parse_moment(reader: RecordingReader, text: str) -> float:
    from qmon.recording.times import parse_moment

    return parse_moment(text, reader.session.zone, reader.ends_at)


def _view_at(reader: RecordingReader, at: float) -> tuple[float, object, View]:
    """Return the time, snapshot and view of the last snapshot at or before a moment. Raises ``BadInput``."""
    from qmon.recording.read.replay import view_at
    from qmon.recording.times import local_time

    found = view_at(reader, at)
    if found is None:
        zone = reader.session.zone
        raise BadInput(
            ReplayText.NOTHING_BEFORE.render(
                at=local_time(at, zone),
                begins=local_time(reader.begins_at, zone),
                ends=local_time(reader.ends_at, zone),
            )
        )
    return found


def _print_moment(reader: RecordingReader, at: float, output: Format) -> None:
    from qmon.cli.commands.status import print_status
    from qmon.model.status_report import status_object
    from qmon.recording.format.codec import encode

    when, snapshot, view = _view_at(reader, at)
    if output == "json":
        from qmon.model.report_shapes import ReplayReport

        found = {"schema": 1, "at": when, "snapshot": loads(encode(snapshot)), "status": status_object(view)}
        print_report(output, found, ReplayReport)
    else:
        print_status([view], output)
