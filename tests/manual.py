"""Commands and snippets of the manual, for the tests that run them."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[1]
PAGES: Final = tuple(sorted([ROOT / "README.md", ROOT / "SECURITY.md", *(ROOT / "docs").glob("*.md")]))

_FENCED: Final = re.compile(r"^```(\w*)\n(.*?)^```", re.M | re.S)
# Languages of code blocks that may contain commands.
_SHELL: Final = ("", "sh")
_INDENTED: Final = re.compile(r"^ {4}(qmon .*)$", re.M)
_INLINE: Final = re.compile(r"`(qmon [^`]+)`")


def page(name: str) -> str:
    """Return the text of a page of ``docs/``, or of ``README``."""
    return next(path for path in PAGES if path.stem == name).read_text("utf-8")


def section(text: str, heading: str) -> str:
    """Return the part below a heading of the second level, up to the next one. Raises ``IndexError`` without one."""
    return re.split(r"^## ", text.split(f"\n## {heading}\n", 1)[1], maxsplit=1, flags=re.M)[0]


def snippets(text: str, language: str) -> list[str]:
    """Return the fenced blocks of a language in order."""
    return [block for found, block in _FENCED.findall(text) if found == language]


def statements(text: str) -> list[str]:
    """Return the SQL statements of all ``sql`` blocks in order, each without its semicolon."""
    return [part.strip() for block in snippets(text, "sql") for part in block.split(";") if part.strip()]


def commands(text: str) -> list[list[str]]:
    """Return the qmon commands of all blocks in order, as words without ``qmon``; redirections and comments are cut."""
    indented = _FENCED.sub(lambda found: re.sub("^", "    ", found[2], flags=re.M) if found[1] in _SHELL else "", text)
    return [_words(line)[1:] for line in _INDENTED.findall(indented)]


def mentioned(text: str) -> list[list[str]]:
    """Return the qmon commands within sentences and tables, as words without ``qmon``."""
    return [_words(line)[1:] for line in _INLINE.findall(_FENCED.sub("", text))]


def _words(line: str) -> list[str]:
    bare = re.split(r" \\?\| | >+ ", re.sub(r"\s+#.*", "", line), maxsplit=1)[0]
    try:
        return shlex.split(bare)
    except ValueError:  # an apostrophe within a sentence
        return bare.split()
