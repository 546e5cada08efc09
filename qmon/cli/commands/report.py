"""``qmon report``: writes a note about an incident from a recording."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from qmon import files
from qmon.cli.output import print_note, print_output
from qmon.errors import BadInput
from qmon.texts import Text


class IncidentText(Text):
    """Why no note is written, and where the note is."""

    EMPTY_RANGE = "--to must be later than --from"
    WRITTEN = "qmon: {queues:,} queues, {events:,} events in {path}"


_WHEN = "14:03, 14:03:20, '2026-11-21 14:03', or -10m from the end; in the recording's time zone."


def register_commands(app: typer.Typer) -> None:
    group = typer.Typer(
        help="Write a note about an incident. For reports on days and weeks, see: qmon pipeline report --help",
        no_args_is_help=True,
    )
    group.command("incident", epilog="Example: qmon report incident /var/lib/qmon --from 14:00 --to 14:20")(incident)
    group.callback()(_keep_group)
    app.add_typer(group, name="report")


def _keep_group() -> None:
    """A group with one command would otherwise become that command."""


def incident(
    recording: Annotated[
        Path, typer.Argument(metavar="DIR|FILE", help="Folder of recordings, or an exported file.", show_default=False)
    ],
    since: Annotated[
        str | None,
        typer.Option("--from", metavar="TIME", help=f"Start. Default: 5 minutes before the last incident. {_WHEN}"),
    ] = None,
    until: Annotated[
        str | None, typer.Option("--to", metavar="TIME", help="End, written like --from. Default: after the incident.")
    ] = None,
    queue: Annotated[str | None, typer.Option("--queue", metavar="NAME", help="Only this queue.")] = None,
    target: Annotated[
        str | None, typer.Option("--target", metavar="NAME", help="Target, if the folder contains several targets.")
    ] = None,
    file: Annotated[
        Path | None,
        typer.Option("--file", "-f", metavar="FILE", help="Write a new file instead of printing.", dir_okay=False),
    ] = None,
) -> None:
    """Write a handover note about an incident as Markdown.

    The note contains the time range, the affected queues with verdicts, proofs and sparklines, the actions with their
    users, all events, and open questions. `N` writes the same note in the dashboard.
    """
    from qmon.recording.history.incident_markdown import note_markdown
    from qmon.recording.history.incident_note import gather_note
    from qmon.recording.history.range_query import RangeReader
    from qmon.recording.history.recording_archive import archive_from_reader
    from qmon.recording.read.recording_reader import open_recording
    from qmon.recording.times import parse_moment

    reader = open_recording(recording, target)

    def moment(text: str | None) -> float | None:
        return None if text is None else parse_moment(text, reader.session.zone, reader.ends_at)

    since_at, until_at = moment(since), moment(until)
    if since_at is not None and until_at is not None and until_at <= since_at:
        raise BadInput(IncidentText.EMPTY_RANGE)
    note = gather_note(reader.session.target, RangeReader(archive_from_reader(reader)), since_at, until_at, queue=queue)
    text = note_markdown(note)
    if file is None:
        for line in text.splitlines():
            print_output(line)
    else:
        path = files.write_user_file(file, text)
        print_note(IncidentText.WRITTEN.render(queues=len(note.queues), events=len(note.events), path=path))
    if reader.damage:
        print_note(f"qmon: {reader.damage}")
