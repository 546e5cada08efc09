"""The line about an object that is not a table."""

from __future__ import annotations

from qmon.monitor.catalog.relation_kind import RelationText


def relation_line(
    name: str, kind: str, text: RelationText, /, *, base: RelationText | None = None, tables: str = "", **fields: str
) -> str:
    """Return the line. ``base``: the text that lists ``tables``, from which the object is made."""
    article = "an" if kind[0] in "aeiou" else "a"
    what = RelationText.OBJECT.render(name=name, article=article, kind=kind)
    if base is not None:
        what = base.render(object=what, tables=tables)
    return text.render(object=what, **fields)
