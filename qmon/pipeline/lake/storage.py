"""Small files on any Hadoop file system: a folder of this machine, HDFS, or an object store."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from pyspark.sql import SparkSession

from qmon.errors import QmonError


class Storage:
    """Text files below one path, through Spark's own Hadoop client, so that its settings and credentials count."""

    def __init__(self, session: SparkSession, root: str) -> None:
        jvm: Any = session._jvm
        self._jvm = jvm
        self._path = jvm.org.apache.hadoop.fs.Path
        self._conf: Any = session._jsc.hadoopConfiguration()
        self._files: Any = self._path(root).getFileSystem(self._conf)
        self.root: str = str(self._files.makeQualified(self._path(root)).toString()).rstrip("/")

    def at(self, *parts: str) -> str:
        """The whole path of something below the root."""
        return "/".join((self.root, *parts))

    def escaped(self, value: str) -> str:
        """A value as Spark writes it into the name of a folder."""
        return str(self._jvm.org.apache.spark.sql.catalyst.catalog.ExternalCatalogUtils.escapePathName(value))

    def exists(self, *parts: str) -> bool:
        """Whether there is such a file or folder."""
        return bool(self._files.exists(self._path(self.at(*parts))))

    def plain(self, uri: str) -> str:
        """The path of an escaped URI, as the root is written."""
        return str(self._path(self._jvm.java.net.URI(uri)).toString())

    def length(self, path: str) -> int | None:
        """Bytes of the file of this whole path, below the root or elsewhere; ``None``: there is none."""
        place = self._path(path)
        files = place.getFileSystem(self._conf)
        return int(files.getFileStatus(place).getLen()) if files.exists(place) else None

    def names(self, *parts: str) -> list[str]:
        """What is in a folder, sorted; empty where there is no such folder."""
        if not self.exists(*parts):
            return []
        return sorted(str(each.getPath().getName()) for each in self._files.listStatus(self._path(self.at(*parts))))

    def size(self, *parts: str) -> int:
        """Bytes of everything below, with what file systems keep beside it."""
        return int(self._files.getContentSummary(self._path(self.at(*parts))).getLength())

    def read(self, *parts: str) -> str:
        """The text of a file."""
        stream = self._files.open(self._path(self.at(*parts)))
        try:
            return str(self._jvm.org.apache.commons.io.IOUtils.toString(stream, "UTF-8"))
        finally:
            stream.close()

    def write(self, text: str, *parts: str) -> None:
        """Write a file that appears whole or not at all. Raises ``QmonError`` where there is one of that name."""
        final = self._path(self.at(*parts))
        draft = self._path(self.at(*parts[:-1], f"_{parts[-1]}"))
        stream = self._files.create(draft, True)
        try:
            stream.write(bytearray(text.encode()))
        finally:
            stream.close()
        if self._files.exists(final) or not self._files.rename(draft, final):
            raise QmonError(
                f"{final.toString()} is there already: somebody else writes to this lake; run one at a time"
            )

    def replace(self, text: str, *parts: str) -> None:
        """Write a file over the one of that name; who reads it meanwhile finds the old one or the new one.

        Outside this machine's own file systems there is a moment in which there is none.
        """
        place = urlsplit(self.at(*parts))
        if place.scheme in ("", "file"):
            path = Path(unquote(place.path))
            draft = path.with_name(f"{path.name}.new")
            draft.write_text(text, encoding="utf-8")
            draft.replace(path)
            return
        self.delete(*parts)
        self.write(text, *parts)

    def delete(self, *parts: str) -> None:
        """Remove a file or a folder with all that is in it."""
        self._files.delete(self._path(self.at(*parts)), True)
