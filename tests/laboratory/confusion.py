"""The confusion table: the injected causes and the verdicts at the time they were due."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict

from tests.laboratory.case import Outcome


def table(outcomes: Sequence[Outcome]) -> str:
    """Return a line for each cause: number of injections, verdicts, seconds until the verdict, faults."""
    lines = [f"{'injected':<34}{'times':>6}  {'said':<44}{'after':>8}  {'proof':<60}"]
    for cause in dict.fromkeys(each.cause for each in outcomes):
        mine = [each for each in outcomes if each.cause == cause]
        said = ", ".join(f"{code} {count}" for code, count in Counter(e.said for e in mine).most_common())
        times = [e.named_after_s for e in mine if e.named_after_s is not None]
        after = f"{sum(times) / len(times):.1f} s" if times else ""
        lines.append(f"{cause:<34}{len(mine):>6}  {said:<44}{after:>8}  {mine[-1].proof}")
    wrong = [f"  {each.cause}: {fault}" for each in outcomes for fault in each.faults]
    right = sum(not each.faults for each in outcomes)
    return "\n".join([*lines, f"{right} of {len(outcomes)} right", *wrong])


def as_json(outcomes: Sequence[Outcome]) -> str:
    """Return the counts by cause and verdict, and each outcome."""
    counts: dict[str, Counter[str]] = {}
    for each in outcomes:
        counts.setdefault(each.cause, Counter())[each.said] += 1
    return json.dumps({"confusion": counts, "outcomes": [asdict(each) for each in outcomes]}, ensure_ascii=False)
