"""Which polls have to leave qmon's own changes out."""

from __future__ import annotations

import pytest

from qmon.monitor.poll.own_changes import OwnChanges

pytestmark = pytest.mark.unit


def poll(changes: OwnChanges) -> frozenset[str]:
    changes.poll_begins()
    return changes.poll_ended()


def test_every_poll_that_a_change_overlaps_and_the_first_one_after_it_has_the_queue() -> None:
    changes = OwnChanges()
    assert poll(changes) == frozenset()
    with changes.of("orders"):
        assert poll(changes) == {"orders"}
        assert poll(changes) == {"orders"}
    assert poll(changes) == {"orders"}
    assert poll(changes) == frozenset()


def test_a_change_between_two_polls_is_in_the_next_one() -> None:
    changes = OwnChanges()
    with changes.of("orders"), changes.of("mails"):
        pass
    assert poll(changes) == {"orders", "mails"}
    assert poll(changes) == frozenset()


def test_a_change_that_ends_while_a_poll_reads_is_in_that_poll_and_the_next_one() -> None:
    changes = OwnChanges()
    assert changes.poll_begins() == frozenset()
    with changes.of("orders"):
        pass
    assert changes.poll_ended() == {"orders"}
    assert changes.poll_begins() == {"orders"}
    assert changes.poll_ended() == {"orders"}
    assert poll(changes) == frozenset()


def test_two_changes_of_one_queue_end_with_the_last_one_also_if_it_fails() -> None:
    changes = OwnChanges()
    with changes.of("orders"):
        with pytest.raises(RuntimeError), changes.of("orders"):
            raise RuntimeError
        assert poll(changes) == {"orders"}
        assert poll(changes) == {"orders"}
    assert poll(changes) == {"orders"}
    assert poll(changes) == frozenset()
