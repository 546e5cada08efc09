"""Server errors lose the values of rows, in every language, and keep the names of objects."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qmon.engines.driver_faults import DriverFault, FaultText, read_statement_fault
from qmon.engines.postgres import postgres_errors as postgres
from qmon.engines.sqlserver import sqlserver_errors as sqlserver

SERVER = "[Microsoft][ODBC Driver 18 for SQL Server][SQL Server]"


def of_postgres(words: str, state: str = "23514", *, raised_hidden: bool = False) -> DriverFault:
    said = f"[{state}] {words};\nError while executing the query (1) (SQLExecDirectW)"
    return read_statement_fault((state, said), raised_hidden=raised_hidden)


def of_sqlserver(words: str, number: int, *, raised_hidden: bool = False) -> DriverFault:
    said = (
        f"[23000] {SERVER}{words} ({number}) (SQLExecDirectW); "
        f"[23000] {SERVER}The statement has been terminated. (3621)"
    )
    return read_statement_fault(("23000", said), raised_hidden=raised_hidden)


@pytest.mark.parametrize(
    ("words", "left"),
    [
        (
            'ERROR: new row for relation "t" violates check constraint "c"\nDETAIL: Failing row contains (1, hush).',
            'ERROR: new row for relation "t" violates check constraint "c"',
        ),
        (
            'ERROR: duplicate key value violates unique constraint "k"\nDETAIL: Key (mail)=(hush) already exists.',
            'ERROR: duplicate key value violates unique constraint "k"',
        ),
        (
            'ERROR: new row violates row-level security policy "p" for table "t"',
            'ERROR: new row violates row-level security policy "p" for table "t"',
        ),
        (
            'ERROR: null value in column "c" of relation "t" violates not-null constraint\nDETAIL: Failing row (hush).',
            'ERROR: null value in column "c" of relation "t" violates not-null constraint',
        ),
        ('ERROR: invalid input syntax for type integer: "hush"', 'ERROR: invalid input syntax for type integer: "•••"'),
        (
            'ERROR: invalid input syntax for type integer: "hu\nsh" for table "hush"',
            'ERROR: invalid input syntax for type integer: "•••"',
        ),
        (
            'ERROR: invalid input syntax for type integer: "a" table "hush" (1) (SQLExecDirectW); [22P02] hush"',
            'ERROR: invalid input syntax for type integer: "•••"',
        ),
        (
            'ERROR: invalid byte sequence for encoding "UTF8": 0x68 0x75',
            'ERROR: invalid byte sequence for encoding "UTF8": •••',
        ),
        ("ERROR: function f(integer, text) does not exist", "ERROR: function f(integer, text) does not exist"),
        (
            "ERROR: value too long for type character varying(10)",
            "ERROR: value too long for type character varying(10)",
        ),
        ('ERROR: record "new" has no field "x"', 'ERROR: record "new" has no field "x"'),
        ("FEHLER: ungültige Eingabesyntax für Typ integer: »hush«", None),
        (
            "FEHLER: neue Zeile für Relation »t« verletzt Check-Constraint »c«\nDETAIL: Fehlgeschlagene Zeile: (hush).",
            None,
        ),
        ("ERREUR : syntaxe en entrée invalide pour le type integer : « hush »", None),
        (
            "ERREUR : la valeur d’une clé dupliquée rompt la contrainte unique « k »\nDETAIL : La clé « (m)=(hush) »",
            None,
        ),
        ('エラー: 列"c"の値"hush"は不正です', None),
        ('错误: 无效的类型 integer 输入语法: "hush"\n描述: 失败, 行包含(hush)', None),
        ('ОШИБКА: неверный синтаксис: «hush»\nПОДРОБНОСТИ: Ключ "(m)=(hush)" уже существует.', None),
        ("BŁĄD: nieprawidłowa składnia dla typu integer: „hush”", None),
        ("FEL: ogiltig indatasyntax för typen integer: ”hush”", None),
    ],
)
def test_of_postgres_names_stay_and_values_go(words: str, left: str | None) -> None:
    text = of_postgres(words).text
    assert "hush" not in text
    assert text.split()[0] in words
    assert left is None or text == left
    assert "hush" not in str(postgres.statement_error(of_postgres(words), "requeue/move", "me", "SELECT 1"))


@pytest.mark.parametrize(
    ("words", "number", "left"),
    [
        (
            "Violation of UNIQUE KEY constraint 'UQ'. Cannot insert duplicate key in object 'dbo.t'. The duplicate key "
            "value is (hush, 1).",
            2627,
            "Violation of UNIQUE KEY constraint 'UQ'. Cannot insert duplicate key in object 'dbo.t'. The duplicate key "
            "value is (•••)",
        ),
        (
            "Cannot insert duplicate key row in object 'dbo.t' with unique index 'ix'. The duplicate key "
            "value is (hush).",
            2601,
            "Cannot insert duplicate key row in object 'dbo.t' with unique index 'ix'. The duplicate key "
            "value is (•••)",
        ),
        (
            "Conversion failed when converting the varchar value 'hush' to data type int.",
            245,
            "the varchar value '•••'",
        ),
        (
            "String or binary data would be truncated in table 'd.dbo.t', column 'c'. Truncated value: 'hush'.",
            2628,
            "in table 'd.dbo.t', column 'c'. Truncated value: '•••'",
        ),
        ("Arithmetic overflow error for type int, value = 4711123.000000.", 232, "for type int, value = •••"),
        (
            'The UPDATE statement conflicted with the CHECK constraint "CK". The conflict occurred in database "d", '
            "table \"dbo.t\", column 'c'.",
            547,
            'CHECK constraint "CK". The conflict occurred in database "d", table "dbo.t", column \'c\'.',
        ),
        (
            'Verletzung der PRIMARY KEY-Einschränkung "PK". Der doppelte Schlüsselwert ist (hush).',
            2627,
            'Verletzung der PRIMARY KEY-Einschränkung "•••"',
        ),
    ],
)
def test_of_sql_server_names_stay_and_values_go(words: str, number: int, left: str) -> None:
    fault = of_sqlserver(words, number)
    assert left in fault.text
    assert fault.numbers == (number, 3621)
    for value in ("hush", "4711"):
        assert value not in str(sqlserver.statement_error(fault, "requeue/move", "me"))


@pytest.mark.parametrize("state", ["P0001", "23514", "42501", "22023"])
def test_texts_of_triggers_are_left_out_where_payloads_are_covered(state: str) -> None:
    told = "ERROR: no hush today\nDETAIL: hush"
    assert of_postgres(told, state).text == "ERROR: no hush today"
    hidden = of_postgres(told, state, raised_hidden=True).text
    assert hidden == FaultText.HIDDEN.render(error=state)


def test_texts_of_triggers_are_left_out_on_sql_server_too() -> None:
    told = of_sqlserver("no hush today", 50_000)
    assert "no hush today" in told.text
    hidden = of_sqlserver("no hush today", 50_000, raised_hidden=True)
    assert hidden.text == FaultText.HIDDEN.render(error="50000")
    assert hidden.numbers == (50_000, 3621)


@pytest.mark.parametrize(
    ("words", "state"),
    [
        ('ERROR: new row for relation "t" violates check constraint "c"', "23514"),
        ('ERROR: relation "x" does not exist', "42P01"),
        ("ERROR: permission denied for table orders", "42501"),
        ('ERROR: invalid input syntax for type integer: "hush"', "22P02"),
        ("ERROR: value too long for type character varying(10)", "22001"),
        ("ERROR: canceling statement due to statement timeout", "57014"),
        ("ERROR: deadlock detected", "40P01"),
        ("ERROR: the producers of shop.orders are paused until 2026-11-22 14:05:34 UTC", "QM001"),
        ("FATAL: terminating connection due to administrator command", "57P01"),
    ],
)
def test_what_the_server_itself_says_stays_where_payloads_are_covered(words: str, state: str) -> None:
    assert of_postgres(words, state, raised_hidden=True) == of_postgres(words, state)
    assert "hidden" not in of_postgres(words, state).text


@pytest.mark.parametrize("name", ["orders", "dbo.orders", '"a ""b"."c; d (e)"', '[dbo].[a]]b "x"]'])
@pytest.mark.parametrize("number", [50_000, 770_001])
def test_what_qmon_s_own_procedures_raise_stays(name: str, number: int) -> None:
    for words in (
        f"QM001: the producers of {name} are paused until 2026-11-22 14:05:34 UTC; nothing was done, try again later",
        f"QM003: the ring {name} is full; nothing was done, try again later",
    ):
        assert words in of_sqlserver(words, number, raised_hidden=True).text
    for words in (f"the consumers of {name} are paused until 2026-11-22 14:05:34 UTC", f"the ring {name} is full"):
        assert of_postgres(f"ERROR: {words}", "QM001", raised_hidden=True).text == f"ERROR: {words}"
    assert "hush" not in of_postgres(f"ERROR: the ring {name} is full of hush", "QM003", raised_hidden=True).text


# A value of a row: at least six letters, surrounded by anything that could look like its end.
VALUES = st.builds(
    lambda before, after: f"{before}secretword{after}",
    *[st.text(st.sampled_from("\"'«»„“”()[]{}\\;:,.\n =x1é"), max_size=12)] * 2,
)


@given(VALUES)
def test_no_value_survives_in_any_of_the_usual_messages(value: str) -> None:
    for words in (
        f'ERROR: invalid input syntax for type integer: "{value}"',
        f'ERROR: date/time field value out of range: "{value}"\nHINT: {value}',
        f'ERROR: invalid input value for enum mood: "{value}"',
        f'ERROR: new row for relation "t" violates check constraint "c"\nDETAIL: Failing row contains ({value}).',
        f"ERROR: x\nCONTEXT: unnamed portal parameter $1 = '{value}'\nCOPY t, line 1: \"{value}\"",
        f"FEHLER: ungültige Eingabesyntax für Typ integer: »{value}«",
    ):
        assert "secretword" not in of_postgres(words, "22P02").text
    for words in (
        f"The duplicate key value is ({value}).",
        f"Conversion failed when converting the nvarchar value '{value}' to data type int.",
        f"String or binary data would be truncated in table 'd.dbo.t', column 'c'. Truncated value: '{value}'.",
    ):
        assert "secretword" not in of_sqlserver(words, 2627).text
