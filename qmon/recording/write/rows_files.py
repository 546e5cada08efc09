"""Writes the Parquet file of each segment that a recorder seals, if pyarrow is installed."""

from __future__ import annotations

import importlib.util
import logging
import threading
from pathlib import Path
from typing import Final

_LOG: Final = logging.getLogger(__name__)
_PACKAGES: Final = ("pyarrow", "numpy")

# Recorders of many targets seal their segments at the same time. One conversion at a time leaves time for polls.
_LOCK: Final = threading.Lock()


def write_rows_if_possible(segment: Path) -> None:
    """Write the Parquet file of a sealed segment. Without pyarrow, or if the disk fails, there is no file.

    The pipeline then reads the segment itself, so an error is only logged.
    """
    if any(importlib.util.find_spec(name) is None for name in _PACKAGES):
        return
    from qmon.recording.figure_rows.rows_file import write_rows_file

    with _LOCK:
        try:
            write_rows_file(segment)
        except OSError as problem:
            _LOG.warning("cannot write the Parquet file of %s: %s", segment, problem)
