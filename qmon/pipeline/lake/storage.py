"""Reads and writes files next to the tables, on any Hadoop file system: a local folder, HDFS, or an object store."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from pyspark.sql import SparkSession

from qmon import files
from qmon.errors import QmonError
from qmon.pipeline.pipeline_texts import LakeText


class Storage:
    """Files below one path. Spark's Hadoop client accesses them with its own settings and credentials."""

    def __init__(self, session: SparkSession, root: str) -> None:
        jvm: Any = session._jvm
        self.session = session
        self._jvm = jvm
        self._path = jvm.org.apache.hadoop.fs.Path
        self._files: Any = self._path(root).getFileSystem(session._jsc.hadoopConfiguration())
        self.root: str = str(self._files.makeQualified(self._path(root)).toString()).rstrip("/")

    def full_path(self, *parts: str) -> str:
        """Return the full path for a path below the root."""
        return "/".join((self.root, *parts))

    def local_folder(self) -> Path | None:
        """Return the folder as a local path if it is on this machine, otherwise ``None``."""
        place = urlsplit(self.root)
        return Path(self.root.removeprefix("file:")) if place.scheme in ("", "file") else None

    def exists(self, *parts: str) -> bool:
        """Return true if the file or folder exists."""
        return bool(self._files.exists(self._path(self.full_path(*parts))))

    def path_exists(self, path: str) -> bool:
        """Return true if a file with this full path exists."""
        return bool(self._files.exists(self._path(path)))

    def file_sizes(self, suffix: str) -> dict[str, int]:
        """Return the bytes of each file with this suffix, keyed by its path below the root.

        Open and hidden files are left out.
        """
        found = {}
        if (here := self.local_folder()) is not None:
            for folder, _, names in os.walk(here):
                for name in names:
                    if name.endswith(suffix) and name[0] not in "_.":
                        path = Path(folder, name)
                        found[path.relative_to(here).as_posix()] = _file_size(path)
            return {name: size for name, size in found.items() if size is not None}
        listed = self.session.read.format("binaryFile").option("recursiveFileLookup", "true")
        rows = listed.option("pathGlobFilter", f"*{suffix}").load(self.root).select("path", "length").collect()
        return {
            unquote(urlsplit(row.path).path).split(f"{urlsplit(self.root).path}/", 1)[1]: row.length for row in rows
        }

    def read_text(self, *parts: str) -> str:
        """Return the text of a file."""
        stream = self._files.open(self._path(self.full_path(*parts)))
        try:
            return str(self._jvm.org.apache.commons.io.IOUtils.toString(stream, "UTF-8"))
        finally:
            stream.close()

    def replace_text(self, text: str, *parts: str) -> None:
        """Write a file and replace an existing one. Concurrent readers get the old or the new contents.

        On a file system that is not local, the file is missing for a moment.
        """
        if (here := self.local_folder()) is not None:
            files.replace_file(here.joinpath(*parts), text)
            return
        draft_path = self._path(self.full_path(*parts[:-1], f"_{parts[-1]}"))
        stream = self._files.create(draft_path, True)
        try:
            stream.write(bytearray(text.encode()))
        finally:
            stream.close()
        self.delete_path(*parts)
        self._rename(draft_path, self._path(self.full_path(*parts)))

    def move_folder(self, source: str, destination: str) -> None:
        """Move a folder. Does nothing if the folder does not exist. An object store copies the files."""
        if not self.exists(source):
            return
        place = self._path(self.full_path(destination))
        self._files.mkdirs(place.getParent())
        self._rename(self._path(self.full_path(source)), place)

    def delete_path(self, *parts: str) -> None:
        """Delete a file, or a folder with its contents."""
        self._files.delete(self._path(self.full_path(*parts)), True)

    def _rename(self, source: Any, destination: Any) -> None:
        if not self._files.rename(source, destination):
            text = LakeText.CANNOT_MOVE
            raise QmonError(text.render(source=source.toString(), destination=destination.toString()))


def _file_size(path: Path) -> int | None:
    try:
        return path.stat().st_size
    except FileNotFoundError:  # the recorder's retention deleted the file in the meantime
        return None
