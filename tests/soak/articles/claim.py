"""A claim of an article, and its result on a real PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from tests.soak.articles.scene import Scene

HOLDS = "holds"
SQL_SERVER_ONLY = "SQL Server only: not shown here"


@dataclass(frozen=True)
class Found:
    """A measured figure, in words, and whether it agrees with the claim's verdict."""

    figure: str
    as_said: bool


@dataclass(frozen=True)
class Claim:
    """One claim of an article, in our words.

    ``shown_by``: the command or statements that show it. ``verdict``: its truth on PostgreSQL: holds, holds otherwise,
    or does not hold here, because …. ``show``: measures it; ``None`` if the verdict says why it cannot be shown.
    ``or_else``: the verdict if a figure depends on the machine and had the other result; a claim without one is then
    broken.
    """

    article: str
    says: str
    shown_by: str
    verdict: str
    show: Callable[[Scene], Found] | None = None
    or_else: str = ""


@dataclass(frozen=True)
class Row:
    """A line of the table. ``broken``: the run has failed."""

    version: str
    article: str
    says: str
    shown_by: str
    figure: str
    verdict: str
    broken: bool = False


def judged(claim: Claim, scene: Scene) -> Row:
    """Measure a claim. An error in the meantime breaks it."""
    told = (scene.version, claim.article, claim.says, claim.shown_by)
    if claim.show is None:
        return Row(*told, "", claim.verdict)
    try:
        found = claim.show(scene)
    except Exception as error:  # show the other claims too; the run fails
        return Row(*told, f"{type(error).__name__}: {error}"[:300], f"BROKEN, expected: {claim.verdict}", broken=True)
    if found.as_said:
        return Row(*told, found.figure, claim.verdict)
    if claim.or_else:
        return Row(*told, found.figure, claim.or_else)
    return Row(*told, found.figure, f"BROKEN, expected: {claim.verdict}", broken=True)


def table(rows: Sequence[Row]) -> str:
    """Return all rows as text, by article: the claim, its demonstration, and its figure and verdict by version."""
    lines: list[str] = []
    for article in dict.fromkeys(row.article for row in rows):
        mine = [row for row in rows if row.article == article]
        lines += ["", article, "-" * len(article)]
        for says in dict.fromkeys(row.says for row in mine):
            same = [row for row in mine if row.says == says]
            lines += [says, f"    shown by  {same[0].shown_by}"]
            lines += _figures(same)
    broken = sum(row.broken for row in rows)
    return "\n".join([*lines, "", f"{len(rows)} rows, {broken} broken"])


def _figures(rows: Iterable[Row]) -> list[str]:
    """Return the figure and verdict of each version, or one pair if all versions agree."""
    told = {row.version: (row.figure, row.verdict) for row in rows}
    if len(set(told.values())) == 1:
        told = {"": next(iter(told.values()))}
    lines: list[str] = []
    for version, (figure, verdict) in told.items():
        name = f"PostgreSQL {version}: " if version else ""
        lines.append(f"    {'figure':<10}{name}{figure}" if figure else f"    {'':<10}{name}".rstrip())
        lines.append(f"    {'verdict':<10}{verdict}")
    return [line for line in lines if line.strip()]
