"""The lines about figures of a sealed segment, copied to a file next to it, so that the pipeline skips the snapshots.

The segment stays the truth. A file that is missing, damaged, or does not match its segment is not used.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import zstandard

from qmon import files
from qmon.recording.format.frames import LOCATOR_BYTES, Damaged, inflate_frame, locator_bytes, parse_locator
from qmon.recording.read.recording_paths import figures_path

# In a measurement with 20 queues, these settings needed 15 bytes per queue and poll, 7 ms per hour, and 1.3 MB of
# memory.
_PARAMETERS: Final = zstandard.ZstdCompressionParameters.from_level(3, window_log=17, write_checksum=True)


class FiguresFile:
    """Collects the lines of one segment. Nothing is written before the segment is sealed."""

    def __init__(self) -> None:
        self._compress = zstandard.ZstdCompressor(compression_params=_PARAMETERS).compressobj()
        self._parts: list[bytes] = []

    def add_line(self, text: bytes) -> None:
        """Add a line with its newline."""
        self._parts.append(self._compress.compress(text))

    def write(self, segment: Path) -> None:
        """Write the file of this sealed segment. No line can be added after this call. Raises ``OSError``."""
        self._parts.append(self._compress.flush())
        content = b"".join(self._parts) + locator_bytes(segment.stat().st_size)
        files.replace_file(figures_path(segment), content)


def read_figures_file(segment: Path, size: int) -> bytes | None:
    """Return the contents of the file of a segment, or ``None`` if the file cannot be used.

    The contents can be parsed like a segment. ``size``: size of the segment in bytes.
    """
    try:
        content = figures_path(segment).read_bytes()
        if parse_locator(content) != size:
            return None
        _, used = inflate_frame(content)
    except (OSError, Damaged):
        return None
    return content if used + LOCATOR_BYTES == len(content) else None
