-- The operations: what operators did to the queues of this database. Each batch of an operation counts itself here, in
-- its own transaction. And the stores: tables that keep what an undo needs. Does nothing if they exist. Operators write
-- through the procedures alone, which write into the tables of their own owner. These change a running operation of the
-- caller's own login, or add undone or emptied rows while such an operation of that login runs. An operation with the state
-- running whose session (session_id, session_start) is gone was interrupted.
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
IF OBJECT_ID(N'qmon.operation_begin', N'P') IS NULL
    EXEC (N'CREATE PROCEDURE qmon.operation_begin
    @id varchar(40), @kind varchar(40), @queue nvarchar(128), @about nvarchar(600), @by nvarchar(400),
    @reason nvarchar(max), @predicate nvarchar(max), @frozen nvarchar(max), @planned bigint, @undo_of varchar(40),
    @undoable bit
AS
BEGIN
    SET NOCOUNT ON;
    INSERT INTO qmon.operations (
        id, kind, queue, about, [by], session_id, session_start, reason, predicate, frozen, planned, undo_of, undoable
    )
    SELECT @id, @kind, @queue, @about, @by, @@SPID,
           (SELECT s.login_time FROM sys.dm_exec_sessions AS s WHERE s.session_id = @@SPID),
           @reason, @predicate, @frozen, @planned, @undo_of, @undoable;
END');
IF OBJECT_ID(N'qmon.operation_count', N'P') IS NULL
    EXEC (N'CREATE PROCEDURE qmon.operation_count
    @id varchar(40), @done bigint, @skipped bigint, @changed bigint, @refused bigint, @busy_s float
AS
BEGIN
    SET NOCOUNT ON;
    UPDATE qmon.operations
    SET done = done + @done, skipped = skipped + @skipped, changed = changed + @changed, refused = refused + @refused,
        busy_s = busy_s + @busy_s
    WHERE id = @id AND state = ''running'' AND login = ORIGINAL_LOGIN()
        AND @done >= 0 AND @skipped >= 0 AND @changed >= 0 AND @refused >= 0 AND @busy_s >= 0;
    SELECT @@ROWCOUNT AS done;
END');
IF OBJECT_ID(N'qmon.operation_end', N'P') IS NULL
    EXEC (N'CREATE PROCEDURE qmon.operation_end
    @id varchar(40), @state varchar(20), @notes nvarchar(max)
AS
BEGIN
    SET NOCOUNT ON;
    UPDATE qmon.operations
    SET state = @state, notes = @notes, ended_at = SYSUTCDATETIME()
    WHERE id = @id AND state = ''running'' AND login = ORIGINAL_LOGIN()
        AND @state IN (''done'', ''cancelled'', ''interrupted'', ''failed'');
    SELECT @@ROWCOUNT AS done;
END');
IF OBJECT_ID(N'qmon.operation_undone', N'P') IS NULL
    EXEC (N'CREATE PROCEDURE qmon.operation_undone
    @id varchar(40), @done bigint
AS
BEGIN
    SET NOCOUNT ON;
    UPDATE o
    SET undone = CASE WHEN o.undone + @done > o.done THEN o.done ELSE o.undone + @done END
    FROM qmon.operations AS o
    WHERE o.id = @id AND @done >= 0
        AND EXISTS (
            SELECT 1
            FROM qmon.operations AS u
            WHERE u.undo_of = o.id AND u.state = ''running'' AND u.login = ORIGINAL_LOGIN()
        );
    SELECT @@ROWCOUNT AS done;
END');
IF OBJECT_ID(N'qmon.operation_emptied', N'P') IS NULL
    EXEC (N'CREATE PROCEDURE qmon.operation_emptied
    @id varchar(40), @done bigint
AS
BEGIN
    SET NOCOUNT ON;
    UPDATE o
    SET emptied = CASE WHEN o.emptied + @done > o.done THEN o.done ELSE o.emptied + @done END
    FROM qmon.operations AS o
    WHERE o.id = @id AND @done >= 0
        AND EXISTS (
            SELECT 1
            FROM qmon.operations AS e
            WHERE e.kind = ''empty-trash'' AND e.state = ''running'' AND e.login = ORIGINAL_LOGIN()
        );
    SELECT @@ROWCOUNT AS done;
END');
