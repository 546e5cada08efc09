"""Tables that identify a library, as a server would have them."""

from __future__ import annotations

from qmon.libraries.library import Library, group_for, with_prefix
from qmon.libraries.recognition import Columns
from qmon.model.layout.layout import ObjectName


def tables(library: Library, prefix: str) -> dict[str, Columns]:
    """Return the tables that identify the library, and one for each group whose table name contains a queue's name."""
    names = [with_prefix(str(raw["table"]), prefix) for raw in library.groups]
    groups = [group_for(library, n, prefix, ObjectName("app", name), "x") for n, name in enumerate(names, 1)]
    kinds = {column: min(group.zone.types) for group in groups for column in group.columns_read.times}
    found: dict[str, Columns] = {
        table: {column: types[0] if types else kinds.get((table, column), "text") for column, types in columns.items()}
        for table, columns in ((with_prefix(name, prefix), columns) for name, columns in library.tables.items())
    }
    return found | {name.replace("*", "mails"): {} for name in names if "*" in name}
