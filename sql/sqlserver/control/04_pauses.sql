-- The pauses: the operator, side, table, reason and end of each; past ones stay. And the gates: until when inserts into
-- the tables that have a gate (a trigger) are refused. Does nothing if they exist. Operators write pauses through the
-- procedures alone.
-- Every user may read the gates: a producer must see that it is paused.
IF OBJECT_ID(N'qmon.pauses', N'U') IS NULL
BEGIN
    CREATE TABLE qmon.pauses (
        id        bigint         IDENTITY(1, 1) NOT NULL CONSTRAINT qmon_pauses_key PRIMARY KEY,
        queue     nvarchar(128)  NOT NULL,
        about     nvarchar(600)  NOT NULL,
        side      varchar(10)    NOT NULL,
        switch    nvarchar(600)  NOT NULL,
        since     datetime2(3)   NOT NULL CONSTRAINT qmon_pauses_since DEFAULT SYSUTCDATETIME(),
        until     datetime2(3)   NOT NULL,
        [by]      nvarchar(400)  NOT NULL,
        login     nvarchar(128)  NOT NULL CONSTRAINT qmon_pauses_login DEFAULT ORIGINAL_LOGIN(),
        reason    nvarchar(max)  NOT NULL,
        way       varchar(10)    NOT NULL,
        lifted_at datetime2(3)   NULL,
        lifted_by nvarchar(400)  NULL
    );
    CREATE INDEX qmon_pauses_open ON qmon.pauses (until) WHERE lifted_at IS NULL;
    IF DATABASE_PRINCIPAL_ID(N'qmon_monitor') IS NOT NULL
        GRANT SELECT ON OBJECT::qmon.pauses TO qmon_monitor;
END;
IF OBJECT_ID(N'qmon.gates', N'U') IS NULL
BEGIN
    CREATE TABLE qmon.gates (
        trigger_id int          NOT NULL CONSTRAINT qmon_gates_key PRIMARY KEY,
        until_utc  datetime2(3) NOT NULL
    );
    GRANT SELECT ON OBJECT::qmon.gates TO public;
    IF DATABASE_PRINCIPAL_ID(N'qmon_operator') IS NOT NULL
        GRANT INSERT, UPDATE, DELETE ON OBJECT::qmon.gates TO qmon_operator;
END;
IF OBJECT_ID(N'qmon.record_pause', N'P') IS NULL
    EXEC (N'CREATE PROCEDURE qmon.record_pause
    @queue nvarchar(128), @about nvarchar(600), @side varchar(10), @switch nvarchar(600), @until datetime2(3),
    @by nvarchar(400), @reason nvarchar(max), @way varchar(10)
AS
BEGIN
    SET NOCOUNT ON;
    INSERT INTO qmon.pauses (queue, about, side, switch, until, [by], reason, way)
    VALUES (@queue, @about, @side, @switch, @until, @by, @reason, @way);
END');
IF OBJECT_ID(N'qmon.lift_pauses', N'P') IS NULL
    EXEC (N'CREATE PROCEDURE qmon.lift_pauses
    @about nvarchar(600), @side varchar(10), @by nvarchar(400)
AS
BEGIN
    SET NOCOUNT ON;
    UPDATE qmon.pauses
    SET lifted_at = SYSUTCDATETIME(), lifted_by = @by
    WHERE lifted_at IS NULL AND about = @about AND side = @side AND until > SYSUTCDATETIME();
    SELECT @@ROWCOUNT AS done;
END');
IF DATABASE_PRINCIPAL_ID(N'qmon_operator') IS NOT NULL
BEGIN
    GRANT EXECUTE ON OBJECT::qmon.record_pause TO qmon_operator;
    GRANT EXECUTE ON OBJECT::qmon.lift_pauses TO qmon_operator;
END;
