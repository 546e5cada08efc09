"""``qmon pipeline messages``: copies archived messages into the lake, each once."""

from __future__ import annotations

import os
import signal
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from qmon.cli import completion, options
from qmon.cli.commands.pipeline.options import EVERY_S, Conf, LakePath, Master, lake_of, needed
from qmon.cli.output import clean, note, report, say
from qmon.cli.signals import ended_by
from qmon.errors import BadInput

if TYPE_CHECKING:
    from qmon.engines.base import Target
    from qmon.pipeline.messages.take import Taken


def messages(
    target: options.Target,
    queues: Annotated[
        list[str],
        typer.Argument(metavar="QUEUE", help="Queues whose archive is read.", autocompletion=completion.queues),
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
        float, typer.Option("--every", parser=options.seconds, metavar="TIME", help="Look for new messages so often.")
    ] = EVERY_S,
    master: Master = None,
    conf: Conf = None,
    output: options.Output = "table",
) -> None:
    """Take in what the archives of queues have that the lake has not, each message once, however late it committed.

    Partitions read disjoint ranges of keys, each by a connection of its own. Numbers that are missing are looked for
    again until no transaction runs any more that may still bring them. Killed at any moment and started again it
    neither loses nor doubles a message. Ctrl-C or SIGTERM ends --continuous with exit code 0.
    """
    from qmon.cli.session import opened

    needed()
    if twice := next((queue for queue in queues if queues.count(queue) > 1), None):
        raise BadInput(f"queue {twice!r} is named twice")
    with opened(target, config, "messages") as at:
        from qmon.pipeline.messages.archive_reader import archive_of

        layouts = [at.archived(queue) for queue in queues]
        archives = [archive_of(at.connection, at.engine, layout) for layout in layouts]
        known, redact = at.target, at.config.settings.redact
    _hand_on(known)
    with lake_of(lake, master, conf, brief=False) as place:
        from qmon.pipeline.messages.take import Messages, found_again
        from qmon.pipeline.repeated import repeated

        store, taken = Messages(place), list["Taken"]()
        take = partial(store.take, known, payloads=payloads, redact=redact, connections=connections)

        def step() -> bool:
            first = not taken
            for archive in archives if first else found_again(known, layouts):
                taken.append(done := take(archive, anew=anew and first))
                if output == "table" and (first or done.messages):
                    _print(done)
            del taken[len(archives) :]
            return False

        if continuous:
            with ended_by(signal.SIGINT, signal.SIGTERM) as (stop, _):
                repeated(step, every, stop)
            note("stopped; what was under way is done by the next start")
            return
        step()
    if output != "table":
        from qmon.cli.reports.pipeline import MessagesReport

        whole = {"schema": 1, "target": known.name, "queues": [_object(done) for done in taken]}
        report(output, whole, MessagesReport, "queues")


def _hand_on(target: Target) -> None:
    """Pass a password typed at the prompt to the local Spark, through the environment only."""
    from qmon.config.secrets import from_environment, variable

    if target.password is not None and from_environment(target) is None:
        os.environ[variable(target.name) or "QMON_PASSWORD"] = target.password.reveal()


def _print(done: Taken) -> None:
    mark = done.mark
    awaited = f"; {mark.awaited:,} numbers below may still come" if mark.awaited else ""
    say(f"{clean(done.queue)}: {done.messages:,} messages taken in, up to number {mark.upto:,}{awaited}")


def _object(done: Taken) -> dict[str, object]:
    mark = done.mark
    return {
        "queue": done.queue,
        "messages": done.messages,
        "upto": mark.upto,
        "awaited": mark.awaited,
        "all_messages": mark.messages,
    }
