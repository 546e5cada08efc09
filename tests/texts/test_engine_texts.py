"""The wording of errors of servers, drivers and queries."""

from __future__ import annotations

from typing import Any, Final

from qmon.engines.base import BindingText
from qmon.engines.bounded_calls import LoginText
from qmon.engines.control_schema import ControlSchemaText
from qmon.engines.driver_calls import DriverCallText
from qmon.engines.driver_faults import FaultText
from qmon.engines.drivers import DriverText
from qmon.engines.odbc import OdbcText
from qmon.engines.odbc_keywords import KeywordText
from qmon.engines.postgres.pooler import PoolerText
from qmon.engines.postgres.postgres_engine import PostgresText
from qmon.engines.postgres.postgres_errors import PostgresErrorText
from qmon.engines.registry import RegistryText
from qmon.engines.result_records import ResultText
from qmon.engines.sql.queries import QueryText
from qmon.engines.sql.query_file import QueryFileText
from qmon.engines.sql.query_text import SqlText
from qmon.engines.sqlserver.freetds import FreeTdsText
from qmon.engines.sqlserver.login_methods import LoginMethodText
from qmon.engines.sqlserver.sqlserver_engine import SqlServerText
from qmon.engines.sqlserver.sqlserver_errors import SqlServerErrorText
from qmon.engines.urls import UrlText
from qmon.model.texts import Text
from tests.texts.tables import Wordings, parametrized

WORDINGS: Final[Wordings] = {
    SqlServerErrorText.NOT_HOST_PORT: ({"server": "db1,1433"}, "db1,1433 is not host,port"),
    SqlServerErrorText.NO_INSTANCE: (
        {"instance": "SQL1", "host": "db1"},
        "no instance SQL1 answered on db1; SQL Browser (UDP 1434) may be off there: give host,port",
    ),
    SqlServerErrorText.UNKNOWN_HOST: ({"host": "db1"}, "the host name 'db1' is unknown"),
    SqlServerErrorText.NO_ANSWER: (
        {"host": "db1", "port": "5432"},
        "no answer from db1 port 5432 in time; is a firewall in between?",
    ),
    SqlServerErrorText.REFUSED: (
        {"host": "db1", "port": "5432"},
        "nothing listens on db1 port 5432: connection refused; is the server running?",
    ),
    SqlServerErrorText.CANNOT_BE_REACHED: (
        {"host": "db1", "port": "5432", "problem": "line 1 is wrong"},
        "db1 port 5432 cannot be reached: line 1 is wrong",
    ),
    SqlServerErrorText.NO_SQL_SERVER: (
        {"host": "db1", "port": "5432"},
        "db1 port 5432 accepts connections, but no SQL Server answered in time",
    ),
    SqlServerErrorText.KINIT: ({}, "kinit gets a ticket, klist lists the existing tickets"),
    SqlServerErrorText.DOMAIN: (
        {},
        "the account must belong to the domain, and the server's name (SPN) must be registered in the domain",
    ),
    SqlServerErrorText.YES_OR_NO: ({}, "yes or no"),
    SqlServerErrorText.ENCRYPT_VALUES: ({}, "yes, no or strict (also mandatory for yes, optional for no)"),
    SqlServerErrorText.INTENT_VALUES: ({}, "ReadOnly or ReadWrite"),
    SqlServerErrorText.CLOSED_CONNECTION: ({}, "the server closed the connection"),
    SqlServerErrorText.NETWORK_SILENT: ({}, "the network did not answer in time"),
    SqlServerErrorText.CONNECTION_REFUSED: ({}, "connection refused"),
    SqlServerErrorText.NO_ROUTE: ({}, "no route to the server"),
    SqlServerErrorText.FROM: ({"origin": "keyring"}, " (from keyring)"),
    SqlServerErrorText.THIS_ACCOUNT: ({}, "this account"),
    SqlServerErrorText.THE_SERVER: ({}, "the server"),
    SqlServerErrorText.LOGIN_HANGS: (
        {"server": "db1,1433"},
        "the login to db1,1433 does not finish; is it a SQL Server, and does it support this encryption?",
    ),
    SqlServerErrorText.NOT_READY: ({"text": "the text of the driver"}, "not ready yet: the text of the driver"),
    SqlServerErrorText.NO_CONNECTION_LEFT: (
        {"text": "the text of the driver"},
        "the server has no connection left: the text of the driver",
    ),
    SqlServerErrorText.UNTRUSTED: (
        {},
        "TLS failed: this machine does not trust the server's certificate; install its CA certificate, "
        "or trust the certificate without a check with trust=yes in the URL (TrustServerCertificate=yes)",
    ),
    SqlServerErrorText.TLS_FAILED: ({"text": "the text of the driver"}, "TLS failed: the text of the driver"),
    SqlServerErrorText.NOT_SQL_SERVER: ({"server": "db1,1433"}, "the service on db1,1433 is not SQL Server"),
    SqlServerErrorText.CLOSED_AT_ONCE: (
        {"server": "db1,1433"},
        "db1,1433 closed the connection immediately; is it a SQL Server, and is it healthy?",
    ),
    SqlServerErrorText.NO_CREDENTIALS: (
        {"user": "anna", "text": "the text of the driver"},
        "the server does not accept login 'anna' without a password, and none is set: the text of the driver",
    ),
    SqlServerErrorText.CANNOT_CONNECT: ({"text": "the text of the driver"}, "cannot connect: the text of the driver"),
    SqlServerErrorText.NO_TICKET: (
        {"hint": "; did you mean jobs?", "text": "the text of the driver"},
        "this account has no usable Kerberos ticket: ; did you mean jobs?; the text of the driver",
    ),
    SqlServerErrorText.VALUE_REFUSED: (
        {"keyword": "Encrypt", "values": "yes or no"},
        "Encrypt does not accept this value; use yes or no",
    ),
    SqlServerErrorText.NO_DATABASE: (
        {"database": "shop"},
        "there is no database 'shop' on the server, or this login may not open it",
    ),
    SqlServerErrorText.DATABASE_CLOSED: (
        {"database": "shop"},
        "the login may not open database 'shop'; run CREATE USER in it",
    ),
    SqlServerErrorText.NO_DSN: (
        {"dsn": "shop", "hint": "; did you mean jobs?"},
        "there is no DSN 'shop'; ; did you mean jobs?",
    ),
    SqlServerErrorText.NO_DRIVER: (
        {},
        "the connection string has no driver; add DRIVER={ODBC Driver 18 for SQL Server}",
    ),
    SqlServerErrorText.DRIVER_NOT_LOADED: (
        {"text": "the text of the driver", "hint": "; did you mean jobs?"},
        "the ODBC driver cannot be loaded: the text of the driver; ; did you mean jobs?",
    ),
    SqlServerErrorText.CREDENTIALS_NEEDED: (
        {"user": "anna"},
        "the server asks for the password of login 'anna', but none is set",
    ),
    SqlServerErrorText.LOCKED_OUT: ({"user": "anna"}, "login 'anna' is locked out; ask a DBA to unlock it"),
    SqlServerErrorText.DISABLED: ({"user": "anna"}, "login 'anna' is disabled; ask a DBA to enable it"),
    SqlServerErrorText.EXPIRED: ({"user": "anna"}, "the password of login 'anna' has expired; change it first"),
    SqlServerErrorText.LOGIN_FAILED: ({"user": "anna"}, "login failed for anna: no such login, or it may not connect"),
    SqlServerErrorText.BAD_CREDENTIALS: (
        {"origin": "keyring", "user": "anna"},
        "login failed: wrong passwordkeyring for anna, no such login, or it may not connect",
    ),
    SqlServerErrorText.CONNECTION_LOST: (
        {"text": "the text of the driver"},
        "the connection was lost: the text of the driver",
    ),
    SqlServerErrorText.LOCK_TIMEOUT: ({"query": "probe/x"}, "probe/x: could not get a lock in time"),
    SqlServerErrorText.DEADLINE: ({"query": "probe/x"}, "probe/x: no result within the deadline, or cancelled"),
    SqlServerErrorText.DEADLOCK_VICTIM: ({}, "chosen as the victim of a deadlock"),
    SqlServerErrorText.TRY_AGAIN: (
        {"query": "probe/x", "text": "the text of the driver"},
        "probe/x: the text of the driver; try again",
    ),
    SqlServerErrorText.NO_OBJECT: (
        {"query": "probe/x", "object": "sys.dm_os_waits"},
        "probe/x: this server has no sys.dm_os_waits",
    ),
    PostgresErrorText.BAD_CREDENTIALS: (
        {"origin": "keyring", "user": "anna"},
        "wrong passwordkeyring for user anna, or no such user",
    ),
    PostgresErrorText.CREDENTIALS_NEEDED: ({"user": "anna"}, "the server asks for the passwordanna, but none is set"),
    PostgresErrorText.DATABASE_CLOSED: (
        {"database": "shop", "grant": "GRANT SELECT ON orders TO anna"},
        "no permission to connect to database shop; this helps: GRANT SELECT ON orders TO anna",
    ),
    PostgresErrorText.NO_SEARCH_PATH: (
        {},
        "the pooler in between does not pass on qmon's search_path, so functions of other roles could "
        "run with your rights: connect to the server itself, or see docs/connecting.md, Poolers",
    ),
    PostgresErrorText.NO_ROLE: ({"role": '"reader"'}, 'there is no role "reader" on the server; check the user name'),
    PostgresErrorText.ROLE_CANNOT_LOG_IN: (
        {"role": '"reader"'},
        'role "reader" may not log in; ALTER ROLE "reader" LOGIN allows it',
    ),
    PostgresErrorText.NO_DATABASE: ({"database": "shop"}, "there is no database shop on the server"),
    PostgresErrorText.ACCESS_RULES: (
        {"text": "the text of the driver"},
        "the server's access rules reject the connection: the text of the driver",
    ),
    PostgresErrorText.AUTHENTICATION_FAILED: (
        {"text": "the text of the driver"},
        "the text of the driver; the server's pg_hba.conf decides how that user may log in",
    ),
    PostgresErrorText.NO_TLS: ({}, "the server offers no TLS, but sslmode requires it"),
    PostgresErrorText.TLS_FAILED: (
        {"text": "the text of the driver"},
        "TLS failed: the text of the driver; set sslrootcert to the certificate to trust",
    ),
    PostgresErrorText.NOT_READY: ({"text": "the text of the driver"}, "not ready yet: the text of the driver"),
    PostgresErrorText.NO_CONNECTION_LEFT: (
        {"text": "the text of the driver"},
        "the server has no connection left: the text of the driver",
    ),
    PostgresErrorText.NO_ANSWER: (
        {"where": "db1 port 5432"},
        "no answer from db1 port 5432 in time; is a firewall in between, or does the server hang?",
    ),
    PostgresErrorText.REFUSED: (
        {"where": "db1 port 5432"},
        "nothing listens on db1 port 5432: connection refused; is the server running?",
    ),
    PostgresErrorText.NO_SOCKET: (
        {"where": "db1 port 5432"},
        "there is no socket db1 port 5432; is the server running, and is the folder right?",
    ),
    PostgresErrorText.UNKNOWN_HOST: ({"host": "db1"}, "the host name db1 is unknown"),
    PostgresErrorText.NO_ROUTE: ({"where": "db1 port 5432"}, "there is no network route to db1 port 5432"),
    PostgresErrorText.SOCKET_CLOSED: ({"where": "db1 port 5432"}, "your account may not open the socket db1 port 5432"),
    PostgresErrorText.NOT_POSTGRESQL: ({"where": "db1 port 5432"}, "the service on db1 port 5432 is not PostgreSQL"),
    PostgresErrorText.CLOSED_AT_ONCE: (
        {"where": "db1 port 5432"},
        "db1 port 5432 closed the connection immediately; is it a PostgreSQL server, and is it healthy?",
    ),
    PostgresErrorText.FROM: ({"origin": "keyring"}, " (from keyring)"),
    PostgresErrorText.OF_USER: ({"user": "anna"}, " of user 'anna'"),
    PostgresErrorText.THE_SERVER: ({}, "the server"),
    PostgresErrorText.HOST_PORT: ({"host": "db1", "port": "5432"}, "db1 port 5432"),
    PostgresErrorText.CANNOT_BE_USED: (
        {"where": "db1 port 5432", "text": "the text of the driver"},
        "db1 port 5432 cannot be used: the text of the driver",
    ),
    PostgresErrorText.NO_DSN: (
        {"dsn": "shop", "hint": "; did you mean jobs?"},
        "there is no DSN 'shop'; ; did you mean jobs?",
    ),
    PostgresErrorText.NO_DRIVER: ({}, "the connection string has no driver; add DRIVER={PostgreSQL Unicode}"),
    PostgresErrorText.DRIVER_NOT_LOADED: (
        {"text": "the text of the driver", "hint": "; did you mean jobs?"},
        "the ODBC driver cannot be loaded: the text of the driver; ; did you mean jobs?",
    ),
    PostgresErrorText.CONNECTION_LOST: (
        {"text": "the text of the driver"},
        "the connection was lost: the text of the driver",
    ),
    PostgresErrorText.LOCK_TIMEOUT: ({"query": "probe/x"}, "probe/x: could not get a lock in time"),
    BindingText.VALUE_MISSING: ({"query": "probe/x", "value": "soon"}, "probe/x needs a value for soon"),
    BindingText.VALUE_UNUSED: ({"query": "probe/x", "value": "soon"}, "probe/x does not use the value soon"),
    BindingText.NUL_CHARACTER: (
        {"query": "probe/x"},
        "probe/x: a value contains a NUL character, which this server cannot store",
    ),
    LoginText.NO_ANSWER: (
        {"target": "shop", "time": "04:12:00 UTC"},
        "shop: no answer to the login within 04:12:00 UTC",
    ),
    ControlSchemaText.SCHEMA_IGNORED: (
        {"object": "sys.dm_os_waits", "problem": "line 1 is wrong", "advice": "drop it"},
        "qmon ignores the schema qmon of this database: sys.dm_os_waits line 1 is wrong; drop it",
    ),
    ControlSchemaText.NOTHING_CHANGED: ({"reason": "not read"}, "not read; nothing was changed"),
    DriverCallText.NO_ANSWER_TO_CANCEL: ({}, "no answer to a cancel; the connection was abandoned"),
    DriverCallText.NO_ANSWER: ({"time": "04:12:00 UTC"}, "no answer for 04:12:00 UTC; the connection was abandoned"),
    DriverCallText.CANNOT_BE_SENT: (
        {"query": "probe/x", "problem": "line 1 is wrong"},
        "probe/x: a value cannot be sent: line 1 is wrong",
    ),
    DriverCallText.CANCELLED: ({"query": "probe/x"}, "probe/x: cancelled"),
    DriverCallText.INTERRUPTED: ({}, "interrupted before the server answered; the connection was abandoned"),
    DriverCallText.ABANDONED: ({}, "the connection was abandoned before the server answered"),
    DriverCallText.CLOSED: ({}, "the connection is closed"),
    FaultText.HIDDEN: (
        {"error": "50001"},
        "refused with error 50001; its text is hidden because settings.redact is set",
    ),
    DriverText.NO_SUCH_DRIVER: ({"name": "jobs", "names": "a, b"}, "there is no ODBC driver 'jobs'; installed: a, b"),
    OdbcText.NO_DRIVER_MANAGER: (
        {"hint": "; did you mean jobs?"},
        "the ODBC driver manager is not installed: ; did you mean jobs?",
    ),
    OdbcText.BAD_CHARACTERS: ({}, "the connection string contains characters that the driver does not accept"),
    OdbcText.NESTED_TRANSACTION: ({}, "a transaction is already open; transactions do not nest"),
    OdbcText.NOTHING_COMMITTED: ({}, "nothing was committed, because a statement of the transaction failed"),
    OdbcText.WRONG_RESULTS: (
        {"query": "probe/x", "given": "NULL", "wanted": "int"},
        "probe/x returned NULL results instead of int",
    ),
    KeywordText.NOT_KEYWORDS: (
        {},
        "the connection string is not KEYWORD=value;KEYWORD=value, with special characters in {braces}",
    ),
    KeywordText.CREDENTIALS_IN_PQOPT: ({}, "a password inside pqopt is not accepted; give it as PWD"),
    KeywordText.BAD_PQOPT: ({}, "pqopt must be like name=value name='value with spaces'"),
    RegistryText.NOT_SUPPORTED: (
        {"target": "shop", "kind": "a number"},
        "shop: qmon supports PostgreSQL and SQL Server, not a number",
    ),
    ResultText.WRONG_COLUMNS: (
        {"query": "probe/x", "given": "NULL", "declared": "a, b"},
        "probe/x returned NULL instead of a, b",
    ),
    ResultText.MISSING_COLUMNS: (
        {"query": "probe/x", "columns": "`Made`"},
        "probe/x: the result lacks the column `Made`",
    ),
    ResultText.EXTRA_COLUMNS: (
        {"query": "probe/x", "columns": "`Made`"},
        "probe/x: the result has an unexpected column: `Made`",
    ),
    ResultText.COLUMN_TWICE: (
        {"query": "probe/x", "columns": "`Made`"},
        "probe/x: the result has a column twice: `Made`",
    ),
    ResultText.WRONG_TYPE: (
        {"query": "probe/x", "column": "status", "given": "NULL", "wanted": "int"},
        "probe/x: the column status is NULL, not int",
    ),
    UrlText.UNKNOWN_SCHEME: (
        {"scheme": "mysql", "schemes": "postgresql, mssql"},
        "qmon does not support mysql:// URLs; it supports: postgresql, mssql",
    ),
    UrlText.CANNOT_BE_READ: (
        {"scheme": "mysql"},
        "the mysql:// URL cannot be read; percent-encode special characters, such as %40 for @",
    ),
    UrlText.ONLY_DATABASE: (
        {"scheme": "mysql"},
        "only a database may follow the host in the mysql:// URL; write # and / in names as %23 and %2F",
    ),
    UrlText.NO_PORT: ({"scheme": "mysql"}, "the mysql:// URL has no valid port after the host; write host:5432"),
    UrlText.UNKNOWN_POSTGRES_SETTING: (
        {"name": "jobs", "hint": "; did you mean jobs?"},
        "the postgresql:// URL has the unknown setting jobs; did you mean jobs?",
    ),
    UrlText.ONE_HOST: ({}, "an mssql:// URL names one host: mssql://user@host:1433/database"),
    UrlText.UNKNOWN_MSSQL_SETTING: (
        {"name": "jobs", "hint": "; did you mean jobs?"},
        "the mssql:// URL has the unknown setting jobs; did you mean jobs?",
    ),
    QueryText.NO_FOLDER: ({}, "the sql folder of qmon is missing: the installation is broken"),
    QueryText.FOLDER_NAME: (
        {"path": "sql/postgres/x.sql", "names": "a, b"},
        "sql/postgres/x.sql: a folder is called a, b",
    ),
    QueryText.FILE_NAME: (
        {"path": "sql/postgres/x.sql"},
        "sql/postgres/x.sql: a file is called name.sql or name.since_16.sql",
    ),
    QueryText.BEFORE_VERSION: ({"version": 16}, " before version 16"),
    QueryText.NO_QUERY: (
        {"query": "probe/x", "engine": "postgres", "hint": "; did you mean jobs?"},
        "there is no probe/x for postgres; did you mean jobs?",
    ),
    QueryText.NO_DESIGN: (
        {"design": "heap", "engine": "postgres", "designs": "fifo, heap"},
        "there is no design 'heap' for postgres; it has: fifo, heap",
    ),
    QueryText.NO_STEP: (
        {"file": "sql/postgres/designs/d/01_x.sql", "path": "sql/postgres/x.sql"},
        "sql/postgres/designs/d/01_x.sql:1: the same as sql/postgres/x.sql, but that is no step of a design",
    ),
    QueryText.NAMES_MISSING: ({"query": "probe/x", "names": "a, b"}, "probe/x needs a name for a, b"),
    QueryText.NAMES_UNUSED: ({"query": "probe/x", "names": "a, b"}, "probe/x does not use a, b"),
    QueryText.FILTERED_INDEX: (
        {"query": "probe/x", "index": "jobs_ready"},
        "probe/x cannot name the filtered index 'jobs_ready': the statement is not recompiled",
    ),
    QueryText.NOT_AN_IDENTIFIER: ({"name": "jobs"}, "'jobs' is not an identifier"),
    QueryText.LAYOUT_LACKS: ({"query": "probe/x", "name": "jobs"}, "probe/x needs jobs, which this layout lacks"),
    QueryText.NEEDS_WHOLE_NUMBER: (
        {"query": "probe/x", "name": "jobs", "value": "soon"},
        "probe/x takes a whole number for jobs, not 'soon'",
    ),
    QueryText.NEEDS_COLUMNS: (
        {"query": "probe/x", "name": "jobs", "value": "soon"},
        "probe/x takes a list of columns for jobs, not 'soon'",
    ),
    QueryText.NEEDS_IDENTIFIER: (
        {"query": "probe/x", "name": "jobs", "value": "soon"},
        "probe/x takes an identifier for jobs, not 'soon'",
    ),
    QueryText.OTHER_USE: (
        {"query": "probe/x", "name": "jobs", "value": "soon"},
        "probe/x has another use for jobs than 'soon'",
    ),
    QueryText.COLUMN_WITH_TYPE: ({}, "a column with its type"),
    QueryText.CONDITION: ({}, "a condition"),
    QueryText.ROW_COLUMNS: ({}, "columns of a row"),
    QueryText.PART_OF_PAGE: ({}, "a part of a page"),
    QueryText.INDEX: ({}, "an index"),
    QueryText.NEEDS_OTHER: (
        {"query": "probe/x", "wanted": "int", "name": "jobs", "value": "soon"},
        "probe/x takes int for jobs, not 'soon'",
    ),
    QueryText.NEEDS_TIME: (
        {"query": "probe/x", "name": "jobs", "value": "soon"},
        "probe/x takes a column of times for jobs, not 'soon'",
    ),
    QueryFileText.TAKES_NO_VALUES: (
        {"path": "sql/postgres/x.sql", "line": 3, "name": "jobs"},
        "sql/postgres/x.sql:3: an installation file takes no values, but uses :jobs",
    ),
    QueryFileText.NO_COLUMNS: (
        {"path": "sql/postgres/x.sql"},
        "sql/postgres/x.sql:1: a probe names its columns, in order, as '-- > name'",
    ),
    QueryFileText.NO_STATEMENT: (
        {"path": "sql/postgres/x.sql", "line": 3},
        "sql/postgres/x.sql:3: there is no statement below the header",
    ),
    QueryFileText.SECOND_STATEMENT: (
        {"path": "sql/postgres/x.sql", "line": 3},
        "sql/postgres/x.sql:3: a file has only one statement, but a second statement starts after this ;",
    ),
    QueryFileText.NOT_A_NAME: (
        {"path": "sql/postgres/x.sql", "line": 3, "name": "jobs"},
        "sql/postgres/x.sql:3: ':jobs' is not a name; write ':name  what it is'",
    ),
    QueryFileText.NOT_A_COLUMN: (
        {"path": "sql/postgres/x.sql", "line": 3, "column": "status"},
        "sql/postgres/x.sql:3: 'status' is not a column; write one column per line, in lower case",
    ),
    QueryFileText.DECLARED_TWICE: (
        {"path": "sql/postgres/x.sql", "line": 3, "name": "jobs"},
        "sql/postgres/x.sql:3: jobs is declared twice",
    ),
    QueryFileText.NO_PURPOSE: (
        {"path": "sql/postgres/x.sql"},
        "sql/postgres/x.sql:1: the file must start with '-- ' and its purpose",
    ),
    QueryFileText.VALUE_UNDECLARED: (
        {"path": "sql/postgres/x.sql", "line": 3, "name": "jobs"},
        "sql/postgres/x.sql:3: :jobs is not declared in the header",
    ),
    QueryFileText.SLOT_UNDECLARED: (
        {"path": "sql/postgres/x.sql", "line": 3, "name": "jobs"},
        "sql/postgres/x.sql:3: {jobs} is not declared in the header",
    ),
    QueryFileText.BOTH_MARKS: ({}, "with and without '?'"),
    QueryFileText.BOTH_WAYS: (
        {"path": "sql/postgres/x.sql", "line": 3, "name": "jobs", "ways": "with and without '?'"},
        "sql/postgres/x.sql:3: {jobs} is written both with and without '?'",
    ),
    QueryFileText.SLOT_UNUSED: (
        {"path": "sql/postgres/x.sql", "line": 3, "name": "jobs"},
        "sql/postgres/x.sql:3: {jobs} is declared but not used",
    ),
    QueryFileText.VALUE_UNUSED: (
        {"path": "sql/postgres/x.sql", "line": 3, "name": "jobs"},
        "sql/postgres/x.sql:3: :jobs is declared but not used",
    ),
    SqlText.NOT_A_SLOT: (
        {"path": "sql/postgres/x.sql", "line": 3, "text": "the text of the driver"},
        "sql/postgres/x.sql:3: the text of the driver is not {name}, {name?}, {name!literal} or {name!int}",
    ),
    SqlText.BODY_OPEN: (
        {"path": "sql/postgres/x.sql", "line": 3, "mark": "/*"},
        "sql/postgres/x.sql:3: the body opened by /* does not end",
    ),
    SqlText.BARE_MARK: (
        {"path": "sql/postgres/x.sql", "line": 3},
        "sql/postgres/x.sql:3: a bare ? would be taken for a value; write :name",
    ),
    SqlText.NO_PARTNER: (
        {"path": "sql/postgres/x.sql", "line": 3, "mark": "/*"},
        "sql/postgres/x.sql:3: this /* has no partner",
    ),
    SqlText.STATEMENT: ({}, "a statement"),
    SqlText.COMMENT_OPEN: (
        {"path": "sql/postgres/x.sql", "line": 3},
        "sql/postgres/x.sql:3: the comment that begins here does not end",
    ),
    PoolerText.SHARED_SESSIONS: (
        {"target": "shop", "mode": "verify"},
        "shop: the connection goes through a pooler in verify mode, which gives this session to other "
        "clients: connect to the server itself, or to a pool in session mode (pgbouncer: pool_mode = "
        "session)",
    ),
    PostgresText.NO_PARTS: ({}, "a name without any part cannot be an identifier"),
    PostgresText.BAD_IDENTIFIER: (
        {"name": "jobs"},
        "'jobs' cannot be an identifier: it is empty or contains a NUL character",
    ),
    PostgresText.LONG_IDENTIFIER: (
        {"name": "jobs", "limit": 1000},
        "'jobs' cannot be an identifier: PostgreSQL truncates names after 1000 bytes",
    ),
    PostgresText.NUL_CHARACTER: ({}, "a text with a NUL character cannot be sent to PostgreSQL"),
    PostgresText.STANDBY: (
        {"target": "shop"},
        "shop is a standby: nothing can be changed here; connect to its primary",
    ),
    PostgresText.ANSI_DRIVER: (
        {"target": "shop", "driver": "PostgreSQL Unicode"},
        "shop: the ANSI driver of psqlODBC loses characters; use its Unicode driver, such as Driver=PostgreSQL Unicode",
    ),
    PostgresText.OLD_VERSION: (
        {"target": "shop", "version": 16, "minimum": 14},
        "shop: PostgreSQL 16 is too old; qmon needs 14 or later",
    ),
    PostgresText.UNKNOWN_SSLMODE: (
        {"target": "shop", "mode": "verify", "hint": "; did you mean jobs?"},
        "shop: the sslmode 'verify' is unknown; did you mean jobs?",
    ),
    PostgresText.CONN_SETTINGS: (
        {"target": "shop"},
        "shop: qmon does not run ConnSettings; give pqopt=options='-c name=value' instead, or an empty "
        "ConnSettings= in the connection string to connect without it",
    ),
    PostgresText.BAD_TIMEOUT: (
        {"target": "shop", "value": "soon"},
        "shop: connect_timeout takes whole seconds, such as 10, not 'soon'",
    ),
    PostgresText.NO_DRIVER: (
        {"hint": "; did you mean jobs?"},
        "the ODBC driver for PostgreSQL is not installed: ; did you mean jobs?",
    ),
    SqlServerText.NO_PARTS: ({}, "a name without any part cannot be an identifier"),
    SqlServerText.BAD_IDENTIFIER: (
        {"name": "jobs"},
        "'jobs' cannot be an identifier: it is empty or contains a NUL character",
    ),
    SqlServerText.LONG_IDENTIFIER: (
        {"name": "jobs", "limit": 1000},
        "'jobs' cannot be an identifier: SQL Server allows at most 1000 characters",
    ),
    SqlServerText.NO_ADVISORY_LOCKS: ({}, "advisory_lock: SQL Server has no locks with numbers as keys"),
    SqlServerText.READ_ONLY: (
        {"target": "shop"},
        "shop is read-only (a readable secondary, or a read-only database): nothing can be changed here; "
        "connect to its primary",
    ),
    SqlServerText.NO_DRIVER: (
        {"hint": "; did you mean jobs?"},
        "no ODBC driver for SQL Server is installed: ; did you mean jobs?",
    ),
    FreeTdsText.NO_ENCRYPTION: (
        {"value": "soon"},
        "FreeTDS does not support encryption 'soon': use yes or no; Microsoft's driver also supports strict",
    ),
    LoginMethodText.FREETDS_UNSUPPORTED: (
        {"keyword": "Encrypt", "value": "soon"},
        "FreeTDS does not support Encrypt=soon: Entra needs Microsoft's driver; for Windows logins use "
        "Trusted_Connection with Kerberos",
    ),
    LoginMethodText.ODBC_UNSUPPORTED: (
        {"keyword": "Encrypt", "value": "soon", "names": "a, b"},
        "Microsoft's ODBC driver does not support Encrypt=soon; it supports: a, b",
    ),
    LoginMethodText.WINDOW_NEEDED: (
        {"method": "ActiveDirectoryMsi"},
        "ActiveDirectoryMsi opens a window and works only with Microsoft's driver for Windows; on this "
        "system, use ActiveDirectoryMsi, ActiveDirectoryServicePrincipal, or ActiveDirectoryIntegrated "
        "with a Kerberos ticket",
    ),
    LoginMethodText.CLIENT_ID: ({}, "the application's client id; its secret is the password"),
    LoginMethodText.USER_NEEDED: (
        {"method": "ActiveDirectoryMsi", "example": "mssql://user@host"},
        "ActiveDirectoryMsi needs a user: mssql://user@host",
    ),
    LoginMethodText.NO_USER: (
        {"method": "ActiveDirectoryMsi", "user": "anna"},
        "ActiveDirectoryMsi takes no user: it uses the account that runs qmon; leave 'anna' out",
    ),
}


@parametrized(WORDINGS)
def test_wording(text: Text, fields: dict[str, Any], sentence: str) -> None:
    assert text.render(**fields) == sentence
