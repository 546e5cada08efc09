"""``python -m tests.libraries.programs.client LIBRARY URL``: create the tables, then push as standard input says.

A line is JSON: the arguments of the program's ``push`` after the URL. The answer is a line with the ids as JSON.
"""

from __future__ import annotations

import importlib
import json
import sys


def main(library: str, url: str) -> None:
    """Answer each line, until standard input ends."""
    program = importlib.import_module(f"tests.libraries.programs.{library}")
    program.install(url)
    print(json.dumps([]), flush=True)
    for line in sys.stdin:
        print(json.dumps(program.push(url, *json.loads(line))), flush=True)


main(*sys.argv[1:])
