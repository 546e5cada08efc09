"""A layout as JSON, as the registry of a database keeps it: the words of the configuration in one line."""

from __future__ import annotations

import json
from typing import Final

from qmon.errors import BadInput
from qmon.model.layout.io import layout_from_dict, layout_to_dict
from qmon.model.layout.layout import Layout, LayoutSource

FORMAT: Final = 1
"""The registry's ``version``; a reader passes over a greater one."""


def to_json(layout: Layout) -> str:
    """The layout as one line of JSON, without what it lacks; ``source`` is not kept."""
    return json.dumps(layout_to_dict(layout), ensure_ascii=False)


def from_json(text: str, *, where: str = "layout") -> Layout:
    """The layout that ``to_json`` wrote, with the registry as its source. Raises ``BadInput`` where it is none."""
    try:
        raw = json.loads(text)
    except (ValueError, RecursionError) as problem:
        raise BadInput(f"{where}: not JSON: {problem}") from None
    return layout_from_dict(raw, where=where, source=LayoutSource.REGISTRY)
