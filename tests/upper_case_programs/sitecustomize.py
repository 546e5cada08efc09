"""Replaces every text of qmon by its upper case.

Python imports a module of this name at its start, so programs with this folder in ``PYTHONPATH`` show their texts in
upper case too.
"""

from __future__ import annotations

import re
from importlib.util import find_spec
from typing import Any, Final, cast

_FIELD: Final = re.compile(r"(\{[^{}]*\})")


def show_texts_in_upper_case() -> None:
    """Make every enumeration of texts that is defined from now on have its texts in upper case."""
    from qmon.texts import Text

    def upper_case_member(cls: type[Text], template: str) -> Text:
        member = str.__new__(
            cls, "".join(part if part.startswith("{") else part.upper() for part in _FIELD.split(template))
        )
        member._value_ = str(member)
        return member

    if Text.__subclasses__():
        raise RuntimeError("modules of qmon that have texts are already imported")
    cast(Any, Text).__new_member__ = upper_case_member


if find_spec("qmon") is not None:
    show_texts_in_upper_case()
