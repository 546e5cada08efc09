"""``qmon serve``: metrics of one or more targets for Prometheus, until it is asked to end."""

from __future__ import annotations

import signal
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from qmon.cli import options
from qmon.cli.output import note
from qmon.cli.signals import ended_by
from qmon.errors import BadInput


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    app.command("serve", epilog="Example: qmon serve orders-prod mails --listen 127.0.0.1:9777")(serve)


def _rules(asked: bool) -> None:
    from qmon.metrics.rules import rules_file

    if asked:
        typer.echo(rules_file(), nl=False)
        raise typer.Exit


def _dashboard(asked: bool) -> None:
    from qmon.metrics.dashboard import dashboard_file

    if asked:
        typer.echo(dashboard_file(), nl=False)
        raise typer.Exit


def serve(
    targets: Annotated[list[str], typer.Argument(metavar="TARGET...", help="What to poll.", show_default=False)],
    listen: Annotated[
        str, typer.Option("--listen", metavar="ADDRESS", help="Where to serve: an address of this machine, and a port.")
    ] = "127.0.0.1:9777",
    users: Annotated[
        Path | None, typer.Option("--users", metavar="FILE", help="Who may read: a file made by `htpasswd -B`.")
    ] = None,
    certificate: Annotated[
        Path | None, typer.Option("--certificate", metavar="FILE", help="Serve by TLS: the certificate, as PEM.")
    ] = None,
    key: Annotated[Path | None, typer.Option("--key", metavar="FILE", help="The certificate's key, as PEM.")] = None,
    config: options.ConfigPath = None,
    every: Annotated[
        float, typer.Option("--every", parser=options.seconds, metavar="TIME", help="Poll so often: 500ms to 1m.")
    ] = 2.0,
    rules: Annotated[  # written by its callback
        bool, typer.Option("--rules", callback=_rules, is_eager=True, help="Write alerting rules for Prometheus, end.")
    ] = False,
    dashboard: Annotated[
        bool,
        typer.Option("--dashboard", callback=_dashboard, is_eager=True, help="Write a dashboard for Grafana, end."),
    ] = False,
) -> None:
    """Serve metrics for Prometheus; however often they are scraped, a target is polled as often as `--every` says.

    Alerts of qmon.toml are told to its receivers. Ends on SIGTERM or Ctrl-C. A target that fails does not keep the
    others from being served.
    """
    from qmon.cli.notices import without_a_screen
    from qmon.cli.session import chosen_each
    from qmon.metrics.access import tls_of, users_of
    from qmon.metrics.readings import TargetReadings
    from qmon.metrics.server import MetricsServer
    from qmon.monitor.headless import HeadlessPoller

    if (certificate is None) != (key is None):
        raise BadInput("--certificate and --key are given together")
    tls = tls_of(certificate, key) if certificate is not None and key is not None else None
    allowed = users_of(users) if users is not None else None
    known = chosen_each(targets, config, every, "served")
    with without_a_screen(known) as told:
        readings = [TargetReadings(each.target.name, told=partial(told, each.target.name)) for each in known]
        server = MetricsServer(listen, readings, allowed, tls)
        pollers = [
            HeadlessPoller(each.target, each.configured, interval_s=every, sink=reading.take)
            for each, reading in zip(known, readings, strict=True)
        ]
        with ended_by(signal.SIGTERM, signal.SIGINT) as (ending, _):
            for poller in pollers:
                poller.start()
            note(f"qmon: serving {server.url}")
            ending.wait()
        for poller in pollers:
            poller.close()
        server.close()
