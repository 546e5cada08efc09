"""Every claim of the five articles on a real PostgreSQL, as a table: its demonstration, its figure, and a verdict."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from qmon.demo.embedded_server import EmbeddedServer
from tests.facts import fresh_database
from tests.soak.articles import alzabir, buschmann, chaos, kejser, rusanu, verdicts
from tests.soak.articles.claim import Row, judged, table
from tests.soak.articles.scene import PROGRAMS, SETTINGS, Scene, version_of

PARTS = ("claims", "chaos", "verdicts")
CLAIMS = (*alzabir.CLAIMS, *buschmann.CLAIMS, *kejser.CLAIMS, *rusanu.CLAIMS)


def articles(parts: Collection[str], designs: Sequence[str], messages: int, seed: int) -> Iterator[str]:
    """Yield lines during the parts, and the table at the end. The chaos uses ``designs``, ``messages`` and ``seed``.

    Raises ``SystemExit`` if a message is lost, doubled or out of order, or a claim does not match its verdict.
    """
    rows: list[Row] = []
    for row in _rows(parts, designs, messages, seed):
        rows.append(row)
        yield f"PostgreSQL {row.version}: {row.article}: {row.says}: {row.verdict}"
    yield table(rows)
    yield f"seed {seed}"
    if any(row.broken for row in rows):
        raise SystemExit(
            "\n".join(f"{row.version}: {row.says}: {row.figure}: {row.verdict}" for row in rows if row.broken)
        )


def _rows(parts: Collection[str], designs: Sequence[str], messages: int, seed: int) -> Iterator[Row]:
    for bin_dir in PROGRAMS:
        with EmbeddedServer(bin_dir=bin_dir, settings=SETTINGS) as server:
            version = version_of(bin_dir, server.url())
            if "claims" in parts:
                for claim in CLAIMS:
                    with fresh_database(server) as url:
                        yield judged(claim, Scene(server, version, url))
        if "chaos" in parts:
            with EmbeddedServer(bin_dir=bin_dir, settings={"fsync": "off", "track_commit_timestamp": "on"}) as server:
                for number, design in enumerate(designs):
                    with fresh_database(server) as url:
                        yield chaos.row(version, url, design, messages, seed + number)
        if "verdicts" in parts:
            yield from verdicts.rows(version, bin_dir)
