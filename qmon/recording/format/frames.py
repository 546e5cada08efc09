"""The files of a recording from outside: zstandard frames of two minutes of lines, and where the index begins.

Needs nothing of the rest, so that Spark's executors need nothing of it either.
"""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Iterator
from typing import Any, Final

import zstandard

from qmon.errors import QmonError

# The version of the format. A reader takes the lines whose version is not greater than its own.
FORMAT: Final = 1
# What the name of a file begins with that is still written.
OPEN: Final = "_"
SUFFIX: Final = ".jsonl.zst"
# The first bytes of each frame.
FRAME: Final = b"\x28\xb5\x2f\xfd"
_LOCATOR: Final = struct.Struct("<IIQ")
# What a frame begins with that every reader of zstandard passes over.
_SKIPPED: Final = 0x184D2A51
LOCATOR_BYTES: Final = _LOCATOR.size
# Text of a frame at most; a recorder ends a frame much sooner. More is taken for an attack on the reader's memory.
FRAME_TEXT_BYTES: Final = 256 * 1024 * 1024
# Bytes of a line at most; a poll of a thousand queues has some 2 MB.
LINE_BYTES: Final = 64 * 1024 * 1024
# One byte of zstandard may stand for 32 kB of text, and what is fed at once is inflated at once.
_CHUNK: Final = 2 * 1024
# Measured: bytes of a day as with deltas and gzip, a quarter of the time, and 2 MB of memory for each recorder.
_PARAMETERS: Final = zstandard.ZstdCompressionParameters.from_level(
    11, window_log=21, hash_log=18, chain_log=18, min_match=6, write_checksum=True
)


# How a line of ours begins; another program may write the same with blanks, or in another order.
_HEAD: Final = re.compile(rb'\{"v":\d+,"r":"[^"\\]*","n":\d+,"at":[-+.\deE]+,"k":"(\w+)"')
_GREATEST: Final = 2**63
_TO_ZEROS: Final = bytes.maketrans(b"123456789", b"0" * 9)
_TOO_LONG: Final = b"0" * 20  # as many digits as 2**64 has


class Damaged(QmonError):
    """Bytes or values that are not what a recording holds; the message says which."""


class FrameWriter:
    """One frame while it is written."""

    def __init__(self) -> None:
        self._compress = zstandard.ZstdCompressor(compression_params=_PARAMETERS).compressobj()

    def add(self, text: bytes) -> bytes:
        """The bytes for some more text; a reader of them and those before has all of it."""
        return self._compress.compress(text) + self._compress.flush(zstandard.COMPRESSOBJ_FLUSH_BLOCK)

    def end(self, text: bytes = b"") -> bytes:
        """The last bytes."""
        return self._compress.compress(text) + self._compress.flush(zstandard.COMPRESSOBJ_FLUSH_FINISH)


def inflated(data: bytes | memoryview, *, partly: bool = False) -> tuple[bytes, int]:
    """The text of the first frame of ``data`` and how many bytes it takes. Raises ``Damaged``.

    ``partly`` allows for one that is not finished: 0 bytes. Of a damaged one nothing is given: its checksum does not
    tell where the damage is, and a wrong number reads like a right one. Neither is anything given of one that inflates
    to more than ``FRAME_TEXT_BYTES``.
    """
    if located(data[:LOCATOR_BYTES]) is not None:
        return b"", LOCATOR_BYTES
    reads, parts, fed, size = zstandard.ZstdDecompressor().decompressobj(), list[bytes](), 0, 0
    try:
        while not reads.eof and fed < len(data):
            parts.append(reads.decompress(data[fed : fed + _CHUNK]))
            fed += min(_CHUNK, len(data) - fed)
            size += len(parts[-1])
            if size > FRAME_TEXT_BYTES:
                raise Damaged(f"a frame inflates to more than {FRAME_TEXT_BYTES // 2**20} MB")
    except zstandard.ZstdError as problem:
        raise Damaged(f"not readable from here on: {problem}") from None
    if reads.eof:
        return b"".join(parts), fed - len(reads.unused_data)
    if not partly:
        raise Damaged("it ends in the middle of a frame")
    return b"".join(parts), 0


def locator(index_offset: int) -> bytes:
    """The last bytes of a sealed file: a frame that readers pass over, with the offset of the index."""
    return _LOCATOR.pack(_SKIPPED, LOCATOR_BYTES - 8, index_offset)


def located(tail: bytes | memoryview) -> int | None:
    """Where the index begins, of the last bytes of a file; ``None`` where they are no locator."""
    if len(tail) < LOCATOR_BYTES:
        return None
    magic, size, offset = _LOCATOR.unpack(tail[-LOCATOR_BYTES:])
    return int(offset) if (magic, size) == (_SKIPPED, LOCATOR_BYTES - 8) else None


def line_places(text: bytes) -> Iterator[tuple[int, int]]:
    """Where each line begins and ends, without its line end. Most lines are not needed, and are not copied."""
    begin = 0
    while begin < len(text):
        end = text.find(b"\n", begin)
        end = len(text) if end < 0 else end
        yield begin, end
        begin = end + 1


def kind_of(text: bytes, begin: int = 0, end: int | None = None) -> str:
    """The kind of a line, which is a part of ``text``; empty if it has none. Only odd lines are parsed for it."""
    end = len(text) if end is None else end
    if (found := _HEAD.match(text, begin, end)) is not None:
        return found[1].decode()
    try:
        kind = plain_json(text[begin:end])["k"]
    except (Damaged, KeyError, TypeError):
        return ""
    return kind if isinstance(kind, str) else ""


def plain_json(text: bytes) -> Any:
    """What JSON says, by Python's own reader, which knows ``Infinity`` and ``\\ud800``, too.

    Raises ``Damaged`` if it is none, is nested too deep, or has numbers that no recorder writes.
    """
    if len(text) > LINE_BYTES:
        raise Damaged(f"a line of more than {LINE_BYTES // 2**20} MB")
    try:
        return json.loads(text, parse_int=_int, parse_float=_float)
    except (ValueError, RecursionError) as problem:
        raise Damaged(str(problem) or "nested too deep") from None


def check_numbers(text: bytes) -> None:
    """Raise ``Damaged`` if some JSON has an integer that does not fit in 64 bits: arithmetic with it would fail."""
    if _TOO_LONG in text.translate(_TO_ZEROS):
        plain_json(text)


def _int(text: str) -> int:
    found = int(text)
    if not -_GREATEST <= found < 2 * _GREATEST:
        raise ValueError(f"the number {text[:20]}… is too large")
    return found


def _float(text: str) -> float:
    found = float(text)
    if found in (float("inf"), float("-inf")):
        raise ValueError(f"the number {text[:20]} is too large")
    return found
