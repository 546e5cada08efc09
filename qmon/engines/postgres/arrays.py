"""Arrays of texts, as PostgreSQL reads them."""

from __future__ import annotations

from collections.abc import Iterable


def array(texts: Iterable[str]) -> str:
    """An array's literal, whatever is in the texts; the elements' type is that of the parameter it is bound to."""
    quoted = (text.replace("\\", "\\\\").replace('"', '\\"') for text in texts)
    return "{" + ",".join(f'"{text}"' for text in quoted) + "}"
