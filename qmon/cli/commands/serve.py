"""``qmon serve``: polls targets for Prometheus and for dashboards until it is stopped."""

from __future__ import annotations

import contextlib
import re
import signal
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from qmon.cli import options
from qmon.cli.output import print_note
from qmon.cli.signals import stop_on_signals
from qmon.errors import BadInput
from qmon.system import wait_for_event
from qmon.texts import Text

if TYPE_CHECKING:
    from qmon.cli.target_session import ChosenTarget
    from qmon.cli.web.dashboard import WebDashboard
    from qmon.metrics.target_readings import TargetReadings
    from qmon.model.view import View
    from qmon.monitor.source import Event, SourceState
    from qmon.recording.write.headless_target import TargetRecordingStatus
    from qmon.recording.write.retention import RetentionResult
    from qmon.stream.sending import PollStream


class ServeOptionText(Text):
    """Errors about options that exclude each other, and notes about a running server."""

    CERTIFICATE_AND_KEY = "--certificate and --key need each other: give both"
    NEED_RECORD = "--keep and --max-size need --record"
    NEED_ADDRESS = "with --textfile, --users, --certificate, --key and --allow-host need --listen or --web"
    NOT_A_HOST = "--allow-host needs a host name or address without a port, such as ops-1, not {name!r}"
    SERVES = "qmon: {places}"
    SERVES_AND_RECORDS = "qmon: {places}, recording to {folder}"
    RECORDING_STOPPED = "qmon: recording has stopped for all targets; metrics continue"


_LISTEN: Final = "127.0.0.1:9777"


class PrintedFile(StrEnum):
    """A file for other programs that `--print` writes."""

    RULES = "rules"
    DASHBOARD = "dashboard"


_AllowHost = Annotated[
    list[str] | None,
    typer.Option("--allow-host", metavar="NAME", help="Host name by which clients reach this server. Repeatable."),
]


def register_commands(app: typer.Typer) -> None:
    app.command("serve", epilog="Example: qmon serve orders-prod mails --listen 127.0.0.1:9777")(serve)


def _print_file(name: PrintedFile | None) -> None:
    from qmon.metrics.grafana_dashboard import dashboard_file
    from qmon.metrics.prometheus_rules import rules_file

    if name is not None:
        typer.echo(rules_file() if name is PrintedFile.RULES else dashboard_file(), nl=False)
        raise typer.Exit


_Print = Annotated[
    PrintedFile | None,
    typer.Option(
        "--print",
        callback=_print_file,
        is_eager=True,
        help="Print alerting rules for Prometheus or a dashboard for Grafana, and exit.",
    ),
]


def _check_options(
    listen: str | None,
    textfile: Path | None,
    record: Path | None,
    keep: float | None,
    max_size: str | None,
    users: Path | None,
    certificate: Path | None,
    key: Path | None,
    allow_host: list[str] | None,
    web: str | None,
) -> list[str]:
    """Return the allowed hosts in normal form. Raises ``BadInput`` for invalid hosts and conflicting options."""
    if (certificate is None) != (key is None):
        raise BadInput(ServeOptionText.CERTIFICATE_AND_KEY)
    if record is None and (keep is not None or max_size is not None):
        raise BadInput(ServeOptionText.NEED_RECORD)
    if textfile is not None and listen is web is None and (users is not None or certificate is not None or allow_host):
        raise BadInput(ServeOptionText.NEED_ADDRESS)
    return [_normalize_host(name) for name in allow_host or ()]


def _normalize_host(name: str) -> str:
    """Return a host name or address in normal form. Raises ``BadInput`` for a URL, a port, or a pattern."""
    bare = name.removeprefix("[").removesuffix("]") if name.count(":") > 1 else name
    if not bare or not re.fullmatch(r"[\w.-]+|[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*", bare):
        raise BadInput(ServeOptionText.NOT_A_HOST.render(name=name))
    return bare.lower()


def serve(
    context: typer.Context,
    targets: options.Targets = None,
    listen: Annotated[
        str | None,
        typer.Option(
            "--listen",
            metavar="ADDRESS",
            show_default=_LISTEN,
            help="Address and port to serve on.",
        ),
    ] = None,
    web: Annotated[
        str | None,
        typer.Option(
            "--web",
            metavar="ADDRESS",
            help="Also show the dashboard in browsers, at this address and port. Browsers cannot act.",
        ),
    ] = None,
    textfile: Annotated[
        Path | None,
        typer.Option(
            "--textfile",
            metavar="FILE",
            help="Write a *.prom file for node_exporter. qmon then serves only if --listen is given.",
        ),
    ] = None,
    record: Annotated[Path | None, typer.Option("--record", metavar="DIR", help="Also record to this folder.")] = None,
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
    users: Annotated[
        Path | None, typer.Option("--users", metavar="FILE", help="File of users who may read, made by `htpasswd -B`.")
    ] = None,
    certificate: Annotated[
        Path | None, typer.Option("--certificate", metavar="FILE", help="Certificate for TLS, PEM.")
    ] = None,
    key: Annotated[Path | None, typer.Option("--key", metavar="FILE", help="Key of the certificate, PEM.")] = None,
    allow_host: _AllowHost = None,
    all_targets: options.AllTargets = False,
    every: Annotated[float, options.duration_option("--every", help="Poll interval, 500ms to 1m.", default="2s")] = 2.0,
    printed: _Print = None,  # the callback handles this option
) -> None:
    """Serve metrics for Prometheus, and polls for dashboards.

    `qmon connect http://127.0.0.1:9777/TARGET` opens such a dashboard. qmon polls each target once per --every,
    regardless of the number of readers. The command also sends the alerts of qmon.toml. SIGTERM or Ctrl-C ends the
    command. A failing target does not affect other targets.
    """
    from qmon.cli.alerting_setup import headless_alerting
    from qmon.cli.commands.record import report_endings, retention_task
    from qmon.cli.target_session import check_poll_interval, resolve_targets
    from qmon.metrics.access import read_users, tls_context
    from qmon.metrics.guarded_server import AccessGuard
    from qmon.metrics.lake_readings import LakeReadings
    from qmon.metrics.metrics_server import MetricsServer
    from qmon.metrics.target_readings import TargetReadings
    from qmon.metrics.textfile import TextFileWriter
    from qmon.recording.write.retention import parse_size

    config = options.config_path(context)
    hosts = _check_options(listen, textfile, record, keep, max_size, users, certificate, key, allow_host, web)
    dashboard_class = _load_web_dashboard() if web is not None else None
    tls = tls_context(certificate, key) if certificate is not None and key is not None else None
    allowed = read_users(users) if users is not None else None
    most = parse_size(max_size) if max_size is not None else None
    check_poll_interval(every)
    known = resolve_targets(targets or (), config, all_targets=all_targets)
    with headless_alerting(known) as told, contextlib.ExitStack() as closed:
        readings = {each.target.name: TargetReadings(each.target.name) for each in known}
        lakes = [LakeReadings(record)] if record is not None else []
        serving = listen is not None or textfile is None
        places, streams = [], _streams_for(known, every) if serving or web else {}
        if serving:
            sent = [*streams.values()]
            server = MetricsServer(listen or _LISTEN, [*readings.values()], allowed, tls, sent, hosts, lakes)
            closed.callback(server.close)
            places.append(f"serving {server.url}")
        if web is not None and dashboard_class is not None:
            page = dashboard_class(web, AccessGuard(allowed, tls, hosts), [*streams.values()], config)
            closed.callback(page.close)
            places.append(f"dashboard at {page.url}")
        if textfile is not None:
            closed.callback(TextFileWriter(textfile, [*readings.values(), *lakes], every).close)
            places.append(f"writing {textfile}")
        tidy = retention_task(record, keep, most) if record else None
        report_endings(_poll_targets(known, readings, told, streams, every, ", ".join(places), record, tidy))


def _load_web_dashboard() -> type[WebDashboard]:
    """Return the class of the dashboard for browsers. Raises ``BadInput`` if the extra is not installed."""
    from qmon.cli.web.dashboard import WebDashboard

    return WebDashboard


def _streams_for(targets: list[ChosenTarget], every: float) -> dict[str, PollStream]:
    """Return a stream for each target, keyed by name."""
    from qmon.redact import build_redactor
    from qmon.stream.sending import PollStream

    return {
        each.target.name: PollStream(
            each.target.name, every, build_redactor(each.config.settings.redact), each.target.environment
        )
        for each in targets
    }


def _poll_targets(
    targets: list[ChosenTarget],
    readings: dict[str, TargetReadings],
    on_view: Callable[[str, View | SourceState], None],
    streams: dict[str, PollStream],
    every: float,
    places: str,
    record: Path | None,
    tidy: Callable[[], RetentionResult | None] | None,
) -> list[TargetRecordingStatus]:
    """Poll all targets until a signal arrives. Record the targets if ``record`` and ``tidy`` are given.

    ``readings`` and ``streams`` receive the polls of each target; ``streams`` may be empty. Return how each recording
    ended.
    """
    from qmon.cli.commands.record import start_targets, watch_recordings

    def publish(name: str, event: Event) -> None:
        if name in streams:
            streams[name].publish_event(event)

    def record_event(name: str, event: View | SourceState) -> None:
        readings[name].record_event(event)
        on_view(name, event)

    with stop_on_signals(signal.SIGTERM, signal.SIGINT) as (ending, why):
        running = start_targets(targets, record, every, False, record_event, publish)
        if tidy is None:
            print_note(ServeOptionText.SERVES.render(places=places))
        else:
            print_note(ServeOptionText.SERVES_AND_RECORDS.render(places=places, folder=record))
            watch_recordings(running, ending, None, tidy)
            if not ending.is_set():
                print_note(ServeOptionText.RECORDING_STOPPED)
        wait_for_event(ending)
        ended = [each.close(why[0]) for each in running]
    return [] if tidy is None else ended
