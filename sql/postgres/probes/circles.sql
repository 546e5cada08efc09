-- Sessions that wait for a lock of a session that is also waiting: if such pairs form a circle, a deadlock is near.
-- Read between polls, only while several sessions wait. pg_blocking_pids locks the lock manager for a moment, so it is
-- called for a limited number of sessions.
-- :limit        maximum number of waiting sessions
-- :chars        maximum characters of a statement
-- > session     its process id
-- > blocker     session that it waits for, which waits as well
-- > table_id    table of the row or lock it waits for, if the server reports it
-- > application its application name
-- > statement   its statement, shortened
WITH waiting AS MATERIALIZED (
    SELECT DISTINCT ON (l.pid) l.pid, l.relation, a.application_name, a.query
    FROM pg_locks AS l
    JOIN pg_stat_get_activity(NULL) AS a ON a.pid = l.pid
    WHERE NOT l.granted
        AND a.datid = (SELECT d.oid FROM pg_database AS d WHERE d.datname = current_database())
        AND (a.application_name NOT LIKE 'qmon %' OR a.application_name = 'qmon load')
    ORDER BY l.pid, l.relation
    LIMIT CAST(:limit AS int)
)
SELECT
    w.pid AS session,
    b.pid AS blocker,
    CAST(coalesce(
        w.relation,
        (SELECT x.relation FROM pg_locks AS x WHERE x.pid = w.pid AND x.locktype = 'tuple' AND x.granted LIMIT 1)
    ) AS bigint) AS table_id,
    coalesce(w.application_name, '') AS application,
    coalesce(left(w.query, CAST(:chars AS int)), '') AS statement
FROM waiting AS w
CROSS JOIN LATERAL (SELECT DISTINCT unnest(pg_blocking_pids(w.pid)) AS pid) AS b
WHERE b.pid IN (SELECT o.pid FROM waiting AS o)
    AND b.pid <> w.pid
