-- Sessions that wait for a session, directly or behind other sessions. Reads only sessions that wait for a lock.
-- :session       its process id
-- > waiter       session that waits
-- > application  its application name
-- > waiting_s    seconds since its statement began, the longest possible wait
-- > directly     it waits for the session itself
-- > blocks       sessions that wait for it
WITH RECURSIVE pairs AS MATERIALIZED (
    SELECT w.pid AS waiter, unnest(pg_blocking_pids(w.pid)) AS blocker
    FROM (SELECT DISTINCT l.pid FROM pg_locks AS l WHERE NOT l.granted LIMIT 200) AS w
),
behind AS (
    SELECT p.waiter FROM pairs AS p WHERE p.blocker = CAST(:session AS int)
    UNION
    SELECT p.waiter FROM pairs AS p JOIN behind AS b ON p.blocker = b.waiter
)
SELECT
    b.waiter,
    coalesce(a.application_name, '') AS application,
    CAST(extract(epoch FROM clock_timestamp() - a.query_start) AS float8) AS waiting_s,
    EXISTS (SELECT 1 FROM pairs AS p WHERE p.waiter = b.waiter AND p.blocker = CAST(:session AS int)) AS directly,
    CAST((SELECT count(*) FROM pairs AS p WHERE p.blocker = b.waiter) AS int) AS blocks
FROM behind AS b
LEFT JOIN LATERAL pg_stat_get_activity(b.waiter) AS a ON a.pid = b.waiter
WHERE b.waiter <> CAST(:session AS int)
ORDER BY waiting_s DESC NULLS LAST, b.waiter
