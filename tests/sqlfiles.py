"""Tests of every SQL file: one for each folder, as a test for each of a thousand files costs more than what it does."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import pytest

from qmon.engines.sql.queries import SqlFile


def each_folder(files: Iterable[SqlFile]) -> pytest.MarkDecorator:
    """Parametrizes a test by ``files``: those of one folder."""
    folders: defaultdict[str, list[SqlFile]] = defaultdict(list)
    for file in files:
        folders[file.path.rpartition("/")[0]].append(file)
    return pytest.mark.parametrize("files", [pytest.param(tuple(files), id=name) for name, files in folders.items()])


@contextmanager
def named(file: SqlFile) -> Iterator[None]:
    """What fails within says of which file."""
    try:
        yield
    except AssertionError as error:
        error.add_note(file.path)
        raise
