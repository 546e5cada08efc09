"""``qmon pipeline messages``: copies archived messages into the lake, each once."""

from __future__ import annotations

import os
import signal
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from qmon.cli import completion, options
from qmon.cli.commands.pipeline.pipeline_options import DEFAULT_EVERY_S, Conf, LakePath, Master, check_extra, open_lake
from qmon.cli.output import clean_text, print_note, print_output, print_report
from qmon.cli.signals import stop_on_signals
from qmon.errors import BadInput

if TYPE_CHECKING:
    from qmon.engines.base import Target
    from qmon.pipeline.messages.message_intake import IntakeResult


def messages(
    target: options.Target,
    queues: Annotated[
        list[str],
        typer.Argument(
            metavar="QUEUE", help="Queues whose archive is read.", autocompletion=completion.complete_queues
        ),
    ],
    lake: LakePath,
    config: options.ConfigPath = None,
    payloads: Annotated[
        bool, typer.Option("--payloads", help="Keep payloads and titles, too, covered as the settings say.")
    ] = False,
    connections: Annotated[
        int, typer.Option("--connections", metavar="N", min=1, max=64, help="To the server at a time, at most.")
    ] = 4,
    anew: Annotated[
        bool, typer.Option("--anew", help="An archive that was made anew: take in all its rows as new ones.")
    ] = False,
    continuous: Annotated[
        bool, typer.Option("--continuous/--once", help="Go on for ever, or end when what there is has been taken in.")
    ] = False,
    every: Annotated[
        float,
        options.duration_option("--every", help="Look for new messages so often.", default="1m"),
    ] = DEFAULT_EVERY_S,
    master: Master = None,
    conf: Conf = None,
    output: options.Output = "table",
) -> None:
    """Take in what the archives of queues have that the lake has not, each message once, however late it committed.

    Partitions read disjoint ranges of keys, each by a connection of its own. Numbers that are missing are looked for
    again until no transaction runs any more that may still bring them. Killed at any moment and started again it
    neither loses nor doubles a message. Ctrl-C or SIGTERM ends --continuous with exit code 0.
    """
    from qmon.cli.target_session import open_target

    check_extra()
    if twice := next((queue for queue in queues if queues.count(queue) > 1), None):
        raise BadInput(f"queue {twice!r} is named twice")
    with open_target(target, config, "messages") as at:
        from qmon.pipeline.messages.archive_reader import find_archive

        layouts = [at.archived_layout(queue) for queue in queues]
        archives = [find_archive(at.connection, at.engine, layout) for layout in layouts]
        known, redact = at.target, at.config.settings.redact
    _export_password(known)
    with open_lake(lake, master, conf, brief=False) as place:
        from qmon.pipeline.messages.message_intake import MessageIntake, find_archives
        from qmon.pipeline.repeat import repeat_step

        store, taken = MessageIntake(place), list["IntakeResult"]()
        take = partial(store.take_archive, known, payloads=payloads, redact=redact, connections=connections)

        def step() -> bool:
            first = not taken
            for archive in archives if first else find_archives(known, layouts):
                taken.append(done := take(archive, anew=anew and first))
                if output == "table" and (first or done.messages):
                    _print_result(done)
            del taken[len(archives) :]
            return False

        if continuous:
            with stop_on_signals(signal.SIGINT, signal.SIGTERM) as (stop, _):
                repeat_step(step, every, stop)
            print_note("stopped; what was under way is done by the next start")
            return
        step()
    if output != "table":
        from qmon.cli.reports.pipeline import MessagesReport

        whole = {"schema": 1, "target": known.name, "queues": [_result_object(done) for done in taken]}
        print_report(output, whole, MessagesReport, "queues")


def _export_password(target: Target) -> None:
    """Pass a password typed at the prompt to the local Spark, through the environment only."""
    from qmon.config.credentials import password_from_environment, password_variable

    if target.password is not None and password_from_environment(target) is None:
        os.environ[password_variable(target.name) or "QMON_PASSWORD"] = target.password.reveal()


def _print_result(done: IntakeResult) -> None:
    mark = done.mark
    awaited = f"; {mark.awaited:,} numbers below may still come" if mark.awaited else ""
    print_output(f"{clean_text(done.queue)}: {done.messages:,} messages taken in, up to number {mark.upto:,}{awaited}")


def _result_object(done: IntakeResult) -> dict[str, object]:
    mark = done.mark
    return {
        "queue": done.queue,
        "messages": done.messages,
        "upto": mark.upto,
        "awaited": mark.awaited,
        "all_messages": mark.messages,
    }
