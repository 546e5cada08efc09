-- The pauses: who stopped the pushers or poppers of which table, why, and until when; those that are over stay. And the
-- gates: until when inserts into the tables that have a gate (a trigger) are refused. Does nothing where they exist.
-- Everybody may read the gates: whoever inserts must see that he may not.
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
    IF DATABASE_PRINCIPAL_ID(N'qmon_operator') IS NOT NULL
        GRANT SELECT, INSERT, UPDATE ON OBJECT::qmon.pauses TO qmon_operator;
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
