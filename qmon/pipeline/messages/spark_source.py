"""Archived messages as a Python data source of Spark. Each partition reads ranges of keys over its own connection.

Partitions are sent to the executors without a password. Each executor reads the password from its own environment or
keyring. So no plan, option, event log or page of Spark contains a password.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Final

from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.pandas.types import to_arrow_type
from pyspark.sql.types import StructField, StructType

from qmon.config.credentials import connect_with_password, password_from_environment, password_from_keyring
from qmon.engines.base import Connection, Target
from qmon.engines.registry import engine_for
from qmon.pipeline.lake.schema import MESSAGE
from qmon.pipeline.messages.archive_reader import ArchivedMessage, ArchiveTable, read_messages, reading_session
from qmon.pipeline.messages.watermarks import Range
from qmon.redact import build_redactor

if TYPE_CHECKING:
    import pyarrow as pa

FORMAT_NAME: Final = "qmon_messages"

# The columns of `qmon.pipeline.messages.archive_reader.ArchivedMessage`.
READ_SCHEMA: Final = StructType([StructField(name, kind) for name, kind in MESSAGE.items()])


@dataclass(frozen=True, slots=True)
class KeyRangeRead:
    """The messages to read.

    ``parts``: the ranges of keys for each partition. ``redact``: the configured patterns; matching text is hidden.
    """

    target: Target
    archive: ArchiveTable
    parts: Sequence[Sequence[Range]]
    payloads: bool = False
    redact: tuple[str, ...] = ()

    def to_options(self) -> dict[str, str]:
        """Return the options for Spark's reader, without a password."""
        target = {
            "name": self.target.name,
            "engine": self.target.engine,
            "parameters": dict(self.target.parameters),
            "raised_hidden": self.target.raised_hidden,
        }
        options = {
            "target": target,
            "archive": asdict(self.archive),
            "parts": self.parts,
            "payloads": self.payloads,
            "redact": self.redact,
        }
        return {"reading": json.dumps(options)}

    @classmethod
    def from_options(cls, options: dict[str, str]) -> KeyRangeRead:
        """Create the object from the options that ``to_options`` returned."""
        raw = json.loads(options["reading"])
        archive = ArchiveTable(**(raw["archive"] | {"parts": tuple(raw["archive"]["parts"])}))
        parts = [[(first, last) for first, last in part] for part in raw["parts"]]
        return cls(Target(**raw["target"]), archive, parts, raw["payloads"], tuple(raw["redact"]))


class ArchivedMessages(DataSource):
    """``spark.read.format("qmon_messages")``, with the options of a ``KeyRangeRead``."""

    @classmethod
    def name(cls) -> str:
        return FORMAT_NAME

    def schema(self) -> StructType:
        return READ_SCHEMA

    def reader(self, schema: StructType) -> DataSourceReader:
        return _Reader(KeyRangeRead.from_options(dict(self.options)))


class _Reader(DataSourceReader):
    def __init__(self, reading: KeyRangeRead) -> None:
        self._reading = reading

    def partitions(self) -> Sequence[InputPartition]:
        return [InputPartition(list(part)) for part in self._reading.parts]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        known, redact = self._reading, build_redactor(self._reading.redact)
        engine = engine_for(known.target)
        connection = open_connection(known.target)
        try:
            for messages in read_messages(connection, engine, known.archive, partition.value, payloads=known.payloads):
                yield _record_batch(messages, redact if known.payloads else None)
        finally:
            connection.close()


def open_connection(target: Target) -> Connection:
    """Connect with the password from this machine's environment or keyring. Raises ``QmonError``."""
    engine = engine_for(target)
    known = Target(
        target.name, target.engine, target.parameters, password=target.password or password_from_environment(target)
    )
    return connect_with_password(known, reading_session(engine), (password_from_keyring,))[1]


def _record_batch(messages: Sequence[ArchivedMessage], redact: Callable[[str], str] | None) -> pa.RecordBatch:
    """Convert messages to a batch.

    ``redact`` hides private parts of payloads and titles. Without ``redact``, payloads and titles are left out.
    """
    import pyarrow as pa

    columns = {name: [getattr(message, name) for message in messages] for name in MESSAGE}
    for name in ("title", "payload"):
        columns[name] = [redact(text) if redact and text is not None else None for text in columns[name]]
    return pa.record_batch({name: pa.array(columns[name], to_arrow_type(kind)) for name, kind in MESSAGE.items()})
