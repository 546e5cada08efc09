"""What cannot be seen, and whose permission is missing."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final

from qmon.model.figure import Severity
from qmon.model.verdicts.rule import Rule
from qmon.model.verdicts.signs import RuleInput

CODE: Final = "cannot see"


def _cannot_see(s: RuleInput) -> str | None:
    """The queue itself is gone, or its depth is kept from our role."""
    found = next((f for f in s.failures if f.gone), None)
    if found is None and s.ready.value is None:
        found = next((f for f in s.failures if f.grant), None)
    if found is None:
        return None
    if s.last_seen_at is None:
        return found.words
    return f"{found.words}; last seen at {datetime.fromtimestamp(s.last_seen_at, UTC):%H:%M:%S} UTC"


CANNOT_SEE = Rule(CODE, Severity.CRITICAL, 0.0, _cannot_see)
