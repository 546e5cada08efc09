"""What cannot be seen, and whose permission is missing."""

from __future__ import annotations

from qmon.model.verdicts.rule import Rule
from qmon.model.verdicts.signs import Signs
from qmon.model.view import Severity


def _cannot_see(s: Signs) -> str | None:
    if not s.failures or s.ready.value is not None:
        return None
    first = s.failures[0]
    return f"{first.reason}; {first.grant}" if first.grant and first.grant not in first.reason else first.reason


CANNOT_SEE = Rule("cannot see", Severity.WARNING, 0.0, _cannot_see)
