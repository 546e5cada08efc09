"""What reads gzip on the executors: ISA-L takes half of zlib's time; zlib where it is not installed."""

from __future__ import annotations

import zlib
from importlib.util import find_spec
from typing import Final, cast

from qmon.recording.read.segment_reader import Inflates

_FAST: Final = find_spec("isal") is not None
"""An executor's own Python may lack it."""


class Fast:
    """``isal_zlib.decompressobj`` with zlib's errors. Raises ``ImportError`` where isal is not installed."""

    def __init__(self, wbits: int) -> None:
        from isal import isal_zlib

        self._inner: Final = isal_zlib.decompressobj(wbits)
        self._error: Final = cast("type[Exception]", isal_zlib.error)

    @property
    def eof(self) -> bool:
        """Whether the member has ended."""
        return self._inner.eof

    @property
    def unused_data(self) -> bytes:
        """What stands behind its end."""
        return self._inner.unused_data

    def decompress(self, data: bytes | memoryview, /) -> bytes:
        """The text of some more bytes. Raises ``zlib.error``."""
        try:
            return self._inner.decompress(data)
        except self._error as problem:
            raise zlib.error(str(problem)) from None


def reader(wbits: int) -> Inflates:
    """One for a new member."""
    return Fast(wbits) if _FAST else zlib.decompressobj(wbits)
