"""The base class of all texts that qmon shows: templates with named fields.

A module lists the texts of its subject in a subclass. Code and tests compare members and fields, never the wording, so
that a new wording changes only the subclass and its table in ``tests/texts``.
"""

from __future__ import annotations

from enum import StrEnum
from functools import cache
from string import Formatter


class Text(StrEnum):
    """A template. A field is a name in braces, with a format if needed: ``"{count:,} ready in {queue}"``."""

    @property
    def fields(self) -> frozenset[str]:
        """The names of the fields."""
        return _field_names(self)

    def render(self, /, **fields: object) -> str:
        """Return the text with the values of all its fields.

        Raises ``TypeError`` if a field is missing or the template has no such field.
        """
        if fields.keys() != self.fields:
            raise TypeError(f"{self!r} has the fields {sorted(self.fields)}, not {sorted(fields)}")
        return str(self).format(**fields)


@cache
def _field_names(template: str) -> frozenset[str]:
    return frozenset(name for _, name, _, _ in Formatter().parse(template) if name is not None)
