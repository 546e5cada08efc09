"""Write a ``qmon.toml`` for a target, with its known queues and the queues that discovery proposes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from urllib.parse import urlsplit, urlunsplit

from qmon.config.config_file import TargetConfig
from qmon.config.toml_writer import queue_to_toml, queues_to_toml, target_to_toml, to_comment
from qmon.engines.base import Connection, Engine
from qmon.engines.odbc_keywords import format_connection_string, parse_connection_string, split_password
from qmon.model.groups.configured_queue import ConfiguredQueue, queue_from_dict
from qmon.model.groups.group import Group
from qmon.model.layout.layout import Layout, ObjectName
from qmon.model.layout.time_zones import UNKNOWN_ZONE
from qmon.monitor.catalog.catalog import Catalog
from qmon.monitor.catalog.discovery.candidates import Candidate, discover_queues, explain_tables, is_likely
from qmon.monitor.catalog.newest_times import compare_unknown_zones_with_clock
from qmon.monitor.catalog.resolve import Resolved, resolve_queues
from qmon.texts import Text


class ProposedLineText(Text):
    """Comments in a proposed configuration."""

    TIMES_LINE = '# times = "local"   # or "utc", or a zone such as "Europe/Berlin"; without this, ages are unknown'
    SOURCE = "from the {source}"
    PERHAPS = "Perhaps a queue: {summary}."
    MISSING = " Missing: {missing}."


class OtherTable(Text):
    """Why discovery does not propose a table."""

    SOME = "not enough evidence of a queue: {why}"
    NONE = "its name, columns and counters do not suggest a queue"


# For each table, the queue as the user described it, in the form of `qmon.toml`; `None`: the table is not a queue.
Answers = Mapping[ObjectName, Mapping[str, object] | None]


def read_known_and_found(
    connection: Connection, engine: Engine, configured: Sequence[ConfiguredQueue]
) -> tuple[Resolved, list[Candidate]]:
    """Return the known queues, and the other tables that look like queues.

    Raises the errors of ``Connection.fetch``.
    """
    resolved = resolve_queues(connection, engine, configured, by_shape=False, by_library=True)
    known = {name for layout in resolved.layouts for name in (layout.table, layout.data_table)}
    known |= {found.group.table for found in resolved.groups}
    catalog = Catalog(connection, engine)
    theirs = resolved.of_libraries
    findings = discover_queues(catalog, [table for table in catalog.read_tables() if table.name not in theirs])
    times = compare_unknown_zones_with_clock(
        catalog, [finding.layout for finding in findings if finding.locked is None]
    )
    findings = [replace(f, times=times.get(f.layout.table, ())) for f in findings]
    holders = catalog.read_lock_holders()
    findings = [f if f.locked is None else replace(f, missing=holders.get(f.locked, f.missing)) for f in findings]
    return resolved, [f for f in findings if not known & {f.layout.table, f.layout.data_table} - {None}]


def explain_other_tables(
    connection: Connection, engine: Engine, resolved: Resolved, findings: Sequence[Candidate]
) -> Iterator[str]:
    """Yield a line for each table that is neither a queue, nor a possible queue, nor a table of a library.

    Raises the errors of ``Connection.fetch``.
    """
    layouts = (*resolved.layouts, *(finding.layout for finding in findings))
    known = resolved.of_libraries | {name for layout in layouts for name in (layout.table, layout.data_table)}
    known |= {found.group.table for found in resolved.groups}
    catalog = Catalog(connection, engine)
    others = [table for table in catalog.read_tables() if table.name not in known]
    for table, why in explain_tables(catalog, others):
        yield f"{table}: {OtherTable.SOME.render(why='; '.join(why)) if why else OtherTable.NONE}"


@dataclass(frozen=True, slots=True)
class ConfigProposal:
    """The text of a ``qmon.toml``, and the name of its target.

    Attributes:
        entries: number of queues and libraries in the text.
        undecided: number of tables that are only comments, because the user must first decide about these tables.
    """

    name: str
    text: str
    entries: int
    undecided: int


def propose_config(
    typed: str,
    shown: str,
    existing: TargetConfig | None,
    resolved: Resolved,
    findings: Sequence[Candidate],
    answers: Answers,
) -> ConfigProposal:
    """Return a whole configuration for a target.

    It contains the known queues, the likely queues and the queues described in ``answers``. Possible queues are
    comments. ``typed``: the target as the user typed it; a password in it is left out. ``shown``: the displayed name of
    the target. ``existing``: the target's existing configuration.
    """
    name = existing.name if existing is not None else short_target_name(shown)
    connect = existing.connect if existing is not None else without_password(typed)
    blocks = [_header_comment(), target_to_toml(name, connect)]
    libraries = {g.group.library for g in resolved.groups} | {layout.library for layout in resolved.layouts}
    kept = [layout for layout in resolved.layouts if not layout.library]
    for layout in kept:
        source = ProposedLineText.SOURCE.render(source=layout.source.value)
        blocks.append(_layout_block(name, layout, [source, *resolved.reasons[layout.queue]]))
    blocks += [queue_to_toml(name, {"library": each}) for each in sorted(libraries - {""})]
    written = {} if existing is None else existing.written
    own = [queue.name for queue in (() if existing is None else existing.queues) if isinstance(queue, Group)]
    blocks += [queue_to_toml(name, written[group]) for group in own]
    guessed = [finding for finding in findings if is_likely(finding) and finding.layout.table not in answers]
    blocks += [candidate_block(name, finding) for finding in guessed]
    said = [answer for answer in answers.values() if answer is not None]
    for raw in said:
        queue_from_dict(raw, where=str(raw["table"]), libraries=())
        blocks.append(queue_to_toml(name, raw))
    undecided = [finding for finding in findings if not is_likely(finding) and finding.layout.table not in answers]
    blocks += [_undecided_block(name, finding) for finding in undecided]
    blocks += [to_comment(f"{p.queue or 'target'}: {p.reason}") for p in resolved.problems]
    entries = len(kept) + len(libraries - {""}) + len(own) + len(said) + len(guessed)
    return ConfigProposal(name, "\n".join(blocks), entries, len(undecided))


def without_password(typed: str) -> str:
    """Return a URL or connection string without its password; a DSN unchanged."""
    if re.match(r"[A-Za-z][A-Za-z0-9+.-]*://", typed):
        parts = urlsplit(typed)
        user, at, host = parts.netloc.rpartition("@")
        query = "&".join(pair for pair in parts.query.split("&") if not pair.lower().startswith("password="))
        return urlunsplit(parts._replace(netloc=user.partition(":")[0] + at + host, query=query))
    if "=" in typed:
        return format_connection_string(split_password(parse_connection_string(typed), "")[0])
    return typed


def short_target_name(shown: str) -> str:
    """Return a short name for a target from its displayed name: ``db1/shop`` gives ``shop``."""
    last = re.sub(r"[^A-Za-z0-9_-]+", "-", shown.rpartition("/")[2]).strip("-")
    return last or "target"


def candidate_block(target: str, finding: Candidate) -> str:
    """Return the lines of a queue that discovery found, with the reasons."""
    return _candidate_lines(target, finding, [finding.summary, *finding.how, *finding.times])


def _candidate_lines(target: str, finding: Candidate, why: Sequence[str]) -> str:
    if finding.proposal is None:
        return _layout_block(target, finding.layout, why)
    return "".join(map(to_comment, why)) + queue_to_toml(target, finding.proposal)


def _layout_block(target: str, layout: Layout, why: Sequence[str]) -> str:
    asked = any(zone == UNKNOWN_ZONE for _, zone in layout.zones)
    question = f"{ProposedLineText.TIMES_LINE}\n"
    return "".join(map(to_comment, why)) + queues_to_toml(target, [layout]) + (question if asked else "")


def _undecided_block(target: str, finding: Candidate) -> str:
    """Return, as comments, a finding about which the user must decide."""
    lines = _candidate_lines(target, finding, ()).splitlines()
    question = ProposedLineText.PERHAPS.render(summary=finding.summary)
    if finding.missing:
        question += ProposedLineText.MISSING.render(missing=finding.missing)
    return to_comment(question) + "".join(f"# {line}\n" for line in lines)


def _header_comment() -> str:
    return (
        "# Written by qmon init. Review it: queues found by shape are guesses.\n"
        "# Do not write passwords here: qmon reads them from the environment or the keyring, or asks for them.\n"
    )
