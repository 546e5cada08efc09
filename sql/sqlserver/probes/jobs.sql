-- The steps of SQL Server Agent's jobs that name a queue's table, or a procedure that pops from it, in this database.
-- Needs SELECT on msdb.dbo.sysjobs and msdb.dbo.sysjobsteps. The last statement of a step is known only for its last
-- run.
-- :names     names as XML, each in <i>
-- :chars     maximum characters of a step's command
-- > name     which of them
-- > read_at  server clock, seconds since the epoch
-- > job      the job
-- > step     the number of its step
-- > enabled  the job is started by its schedule
-- > outcome  of the step's last run: 0 failed, 1 succeeded, 2 retry, 3 canceled, 5 unknown; NULL: unknown
-- > ran_s    seconds since that began; NULL: it never ran
-- > command  the beginning of its command
SELECT TOP (100)
    CAST(n.name AS nvarchar(300)) AS name,
    CAST(DATEDIFF(DAY, '19700101', u.now) * 86400.0 + DATEDIFF(SECOND, CAST(u.now AS date), u.now) AS float) AS read_at,
    CAST(j.name AS nvarchar(128)) AS job,
    CAST(s.step_id AS int) AS step,
    CAST(j.enabled AS bit) AS enabled,
    CAST(s.last_run_outcome AS int) AS outcome,
    CAST(
        DATEDIFF(
            MINUTE,
            DATEADD(
                SECOND,
                s.last_run_time / 10000 * 3600 + s.last_run_time / 100 % 100 * 60 + s.last_run_time % 100,
                CONVERT(datetime, CONVERT(char(8), NULLIF(s.last_run_date, 0)), 112)
            ),
            GETDATE()
        ) * 60.0
    AS float) AS ran_s,
    CAST(COALESCE(LEFT(s.command, CAST(:chars AS int)), N'') AS nvarchar(4000)) AS command
FROM (SELECT SYSUTCDATETIME() AS now) AS u
CROSS JOIN (
    SELECT v.item.value('.', 'nvarchar(300)') AS name
    FROM (SELECT CAST(CAST(:names AS nvarchar(max)) AS xml) AS list) AS l
    CROSS APPLY l.list.nodes('/i') AS v(item)
) AS n
JOIN msdb.dbo.sysjobsteps AS s
    ON CHARINDEX(LOWER(n.name) COLLATE Latin1_General_BIN2, LOWER(s.command) COLLATE Latin1_General_BIN2) > 0
JOIN msdb.dbo.sysjobs AS j ON j.job_id = s.job_id
WHERE s.subsystem = N'TSQL'
    AND s.database_name = DB_NAME()
ORDER BY j.name, s.step_id
OPTION (MAXDOP 1)
