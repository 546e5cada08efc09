"""The size of batches and the rests between them, of actions and of archiving."""

from __future__ import annotations

import pytest

from qmon.operate.run.pacing import (
    ARCHIVE_BACK_OFF_S,
    ARCHIVE_REST,
    ARCHIVE_TARGET_S,
    BACK_OFF_S,
    FIRST,
    LARGEST,
    LAST_BACK_OFF_S,
    LONGEST_REST_S,
    MOST_SLOWED,
    REST,
    TARGET_S,
    BatchPace,
    archive_pace,
)


def test_a_batch_of_an_action_takes_as_long_as_it_should() -> None:
    pace = BatchPace()
    assert pace.size == FIRST
    assert pace.after(FIRST, TARGET_S / 10) == pytest.approx(REST * TARGET_S / 10)
    assert pace.size == 2 * FIRST  # no more, however quick it was
    pace.after(FIRST, TARGET_S / 100)
    assert pace.size == 2 * FIRST  # one that was not full says little
    pace.after(2 * FIRST, TARGET_S * 4)
    assert pace.size == FIRST // 2
    for _ in range(10):
        pace.after(pace.size, TARGET_S / 100)
    assert pace.size == LARGEST
    assert pace.after(LARGEST, 60.0) == LONGEST_REST_S
    assert pace.size == 1


def paced(fixed_s: float, row_s: float) -> tuple[float, float]:
    """Rows a second and the longest of the last batches, where each takes so long and so much more for each row."""
    pace, rows, seconds, longest_s = BatchPace(), 0, 0.0, 0.0
    for batch in range(300):
        size, took_s = pace.size, fixed_s + pace.size * row_s
        rows, seconds = rows + size, seconds + took_s + pace.after(size, took_s)
        longest_s = max(longest_s, took_s) if batch > 20 else 0.0
    return rows / seconds, longest_s


@pytest.mark.parametrize("fixed_s", [0.02, 0.03, 0.1, 0.5])
def test_a_long_way_to_the_server_does_not_make_batches_of_one_row(fixed_s: float) -> None:
    rate, longest_s = paced(fixed_s, 0.0001)
    assert rate > 40 / (fixed_s * 3)
    assert longest_s < 2 * fixed_s


@pytest.mark.parametrize(("fixed_s", "row_s"), [(0.001, 0.05), (0.004, 0.002), (0.01, 0.02), (0.0, 0.001)])
def test_rows_that_take_long_make_small_batches_all_the_same(fixed_s: float, row_s: float) -> None:
    _, longest_s = paced(fixed_s, row_s)
    assert longest_s <= 2 * max(TARGET_S, fixed_s + row_s)


def test_a_batch_that_was_given_up_is_smaller_and_waits_longer_each_time() -> None:
    pace = BatchPace()
    assert [pace.given_up() for _ in range(3)] == [BACK_OFF_S, 2 * BACK_OFF_S, 4 * BACK_OFF_S]
    assert pace.size == FIRST // 8
    pace.after(pace.size, TARGET_S)
    assert pace.given_up() == BACK_OFF_S


def test_the_rest_grows_with_the_batch_and_the_batch_shrinks_when_it_is_slow() -> None:
    pace = archive_pace(100, 0.02)
    assert pace.after(100, 0.02) == pytest.approx(ARCHIVE_REST * 0.02)
    assert pace.after(60, 0.05) == pytest.approx(ARCHIVE_REST * 0.05)
    # Twice as slow as it can be: the server is busy, so the rest is twice as long; ten times, and it is the longest.
    assert pace.after(100, 0.04) == pytest.approx(2 * ARCHIVE_REST * 0.04, rel=0.01)
    assert pace.after(100, 0.09) == pytest.approx(4.5 * ARCHIVE_REST * 0.09, rel=0.01)
    assert pace.size == 100
    assert pace.after(100, 2 * ARCHIVE_TARGET_S) == pytest.approx(MOST_SLOWED * ARCHIVE_REST * 2 * ARCHIVE_TARGET_S)
    assert pace.size == 50
    assert [pace.given_up() for _ in range(3)] == [ARCHIVE_BACK_OFF_S, 2 * ARCHIVE_BACK_OFF_S, 4 * ARCHIVE_BACK_OFF_S]
    assert [pace.given_up() for _ in range(20)][-1] == LAST_BACK_OFF_S
    assert pace.size == 1
    assert pace.after(1, 0.0001) == 0.02
    assert pace.size == 2
    pace.after(0, 0.001)
    assert pace.size == 2
    for size in (2, 4, 8, 16, 32, 64, 100):
        assert pace.size == size
        pace.after(size, 0.001)
    assert pace.given_up() == ARCHIVE_BACK_OFF_S
