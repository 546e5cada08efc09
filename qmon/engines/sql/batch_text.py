"""Build the text of a batch. On SQL Server, polls with different statements send the same text.

SQL Server caches plans by the whole text of a batch. If each poll sent only the statements to run, every selection of
statements would be a new text with a new plan. Instead, the first value of the batch selects the statements to run.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, Generic, TypeVar

from qmon.engines.base import Bound, Statement

# A cursor of the driver.
C = TypeVar("C")

_HEAD: Final = """/* qmon poll */
DECLARE @qmon_asked varchar(8000) = CAST(? AS varchar(8000))
;
"""
_ONE_STATEMENT: Final = """IF SUBSTRING(@qmon_asked, {place}, 1) = '1'
BEGIN
;
{text}
;
END
"""

# Maximum statements in one part of a batch. The server plans all these statements before it answers the first one.
_MAX_STATEMENTS: Final = 1000

# Number of texts that stay prepared.
_MAX_PREPARED: Final = 12


def join_statements(texts: Sequence[str]) -> str:
    """Join statements into one text. Each statement is on separate lines, because a statement may end in a comment."""
    return "\n;\n".join(texts)


def list_text(statements: Sequence[Statement]) -> str:
    """Return the text of the batch.

    The first value of the text has a digit for each statement: 1 to run the statement, 0 to skip it. The values of the
    statements follow.
    """
    return _HEAD + "".join(_ONE_STATEMENT.format(place=at, text=each.text) for at, each in enumerate(statements, 1))


def split_batch(bounds: Sequence[Bound], most_values: int | None, own: int = 0) -> Iterator[Sequence[Bound]]:
    """Split a batch into as few parts as the server's limit on values allows. No statement is divided.

    ``own``: additional values of each part.
    """
    part: list[Bound] = []
    values = own
    for bound in bounds:
        more = len(bound.statement.parameters)
        if part and most_values is not None and (values + more > most_values or len(part) == _MAX_STATEMENTS):
            yield part
            part, values = [], own
        part.append(bound)
        values += more
    if part:
        yield part


class PreparedTexts(Generic[C]):
    """Prepared texts, each with the cursor on which it is prepared. The most recently used text is last."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[str, C]] = {}

    def take_out(self, text: str) -> tuple[str, C | None]:
        """Remove and return a text and the cursor on which it is prepared, or ``None`` if it is not prepared.

        Give both back with ``put``. Send the returned text, because the driver recognizes a prepared text by object
        identity.
        """
        return self._known.pop(text, (text, None))

    def put(self, text: str, cursor: C) -> C | None:
        """Store a prepared text. If there are too many texts, drop one and return its cursor, else return ``None``."""
        self._known[text] = text, cursor
        return self._known.pop(next(iter(self._known)))[1] if len(self._known) > _MAX_PREPARED else None
