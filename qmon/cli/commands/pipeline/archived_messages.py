"""``qmon pipeline messages``: copies each archived message into the lake once."""

from __future__ import annotations

import itertools
import os
import signal
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from qmon.cli import completion, options
from qmon.cli.commands.pipeline.pipeline_options import EVERY_S, check_pipeline_extra, open_lake
from qmon.cli.output import clean_text, print_note, print_output
from qmon.cli.signals import stop_on_signals
from qmon.errors import BadInput
from qmon.texts import Text

if TYPE_CHECKING:
    from qmon.engines.base import Target
    from qmon.pipeline.messages.message_intake import IntakeResult


class MessagesText(Text):
    """Why archived messages are not copied, and how a run ended."""

    STOPPED = "stopped; the next start finishes the interrupted batch"
    NAMED_TWICE = "queue {queue!r} is named twice"
    COPIED = "{queue}: copied {messages:,} messages, up to number {number:,}{awaited}"
    AWAITED = "; messages with {count:,} lower numbers may still come"


def messages(
    context: typer.Context,
    target: options.Target,
    queues: Annotated[
        list[str],
        typer.Argument(
            metavar="QUEUE", help="Queues whose archives to read.", autocompletion=completion.complete_queues
        ),
    ],
    payloads: Annotated[
        bool, typer.Option("--payloads", help="Also store payloads and titles, redacted as configured.")
    ] = False,
    connections: Annotated[
        int,
        typer.Option("--connections", metavar="N", min=1, max=64, help="Maximum number of connections to the server."),
    ] = 4,
    anew: Annotated[
        bool, typer.Option("--anew", help="Read all rows as new, because the archive was recreated.")
    ] = False,
    continuous: Annotated[
        bool,
        typer.Option(
            "--continuous/--once", help="Look for new messages every minute, or end when all messages are read."
        ),
    ] = False,
) -> None:
    """Copy each archived message into the lake exactly once.

    qmon reads disjoint key ranges in parallel. It looks for a missing id again until no transaction can still commit
    that id. If the process is killed and restarted, no message is lost or duplicated. With --continuous, Ctrl-C or
    SIGTERM ends the command with exit code 0.
    """
    from qmon.cli.target_session import open_target

    config = options.config_path(context)
    check_pipeline_extra()
    if twice := next((queue for queue in queues if queues.count(queue) > 1), None):
        raise BadInput(MessagesText.NAMED_TWICE.render(queue=twice))
    with open_target(target, config, "messages") as at:
        from qmon.pipeline.messages.archive_reader import find_archive

        layouts = [at.layout_with_archive(queue) for queue in queues]
        archives = [find_archive(at.connection, at.engine, layout) for layout in layouts]
        known, redact = at.target, at.config.settings.redact
    _export_password(known)
    with open_lake(context, little_data=False) as place:
        from qmon.pipeline.messages.message_intake import MessageIntake, find_archives
        from qmon.pipeline.repeat import repeat_step

        store, rounds = MessageIntake(place), itertools.count()
        take = partial(store.take_archive, known, payloads=payloads, redact=redact, connections=connections)

        def step() -> bool:
            first = not next(rounds)
            for archive in archives if first else find_archives(known, layouts):
                done = take(archive, anew=anew and first)
                if first or done.messages:
                    _print_result(done)
            return False

        if continuous:
            with stop_on_signals(signal.SIGINT, signal.SIGTERM) as (stop, _):
                repeat_step(step, EVERY_S, stop)
            print_note(MessagesText.STOPPED)
        else:
            step()


def _export_password(target: Target) -> None:
    """Give the local Spark a password that was typed at the prompt. It is stored only in the environment."""
    from qmon.config.credentials import password_from_environment, password_variable

    if target.password is not None and password_from_environment(target) is None:
        os.environ[password_variable(target.name) or "QMON_PASSWORD"] = target.password.reveal()


def _print_result(done: IntakeResult) -> None:
    mark = done.mark
    awaited = MessagesText.AWAITED.render(count=mark.awaited_count) if mark.awaited_count else ""
    print_output(
        MessagesText.COPIED.render(
            queue=clean_text(done.queue), messages=done.messages, number=mark.upto, awaited=awaited
        )
    )
