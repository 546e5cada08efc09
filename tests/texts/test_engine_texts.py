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
from qmon.engines.sql.whole_row import RowKey
from qmon.engines.sqlserver.freetds import FreeTdsText
from qmon.engines.sqlserver.login_methods import LoginMethodText
from qmon.engines.sqlserver.sqlserver_engine import SqlServerText
from qmon.engines.sqlserver.sqlserver_errors import SqlServerErrorText
from qmon.engines.urls import UrlText
from qmon.texts import Text
from tests.texts.tables import Wordings, parametrized

WORDINGS: Final[Wordings] = {
    SqlServerErrorText.NOT_HOST_PORT: ({"server": "db1,sql"}, "db1,sql is not host,port"),
    SqlServerErrorText.NO_INSTANCE: (
        {"instance": "SQL1", "host": "db1"},
        "no instance SQL1 answered on db1; SQL Browser (UDP 1434) may be off there: give host,port",
    ),
    SqlServerErrorText.UNKNOWN_HOST: ({"host": "db1"}, "the host name 'db1' is unknown"),
    SqlServerErrorText.NO_ANSWER: (
        {"host": "db1", "port": 1433},
        "no answer from db1 port 1433 in time; is a firewall in between?",
    ),
    SqlServerErrorText.REFUSED: (
        {"host": "db1", "port": 1433},
        "nothing listens on db1 port 1433: connection refused; is the server running?",
    ),
    SqlServerErrorText.CANNOT_BE_REACHED: (
        {"host": "db1", "port": 1433, "problem": "Network is unreachable"},
        "db1 port 1433 cannot be reached: Network is unreachable",
    ),
    SqlServerErrorText.NO_SQL_SERVER: (
        {"host": "db1", "port": 1433},
        "db1 port 1433 accepts connections, but no SQL Server answered in time",
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
    SqlServerErrorText.FROM: (
        {"origin": "the environment variable QMON_PASSWORD_SHOP"},
        " (from the environment variable QMON_PASSWORD_SHOP)",
    ),
    SqlServerErrorText.THIS_ACCOUNT: ({}, "this account"),
    SqlServerErrorText.THE_SERVER: ({}, "the server"),
    SqlServerErrorText.LOGIN_HANGS: (
        {"server": "db1,1433"},
        "the login to db1,1433 does not finish; is it a SQL Server, and does it support this encryption?",
    ),
    SqlServerErrorText.NOT_READY: (
        {"text": "Login failed: the server is in script upgrade mode"},
        "not ready yet: Login failed: the server is in script upgrade mode",
    ),
    SqlServerErrorText.NO_CONNECTION_LEFT: (
        {"text": "the maximum number of user connections has been reached"},
        "the server has no connection left: the maximum number of user connections has been reached",
    ),
    SqlServerErrorText.UNTRUSTED: (
        {},
        "TLS failed: this machine does not trust the server's certificate; install its CA certificate, "
        "or trust the certificate without a check with trust=yes in the URL (TrustServerCertificate=yes)",
    ),
    SqlServerErrorText.TLS_FAILED: (
        {"text": "SSL Provider: wrong version number"},
        "TLS failed: SSL Provider: wrong version number",
    ),
    SqlServerErrorText.NOT_SQL_SERVER: ({"server": "db1,1433"}, "the service on db1,1433 is not SQL Server"),
    SqlServerErrorText.CLOSED_AT_ONCE: (
        {"server": "db1,1433"},
        "db1,1433 closed the connection immediately; is it a SQL Server, and is it healthy?",
    ),
    SqlServerErrorText.NO_CREDENTIALS: (
        {"user": "anna", "text": "Cannot authenticate using Kerberos"},
        "the server does not accept login 'anna' without a password, and none is set: Cannot "
        "authenticate using Kerberos",
    ),
    SqlServerErrorText.CANNOT_CONNECT: (
        {"text": "Cannot generate SSPI context"},
        "cannot connect: Cannot generate SSPI context",
    ),
    SqlServerErrorText.NO_TICKET: (
        {"hint": "kinit gets a ticket, klist lists the existing tickets", "text": "No Kerberos credentials available"},
        "this account has no usable Kerberos ticket: kinit gets a ticket, klist lists the existing "
        "tickets; No Kerberos credentials available",
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
        {"dsn": "shop", "hint": "odbcinst -q -s lists the DSNs"},
        "there is no DSN 'shop'; odbcinst -q -s lists the DSNs",
    ),
    SqlServerErrorText.NO_DRIVER: (
        {},
        "the connection string has no driver; add DRIVER={ODBC Driver 18 for SQL Server}",
    ),
    SqlServerErrorText.DRIVER_NOT_LOADED: (
        {
            "text": "Can't open lib 'msodbcsql18' : file not found",
            "hint": 'pip install "mssql-python-odbc" includes a driver, which needs apt install libkrb5-3 '
            "libgssapi-krb5-2 libltdl7",
        },
        "the ODBC driver cannot be loaded: Can't open lib 'msodbcsql18' : file not found; pip "
        'install "mssql-python-odbc" includes a driver, which needs apt install libkrb5-3 '
        "libgssapi-krb5-2 libltdl7",
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
        {"origin": " (from the environment variable QMON_PASSWORD_SHOP)", "user": "anna"},
        "login failed: wrong password (from the environment variable QMON_PASSWORD_SHOP) for anna, "
        "no such login, or it may not connect",
    ),
    SqlServerErrorText.CONNECTION_LOST: (
        {"text": "Communication link failure"},
        "the connection was lost: Communication link failure",
    ),
    SqlServerErrorText.LOCK_TIMEOUT: ({"query": "probe/head"}, "probe/head: could not get a lock in time"),
    SqlServerErrorText.DEADLINE: ({"query": "probe/head"}, "probe/head: no result within the deadline, or cancelled"),
    SqlServerErrorText.DEADLOCK_VICTIM: ({}, "chosen as the victim of a deadlock"),
    SqlServerErrorText.TRY_AGAIN: (
        {"query": "probe/head", "text": "chosen as the victim of a deadlock"},
        "probe/head: chosen as the victim of a deadlock; try again",
    ),
    SqlServerErrorText.NO_OBJECT: (
        {"query": "probe/waits", "object": "sys.dm_exec_session_wait_stats"},
        "probe/waits: this server has no sys.dm_exec_session_wait_stats",
    ),
    PostgresErrorText.BAD_CREDENTIALS: (
        {"origin": " (from the environment variable QMON_PASSWORD_SHOP)", "user": '"anna"'},
        'wrong password (from the environment variable QMON_PASSWORD_SHOP) for user "anna", or no such user',
    ),
    PostgresErrorText.CREDENTIALS_NEEDED: (
        {"user": " of user 'anna'"},
        "the server asks for the password of user 'anna', but none is set",
    ),
    PostgresErrorText.DATABASE_CLOSED: (
        {"database": '"shop"', "grant": 'GRANT CONNECT ON DATABASE "shop" TO "anna"'},
        'no permission to connect to database "shop"; this helps: GRANT CONNECT ON DATABASE "shop" TO "anna"',
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
    PostgresErrorText.NO_DATABASE: ({"database": '"shop"'}, 'there is no database "shop" on the server'),
    PostgresErrorText.ACCESS_RULES: (
        {"text": 'no pg_hba.conf entry for host "10.0.0.7", user "anna", database "shop", no encryption'},
        'the server\'s access rules reject the connection: no pg_hba.conf entry for host "10.0.0.7", '
        'user "anna", database "shop", no encryption',
    ),
    PostgresErrorText.AUTHENTICATION_FAILED: (
        {"text": 'Peer authentication failed for user "anna"'},
        'Peer authentication failed for user "anna"; the server\'s pg_hba.conf decides how that user may log in',
    ),
    PostgresErrorText.NO_TLS: ({}, "the server offers no TLS, but sslmode requires it"),
    PostgresErrorText.TLS_FAILED: (
        {"text": "certificate verify failed"},
        "TLS failed: certificate verify failed; set sslrootcert to the certificate to trust",
    ),
    PostgresErrorText.NOT_READY: (
        {"text": "the database system is starting up"},
        "not ready yet: the database system is starting up",
    ),
    PostgresErrorText.NO_CONNECTION_LEFT: (
        {"text": "too many clients already"},
        "the server has no connection left: too many clients already",
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
        {"where": "/run/postgresql/.s.PGSQL.5432"},
        "there is no socket /run/postgresql/.s.PGSQL.5432; is the server running, and is the folder right?",
    ),
    PostgresErrorText.UNKNOWN_HOST: ({"host": "db1"}, "the host name db1 is unknown"),
    PostgresErrorText.NO_ROUTE: ({"where": "db1 port 5432"}, "there is no network route to db1 port 5432"),
    PostgresErrorText.SOCKET_CLOSED: (
        {"where": "/run/postgresql/.s.PGSQL.5432"},
        "your account may not open the socket /run/postgresql/.s.PGSQL.5432",
    ),
    PostgresErrorText.NOT_POSTGRESQL: ({"where": "db1 port 5432"}, "the service on db1 port 5432 is not PostgreSQL"),
    PostgresErrorText.CLOSED_AT_ONCE: (
        {"where": "db1 port 5432"},
        "db1 port 5432 closed the connection immediately; is it a PostgreSQL server, and is it healthy?",
    ),
    PostgresErrorText.FROM: (
        {"origin": "the environment variable QMON_PASSWORD_SHOP"},
        " (from the environment variable QMON_PASSWORD_SHOP)",
    ),
    PostgresErrorText.OF_USER: ({"user": "anna"}, " of user 'anna'"),
    PostgresErrorText.THE_SERVER: ({}, "the server"),
    PostgresErrorText.HOST_PORT: ({"host": "db1", "port": "5432"}, "db1 port 5432"),
    PostgresErrorText.CANNOT_BE_USED: (
        {"where": "db1 port 5432", "text": "could not send startup packet: Broken pipe"},
        "db1 port 5432 cannot be used: could not send startup packet: Broken pipe",
    ),
    PostgresErrorText.NO_DSN: (
        {"dsn": "shop", "hint": "odbcinst -q -s lists the DSNs"},
        "there is no DSN 'shop'; odbcinst -q -s lists the DSNs",
    ),
    PostgresErrorText.NO_DRIVER: ({}, "the connection string has no driver; add DRIVER={PostgreSQL Unicode}"),
    PostgresErrorText.DRIVER_NOT_LOADED: (
        {"text": "Can't open lib 'psqlodbcw.so' : file not found", "hint": "apt install odbc-postgresql"},
        "the ODBC driver cannot be loaded: Can't open lib 'psqlodbcw.so' : file not found; apt install odbc-postgresql",
    ),
    PostgresErrorText.CONNECTION_LOST: (
        {"text": "server closed the connection unexpectedly"},
        "the connection was lost: server closed the connection unexpectedly",
    ),
    PostgresErrorText.LOCK_TIMEOUT: ({"query": "probe/head"}, "probe/head: could not get a lock in time"),
    BindingText.VALUE_MISSING: ({"query": "probe/head", "value": "timeout"}, "probe/head needs a value for timeout"),
    BindingText.VALUE_UNUSED: (
        {"query": "probe/head", "value": "timeout"},
        "probe/head does not use the value timeout",
    ),
    BindingText.NUL_CHARACTER: (
        {"query": "probe/head"},
        "probe/head: a value contains a NUL character, which this server cannot store",
    ),
    LoginText.NO_ANSWER: ({"target": "shop", "time": "10 s"}, "shop: no answer to the login within 10 s"),
    ControlSchemaText.SCHEMA_IGNORED: (
        {
            "object": "the schema",
            "problem": "is owned by dba, which is neither this role nor a superuser",
            "advice": 'if you trust that role, write schema_owner = "dba" for this target in qmon.toml',
        },
        "qmon ignores the schema qmon of this database: the schema is owned by dba, which is neither "
        'this role nor a superuser; if you trust that role, write schema_owner = "dba" for this '
        "target in qmon.toml",
    ),
    ControlSchemaText.NOTHING_CHANGED: (
        {
            "reason": "qmon ignores the schema qmon of this database: the schema is owned by dba, which is neither "
            'this role nor a superuser; if you trust that role, write schema_owner = "dba" for this '
            "target in qmon.toml"
        },
        "qmon ignores the schema qmon of this database: the schema is owned by dba, which is neither "
        'this role nor a superuser; if you trust that role, write schema_owner = "dba" for this '
        "target in qmon.toml; nothing was changed",
    ),
    DriverCallText.NO_ANSWER_TO_CANCEL: ({}, "no answer to a cancel; the connection was abandoned"),
    DriverCallText.NO_ANSWER: ({"time": "10 s"}, "no answer for 10 s; the connection was abandoned"),
    DriverCallText.CANNOT_BE_SENT: (
        {"query": "probe/head", "problem": "year 0 is out of range"},
        "probe/head: a value cannot be sent: year 0 is out of range",
    ),
    DriverCallText.CANCELLED: ({"query": "probe/head"}, "probe/head: cancelled"),
    DriverCallText.INTERRUPTED: ({}, "interrupted before the server answered; the connection was abandoned"),
    DriverCallText.ABANDONED: ({}, "the connection was abandoned before the server answered"),
    DriverCallText.CLOSED: ({}, "the connection is closed"),
    FaultText.HIDDEN: (
        {"error": "50001"},
        "refused with error 50001; its text is hidden because settings.redact is set",
    ),
    DriverText.NO_SUCH_DRIVER: (
        {"name": "PostgreSQL ANSI", "names": "FreeTDS, PostgreSQL Unicode"},
        "there is no ODBC driver 'PostgreSQL ANSI'; installed: FreeTDS, PostgreSQL Unicode",
    ),
    OdbcText.NO_DRIVER_MANAGER: (
        {"hint": "apt install unixodbc"},
        "the ODBC driver manager is not installed: apt install unixodbc",
    ),
    OdbcText.BAD_CHARACTERS: ({}, "the connection string contains characters that the driver does not accept"),
    OdbcText.NESTED_TRANSACTION: ({}, "a transaction is already open; transactions do not nest"),
    OdbcText.NOTHING_COMMITTED: ({}, "nothing was committed, because a statement of the transaction failed"),
    OdbcText.WRONG_RESULTS: (
        {"query": "probe/head", "results": "1 result", "wanted": 2},
        "probe/head returned 1 result instead of 2",
    ),
    KeywordText.NOT_KEYWORDS: (
        {},
        "the connection string is not KEYWORD=value;KEYWORD=value, with special characters in {braces}",
    ),
    KeywordText.CREDENTIALS_IN_PQOPT: ({}, "a password inside pqopt is not accepted; give it as PWD"),
    KeywordText.BAD_PQOPT: ({}, "pqopt must be like name=value name='value with spaces'"),
    RegistryText.NOT_SUPPORTED: (
        {"target": "shop", "kind": "MySQL"},
        "shop: qmon supports PostgreSQL and SQL Server, not MySQL",
    ),
    ResultText.WRONG_COLUMNS: (
        {"query": "probe/head", "given": "id, priority", "declared": "id, age_s"},
        "probe/head returned id, priority instead of id, age_s",
    ),
    ResultText.MISSING_COLUMNS: (
        {"query": "HeadSample", "columns": "age_s"},
        "HeadSample: the result lacks the column age_s",
    ),
    ResultText.EXTRA_COLUMNS: (
        {"query": "HeadSample", "columns": "priority"},
        "HeadSample: the result has an unexpected column: priority",
    ),
    ResultText.COLUMN_TWICE: (
        {"query": "HeadSample", "columns": "id, id"},
        "HeadSample: the result has a column twice: id, id",
    ),
    ResultText.WRONG_TYPE: (
        {"query": "HeadSample", "column": "counted", "given": "str 'soon'", "wanted": "int"},
        "HeadSample: the column counted is str 'soon', not int",
    ),
    UrlText.UNKNOWN_SCHEME: (
        {"scheme": "mysql", "schemes": "postgresql, mssql"},
        "qmon does not support mysql:// URLs; it supports: postgresql, mssql",
    ),
    UrlText.CANNOT_BE_READ: (
        {"scheme": "mssql"},
        "the mssql:// URL cannot be read; percent-encode special characters, such as %40 for @",
    ),
    UrlText.ONLY_DATABASE: (
        {"scheme": "mssql"},
        "only a database may follow the host in the mssql:// URL; write # and / in names as %23 and %2F",
    ),
    UrlText.NO_PORT: (
        {"scheme": "postgresql"},
        "the postgresql:// URL has no valid port after the host; write host:5432",
    ),
    UrlText.UNKNOWN_POSTGRES_SETTING: (
        {"name": "ssl_mode", "hint": "; did you mean sslmode?"},
        "the postgresql:// URL has the unknown setting ssl_mode; did you mean sslmode?",
    ),
    UrlText.ONE_HOST: ({}, "an mssql:// URL names one host: mssql://user@host:1433/database"),
    UrlText.UNKNOWN_MSSQL_SETTING: (
        {"name": "encript", "hint": "; did you mean encrypt?"},
        "the mssql:// URL has the unknown setting encript; did you mean encrypt?",
    ),
    QueryText.NO_FOLDER: ({}, "the sql folder of qmon is missing: the installation is broken"),
    QueryText.FOLDER_NAME: (
        {"path": "sql/postgres/probe", "names": "actions, catalog, control, designs, libraries, probes, switch"},
        "sql/postgres/probe: a folder is called actions, catalog, control, designs, libraries, probes, switch",
    ),
    QueryText.FILE_NAME: (
        {"path": "sql/postgres/probes/head.16.sql"},
        "sql/postgres/probes/head.16.sql: a file is called name.sql or name.since_16.sql",
    ),
    QueryText.BEFORE_VERSION: ({"version": 16}, " before version 16"),
    QueryText.NO_QUERY: (
        {"query": "probe/waits", "engine": "postgres", "hint": " before version 16"},
        "there is no probe/waits for postgres before version 16",
    ),
    QueryText.NO_DESIGN: (
        {"design": "rnig", "engine": "postgres", "designs": "fifo, heap, ring"},
        "there is no design 'rnig' for postgres; it has: fifo, heap, ring",
    ),
    QueryText.NO_STEP: (
        {"file": "sql/postgres/designs/lifo/01_tables.sql", "path": "sql/postgres/designs/fifo/01_table.sql"},
        "sql/postgres/designs/lifo/01_tables.sql:1: the same as "
        "sql/postgres/designs/fifo/01_table.sql, but that is no step of a design",
    ),
    QueryText.NAMES_MISSING: ({"query": "probe/head", "names": "table, id"}, "probe/head needs a name for table, id"),
    QueryText.NAMES_UNUSED: (
        {"query": "probe/head", "names": "due, priority"},
        "probe/head does not use due, priority",
    ),
    QueryText.FILTERED_INDEX: (
        {"query": "probe/head", "index": "jobs_ready"},
        "probe/head cannot name the filtered index 'jobs_ready': the statement is not recompiled",
    ),
    QueryText.NOT_AN_IDENTIFIER: ({"name": RowKey(parts=())}, "RowKey(parts=()) is not an identifier"),
    QueryText.LAYOUT_LACKS: ({"query": "probe/head", "name": "due"}, "probe/head needs due, which this layout lacks"),
    QueryText.NEEDS_WHOLE_NUMBER: (
        {"query": "probe/head", "name": "limit", "value": "soon"},
        "probe/head takes a whole number for limit, not 'soon'",
    ),
    QueryText.NEEDS_COLUMNS: (
        {"query": "probe/head", "name": "key", "value": 7},
        "probe/head takes a list of columns for key, not 7",
    ),
    QueryText.NEEDS_IDENTIFIER: (
        {"query": "probe/head", "name": "table", "value": 7},
        "probe/head takes an identifier for table, not 7",
    ),
    QueryText.OTHER_USE: (
        {"query": "probe/head", "name": "table", "value": RowKey(parts=())},
        "probe/head has another use for table than RowKey(parts=())",
    ),
    QueryText.COLUMN_WITH_TYPE: ({}, "a column with its type"),
    QueryText.CONDITION: ({}, "a condition"),
    QueryText.ROW_COLUMNS: ({}, "columns of a row"),
    QueryText.PART_OF_PAGE: ({}, "a part of a page"),
    QueryText.INDEX: ({}, "an index"),
    QueryText.NEEDS_OTHER: (
        {"query": "probe/head", "wanted": "a condition", "name": "only", "value": "soon"},
        "probe/head takes a condition for only, not 'soon'",
    ),
    QueryText.NEEDS_TIME: (
        {"query": "probe/head", "name": "due", "value": "soon"},
        "probe/head takes a column of times for due, not 'soon'",
    ),
    QueryFileText.TAKES_NO_VALUES: (
        {"path": "sql/postgres/designs/ring/01_tables.sql", "line": 3, "name": "limit"},
        "sql/postgres/designs/ring/01_tables.sql:3: an installation file takes no values, but uses :limit",
    ),
    QueryFileText.NO_COLUMNS: (
        {"path": "sql/postgres/probes/head.sql"},
        "sql/postgres/probes/head.sql:1: a probe names its columns, in order, as '-- > name'",
    ),
    QueryFileText.NO_STATEMENT: (
        {"path": "sql/postgres/probes/head.sql", "line": 3},
        "sql/postgres/probes/head.sql:3: there is no statement below the header",
    ),
    QueryFileText.SECOND_STATEMENT: (
        {"path": "sql/postgres/probes/head.sql", "line": 3},
        "sql/postgres/probes/head.sql:3: a file has only one statement, but a second statement starts after this ;",
    ),
    QueryFileText.NOT_A_NAME: (
        {"path": "sql/postgres/probes/head.sql", "line": 3, "name": "Limit"},
        "sql/postgres/probes/head.sql:3: ':Limit' is not a name; write ':name  what it is'",
    ),
    QueryFileText.NOT_A_COLUMN: (
        {"path": "sql/postgres/probes/head.sql", "line": 3, "column": "Age_s"},
        "sql/postgres/probes/head.sql:3: 'Age_s' is not a column; write one column per line, in lower case",
    ),
    QueryFileText.DECLARED_TWICE: (
        {"path": "sql/postgres/probes/head.sql", "line": 3, "name": "limit"},
        "sql/postgres/probes/head.sql:3: limit is declared twice",
    ),
    QueryFileText.NO_PURPOSE: (
        {"path": "sql/postgres/probes/head.sql"},
        "sql/postgres/probes/head.sql:1: the file must start with '-- ' and its purpose",
    ),
    QueryFileText.VALUE_UNDECLARED: (
        {"path": "sql/postgres/probes/head.sql", "line": 3, "name": "limit"},
        "sql/postgres/probes/head.sql:3: :limit is not declared in the header",
    ),
    QueryFileText.SLOT_UNDECLARED: (
        {"path": "sql/postgres/probes/head.sql", "line": 3, "name": "due"},
        "sql/postgres/probes/head.sql:3: {due} is not declared in the header",
    ),
    QueryFileText.BOTH_MARKS: ({}, "with and without '?'"),
    QueryFileText.BOTH_WAYS: (
        {"path": "sql/postgres/probes/head.sql", "line": 3, "name": "due", "ways": "with and without '?'"},
        "sql/postgres/probes/head.sql:3: {due} is written both with and without '?'",
    ),
    QueryFileText.SLOT_UNUSED: (
        {"path": "sql/postgres/probes/head.sql", "line": 3, "name": "due"},
        "sql/postgres/probes/head.sql:3: {due} is declared but not used",
    ),
    QueryFileText.VALUE_UNUSED: (
        {"path": "sql/postgres/probes/head.sql", "line": 3, "name": "limit"},
        "sql/postgres/probes/head.sql:3: :limit is declared but not used",
    ),
    SqlText.NOT_A_SLOT: (
        {"path": "sql/postgres/probes/head.sql", "line": 3, "text": "{name:int}"},
        "sql/postgres/probes/head.sql:3: {name:int} is not {name}, {name?}, {name!literal} or {name!int}",
    ),
    SqlText.BODY_OPEN: (
        {"path": "sql/postgres/probes/head.sql", "line": 3, "mark": "$body$"},
        "sql/postgres/probes/head.sql:3: the body opened by $body$ does not end",
    ),
    SqlText.BARE_MARK: (
        {"path": "sql/postgres/probes/head.sql", "line": 3},
        "sql/postgres/probes/head.sql:3: a bare ? would be taken for a value; write :name",
    ),
    SqlText.NO_PARTNER: (
        {"path": "sql/postgres/probes/head.sql", "line": 3, "mark": "{"},
        "sql/postgres/probes/head.sql:3: this { has no partner",
    ),
    SqlText.STATEMENT: ({}, "a statement"),
    SqlText.COMMENT_OPEN: (
        {"path": "sql/postgres/probes/head.sql", "line": 3},
        "sql/postgres/probes/head.sql:3: the comment that begins here does not end",
    ),
    PoolerText.SHARED_SESSIONS: (
        {"target": "shop", "mode": "transaction"},
        "shop: the connection goes through a pooler in transaction mode, which gives this session to "
        "other clients: connect to the server itself, or to a pool in session mode (pgbouncer: "
        "pool_mode = session)",
    ),
    PostgresText.NO_PARTS: ({}, "a name without any part cannot be an identifier"),
    PostgresText.BAD_IDENTIFIER: ({"name": ""}, "'' cannot be an identifier: it is empty or contains a NUL character"),
    PostgresText.LONG_IDENTIFIER: (
        {"name": "orders_of_all_customers_of_the_northern_region_that_wait_for_delivery", "limit": 63},
        "'orders_of_all_customers_of_the_northern_region_that_wait_for_delivery' cannot be an "
        "identifier: PostgreSQL truncates names after 63 bytes",
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
        {"target": "shop", "version": 12, "minimum": 13},
        "shop: PostgreSQL 12 is too old; qmon needs 13 or later",
    ),
    PostgresText.UNKNOWN_SSLMODE: (
        {"target": "shop", "mode": "verfy-full", "hint": "; did you mean verify-full?"},
        "shop: the sslmode 'verfy-full' is unknown; did you mean verify-full?",
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
        {"hint": "apt install odbc-postgresql"},
        "the ODBC driver for PostgreSQL is not installed: apt install odbc-postgresql",
    ),
    SqlServerText.NO_PARTS: ({}, "a name without any part cannot be an identifier"),
    SqlServerText.BAD_IDENTIFIER: ({"name": ""}, "'' cannot be an identifier: it is empty or contains a NUL character"),
    SqlServerText.LONG_IDENTIFIER: (
        {
            "name": "orders of all customers of the northern region that wait for delivery or for the payment of "
            "the last delivery of the previous year",
            "limit": 128,
        },
        "'orders of all customers of the northern region that wait for delivery or for the payment "
        "of the last delivery of the previous year' cannot be an identifier: SQL Server allows at "
        "most 128 characters",
    ),
    SqlServerText.NO_ADVISORY_LOCKS: ({}, "advisory_lock: SQL Server has no locks with numbers as keys"),
    SqlServerText.READ_ONLY: (
        {"target": "shop"},
        "shop is read-only (a readable secondary, or a read-only database): nothing can be changed here; "
        "connect to its primary",
    ),
    SqlServerText.NO_DRIVER: (
        {"hint": 'pip install "mssql-python-odbc", or Microsoft\'s msodbcsql18, or apt install tdsodbc'},
        'no ODBC driver for SQL Server is installed: pip install "mssql-python-odbc", or Microsoft\'s '
        "msodbcsql18, or apt install tdsodbc",
    ),
    FreeTdsText.NO_ENCRYPTION: (
        {"value": "strict"},
        "FreeTDS does not support encryption 'strict': use yes or no; Microsoft's driver also supports strict",
    ),
    LoginMethodText.FREETDS_UNSUPPORTED: (
        {"keyword": "Authentication", "value": "ActiveDirectoryMsi"},
        "FreeTDS does not support Authentication=ActiveDirectoryMsi: Entra needs Microsoft's driver; "
        "for Windows logins use Trusted_Connection with Kerberos",
    ),
    LoginMethodText.ODBC_UNSUPPORTED: (
        {
            "keyword": "Authentication",
            "value": "ActiveDirectoryDefault",
            "names": "SqlPassword, ActiveDirectoryIntegrated, ActiveDirectoryInteractive, ActiveDirectoryMsi, "
            "ActiveDirectoryServicePrincipal, ActiveDirectoryPassword",
        },
        "Microsoft's ODBC driver does not support Authentication=ActiveDirectoryDefault; it "
        "supports: SqlPassword, ActiveDirectoryIntegrated, ActiveDirectoryInteractive, "
        "ActiveDirectoryMsi, ActiveDirectoryServicePrincipal, ActiveDirectoryPassword",
    ),
    LoginMethodText.WINDOW_NEEDED: (
        {"method": "ActiveDirectoryInteractive"},
        "ActiveDirectoryInteractive opens a window and works only with Microsoft's driver for "
        "Windows; on this system, use ActiveDirectoryMsi, ActiveDirectoryServicePrincipal, or "
        "ActiveDirectoryIntegrated with a Kerberos ticket",
    ),
    LoginMethodText.CLIENT_ID: ({}, "the application's client id; its secret is the password"),
    LoginMethodText.USER_NEEDED: (
        {"method": "ActiveDirectoryPassword", "example": "mssql://user@host/Database"},
        "ActiveDirectoryPassword needs a user: mssql://user@host/Database",
    ),
    LoginMethodText.NO_USER: (
        {"method": "ActiveDirectoryIntegrated", "user": "anna"},
        "ActiveDirectoryIntegrated takes no user: it uses the account that runs qmon; leave 'anna' out",
    ),
    DriverText.MANAGER_OF_WINDOWS: ({}, "it is part of Windows; repair Windows"),
    DriverText.POSTGRES_INSTALLER: ({}, "run the installer of psqlODBC (64 bit) from odbc.postgresql.org"),
    DriverText.MICROSOFT_INSTALLER: ({}, "run the installer of Microsoft's ODBC Driver 18 for SQL Server (64 bit)"),
    DriverText.DSNS: ({}, "odbcinst -q -s lists the DSNs"),
    DriverText.DSNS_OF_WINDOWS: ({}, "odbcad32 (64 bit) shows the DSNs"),
    DriverText.CHOICE: (
        {"command": 'pip install "qmon-sql[sqlserver]"', "package": "apt install tdsodbc"},
        'pip install "qmon-sql[sqlserver]", or Microsoft\'s msodbcsql18, or apt install tdsodbc',
    ),
    DriverText.NEEDS: (
        {"command": 'pip install "qmon-sql[sqlserver]"', "packages": "apt install libkrb5-3 libltdl7"},
        'pip install "qmon-sql[sqlserver]" includes a driver, which needs apt install libkrb5-3 libltdl7',
    ),
}


@parametrized(WORDINGS)
def test_wording(text: Text, fields: dict[str, Any], sentence: str) -> None:
    assert text.render(**fields) == sentence
