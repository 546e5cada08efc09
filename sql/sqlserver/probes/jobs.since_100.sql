-- The steps of SQL Server Agent's jobs that name a queue's table: Azure SQL Database has no Agent.
-- > name     no row
-- > read_at  no row
-- > job      no row
-- > step     no row
-- > enabled  no row
-- > outcome  no row
-- > ran_s    no row
-- > command  no row
SELECT
    CAST(N'' AS nvarchar(300)) AS name,
    CAST(0.0 AS float) AS read_at,
    CAST(N'' AS nvarchar(128)) AS job,
    CAST(0 AS int) AS step,
    CAST(0 AS bit) AS enabled,
    CAST(NULL AS int) AS outcome,
    CAST(NULL AS float) AS ran_s,
    CAST(N'' AS nvarchar(4000)) AS command
FROM sys.databases AS d
WHERE 1 = 0
