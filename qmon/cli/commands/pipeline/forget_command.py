"""``qmon pipeline forget``: deletes targets or days from a lake, and the lake's marker file in a recordings folder."""

from __future__ import annotations

import datetime
import sys
from pathlib import Path
from typing import Annotated, Final

import typer

from qmon import files
from qmon.cli.commands.pipeline.pipeline_options import check_pipeline_extra, lake_path
from qmon.cli.output import clean_text, print_note, print_output, print_table
from qmon.errors import BadInput
from qmon.model.formatting import count_text
from qmon.recording.write.retention import delete_lake_marks
from qmon.texts import Text


class ForgetOptionText(Text):
    """Errors and results of ``qmon pipeline forget``."""

    NOT_A_DAY = "{text!r} is not a day such as 2026-11-21"
    NO_FILTER = "name the rows to delete with --target, --before or --after, or a folder with --recordings"
    NO_DAY = "no day is after {after} and before {before}"
    NO_FOLDER = "the folder {path} does not exist"
    FINISHED_EARLIER = "finished an earlier deletion that was interrupted"
    NO_ROWS = "the lake has no such rows; nothing was changed"
    NO_TERMINAL = "stdin is not a terminal: add --yes; nothing was changed"
    NOT_CONFIRMED = "not confirmed; nothing was changed"
    CONFIRM = "Delete these rows from {lake}? This cannot be undone"
    DELETED = "deleted {rows}"
    DELETED_MARKS = "{folder}: deleted {files} of this lake"


_ONE_DAY: Final = datetime.timedelta(days=1)


def _parse_day(text: str | datetime.date) -> datetime.date:
    """Return a day. Raises a usage error for any other text."""
    if isinstance(text, datetime.date):
        return text
    try:
        return datetime.date.fromisoformat(text)
    except ValueError:
        raise typer.BadParameter(ForgetOptionText.NOT_A_DAY.render(text=text)) from None


def forget(
    context: typer.Context,
    target: Annotated[
        list[str] | None, typer.Option("--target", metavar="TARGET", help="Only this target. Repeatable.")
    ] = None,
    before: Annotated[
        datetime.date | None,
        typer.Option("--before", parser=_parse_day, metavar="DAY", help="Only days before this day, UTC."),
    ] = None,
    after: Annotated[
        datetime.date | None,
        typer.Option("--after", parser=_parse_day, metavar="DAY", help="Only days after this day, UTC."),
    ] = None,
    recordings: Annotated[
        Path | None,
        typer.Option(
            "--recordings",
            metavar="PATH",
            help="Delete the lake's marker file in this folder, so that `qmon record` no longer waits for the lake.",
        ),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print how many rows would be deleted, and change nothing.")
    ] = False,
) -> None:
    """Delete the rows of targets or days from all tables of the lake.

    The segments that contained these rows are not read again. Days that were deleted with --before stay deleted, even
    if a segment of these days arrives later. `qmon pipeline tidy` removes the rows from the disk after 7 days. The
    command does not start Spark, and is refused while a batch is written.
    """
    place, chosen = lake_path(context), tuple(dict.fromkeys(target or ()))
    has_filter = bool(chosen) or before is not None or after is not None
    if not has_filter and recordings is None:
        raise BadInput(ForgetOptionText.NO_FILTER)
    if before is not None and after is not None and before - after <= _ONE_DAY:
        raise BadInput(ForgetOptionText.NO_DAY.render(after=after, before=before))
    if recordings is not None and not (recordings := files.resolve_user_path(recordings)).is_dir():
        raise BadInput(ForgetOptionText.NO_FOLDER.render(path=recordings))
    check_pipeline_extra()
    from qmon.pipeline.lake.lake import absolute_path

    if has_filter:
        _forget_rows(place, chosen, before, after, yes=yes, dry_run=dry_run)
    if recordings is not None and not dry_run:
        count = delete_lake_marks(recordings, absolute_path(place))
        print_output(ForgetOptionText.DELETED_MARKS.render(folder=recordings, files=count_text(count, "marker file")))


def _forget_rows(
    lake: str,
    targets: tuple[str, ...],
    before: datetime.date | None,
    after: datetime.date | None,
    *,
    yes: bool,
    dry_run: bool,
) -> None:
    from qmon.pipeline.lake.forget import ForgetRequest, count_rows, finish_forgetting, forget_rows

    request = ForgetRequest(targets, before, after)
    if not dry_run and finish_forgetting(lake):
        print_note(ForgetOptionText.FINISHED_EARLIER)
    rows = {name: count for name, count in count_rows(lake, request).items() if count}
    if not rows:
        print_output(ForgetOptionText.NO_ROWS)
        return
    print_table(("table", "rows to delete"), list(rows.items()))
    if dry_run:
        return
    if not yes:
        if not sys.stdin.isatty():
            raise BadInput(ForgetOptionText.NO_TERMINAL)
        if not typer.confirm(ForgetOptionText.CONFIRM.render(lake=clean_text(lake)), default=False):
            raise BadInput(ForgetOptionText.NOT_CONFIRMED)
    forget_rows(lake, request)
    print_output(ForgetOptionText.DELETED.render(rows=count_text(sum(rows.values()), "row")))
