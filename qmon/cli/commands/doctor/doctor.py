"""``qmon doctor``: checks driver, connection and version, and prints the time or the problem of each probe."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from qmon.cli import options
from qmon.cli.output import clean_text, print_output, print_table
from qmon.errors import BadInput
from qmon.files import resolve_user_path
from qmon.model.formatting import UNKNOWN, duration, milliseconds
from qmon.model.settings import NOT_REPORTED, Setting
from qmon.texts import Text

if TYPE_CHECKING:
    from qmon.cli.commands.doctor.examination import Examination
    from qmon.cli.target_session import ChosenTarget


class DoctorText(Text):
    """Faults of the options, and texts about lakes."""

    ONE_TARGET = "--bundle takes at most one target"
    MARK_DAMAGED = "the marker file {path} is damaged: delete it, or run the pipeline to write it again"
    NO_LAKE = "no lake reads the recordings in {recordings}"
    LAKE = "{lake}: the pipeline read the recordings {age} ago"
    LAKE_LATE = "{lake}: the pipeline read the recordings {age} ago; if this lake is not used any more, delete {path}"


class ExaminationText(Text):
    """Lines about the readable parts of a target."""

    CONNECTED = "{target}: {engine} {version}, connected as session {session}"
    POOLED = "connected through a pooler in session mode: qmon sets its settings in each transaction"
    FEW_CONNECTIONS = "{count} of {most} connections are available; more connections would allow: {uses}"
    POLLERS_UNSEEN = "your role cannot see other qmons that poll this target, so this qmon uses the whole cost budget"
    POLLERS = "{count} qmons poll this target and share the cost budget of {budget}: each qmon uses at most {share}"
    GRANT = "this would help: {grant}"
    INDEX = "this index would make {figure} of {queue} exact and cheap: {index}"
    PARTITIONED = (
        "creating an index on a partitioned table blocks writers; for a large table, create the index ON ONLY the "
        "table, then CONCURRENTLY on each partition, and attach the indexes of the partitions"
    )
    ONLINE = (
        "to create an index without blocking, append WITH (ONLINE = ON) (Enterprise or Developer Edition, or Azure SQL)"
    )


def register_commands(app: typer.Typer) -> None:
    app.command("doctor", epilog="Example: qmon doctor orders-prod")(doctor)


def doctor(
    context: typer.Context,
    targets: options.Targets = None,
    all_targets: options.AllTargets = False,
    output: options.Output = "table",
    recordings: Annotated[
        Path | None,
        typer.Option(
            "--recordings",
            metavar="DIR",
            help="Folder of recordings: also print when each lake last read it. Only with --output table.",
        ),
    ] = None,
    bundle: Annotated[
        Path | None,
        typer.Option(
            "--bundle",
            metavar="FILE",
            help="Write an archive for a bug report, .zip or .tar.gz. Takes at most one target.",
        ),
    ] = None,
) -> None:
    """Check driver, connection, rights and every probe of targets."""
    from qmon.cli.alerting_setup import note_rules_without_queue, note_rules_without_target
    from qmon.cli.commands.doctor.examination import examine_target
    from qmon.cli.several_targets import ask_targets, exit_unless_all
    from qmon.cli.target_session import connect_target, resolve_targets

    config = options.config_path(context)
    named = targets or []
    if bundle is not None:
        from qmon.cli.commands.doctor.bundle import write_bundle

        if all_targets or len(named) > 1:
            raise BadInput(DoctorText.ONE_TARGET)
        write_bundle(bundle, named[0] if named else None, config, output)
        return
    known = resolve_targets(named, config, all_targets=all_targets)

    def ask(each: ChosenTarget, may_ask: bool) -> Examination:
        with connect_target(each, "doctor", may_ask=may_ask) as at:
            return examine_target(at)

    found = ask_targets(known, ask)
    note_rules_without_target(known[0].config, [each.target.name for each in known])
    queues = {seen.connected.target.name: [c.queue for c in seen.checks if c.queue] for seen in found}
    note_rules_without_queue(known[0].config, queues)
    if output == "table":
        for number, seen in enumerate(found):
            if number:
                print_output()
            _print_examination(seen)
        if recordings is not None:
            for line in lake_lines(resolve_user_path(recordings), time.time()):
                print_output(line)
    else:
        from qmon.cli.output import print_reports
        from qmon.cli.reports.target_reports import DoctorReport

        print_reports(output, [seen.to_object() for seen in found], DoctorReport, "checks")
    if any(c.problem and not c.expected for seen in found for c in seen.checks):
        raise typer.Exit(1)
    exit_unless_all(known, found)


def lake_lines(recordings: Path, now: float) -> list[str]:
    """Return a line for each lake that reads a folder of recordings. ``now``: seconds since the epoch."""
    from qmon.recording.write.retention import ABANDONED_S, read_lake_marks

    lines = []
    for mark in read_lake_marks(recordings):
        if mark.at is None:
            lines.append(DoctorText.MARK_DAMAGED.render(path=mark.file))
            continue
        age_s = max(0.0, now - mark.at)
        if age_s > ABANDONED_S:
            lines.append(DoctorText.LAKE_LATE.render(lake=mark.lake, age=duration(age_s), path=mark.file))
        else:
            lines.append(DoctorText.LAKE.render(lake=mark.lake, age=duration(age_s)))
    return lines or [DoctorText.NO_LAKE.render(recordings=recordings)]


def _effect_text(setting: Setting) -> str:
    """Return why a setting harms a queue, or why the setting's value is unknown."""
    return NOT_REPORTED if setting.value is None else setting.harm


def _print_examination(examination: Examination) -> None:
    from qmon.monitor.probe_checks import CONNECTION_USES

    at, found, allowed, had = examination.connected, examination.checks, examination.rights, examination.connections
    print_output(
        ExaminationText.CONNECTED.render(
            target=clean_text(at.target.name),
            engine=at.engine.name,
            version=examination.version,
            session=at.connection.session_id,
        )
    )
    if at.connection.is_pooled:
        print_output(ExaminationText.POOLED)
    rows = [
        (c.queue or "(target)", c.probe, UNKNOWN if c.ms is None else milliseconds(c.ms), c.problem or "works")
        for c in found
    ]
    print_table(("QUEUE", "PROBE", "TIME", "RESULT"), rows, wrap=3)
    print_output("")
    print_table(("RIGHT", "HELD", "GIVES"), [(r.name, "yes" if r.held else "no", r.gives) for r in allowed], wrap=2)
    if examination.settings:
        print_output("")
        known = [
            (s.display_name, UNKNOWN if s.value is None else clean_text(s.value), _effect_text(s))
            for s in examination.settings
        ]
        print_table(("SETTING", "VALUE", "EFFECT ON QUEUES"), known, wrap=2)
    if had is not None and had < len(CONNECTION_USES):
        uses = "; ".join(CONNECTION_USES[had:])
        print_output(ExaminationText.FEW_CONNECTIONS.render(count=had, most=len(CONNECTION_USES), uses=uses))
    if examination.pollers is None:
        print_output(ExaminationText.POLLERS_UNSEEN)
    elif examination.pollers > 1:
        part = at.target.budget.share_among(examination.pollers).label
        print_output(
            ExaminationText.POLLERS.render(count=examination.pollers, budget=at.target.budget.label, share=part)
        )
    missing = (r.grant for r in allowed if not r.held)
    for grant in dict.fromkeys([*(c.grant for c in found if c.grant), *missing]):
        print_output(ExaminationText.GRANT.render(grant=clean_text(grant)))
    for c in (c for c in found if c.index):
        print_output(
            ExaminationText.INDEX.render(
                figure=c.probe.strip("()"), queue=clean_text(c.queue), index=clean_text(c.index)
            )
        )
    if at.engine.name == "postgres" and any(c.index and "CONCURRENTLY" not in c.index for c in found):
        print_output(ExaminationText.PARTITIONED)
    if any(c.index for c in found) and at.engine.name == "sqlserver":
        print_output(ExaminationText.ONLINE)
