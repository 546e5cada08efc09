"""A stand-in for ``pyodbc`` if the driver manager is not installed, so that tests without a server can import qmon."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import NoReturn

ERRORS = ("Warning", "InterfaceError", "DatabaseError", "DataError", "OperationalError", "IntegrityError")
MORE_ERRORS = ("InternalError", "ProgrammingError", "NotSupportedError")


def ensure() -> None:
    """Replace ``pyodbc`` if it cannot be imported because libodbc is missing."""
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
