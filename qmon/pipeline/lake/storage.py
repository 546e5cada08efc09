"""Files beside the tables, on any Hadoop file system: a folder of this machine, HDFS, or an object store."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from pyspark.sql import SparkSession

from qmon import files
from qmon.errors import QmonError


class Storage:
    """Files below one path, through Spark's own Hadoop client, so that its settings and credentials count."""

    def __init__(self, session: SparkSession, root: str) -> None:
        jvm: Any = session._jvm
        self.session = session
        self._jvm = jvm
        self._path = jvm.org.apache.hadoop.fs.Path
        self._files: Any = self._path(root).getFileSystem(session._jsc.hadoopConfiguration())
        self.root: str = str(self._files.makeQualified(self._path(root)).toString()).rstrip("/")

    def at(self, *parts: str) -> str:
        """The whole path of something below the root."""
        return "/".join((self.root, *parts))

    def local(self) -> Path | None:
        """The folder, where it is on this machine."""
        place = urlsplit(self.root)
        return Path(self.root.removeprefix("file:")) if place.scheme in ("", "file") else None

    def exists(self, *parts: str) -> bool:
        """Whether there is such a file or folder."""
        return bool(self._files.exists(self._path(self.at(*parts))))

    def there(self, path: str) -> bool:
        """Whether there is a file of this whole path."""
        return bool(self._files.exists(self._path(path)))

    def sizes(self, suffix: str) -> dict[str, int]:
        """The bytes of each file of this ending, by its path below the root; open and hidden ones are left out."""
        found = {}
        if (here := self.local()) is not None:
            for folder, _, names in os.walk(here):
                for name in names:
                    if name.endswith(suffix) and name[0] not in "_.":
                        path = Path(folder, name)
                        found[path.relative_to(here).as_posix()] = _size(path)
            return {name: size for name, size in found.items() if size is not None}
        listed = self.session.read.format("binaryFile").option("recursiveFileLookup", "true")
        rows = listed.option("pathGlobFilter", f"*{suffix}").load(self.root).select("path", "length").collect()
        return {
            unquote(urlsplit(row.path).path).split(f"{urlsplit(self.root).path}/", 1)[1]: row.length for row in rows
        }

    def read(self, *parts: str) -> str:
        """The text of a file."""
        stream = self._files.open(self._path(self.at(*parts)))
        try:
            return str(self._jvm.org.apache.commons.io.IOUtils.toString(stream, "UTF-8"))
        finally:
            stream.close()

    def replace(self, text: str, *parts: str) -> None:
        """Write a file over the one of that name; who reads it meanwhile finds the old one or the new one.

        Outside this machine's own file systems there is a moment in which there is none.
        """
        if (here := self.local()) is not None:
            files.replace(here.joinpath(*parts), text)
            return
        draft_path = self._path(self.at(*parts[:-1], f"_{parts[-1]}"))
        stream = self._files.create(draft_path, True)
        try:
            stream.write(bytearray(text.encode()))
        finally:
            stream.close()
        self.delete(*parts)
        self._moved(draft_path, self._path(self.at(*parts)))

    def move(self, source: str, to: str) -> None:
        """Give a folder another place; where there is none, nothing happens. On an object store it is copied."""
        if not self.exists(source):
            return
        place = self._path(self.at(to))
        self._files.mkdirs(place.getParent())
        self._moved(self._path(self.at(source)), place)

    def delete(self, *parts: str) -> None:
        """Remove a file or a folder with all that is in it."""
        self._files.delete(self._path(self.at(*parts)), True)

    def _moved(self, source: Any, to: Any) -> None:
        if not self._files.rename(source, to):
            raise QmonError(f"{source.toString()} could not be moved to {to.toString()}")


def _size(path: Path) -> int | None:
    try:
        return path.stat().st_size
    except FileNotFoundError:  # its recorder's retention took it away meanwhile
        return None
