"""Results of a benchmark part: rows of figures, and bounds on them."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text


@dataclass(frozen=True, slots=True)
class Bound:
    """A limit on a figure. ``at_most``: the figure must not exceed it; otherwise it must not fall below it."""

    what: str
    value: float
    limit: float
    at_most: bool = True

    @property
    def holds(self) -> bool:
        return self.value <= self.limit if self.at_most else self.value >= self.limit


@dataclass(slots=True)
class Part:
    """One part of the benchmark: its conditions, its rows, and its bounds."""

    name: str
    conditions: dict[str, Any] = field(default_factory=dict)
    rows: list[dict[str, Any]] = field(default_factory=list)
    bounds: list[Bound] = field(default_factory=list)

    def show(self, console: Console) -> None:
        """Print the rows as a table, then each bound."""
        if self.rows:
            table = Table(title=self.name, title_justify="left")
            for heading in self.rows[0]:
                table.add_column(heading, justify="left" if isinstance(self.rows[0][heading], str) else "right")
            for row in self.rows:
                table.add_row(*(Text(_shown(value)) for value in row.values()))
            console.print(table)
        for bound in self.bounds:
            sign = "≤" if bound.at_most else "≥"
            verdict = "holds" if bound.holds else "DOES NOT HOLD"
            console.print(Text(f"  {bound.what}: {_shown(bound.value)} {sign} {_shown(bound.limit)}  {verdict}"))


def write(parts: list[Part], path: Path) -> None:
    """Write all parts to one JSON file."""
    found = [asdict(part) | {"holds": all(bound.holds for bound in part.bounds)} for part in parts]
    path.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def _shown(value: object) -> str:
    if isinstance(value, float):
        return f"{value:,.3f}" if abs(value) < 100 else f"{value:,.0f}"
    return f"{value:,}" if isinstance(value, int) else str(value)
