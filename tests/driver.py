"""``pyodbc`` where its driver manager is not installed: enough to be imported, for tests that need no server."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import NoReturn

ERRORS = ("Warning", "InterfaceError", "DatabaseError", "DataError", "OperationalError", "IntegrityError")
MORE_ERRORS = ("InternalError", "ProgrammingError", "NotSupportedError")


def ensure() -> None:
    """Put a stand-in in the place of ``pyodbc`` if that cannot be imported for want of libodbc."""
    try:
        import pyodbc  # noqa: F401
    except ImportError as problem:
        if "libodbc" not in str(problem):
            raise
        sys.modules["pyodbc"] = _stand_in()


def _stand_in() -> ModuleType:
    made = ModuleType("pyodbc")
    error = type("Error", (Exception,), {})
    names = dict.fromkeys(("Connection", "Cursor", "Row"), object)
    kinds = {name: type(name, (error,), {}) for name in (*ERRORS, *MORE_ERRORS)}
    numbers = {
        name: number
        for number, name in enumerate(
            ("SQL_WVARCHAR", "SQL_DRIVER_NAME", "SQL_DRIVER_VER", "SQL_DBMS_NAME", "SQL_DBMS_VER")
        )
    }
    vars(made).update(
        names | kinds | numbers, Error=error, connect=_refused, dataSources=dict, pooling=True, version="0"
    )
    return made


def _refused(*_: object, **__: object) -> NoReturn:
    raise AssertionError("no connection without libodbc: apt install unixodbc")
