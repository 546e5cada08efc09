-- Sessions that wait for a session, directly or behind other sessions, over at most twenty levels.
-- :session       its id
-- > waiter       session that waits
-- > application  its application name
-- > waiting_s    seconds it has waited
-- > directly     it waits for the session itself
-- > blocks       sessions that wait for it
WITH behind AS (
    SELECT r.session_id AS waiter, r.wait_time, 1 AS depth
    FROM sys.dm_exec_requests AS r
    WHERE r.blocking_session_id = :session
    UNION ALL
    SELECT r.session_id, r.wait_time, b.depth + 1
    FROM sys.dm_exec_requests AS r
    JOIN behind AS b ON r.blocking_session_id = b.waiter
    WHERE b.depth < 20
        AND r.session_id <> b.waiter
)
SELECT
    CAST(b.waiter AS int) AS waiter,
    CAST(COALESCE(MAX(s.program_name), N'') AS nvarchar(128)) AS application,
    CAST(MAX(b.wait_time) / 1000.0 AS float) AS waiting_s,
    CAST(CASE MIN(b.depth) WHEN 1 THEN 1 ELSE 0 END AS bit) AS directly,
    (
        SELECT COUNT(*) FROM sys.dm_exec_requests AS r WHERE r.blocking_session_id = b.waiter AND r.session_id <> b.waiter
    ) AS blocks
FROM behind AS b
LEFT JOIN sys.dm_exec_sessions AS s ON s.session_id = b.waiter
GROUP BY b.waiter
ORDER BY MAX(b.wait_time) DESC, b.waiter
