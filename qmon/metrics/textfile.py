"""Writes metrics to a file for node_exporter's textfile collector."""

from __future__ import annotations

import contextlib
import logging
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from prometheus_client import write_to_textfile

from qmon.errors import BadInput
from qmon.metrics.metrics_server import Readings, registry_for
from qmon.texts import Text


class TextfileText(Text):
    """Why a file for node_exporter cannot be written."""

    ENDS_IN_PROM = "--textfile {path}: the name must end in .prom, which node_exporter requires"
    UNWRITABLE = "--textfile {path}: {problem}"


_LOG: Final = logging.getLogger(__name__)


class TextFileWriter:
    """Replaces the file ``path`` atomically every ``every_s`` seconds until closed.

    ``close`` deletes the file, because its values are then no longer current. A failed write is logged and repeated.
    Raises ``BadInput`` if the first write fails.
    """

    def __init__(self, path: Path, targets: Sequence[Readings], every_s: float) -> None:
        if path.suffix != ".prom":
            raise BadInput(TextfileText.ENDS_IN_PROM.render(path=path))
        self._path, self._registry, self._every_s = path, registry_for(targets), every_s
        try:
            self._write_file()
        except OSError as problem:
            raise BadInput(TextfileText.UNWRITABLE.render(path=path, problem=problem.strerror)) from None
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name="qmon-textfile", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop and delete the file."""
        self._closing.set()
        self._thread.join()
        with contextlib.suppress(OSError):
            self._path.unlink()

    def _write_file(self) -> None:
        write_to_textfile(str(self._path), self._registry)

    def _run(self) -> None:
        while not self._closing.wait(self._every_s):
            try:
                self._write_file()
            except OSError as problem:
                _LOG.warning("--textfile %s: %s", self._path, problem.strerror)
