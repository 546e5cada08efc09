"""Failed messages are grouped by error text, without the parts that differ from message to message."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qmon.model.failures import MAX_CHARS, NO_ERROR, fold_error, group_failures
from qmon.model.samples.polled_samples import MessageSample

pytestmark = pytest.mark.unit

READ_AT = 1_000.0
# Errors of one kind, and the folded text of each kind.
KINDS = {
    "connect to <n> timed out after <n>s": (
        "connect to 10.0.0.7:5432 timed out after 30s",
        "connect to 10.0.0.8:5433 timed out  after 3s\n",
    ),
    "key <text> violates <text>": ("key \"a-17\" violates 'orders_pkey'", "key \"it's\" violates 'x y'"),
    "order <id> is gone": ("order 3f2504e0-4f89-11d3-9a0c-0305e82c3301 is gone", "order order-4711 is gone"),
    "order <n> at <time>": ("order 17 at 2026-11-21T14:03:20Z", "order 18 at 2026-11-22 04:03:20.123+01:00"),
    "no user <n>": (
        '{"at": "2026-11-21", "attempt": 3, "error": "no user 17"}',
        '{"error": "no user 18", "attempt": 4}',
    ),
    '{"code": <n>, "why": <text>}': ('{"code": 17, "why": "a"}', '{"code": 18, "why": "b c"}'),
    "can't connect, won't retry": ("can't connect, won't retry",),
    "[bold]broken[/bold] <n>": ("[bold]broken[/bold] 17",),
    NO_ERROR: (None, "", "  \n"),
}


@pytest.mark.parametrize(("kind", "errors"), KINDS.items())
def test_errors_that_differ_in_values_are_one_kind(kind: str, errors: tuple[str | None, ...]) -> None:
    assert {fold_error(error) for error in errors} == {kind}


def test_different_errors_are_different_kinds() -> None:
    assert len({fold_error(error) for errors in KINDS.values() for error in errors}) == len(KINDS)


@given(st.text(max_size=400))
def test_every_error_has_a_bounded_kind(error: str) -> None:
    assert 0 < len(fold_error(error)) <= MAX_CHARS


def message(id: str, error: str | None, age_s: float | None = None, state: str = "dead") -> MessageSample:
    """Return a message."""
    return MessageSample(id, state, age_s, None, None, None, error)


def test_a_group_has_its_messages_newest_first_its_times_and_states() -> None:
    messages = (
        message("1", "timeout after 3 s", 30.0),
        message("2", "timeout after 4 s", 10.0, "scheduled"),
        message("3", "timeout after 5 s"),
        message("4", "no user", 5.0),
    )
    first, second = group_failures(messages, READ_AT)
    assert (first.error, first.count, first.first_at, first.last_at) == ("timeout after <n> s", 3, 970.0, 990.0)
    assert [each.id for each in first.messages] == ["2", "1", "3"]
    assert dict(first.states) == {"dead": 2, "scheduled": 1}
    assert (first.ids_in("dead"), first.ids_in("scheduled", "ready")) == (("1", "3"), ("2",))
    assert (second.error, second.first_at, second.last_at) == ("no user", 995.0, 995.0)


def test_without_ages_the_times_of_a_group_are_unknown() -> None:
    (group,) = group_failures((message("1", "x"),), READ_AT)
    assert (group.first_at, group.last_at) == (None, None)


def test_groups_of_one_size_are_sorted_by_their_newest_message() -> None:
    found = group_failures((message("1", "old", 50.0), message("2", "new", 5.0)), READ_AT)
    assert [group.error for group in found] == ["new", "old"]
