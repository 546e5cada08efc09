"""The file layer of a recording: zstandard frames, and the position of the index.

Each frame contains the lines of two minutes. This module imports no other module of ``qmon.recording``, so Spark's
executors need no other module of recordings.
"""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Iterator
from typing import Any, Final

import zstandard

from qmon.errors import QmonError
from qmon.texts import Text


class FrameText(Text):
    """Damage of the frames of a recording."""

    TOO_LARGE = "a frame decompresses to more than {megabytes} MB"
    UNREADABLE = "unreadable from here on: {problem}"
    CUT_OFF = "the file ends in the middle of a frame"
    LONG_LINE = "a line of more than {megabytes} MB"
    NESTED = "nested too deep"
    LONG_NUMBER = "the number {digits}… is too large"
    LARGE_NUMBER = "the number {digits} is too large"


# The version of the format. A reader accepts lines of this version or older.
FORMAT_VERSION: Final = 1

# Prefix of the name of a file that is still being written.
OPEN_PREFIX: Final = "_"
SEGMENT_SUFFIX: Final = ".jsonl.zst"

# The kinds of lines that the pipeline needs.
FIGURE_KINDS: Final = frozenset({"session", "figures", "operation"})

# The first bytes of each frame.
FRAME_MAGIC: Final = b"\x28\xb5\x2f\xfd"
_LOCATOR: Final = struct.Struct("<IIQ")

# Magic number of a skippable frame, which every zstandard reader ignores.
_SKIPPABLE_MAGIC: Final = 0x184D2A51
LOCATOR_BYTES: Final = _LOCATOR.size

# Maximum bytes of text in a frame. A recorder ends a frame much earlier. A larger frame may be an attack on the
# reader's memory.
FRAME_TEXT_BYTES: Final = 256 * 1024 * 1024

# Maximum bytes of a line. A poll of a thousand queues takes about 2 MB.
LINE_BYTES: Final = 64 * 1024 * 1024

# Compressed bytes per call of the decompressor. One byte of zstandard may expand to 32 kB of text.
_CHUNK: Final = 2 * 1024

# Settings of the compression. In a measurement, these settings needed as many bytes per day as deltas with gzip, but
# only a quarter of the time. A recorder needed 2 MB of memory.
_PARAMETERS: Final = zstandard.ZstdCompressionParameters.from_level(
    11, window_log=21, hash_log=18, chain_log=18, min_match=6, write_checksum=True
)


# The start of a line as qmon writes it. Other programs may write the same JSON with blanks or with the keys in another
# order.
_HEAD: Final = re.compile(rb'\{"v":\d+,"r":"[^"\\]*","n":\d+,"at":[-+.\deE]+,"k":"(\w+)"')
_GREATEST: Final = 2**63
_TO_ZEROS: Final = bytes.maketrans(b"123456789", b"0" * 9)
_TOO_LONG: Final = b"0" * 20  # 2**64 has 20 digits


class Damaged(QmonError):
    """A recording contains invalid bytes or values. The message describes the problem."""


class FrameWriter:
    """Compresses one frame while it is written."""

    def __init__(self) -> None:
        self._compress = zstandard.ZstdCompressor(compression_params=_PARAMETERS).compressobj()

    def compress(self, text: bytes) -> bytes:
        """Return the compressed bytes for more text. All text so far can then be read from all bytes so far."""
        return self._compress.compress(text) + self._compress.flush(zstandard.COMPRESSOBJ_FLUSH_BLOCK)

    def finish(self, text: bytes = b"") -> bytes:
        """Return the last bytes of the frame, which may contain more text."""
        return self._compress.compress(text) + self._compress.flush(zstandard.COMPRESSOBJ_FLUSH_FINISH)


def inflate_frame(data: bytes | memoryview, *, allow_partial: bool = False) -> tuple[bytes, int]:
    """Return the text of the first frame of ``data`` and the frame's size in bytes. Raises ``Damaged``.

    ``allow_partial``: accept an unfinished frame; its size is returned as 0. No text of a damaged frame is returned,
    because the checksum does not show where the damage is, and wrong numbers may look valid. A frame that expands to
    more than ``FRAME_TEXT_BYTES`` is also rejected.
    """
    if parse_locator(data[:LOCATOR_BYTES]) is not None:
        return b"", LOCATOR_BYTES
    reads, parts, fed, size = zstandard.ZstdDecompressor().decompressobj(), list[bytes](), 0, 0
    try:
        while not reads.eof and fed < len(data):
            parts.append(reads.decompress(data[fed : fed + _CHUNK]))
            fed += min(_CHUNK, len(data) - fed)
            size += len(parts[-1])
            if size > FRAME_TEXT_BYTES:
                raise Damaged(FrameText.TOO_LARGE.render(megabytes=FRAME_TEXT_BYTES // 2**20))
    except zstandard.ZstdError as problem:
        raise Damaged(FrameText.UNREADABLE.render(problem=problem)) from None
    if reads.eof:
        return b"".join(parts), fed - len(reads.unused_data)
    if not allow_partial:
        raise Damaged(FrameText.CUT_OFF)
    return b"".join(parts), 0


def locator_bytes(number: int) -> bytes:
    """Return the last bytes of a file: a skippable frame with a number. In a segment, this is the index's offset."""
    return _LOCATOR.pack(_SKIPPABLE_MAGIC, LOCATOR_BYTES - 8, number)


def parse_locator(tail: bytes | memoryview) -> int | None:
    """Return the number of ``locator_bytes`` from the last bytes of a file, or ``None`` if they are not a locator."""
    if len(tail) < LOCATOR_BYTES:
        return None
    magic, size, offset = _LOCATOR.unpack(tail[-LOCATOR_BYTES:])
    return int(offset) if (magic, size) == (_SKIPPABLE_MAGIC, LOCATOR_BYTES - 8) else None


def line_spans(text: bytes) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each line, without its newline. Lines are not copied, because most are not needed."""
    begin = 0
    while begin < len(text):
        end = text.find(b"\n", begin)
        end = len(text) if end < 0 else end
        yield begin, end
        begin = end + 1


def line_kind(text: bytes, begin: int = 0, end: int | None = None) -> str:
    """Return the kind of the line at ``text[begin:end]``, or an empty text.

    Only lines that another program wrote are parsed as JSON.
    """
    end = len(text) if end is None else end
    if (found := _HEAD.match(text, begin, end)) is not None:
        return found[1].decode()
    try:
        kind = parse_bounded_json(text[begin:end])["k"]
    except (Damaged, KeyError, TypeError):
        return ""
    return kind if isinstance(kind, str) else ""


def parse_bounded_json(text: bytes) -> Any:
    """Parse JSON with Python's own reader, which also accepts ``Infinity`` and ``\\ud800``.

    Raises ``Damaged`` for invalid JSON, too much nesting, or numbers that no recorder writes.
    """
    if len(text) > LINE_BYTES:
        raise Damaged(FrameText.LONG_LINE.render(megabytes=LINE_BYTES // 2**20))
    try:
        return json.loads(text, parse_int=_parse_int, parse_float=_parse_float)
    except (ValueError, RecursionError) as problem:
        raise Damaged(str(problem) or FrameText.NESTED) from None


def check_integer_range(text: bytes) -> None:
    """Raise ``Damaged`` if JSON contains an integer of more than 64 bits, because arithmetic with it would fail."""
    if _TOO_LONG in text.translate(_TO_ZEROS):
        parse_bounded_json(text)


def _parse_int(text: str) -> int:
    found = int(text)
    if not -_GREATEST <= found < 2 * _GREATEST:
        raise ValueError(FrameText.LONG_NUMBER.render(digits=text[:20]))
    return found


def _parse_float(text: str) -> float:
    found = float(text)
    if found in (float("inf"), float("-inf")):
        raise ValueError(FrameText.LARGE_NUMBER.render(digits=text[:20]))
    return found
