"""SQL just before and just after a poll never contradicts qmon about random tables: the truth soak, in short."""

from __future__ import annotations

import pytest

from tests.soak.truth import truth


@pytest.mark.parametrize("seed", [1])
def test_no_verdict_is_contradicted_by_sql_just_before_and_just_after_it(database: str, seed: int) -> None:
    told = truth(database, seed=seed, tables=16, seconds=12.0)
    assert not told.lies, "\n".join(told.lies[:20])
    assert told.judged > 50, told.line()
    for code in ("healthy", "empty", "cannot see", "cannot tell", "stuck in progress"):
        assert told.said[code], told.line()
