"""``qmon queues`` and ``qmon init``: show which tables are queues and why, and write a configuration."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from qmon import files
from qmon.cli import options
from qmon.cli.guard import PARTLY
from qmon.cli.output import clean_text, is_on_terminal, print_note, print_output, print_table
from qmon.errors import BadInput
from qmon.model.layout.layout import LayoutSource
from qmon.texts import Text

if TYPE_CHECKING:
    from qmon.cli.reports.target_reports import KnownQueue, QueuesReport
    from qmon.cli.target_session import ChosenTarget, ConnectedTarget
    from qmon.model.groups.group import Group
    from qmon.model.layout.layout import Layout
    from qmon.model.layout.table_facts import TableFacts
    from qmon.monitor.catalog.discovery.candidates import Candidate
    from qmon.monitor.catalog.proposal import ConfigProposal
    from qmon.monitor.catalog.resolve import Resolved


class QueuesText(Text):
    """Why queues cannot be listed or configured."""

    NO_LIBRARY_TABLE = "no table has the name of a library table; to list the libraries: qmon help libraries"
    EXISTS = "{path} already exists: replace it with --force, or write another file with --config"
    UNWRITABLE = "cannot write {path}: {problem}"


class ListingText(Text):
    """Cells and notes of ``qmon queues``, and the last lines of ``qmon init``."""

    QUEUES = "{count} queues"
    LOST = "cannot be watched: {reason}"
    BY_SHAPE = "{confidence}, by shape"
    NO_TABLE = "no table looks like a queue; add your queue to qmon.toml, or install one: qmon design install"
    GUESSES = "queues found by shape are guesses; to confirm the guesses: qmon init TARGET"
    BY_COLUMN = "a queue for each value of `{column}`"
    RECOGNIZED = "its tables were recognized"
    KEPT = "qmon kept the previous file as {path}"
    WRITTEN = "written to {path}; {step}"
    REVIEW = "review the file, then: qmon connect {target}"
    COMPLETE = "no queue yet; complete the tables in the comments, or answer the questions of qmon init on a terminal"
    NOT_FOUND = "no queue was found; describe your queue in the file: qmon help configuration"


def register_commands(app: typer.Typer) -> None:
    app.command("queues", epilog="Example: qmon queues orders-prod --output json")(queues)
    app.command("init", epilog="Example: qmon init postgresql://me@db1/shop --config shop.toml")(init)


@dataclass(frozen=True, slots=True)
class _Listing:
    """The queues that were found on one target: as rows of the table, or as the object for JSON and CSV."""

    target: str
    resolved: Resolved
    findings: list[Candidate]
    rows: list[tuple[object, ...]]
    report: QueuesReport | None
    others: tuple[str, ...] = ()


def queues(
    context: typer.Context,
    targets: options.Targets = None,
    all_targets: options.AllTargets = False,
    output: options.Output = "table",
    explain: Annotated[
        bool,
        typer.Option(
            "--explain",
            help="Show why qmon did or did not recognize tables with a library's name, and why other tables are no"
            " queues.",
        ),
    ] = False,
) -> None:
    """List queues, and show why each queue was recognized.

    A queue is configured, was installed by qmon, belongs to a queue library, or is a table that looks like a queue.
    """
    from qmon.cli.several_targets import ask_targets, exit_unless_all
    from qmon.cli.target_session import connect_target, resolve_targets

    config = options.config_path(context)
    known = resolve_targets(targets or (), config, all_targets=all_targets)

    def ask(each: ChosenTarget, may_ask: bool) -> _Listing:
        with connect_target(each, "queues", may_ask=may_ask) as at:
            resolved, findings = _find_queues(at)
            others = _explain_others(at, resolved, findings) if explain else ()
            rows = _listing_rows(at, resolved, findings) if output == "table" else []
            report = _queues_report(at, resolved, findings, others) if output != "table" else None
            return _Listing(at.target.name, resolved, findings, rows, report, others)

    listings = ask_targets(known, ask)
    named = len(known) > 1
    if output == "table":
        _print_listings(listings, with_target=named)
        for each in listings if explain else ():
            _print_explanation(each, with_target=named)
    else:
        from qmon.cli.output import print_reports
        from qmon.cli.reports.target_reports import QueuesReport

        print_reports(output, [each.report for each in listings if each.report is not None], QueuesReport, "queues")
        for each in listings if output == "csv" else ():
            _print_problems(each, print_note, with_target=named)
    exit_unless_all(known, listings)
    if any(layout.source is not LayoutSource.DISCOVERY for each in listings for layout in each.resolved.lost):
        raise typer.Exit(PARTLY)


def _find_queues(at: ConnectedTarget) -> tuple[Resolved, list[Candidate]]:
    """Return the known queues, and further tables that look like queues."""
    from qmon.monitor.catalog.proposal import read_known_and_found

    return read_known_and_found(at.connection, at.engine, at.configured)


def _explain_others(at: ConnectedTarget, resolved: Resolved, findings: list[Candidate]) -> tuple[str, ...]:
    """Return why the other tables are not proposed."""
    from qmon.monitor.catalog.proposal import explain_other_tables

    return tuple(explain_other_tables(at.connection, at.engine, resolved, findings))


def _confidence_text(finding: Candidate) -> str:
    from qmon.monitor.catalog.discovery.candidates import LIKELY

    return "likely" if finding.score >= LIKELY else "possible"


def _reason_text(finding: Candidate) -> str:
    what = "cannot tell" if finding.locked is not None else "missing"
    return finding.summary + (f"; {what}: {finding.missing}" if finding.missing else "")


def _print_explanation(listing: _Listing, *, with_target: bool) -> None:
    nothing = (QueuesText.NO_LIBRARY_TABLE,)
    for line in (*(listing.resolved.explained or nothing), *listing.others):
        print_output(clean_text(f"{listing.target}: {line}" if with_target else line))


def _listing_rows(at: ConnectedTarget, resolved: Resolved, findings: list[Candidate]) -> list[tuple[object, ...]]:
    from qmon.monitor.probes.group_probes import read_queues

    rows: list[tuple[object, ...]] = [
        (layout.queue, layout.design, layout.table, _source_text(layout), "; ".join(resolved.reasons[layout.queue]))
        for layout in resolved.layouts
    ]
    for found in resolved.groups:
        source, why = _group_source(found.group)
        each = read_queues(at.connection, at.engine, found)
        if len(each) > 1:
            rows.append(
                (found.group.name, "table", found.group.table, source, ListingText.QUEUES.render(count=len(each)))
            )
        rows += [(layout.queue, layout.design, layout.table, source, why) for layout in each]
    reasons = {problem.queue: problem.reason for problem in resolved.problems}
    rows += [
        (
            layout.queue,
            layout.design,
            layout.table,
            _source_text(layout),
            ListingText.LOST.render(reason=reasons[layout.queue]),
        )
        for layout in resolved.lost
    ]
    rows += [
        (
            f.layout.queue,
            f.layout.design,
            f.layout.table,
            ListingText.BY_SHAPE.render(confidence=_confidence_text(f)),
            _reason_text(f),
        )
        for f in findings
    ]
    return rows


def _print_listings(listings: Sequence[_Listing], *, with_target: bool) -> None:
    headers = ("QUEUE", "DESIGN", "TABLE", "KNOWN FROM", "WHY")
    rows = [((each.target, *row) if with_target else row) for each in listings for row in each.rows]
    if rows:
        print_table(("TARGET", *headers) if with_target else headers, rows, wrap=5 if with_target else 4)
    for each in listings:
        if not each.rows:
            where = f"{each.target}: " if with_target else ""
            print_note(f"{where}{ListingText.NO_TABLE}")
        said = {layout.queue for layout in each.resolved.lost}
        problems = tuple(p for p in each.resolved.problems if p.grant or p.queue not in said)
        _print_problems(
            replace(each, resolved=replace(each.resolved, problems=problems)), print_output, with_target=with_target
        )
    if any(each.findings for each in listings) and is_on_terminal():
        print_note(ListingText.GUESSES)


def _source_text(layout: Layout) -> str:
    return "library" if layout.library else layout.source.value


def _print_problems(listing: _Listing, tell: Callable[[str], None], *, with_target: bool) -> None:
    where = f"{clean_text(listing.target)}: " if with_target else ""
    for problem in listing.resolved.problems:
        tell(f"{where}{clean_text(problem.queue or 'target')}: {clean_text(problem.reason)}")
        if problem.grant:
            tell(f"  {clean_text(problem.grant)}")


def _group_source(group: Group) -> tuple[str, str]:
    """Return the source of a group, and how a queue of the group is identified."""
    apart = ListingText.BY_COLUMN.render(column=group.queue.name) if group.queue is not None else ""
    if not group.library:
        return group.source.value, apart
    return "library", "; ".join(filter(None, (ListingText.RECOGNIZED, apart)))


def _queues_report(
    at: ConnectedTarget, resolved: Resolved, findings: list[Candidate], others: Sequence[str]
) -> QueuesReport:
    from qmon.cli.reports.target_reports import KnownLibrary, QueueProblem, QueuesReport
    from qmon.model.report_shapes import fill
    from qmon.monitor.probes.group_probes import read_queues

    known = [
        _known_queue(layout, _source_text(layout), resolved.reasons[layout.queue], facts=resolved.facts[layout.queue])
        for layout in resolved.layouts
    ]
    guessed = [
        _known_queue(f.layout, "discovery", (*f.why, *f.how, *f.times), confidence=f.score, missing=f.missing or None)
        for f in findings
    ]
    libraries = [
        fill(
            KnownLibrary,
            found.group,
            table=str(found.group.table),
            queues=[layout.queue for layout in read_queues(at.connection, at.engine, found)],
        )
        for found in resolved.groups
    ]
    return QueuesReport(
        schema=1,
        target=at.target.name,
        engine=at.engine.name,
        server_version=".".join(map(str, at.connection.version)),
        queues=known + guessed,
        libraries=libraries,
        explained=[*resolved.explained, *others],
        problems=[fill(QueueProblem, each) for each in resolved.problems],
    )


def _known_queue(
    layout: Layout,
    source: str,
    why: Sequence[str],
    *,
    confidence: float | None = None,
    missing: str | None = None,
    facts: TableFacts | None = None,
) -> KnownQueue:
    from qmon.cli.reports.target_reports import KnownQueue
    from qmon.model.layout.layout_io import layout_to_dict

    return KnownQueue(
        name=layout.queue,
        design=layout.design,
        table=str(layout.table),
        layout=layout_to_dict(layout),
        source=source,
        confidence=confidence,
        why=list(why),
        missing=missing,
        unknown=None if facts is None else dict(facts.unknown),
        slow=None if facts is None else dict(facts.slow),
    )


def init(
    context: typer.Context,
    target: options.Target,
    show: Annotated[bool, typer.Option("--print", help="Print the configuration and write nothing.")] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Replace an existing file. qmon keeps the old file with the suffix .bak.")
    ] = False,
) -> None:
    """Write a configuration for the queues found in a database.

    qmon writes your qmon.toml, or the file given by --config. Comments in the file explain each entry. Read them and
    correct the entries. On a terminal, qmon asks about facts that it could not find out.
    """
    from qmon.cli.init_questions import ask_about_tables, ask_times
    from qmon.cli.target_session import open_target
    from qmon.monitor.catalog.proposal import propose_config

    config = options.config_path(context)
    known = config if config is not None and config.exists() else None
    with open_target(target, known, "init") as at:
        resolved, findings = _find_queues(at)
        may_ask = sys.stdin.isatty() and sys.stderr.isatty()
        answers = ask_about_tables(at, findings) if may_ask else {}
        findings = ask_times(findings) if may_ask else findings
        said = {table: None if answer is None else answer.to_toml() for table, answer in answers.items()}
        proposal = propose_config(target, at.target.name, at.config.targets.get(target), resolved, findings, said)
        place = config or at.config.path
    if show:
        print(proposal.text, end="")
        return
    kept = write_config(place, proposal.text, force=force)
    if kept is not None:
        print_note(ListingText.KEPT.render(path=kept))
    print_note(ListingText.WRITTEN.render(path=place, step=_next_step(proposal)))


def _next_step(proposal: ConfigProposal) -> str:
    if proposal.entries:
        return ListingText.REVIEW.render(target=proposal.name)
    if proposal.undecided:
        return ListingText.COMPLETE.render()
    return ListingText.NOT_FOUND.render()


def write_config(path: Path, text: str, *, force: bool) -> Path | None:
    """Write the file. Replace an existing file only with ``force``. Return the path of the existing file's backup.

    Raises ``BadInput`` if the file exists without ``force``, or cannot be written.
    """
    kept: Path | None = None
    try:
        if path.exists():
            if not force:
                raise BadInput(QueuesText.EXISTS.render(path=path))
            kept = path.with_name(path.name + ".bak")
            files.replace_file(kept, path.read_bytes())
        files.make_folder(path.parent)
        files.replace_file(path, text)
    except OSError as problem:
        raise BadInput(QueuesText.UNWRITABLE.render(path=path, problem=problem.strerror)) from None
    return kept
