"""Search a text for commands that install qmon."""

from __future__ import annotations

import re

# Commands that would install the package index's qmon.
STRANGER = re.compile(
    r"\b(?:pip[x3]?|uvx?|poetry|conda)\b(?!(?: tool)? uninstall\b)"
    r"[^`\n#]*?(?<![\w./-])qmon(?:[-_]sql)?(?![\w-]|\.\w|_sql-)"  # pip install qmon
    r"|\bqmon(?:[-_]sql)?\[\w"  # qmon[demo]
    r"|\binstall(?:ed|ing|s)? [\"'`]*qmon(?:[-_]sql)?\b(?!')",  # install qmon
    re.I,
)
EXTRA = re.compile(r"'\.\[([a-z,]+)\]'")


def strangers(text: str) -> list[str]:
    """Return the lines that would install the index's qmon."""
    return [line.strip() for line in text.splitlines() if STRANGER.search(line)]
