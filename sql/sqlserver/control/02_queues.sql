-- The registry: the queues that qmon installed here, and how their tables act as queues. Does nothing if it exists. If
-- the role qmon_monitor already exists, it may read the registry. The server has no JSON before 2016: readers of the
-- layout check it.
IF OBJECT_ID(N'qmon.queues', N'U') IS NULL
BEGIN
    CREATE TABLE qmon.queues (
        queue        nvarchar(128) COLLATE Latin1_General_BIN2 NOT NULL CONSTRAINT qmon_queues_key PRIMARY KEY,
        design       nvarchar(64)   NOT NULL,
        layout       nvarchar(max)  NOT NULL,
        version      int            NOT NULL CONSTRAINT qmon_queues_version DEFAULT 1,
        installed_by nvarchar(128)  NOT NULL CONSTRAINT qmon_queues_by DEFAULT ORIGINAL_LOGIN(),
        installed_at datetime2(3)   NOT NULL CONSTRAINT qmon_queues_at DEFAULT SYSUTCDATETIME()
    );
    IF DATABASE_PRINCIPAL_ID(N'qmon_monitor') IS NOT NULL
        GRANT SELECT ON OBJECT::qmon.queues TO qmon_monitor;
END;
