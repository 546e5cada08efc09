"""The size of batches and the rests between them, of actions and of archiving."""

from __future__ import annotations

import pytest

from qmon.operate.run.pacing import (
    ARCHIVE_BACK_OFF_S,
    ARCHIVE_REST_FACTOR,
    ARCHIVE_TARGET_S,
    BACK_OFF_S,
    FIRST_BATCH,
    LARGEST_BATCH,
    LONGEST_REST_S,
    MAX_BACK_OFF_S,
    MAX_SLOWDOWN,
    REST_FACTOR,
    TARGET_S,
    BatchPace,
    archive_pace,
)


def test_a_batch_of_an_action_takes_as_long_as_it_should() -> None:
    pace = BatchPace()
    assert pace.size == FIRST_BATCH
    assert pace.record_batch(FIRST_BATCH, TARGET_S / 10) == pytest.approx(REST_FACTOR * TARGET_S / 10)
    assert pace.size == 2 * FIRST_BATCH  # no more, however fast it was
    pace.record_batch(FIRST_BATCH, TARGET_S / 100)
    assert pace.size == 2 * FIRST_BATCH  # a batch that was not full proves little
    pace.record_batch(2 * FIRST_BATCH, TARGET_S * 4)
    assert pace.size == FIRST_BATCH // 2
    for _ in range(10):
        pace.record_batch(pace.size, TARGET_S / 100)
    assert pace.size == LARGEST_BATCH
    assert pace.record_batch(LARGEST_BATCH, 60.0) == LONGEST_REST_S
    assert pace.size == 1


def paced(fixed_s: float, row_s: float) -> tuple[float, float]:
    """Return rows per second and the longest of the last batches, if a batch costs a fixed time plus a time per row."""
    pace, rows, seconds, longest_s = BatchPace(), 0, 0.0, 0.0
    for batch in range(300):
        size, took_s = pace.size, fixed_s + pace.size * row_s
        rows, seconds = rows + size, seconds + took_s + pace.record_batch(size, took_s)
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
    assert [pace.record_given_up() for _ in range(3)] == [BACK_OFF_S, 2 * BACK_OFF_S, 4 * BACK_OFF_S]
    assert pace.size == FIRST_BATCH // 8
    pace.record_batch(pace.size, TARGET_S)
    assert pace.record_given_up() == BACK_OFF_S


def test_the_rest_grows_with_the_batch_and_the_batch_shrinks_when_it_is_slow() -> None:
    pace = archive_pace(100, 0.02)
    assert pace.record_batch(100, 0.02) == pytest.approx(ARCHIVE_REST_FACTOR * 0.02)
    assert pace.record_batch(60, 0.05) == pytest.approx(ARCHIVE_REST_FACTOR * 0.05)
    # At twice the shortest time the server is busy, so the rest is twice as long. At ten times it is the longest.
    assert pace.record_batch(100, 0.04) == pytest.approx(2 * ARCHIVE_REST_FACTOR * 0.04, rel=0.01)
    assert pace.record_batch(100, 0.09) == pytest.approx(4.5 * ARCHIVE_REST_FACTOR * 0.09, rel=0.01)
    assert pace.size == 100
    assert pace.record_batch(100, 2 * ARCHIVE_TARGET_S) == pytest.approx(
        MAX_SLOWDOWN * ARCHIVE_REST_FACTOR * 2 * ARCHIVE_TARGET_S
    )
    assert pace.size == 50
    assert [pace.record_given_up() for _ in range(3)] == [
        ARCHIVE_BACK_OFF_S,
        2 * ARCHIVE_BACK_OFF_S,
        4 * ARCHIVE_BACK_OFF_S,
    ]
    assert [pace.record_given_up() for _ in range(20)][-1] == MAX_BACK_OFF_S
    assert pace.size == 1
    assert pace.record_batch(1, 0.0001) == 0.02
    assert pace.size == 2
    pace.record_batch(0, 0.001)
    assert pace.size == 2
    for size in (2, 4, 8, 16, 32, 64, 100):
        assert pace.size == size
        pace.record_batch(size, 0.001)
    assert pace.record_given_up() == ARCHIVE_BACK_OFF_S


@pytest.mark.parametrize(("seconds", "size"), [(0.055, 2), (0.065, 80)])
def test_a_smaller_batch_was_in_vain_if_it_saved_less_than_half_of_what_its_rows_should_save(
    seconds: float, size: int
) -> None:
    """40 rows took 0.1 s. 8 rows should take 0.02 s, and save half of that if they take 0.06 s."""
    pace = BatchPace(40)
    pace.record_batch(40, 0.1)
    assert pace.size == 8
    pace.record_batch(8, seconds)
    assert pace.size == size


def test_a_batch_that_was_given_up_is_not_compared_with_the_one_before() -> None:
    pace = BatchPace(40)
    pace.record_batch(40, 0.1)
    pace.record_given_up()
    pace.record_batch(pace.size, 0.09)
    assert pace.size == 1


def test_archiving_gets_used_to_a_server_that_stays_slower() -> None:
    pace = archive_pace(100, 0.02)
    pace.record_batch(100, 0.01)
    rests = [pace.record_batch(100, 0.04) for _ in range(1500)]
    assert rests[0] == pytest.approx(4 * ARCHIVE_REST_FACTOR * 0.04, rel=0.01)
    assert rests[-1] == pytest.approx(ARCHIVE_REST_FACTOR * 0.04)
