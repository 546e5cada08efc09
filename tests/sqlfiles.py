"""Tests of every SQL file, one test per folder, because a test for each of a thousand files would cost too much."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import pytest

from qmon.engines.sql.queries import SqlFile


def each_folder(files: Iterable[SqlFile]) -> pytest.MarkDecorator:
    """Parametrize a test by folder, with the files of ``files`` in it."""
    folders: defaultdict[str, list[SqlFile]] = defaultdict(list)
    for file in files:
        folders[file.path.rpartition("/")[0]].append(file)
    return pytest.mark.parametrize("files", [pytest.param(tuple(files), id=name) for name, files in folders.items()])


@contextmanager
def named(file: SqlFile) -> Iterator[None]:
    """Add the name of the file to any failure."""
    try:
        yield
    except AssertionError as error:
        error.add_note(file.path)
        raise
