-- The operations: what operators did to the queues of this database. Each batch of an operation counts itself here, in
-- its own transaction. And the stores: tables that keep what an undo needs. Does nothing where they exist.
-- An operation that says running and whose session (session_id, session_start) is gone was interrupted.
IF OBJECT_ID(N'qmon.operations', N'U') IS NULL
BEGIN
    CREATE TABLE qmon.operations (
        id            varchar(40)    NOT NULL CONSTRAINT qmon_operations_key PRIMARY KEY,
        kind          varchar(40)    NOT NULL,
        queue         nvarchar(128)  NOT NULL,
        about         nvarchar(600)  NOT NULL,
        [by]          nvarchar(400)  NOT NULL,
        login         nvarchar(128)  NOT NULL CONSTRAINT qmon_operations_login DEFAULT ORIGINAL_LOGIN(),
        session_id    int            NOT NULL,
        session_start datetime       NULL,
        reason        nvarchar(max)  NOT NULL,
        predicate     nvarchar(max)  NOT NULL,
        frozen        nvarchar(max)  NOT NULL,
        planned       bigint         NOT NULL,
        done          bigint         NOT NULL CONSTRAINT qmon_operations_done DEFAULT 0,
        skipped       bigint         NOT NULL CONSTRAINT qmon_operations_skipped DEFAULT 0,
        changed       bigint         NOT NULL CONSTRAINT qmon_operations_changed DEFAULT 0,
        refused       bigint         NOT NULL CONSTRAINT qmon_operations_refused DEFAULT 0,
        busy_s        float          NOT NULL CONSTRAINT qmon_operations_busy DEFAULT 0,
        started_at    datetime2(3)   NOT NULL CONSTRAINT qmon_operations_started DEFAULT SYSUTCDATETIME(),
        ended_at      datetime2(3)   NULL,
        state         varchar(20)    NOT NULL CONSTRAINT qmon_operations_state DEFAULT 'running',
        notes         nvarchar(max)  NOT NULL CONSTRAINT qmon_operations_notes DEFAULT N'[]',
        undo_of       varchar(40)    NULL,
        undoable      bit            NOT NULL CONSTRAINT qmon_operations_undoable DEFAULT 0,
        undone        bigint         NOT NULL CONSTRAINT qmon_operations_undone DEFAULT 0,
        emptied       bigint         NOT NULL CONSTRAINT qmon_operations_emptied DEFAULT 0
    );
    CREATE INDEX qmon_operations_time ON qmon.operations (started_at);
    IF DATABASE_PRINCIPAL_ID(N'qmon_monitor') IS NOT NULL
        GRANT SELECT ON OBJECT::qmon.operations TO qmon_monitor;
END;
IF OBJECT_ID(N'qmon.stores', N'U') IS NULL
BEGIN
    CREATE TABLE qmon.stores (
        store     int           IDENTITY(1, 1) NOT NULL CONSTRAINT qmon_stores_key PRIMARY KEY,
        kind      varchar(20)   NOT NULL,
        about     nvarchar(600) NOT NULL,
        structure nvarchar(max) NOT NULL
    );
    IF DATABASE_PRINCIPAL_ID(N'qmon_monitor') IS NOT NULL
        GRANT SELECT ON OBJECT::qmon.stores TO qmon_monitor;
END;
