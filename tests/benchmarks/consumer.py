"""A consumer that records how long each of its pops takes: ``python -m tests.benchmarks.consumer``, with JSON orders.

It prints "ready", works until its input ends, then prints its pops as [seconds since the epoch, seconds taken].
"""

from __future__ import annotations

import json
import select
import sys
import time

import pyodbc


def main() -> None:
    """Pop, work and complete in a loop."""
    told = json.loads(sys.stdin.readline())
    connection = pyodbc.connect(told["connection"], autocommit=True)
    cursor = connection.cursor()
    cursor.execute("SET application_name = 'consumer'")
    taken: list[tuple[float, float]] = []
    print("ready", flush=True)
    while not select.select([sys.stdin], [], [], told["work_s"])[0]:
        at, begun = time.time(), time.perf_counter()
        row = cursor.execute(told["pop"]).fetchone()
        taken.append((at, time.perf_counter() - begun))
        if row is not None:
            cursor.execute(told["complete"], *row)
    print(json.dumps(taken), flush=True)


if __name__ == "__main__":
    main()
