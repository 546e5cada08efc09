-- The settings of the database that the figures of a bench depend on.
-- > version                 of the server
-- > recovery_model          the recovery model
-- > read_committed_snapshot whether readers see versions of rows
-- > snapshot_isolation      whether transactions may see a snapshot
-- > compatibility_level     of the database
-- > delayed_durability      whether a commit may be reported before it is durable
-- > room                    connections that are free
SELECT
    CAST(SERVERPROPERTY('ProductVersion') AS nvarchar(128)) AS version,
    LOWER(d.recovery_model_desc) AS recovery_model,
    CASE d.is_read_committed_snapshot_on WHEN 1 THEN 'on' ELSE 'off' END AS read_committed_snapshot,
    CASE d.snapshot_isolation_state WHEN 1 THEN 'on' ELSE 'off' END AS snapshot_isolation,
    CAST(d.compatibility_level AS int) AS compatibility_level,
    LOWER(d.delayed_durability_desc) AS delayed_durability,
    @@MAX_CONNECTIONS - (SELECT COUNT(*) FROM sys.dm_exec_sessions AS s WHERE s.is_user_process = 1) AS room
FROM sys.databases AS d
WHERE d.name = DB_NAME()
