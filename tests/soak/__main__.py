"""``make soak``: the long forms of tests that ``make test`` runs short. A line for each; the first failure ends it."""

from __future__ import annotations

import argparse
from functools import partial

from qmon.demo.server import EmbeddedServer
from qmon.monitor.source import Phase
from tests.contract.test_designs_deliver import soak
from tests.contract.watching import Watched, installed, watching
from tests.facts import wait_until
from tests.queues import DESIGNS


def main() -> None:
    """Run; ``--messages``, ``--kills`` and ``--hangs`` make it shorter."""
    parser = argparse.ArgumentParser(prog="make soak ARGS=…", description=__doc__)
    parser.add_argument("--messages", type=int, default=50_000, help="messages pushed through each design")
    parser.add_argument("--kills", type=int, default=100, help="processes killed on each side of each design")
    parser.add_argument("--hangs", type=int, default=20, help="times the server is frozen, and as often killed")
    parser.add_argument("--designs", nargs="*", default=list(DESIGNS), help="which designs")
    chosen = parser.parse_args()
    for number, design in enumerate(chosen.designs):
        with EmbeddedServer(settings={"fsync": "off"}) as server:
            kills, messages = chosen.kills, chosen.messages
            done = soak(
                server.url(), design, pushers=8, poppers=8, messages=messages, kills=kills, ring_size=50, seed=number
            )
            print(done, flush=True)
    print(_hangs(chosen.hangs), flush=True)


def _lost(watched: Watched, seen: int) -> bool:
    """Whether the connection has been lost since so many changes of phase."""
    return any(state.phase is Phase.LOST for state in watched.states[seen:])


def _hangs(times: int) -> str:
    """Freeze and kill the server under a poller; it recovers each time, and no rate appears that was not there."""
    with EmbeddedServer(settings={"fsync": "off"}) as server:
        installed(server.url(), "status", "ring")
        with watching(server.url()) as watched:
            for _ in range(times):
                for hurt, heal in ((server.freeze, server.thaw), (server.kill, server.start)):
                    watched.view()
                    seen = len(watched.states)
                    hurt()
                    wait_until(partial(_lost, watched, seen), what="the loss")
                    heal()
                    watched.view(polls=2, timeout=90)
            rates = [f.value for v in watched.views for q in v.queues for f in (q.push_rate, q.pop_rate)]
    assert all(rate is None or rate == 0 for rate in rates)
    return f"the server frozen and killed {times} times each: recovered every time, {len(rates)} rates, none absurd"


if __name__ == "__main__":
    main()
