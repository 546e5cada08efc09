"""One text for statements of which now these, now those are asked for: which, a value says.

For SQL Server, whose plan cache is keyed by the text of a batch, whole: each choice of statements would else be another
text, planned anew.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from qmon.engines.base import Statement

_HEAD: Final = """/* qmon poll */
DECLARE @qmon_asked varchar(8000) = CAST(? AS varchar(8000))
;
"""
_ONE: Final = """IF SUBSTRING(@qmon_asked, {place}, 1) = '1'
BEGIN
;
{text}
;
END
"""


def text_of(statements: Sequence[Statement]) -> str:
    """The text; its first value has a 1 for each statement that is asked for, else a 0. Those of all of them follow."""
    return _HEAD + "".join(_ONE.format(place=at, text=each.text) for at, each in enumerate(statements, 1))
