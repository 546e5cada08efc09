"""A process for tests to kill: it starts a server and a helper, prints them as one line of JSON, and waits.

Arguments: ``start`` prints when the server runs; ``early`` prints before the server is created; ``leave`` ends without
tidying up.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time

from qmon.demo.embedded_server import EmbeddedServer
from tests.demo.leftovers import segment_of


def main() -> None:
    how = sys.argv[1]
    server = EmbeddedServer()
    if how == "early":
        print(json.dumps({"mark": server.mark}), flush=True)
    server.start()
    helper = subprocess.Popen(["sleep", "600"], start_new_session=True)
    server.guardian.register_group(helper.pid)
    told = {
        "mark": server.mark,
        "folder": str(server.folder),
        "segment": segment_of(server.folder / "data"),
        "guardian": server.guardian.pid,
        "helper": helper.pid,
    }
    if how == "frozen":
        server.freeze()
    if how != "early":
        print(json.dumps(told), flush=True)
    if how == "leave":
        sys.exit(0)
    while True:  # not signal.pause(): it misses a signal that arrives just before it starts
        time.sleep(0.1)


if __name__ == "__main__":
    main()
