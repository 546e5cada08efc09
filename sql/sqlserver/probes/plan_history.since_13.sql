-- Whether Query Store currently records plans of this database. Needs VIEW DATABASE STATE (2022 and later: VIEW
-- DATABASE PERFORMANCE STATE).
-- > read_at server clock, seconds since the epoch
-- > kept    plans can be read: it is on, or has become read-only
-- > why     its state if they cannot, otherwise empty
-- > home    empty: it has no schema of its own
SELECT
    CAST(DATEDIFF(DAY, '19700101', t.now) * 86400.0 + DATEDIFF(SECOND, CAST(t.now AS date), t.now) AS float) AS read_at,
    CAST(CASE WHEN o.actual_state IN (1, 2) THEN 1 ELSE 0 END AS bit) AS kept,
    CAST(
        CASE WHEN o.actual_state IN (1, 2) THEN N'' ELSE N'Query Store is ' + COALESCE(o.actual_state_desc, N'OFF') END
    AS nvarchar(100)) AS why,
    N'' AS home
FROM (SELECT SYSUTCDATETIME() AS now) AS t
LEFT JOIN sys.database_query_store_options AS o ON 1 = 1
