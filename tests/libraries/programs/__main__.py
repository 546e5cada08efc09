"""A worker process: ``python -m tests.libraries.programs LIBRARY URL SECONDS_PER_JOB ATTEMPTS QUEUE…``."""

from __future__ import annotations

import importlib
import os
import sys
from pathlib import Path

from tests.libraries.programs.application import Application, end_with_standard_input


def main() -> None:
    """Work until SIGTERM."""
    library, url, seconds_per_job, attempts, *queues = sys.argv[1:]
    end_with_standard_input()
    application = Application(Path(os.environ["QMON_TEST_LOG"]), float(seconds_per_job), int(attempts))
    importlib.import_module(f"tests.libraries.programs.{library}").work(url, queues, application)


main()
