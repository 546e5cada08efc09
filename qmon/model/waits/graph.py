"""Find cycles and reachable nodes in directed graphs. The functions use no recursion."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

N = TypeVar("N")


def find_cycles(after: Mapping[N, Sequence[N]]) -> dict[N, frozenset[N]]:
    """Return for each node the nodes that it reaches and that also reach it, including the node itself.

    The result for a node outside any cycle is the node alone. In the result, a node comes after its successors, unless
    they are in the same cycle.

    ``after``: the successors of each node. The successors must also be keys. The running time is linear in nodes and
    edges. Source: Tarjan's algorithm for strongly connected components (1972).
    """
    number: dict[N, int] = {}
    low: dict[N, int] = {}
    open_: list[N] = []
    found: dict[N, frozenset[N]] = {}
    for start in after:
        work = [] if start in number else [(start, iter(after[start]))]
        while work:
            node, rest = work[-1]
            if node not in number:
                number[node] = low[node] = len(number)
                open_.append(node)
            for other in rest:
                if other not in number:
                    work.append((other, iter(after[other])))
                    break
                if other not in found:
                    low[node] = min(low[node], number[other])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == number[node]:
                    at = open_.index(node)
                    group = frozenset(open_[at:])
                    found.update(dict.fromkeys(open_[at:], group))
                    del open_[at:]
    return found


def reachable_nodes(after: Mapping[N, Sequence[N]], groups: Mapping[N, frozenset[N]]) -> dict[N, int]:
    """Return for each node the other nodes that it reaches, as bits that are numbered in the order of ``after``.

    ``groups``: result of ``find_cycles`` for the same graph.
    """
    bit = {node: 1 << i for i, node in enumerate(after)}
    found: dict[N, int] = {}
    for node, same in groups.items():
        if node in found:
            continue
        all_of = 0
        for one in same:
            for other in after[one]:
                all_of |= bit[other] | (0 if other in same else found[other])
        found.update({one: all_of & ~bit[one] for one in same})
    return found


def set_bits(number: int) -> list[int]:
    """Return the positions of the set bits, lowest first."""
    return [i for i in range(number.bit_length()) if number >> i & 1]
