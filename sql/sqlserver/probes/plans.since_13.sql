-- The plans of the statements that take or change rows of a table, as Query Store has them, with what their calls have
-- read: in the intervals of the last hour, and in those of the days before. The table's name in the text identifies a
-- statement, so a statement about a table with a longer name may be included. Needs VIEW DATABASE STATE (2022 and
-- later: VIEW DATABASE PERFORMANCE STATE).
-- :name          the table's name
-- :limit         maximum number of plans, and of statements
-- :chars         maximum characters of a statement
-- > statement_id its number in Query Store
-- > plan_id      the same of the plan
-- > routine      the procedure that the statement is in; empty: in none
-- > age_s        seconds since the plan was first made
-- > forced       true: this plan is forced
-- > calls        calls that ended in the last hour, and in the rest of the interval in which it began
-- > reads        pages that they have read, in memory or not
-- > spent_s      seconds that they took
-- > calls_before calls that ended in the seven days before
-- > reads_before pages that these have read
-- > spent_before_s seconds that these took; NULL: there were none
-- > statement    the beginning of its text
WITH found AS (
    SELECT TOP (CAST(:limit AS int))
        q.query_id,
        q.object_id,
        t.query_sql_text
    FROM sys.query_store_query AS q
    JOIN sys.query_store_query_text AS t ON t.query_text_id = q.query_text_id
    WHERE q.is_internal_query = 0
        AND q.last_execution_time >= DATEADD(HOUR, -1, SYSDATETIMEOFFSET())
        AND CHARINDEX(CAST(:name AS nvarchar(128)), t.query_sql_text) > 0
        AND (
            LOWER(t.query_sql_text) LIKE N'%delete%'
            OR LOWER(t.query_sql_text) LIKE N'%update%'
            OR LOWER(t.query_sql_text) LIKE N'%merge%'
            OR LOWER(t.query_sql_text) LIKE N'%readpast%'
        )
    ORDER BY q.last_execution_time DESC
)
SELECT TOP (CAST(:limit AS int))
    CAST(f.query_id AS nvarchar(20)) AS statement_id,
    CAST(p.plan_id AS nvarchar(20)) AS plan_id,
    CAST(COALESCE(OBJECT_SCHEMA_NAME(f.object_id) + N'.' + OBJECT_NAME(f.object_id), N'') AS nvarchar(260)) AS routine,
    CAST(DATEDIFF(MINUTE, p.initial_compile_start_time, SYSDATETIMEOFFSET()) * 60.0 AS float) AS age_s,
    CAST(p.is_forced_plan AS bit) AS forced,
    CAST(COALESCE(u.calls, 0) AS bigint) AS calls,
    CAST(COALESCE(u.reads, 0.0) AS float) AS reads,
    CAST(COALESCE(u.spent_us, 0.0) / 1000000.0 AS float) AS spent_s,
    CAST(COALESCE(u.calls_before, 0) AS bigint) AS calls_before,
    CAST(COALESCE(u.reads_before, 0.0) AS float) AS reads_before,
    CAST(u.spent_before_us / 1000000.0 AS float) AS spent_before_s,
    CAST(COALESCE(LEFT(f.query_sql_text, CAST(:chars AS int)), N'') AS nvarchar(4000)) AS statement
FROM found AS f
JOIN sys.query_store_plan AS p ON p.query_id = f.query_id
CROSS APPLY (
    SELECT
        SUM(CASE WHEN i.end_time > DATEADD(HOUR, -1, SYSDATETIMEOFFSET()) THEN r.count_executions END) AS calls,
        SUM(CASE WHEN i.end_time > DATEADD(HOUR, -1, SYSDATETIMEOFFSET()) THEN r.count_executions * r.avg_logical_io_reads END)
            AS reads,
        SUM(CASE WHEN i.end_time > DATEADD(HOUR, -1, SYSDATETIMEOFFSET()) THEN r.count_executions * r.avg_duration END)
            AS spent_us,
        SUM(CASE WHEN i.end_time > DATEADD(HOUR, -1, SYSDATETIMEOFFSET()) THEN NULL ELSE r.count_executions END) AS calls_before,
        SUM(
            CASE
                WHEN i.end_time > DATEADD(HOUR, -1, SYSDATETIMEOFFSET()) THEN NULL
                ELSE r.count_executions * r.avg_logical_io_reads
            END
        ) AS reads_before,
        SUM(
            CASE WHEN i.end_time > DATEADD(HOUR, -1, SYSDATETIMEOFFSET()) THEN NULL ELSE r.count_executions * r.avg_duration END
        ) AS spent_before_us
    FROM sys.query_store_runtime_stats AS r
    JOIN sys.query_store_runtime_stats_interval AS i ON i.runtime_stats_interval_id = r.runtime_stats_interval_id
    WHERE r.plan_id = p.plan_id
        AND r.execution_type = 0
        AND i.start_time >= DATEADD(DAY, -7, SYSDATETIMEOFFSET())
) AS u
WHERE u.calls > 0 OR u.calls_before > 0
ORDER BY u.calls DESC, p.plan_id DESC
OPTION (MAXDOP 1)
