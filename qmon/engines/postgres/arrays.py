"""Arrays of texts in PostgreSQL's format."""

from __future__ import annotations

from collections.abc import Iterable


def array_literal(texts: Iterable[str]) -> str:
    """Return an array literal for any texts. The parameter to which it is bound determines the element type."""
    quoted = (text.replace("\\", "\\\\").replace('"', '\\"') for text in texts)
    return "{" + ",".join(f'"{text}"' for text in quoted) + "}"
