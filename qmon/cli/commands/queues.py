"""``qmon queues`` and ``qmon init``: which tables are queues, and why."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from qmon.cli import options
from qmon.cli.output import clean, json_object, note, on_terminal, say, table

if TYPE_CHECKING:
    from qmon.cli.session import Opened
    from qmon.model.layout.layout import Layout
    from qmon.monitor.catalog.discovery import Candidate
    from qmon.monitor.catalog.resolve import Resolved


def add_to(app: typer.Typer) -> None:
    """Add these commands."""
    app.command("queues", epilog="Example: qmon queues orders-prod --json")(queues)
    app.command("init", epilog="Example: qmon init postgresql://me@db1/shop --output shop.toml")(init)


def queues(target: options.Target, config: options.ConfigPath = None, json: options.Json = False) -> None:
    """List the queues of a target: configured, installed by qmon, or found by their shape, and why."""
    from qmon.cli.session import opened

    with opened(target, config, "queues") as at:
        resolved, findings = _look(at)
        if json:
            json_object(_as_object(at, resolved, findings))
        else:
            _print(resolved, findings)


def _look(at: Opened) -> tuple[Resolved, list[Candidate]]:
    """What is known, and what else looks like a queue."""
    from qmon.monitor.catalog.catalog import Catalog
    from qmon.monitor.catalog.discovery import discover
    from qmon.monitor.catalog.resolve import resolve

    resolved = resolve(at.connection, at.engine, at.configured, by_shape=False)
    known = {name for layout in resolved.layouts for name in (layout.table, layout.data_table)}
    findings = discover(Catalog(at.connection, at.engine))
    return resolved, [f for f in findings if not known & {f.layout.table, f.layout.data_table} - {None}]


def _sure(finding: Candidate) -> str:
    from qmon.monitor.catalog.discovery import LIKELY

    return "likely" if finding.score >= LIKELY else "possible"


def _why(finding: Candidate) -> str:
    return finding.summary + (f"; to be said: {finding.missing}" if finding.missing else "")


def _print(resolved: Resolved, findings: list[Candidate]) -> None:
    rows = [
        (layout.queue, layout.design, layout.table, layout.source.value, "; ".join(resolved.reasons[layout.queue]))
        for layout in resolved.layouts
    ]
    rows += [(f.layout.queue, f.layout.design, f.layout.table, f"{_sure(f)}, by shape", _why(f)) for f in findings]
    if rows:
        table(("QUEUE", "DESIGN", "TABLE", "KNOWN FROM", "WHY"), rows, wrap=4)
    else:
        note("no table here looks like a queue; name one in qmon.toml, or see: qmon install --help")
    for problem in resolved.problems:
        say(f"{clean(problem.queue or 'target')}: {clean(problem.reason)}")
        if problem.grant:
            say(f"  {clean(problem.grant)}")
    if findings and on_terminal():
        note("what is found by shape is a guess: qmon init writes it down for you to confirm")


def _as_object(at: Opened, resolved: Resolved, findings: list[Candidate]) -> dict[str, Any]:
    known = [
        _queue(layout) | {
            "source": layout.source.value,
            "confidence": None,
            "why": list(resolved.reasons[layout.queue]),
            "missing": None,
            "unknown": dict(resolved.facts[layout.queue].unknown),
            "slow": dict(resolved.facts[layout.queue].slow),
        }
        for layout in resolved.layouts
    ]  # fmt: skip
    guessed = [
        _queue(f.layout)
        | {"source": "discovery", "confidence": f.score, "why": [*f.why, *f.how], "missing": f.missing or None}
        | {"unknown": None, "slow": None}
        for f in findings
    ]
    problems = [{"queue": p.queue or None, "reason": p.reason, "grant": p.grant or None} for p in resolved.problems]
    return {
        "schema": 1,
        "target": at.target.name,
        "engine": at.engine.name,
        "server_version": ".".join(map(str, at.connection.version)),
        "queues": known + guessed,
        "problems": problems,
    }


def _queue(layout: Layout) -> dict[str, Any]:
    from qmon.model.layout.io import layout_to_dict

    return {"name": layout.queue, "design": layout.design, "table": str(layout.table), "layout": layout_to_dict(layout)}


def init(
    target: options.Target,
    config: options.ConfigPath = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="PATH", help="Where to write; - prints. Default: your qmon.toml."),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Write over a file that is there; it is kept beside as .bak.")
    ] = False,
) -> None:
    """Write a configuration from what looks like a queue here, with the reasons, for you to read and change."""
    from qmon.cli.commands.proposal import propose, write
    from qmon.cli.session import opened

    with opened(target, config, "init") as at:
        resolved, findings = _look(at)
        proposal = propose(target, at, resolved, findings)
        place = output or config or at.config.path
    if str(place) == "-":
        print(proposal.text, end="")
        return
    kept = write(place, proposal.text, force=force)
    if kept is not None:
        note(f"the file that was there is kept as {kept}")
    note(f"written to {place}: {proposal.queues} queue(s) to look through; then: qmon connect {proposal.name}")
