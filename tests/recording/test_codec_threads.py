"""The first records of a process may be read and written by several threads at once, as over several targets."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
import random, threading
from qmon.model.operations import Operation
from qmon.model.snapshot import Snapshot
from qmon.recording.format.codec import decode, encode
from qmon.recording.format.figures import Figures
from tests.recording.made import made

one = made(Snapshot, random.Random(1))
began = threading.Barrier(8)
sys_text = {text!r}.encode()

def work():
    began.wait()
    for _ in range(3):
        assert decode(Figures, sys_text).sequence == 7
        assert decode(Snapshot, encode(one)) == one

threads = [threading.Thread(target=work) for _ in range(8)]
for each in threads:
    each.start()
for each in threads:
    each.join()
print("done")
"""


def test_threads_that_meet_at_a_type_that_is_new_to_all_of_them() -> None:
    program = PROGRAM.replace("{text!r}", repr('{"sequence":7,"sampled_at":1.0}'))
    for _ in range(5):
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=False)
        assert (done.returncode, done.stdout.strip()) == (0, "done"), done.stderr
