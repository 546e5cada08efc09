"""Lock chains of any graph, with and without cycles."""

from __future__ import annotations

from dataclasses import fields, replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qmon.engines.sql import queries
from qmon.model.samples.polled_samples import BlockingSample
from qmon.model.waits.graph import find_cycles, reachable_nodes, set_bits
from qmon.model.waits.lock_chains import HeldQueueRows, LockChains, LockRole, SessionKey, build_lock_chains
from tests.unit.blocking import SESSION, blocks, waits


def drawn(found: LockChains) -> list[str]:
    """Return the tree, one line per place: depth, number, and a star if it is repeated."""
    return [f"{'.' * len(p.rails)}{p.session.session}{'*' if p.is_repeated else ''}" for p in found.places]


# Pairs of waiter and blocker; 0: the waiter only blocks.
graphs = st.integers(1, 14).flatmap(lambda n: st.lists(st.tuples(st.integers(1, n), st.integers(0, n)), max_size=40))


def rows_of(graph: list[tuple[int, int]]) -> list[BlockingSample]:
    """The rows of such a graph."""
    return [row for waiter, blocker in graph for row in (waits(waiter, blocker) if blocker else blocks(waiter))]


def reach_of(graph: list[tuple[int, int]], start: int) -> set[int]:
    """Return the sessions that wait for ``start``, directly or not, by the simplest algorithm."""
    found: set[int] = set()
    looking = [start]
    while looking:
        at = looking.pop()
        for waiter, blocker in graph:
            if blocker == at and waiter != at and waiter not in found:
                found.add(waiter)
                looking.append(waiter)
    return found


@given(graphs)
def test_every_session_stands_in_full_once_and_counts_whom_it_holds_up(graph: list[tuple[int, int]]) -> None:
    found = build_lock_chains(rows_of(graph))
    sessions = {number for pair in graph for number in pair if number}
    in_full = [p.session.session for p in found.places if not p.is_repeated]
    assert sorted(in_full) == sorted(sessions)
    for place in found.places:
        number = place.session.session
        assert place.blocks == len(reach_of(graph, number) - {number})
        assert place.directly == len({w for w, b in graph if b == number and w != number})
        assert {b for b, _ in place.blockers} == {b for w, b in graph if w == number and b not in (0, number)}
        assert (place.role is LockRole.CYCLE) == (number in reach_of(graph, number))
    assert found.waiters == len({w for w, b in graph if b not in (0, w)})


@given(graphs)
def test_every_pair_is_a_line_below_its_blocker_and_heads_wait_for_nobody_outside(
    graph: list[tuple[int, int]],
) -> None:
    found = build_lock_chains(rows_of(graph))
    path: list[int] = []
    lines = set()
    for place in found.places:
        del path[len(place.rails) :]
        if path:
            lines.add((place.session.session, path[-1]))
        path.append(place.session.session)
    assert lines == {(w, b) for w, b in graph if b not in (0, w)}
    for head in found.heads:
        number = head.session.session
        assert all(b in reach_of(graph, number) for b, _ in head.blockers)


@given(graphs)
def test_the_rails_say_what_follows(graph: list[tuple[int, int]]) -> None:
    places = build_lock_chains(rows_of(graph)).places
    for at, place in enumerate(places):
        for level in range(1, len(place.rails) + 1):
            after = next((p for p in places[at + 1 :] if len(p.rails) <= level), None)
            assert place.rails[level - 1] == (after is not None and len(after.rails) == level)


@given(st.dictionaries(st.integers(0, 9), st.lists(st.integers(0, 9)), max_size=10))
def test_cycles_come_after_what_they_lead_to(graph: dict[int, list[int]]) -> None:
    after = {n: [m for m in graph.get(n, []) if m in graph] for n in graph}
    groups = find_cycles(after)
    assert groups.keys() == after.keys()
    order = list(groups)
    found = reachable_nodes(after, groups)
    for node, group in groups.items():
        assert node in group
        assert all(m in group or order.index(m) < order.index(node) for m in after[node])
        assert {list(after)[i] for i in set_bits(found[node])} >= set(after[node]) - {node}


def test_heads_on_top_those_that_hold_up_most_first() -> None:
    rows = [*blocks(9, transaction_s=900), *waits(4, 9), *blocks(3), *waits(5, 3), *waits(6, 5), *waits(7, 5)]
    assert drawn(build_lock_chains(rows)) == ["3", ".5", "..6", "..7", "9", ".4"]


def test_all_blockers_of_one_waiter_are_shown() -> None:
    found = build_lock_chains([*waits(5, 1, 2, 3), *blocks(1), *blocks(2), *blocks(3), *waits(6, 5)])
    assert drawn(found) == ["1", ".5", "..6", "2", ".5*", "3", ".5*"]
    five = found.find_line((5, ""))
    assert five is not None
    assert five.blockers == ((1, ""), (2, ""), (3, ""))
    assert [head.blocks for head in found.heads] == [2, 2, 2]


def test_a_cycle_has_no_head_and_is_closed_by_a_repetition() -> None:
    found = build_lock_chains([*waits(1, 2), *waits(2, 3), *waits(3, 1), *waits(4, 3)])
    assert drawn(found) == ["1", ".3", "..2", "...1*", "..4"]
    assert [p.role for p in found.places] == [
        LockRole.CYCLE,
        LockRole.CYCLE,
        LockRole.CYCLE,
        LockRole.CYCLE,
        LockRole.WAITING,
    ]
    assert found.places[0].blocks == 3


def test_what_heads_do() -> None:
    prepared = replace(SESSION, session=0, gid="pay-7", state="prepared", kind="")
    behind = replace(SESSION, session=8, blocker=0, blocker_gid="pay-7", waiting_s=3.0)
    found = build_lock_chains(
        [prepared, behind, *blocks(1), *waits(2, 1), *blocks(3, "active"), *waits(4, 3), *waits(5, 6)]
    )
    roles: dict[SessionKey, LockRole] = {head.key: head.role for head in found.heads}
    assert roles == {
        (0, "pay-7"): LockRole.PREPARED,
        (1, ""): LockRole.IDLE,
        (3, ""): LockRole.RUNNING,
        (6, ""): LockRole.RUNNING,
    }
    six = found.find_line((6, ""))
    assert six is not None
    assert six.session.state == "gone"


def test_rows_of_queues_stand_with_who_holds_them() -> None:
    held = {1: (HeldQueueRows("mails", 40), HeldQueueRows("orders", 200, at_least=True))}
    found = build_lock_chains([*blocks(1), *waits(2, 1, waiting_s=7.0)], held)
    assert found.places[0].held == held[1]
    assert found.places[0].longest_s == 7.0
    assert found.places[1].held == ()


@settings(max_examples=20)
@given(st.randoms(use_true_random=False))
def test_two_hundred_sessions_with_many_blockers_each(random: object) -> None:
    from random import Random

    assert isinstance(random, Random)
    graph = [(n, random.randint(1, n - 1)) for n in range(2, 201) for _ in range(5)]
    graph += [(random.randint(1, 200), random.randint(1, 200)) for _ in range(20)]
    found = build_lock_chains(rows_of(graph))
    assert len({p.key for p in found.places}) == 200


@pytest.mark.parametrize(("engine", "version"), [("postgres", (13, 0)), ("postgres", (18, 0)), ("sqlserver", (11, 0))])
def test_every_engine_gives_the_same_rows(engine: str, version: tuple[int, int]) -> None:
    query = queries.load_query(engine, "probe/blocking", version)
    assert query.columns == tuple(field.name for field in fields(BlockingSample))
    assert set(query.parameters) - {"waiters"} == {"limit", "chars"}
