"""``make bench`` runs all parts or those named, prints tables, writes ``bench.json``, and exits 1 if a bound breaks."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from rich.console import Console

from tests.benchmarks import (
    acting,
    archiving,
    client,
    contention,
    designs,
    fleet,
    many,
    pausing,
    pipeline,
    probe_cost,
    recording,
    serving,
    tax,
    texts,
)
from tests.benchmarks.results import Part, write

PARTS = {
    "probe-cost": probe_cost.run,
    "tax": tax.run,
    "client": client.run,
    "contention": contention.run,
    "many": many.run,
    "fleet": fleet.run,
    "texts": texts.run,
    "designs": designs.run,
    "dequeue": designs.run_dequeue,
    "archiving": archiving.run,
    "pause": pausing.run,
    "acting": acting.run,
    "recording": recording.run,
    "serve": serving.run,
    "pipeline": pipeline.run,
}
# Run only if named: parts of a part, each with its own comparison, and parts that are too large for every machine.
NAMED_ONLY = {
    "acting-requeue": acting.run_requeue,
    "acting-purge": acting.run_purge,
    "pipeline-large": pipeline.run_large,
}


def main() -> int:
    """Run the benchmark. ``--quick`` makes everything small, only to see that it works."""
    parser = argparse.ArgumentParser(prog="make bench ARGS=…", description=__doc__)
    choices = [*PARTS, *NAMED_ONLY, []]
    parser.add_argument("parts", nargs="*", choices=choices, help="which parts; all where none is named")
    parser.add_argument("--quick", action="store_true", help="small and short: the figures mean little")
    parser.add_argument("--json", type=Path, default=Path("bench.json"), help="where the figures go")
    chosen = parser.parse_args()
    console = Console(width=160)
    found: list[Part] = []
    for name in chosen.parts or PARTS:
        found.append((PARTS | NAMED_ONLY)[name](quick=chosen.quick))
        found[-1].show(console)
        write(found, chosen.json)
    return 0 if all(bound.holds for part in found for bound in part.bounds) else 1


if __name__ == "__main__":
    sys.exit(main())
