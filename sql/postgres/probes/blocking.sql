-- Sessions that wait for a lock in this database, with their blockers: one row per pair, and one row without a blocker
-- for each session that only blocks. Parallel workers have the number of their leader. Of qmon's sessions, only those
-- that block others are listed. pg_blocking_pids locks the lock manager for a moment, so it is called only for waiting
-- sessions.
-- :limit          maximum number of waiting sessions; those with the longest waits first
-- :chars          maximum characters of a statement
-- > session       its process id; 0 is a prepared transaction, which has none
-- > gid           name of the prepared transaction, otherwise empty
-- > blocker       session that it waits for, 0 is a prepared transaction; NULL if it waits for none
-- > blocker_gid   name of that prepared transaction, otherwise empty
-- > ahead         true: the blocker does not hold the lock, but waits for it ahead of this session
-- > holders       sessions that hold the lock it waits for, up to 20 of them with a row
-- > line          sessions ahead of it in the lock queue; up to 3 of them with a row if no session holds the lock
-- > waiting_s     seconds it has waited for the lock; before version 14 since its statement began, the longest possible wait
-- > mode          how it wants to lock
-- > object        what
-- > table_id      its table, for a partition the topmost parent, if the server reports it
-- > started_at    when the session began, seconds since the epoch
-- > kind          client backend, autovacuum worker …
-- > state         active, idle in transaction …; prepared; gone if it has ended
-- > state_s       seconds in that state
-- > transaction_s seconds since its transaction began, or was prepared
-- > login         its login
-- > application   its application name
-- > host          its host
-- > database      its database
-- > statement     its last statement, shortened
-- > transactions  NULL: a session has one at most
-- > isolation     empty: the server does not show it
-- > batch_s       seconds since its last statement began
-- > reads         NULL: not counted by session
-- > writes        NULL: the same
-- > memory        NULL: there are no grants
-- > undone        NULL: a rollback takes no time
-- > threads       number of its waiting processes, including parallel workers; NULL: none
WITH locks AS MATERIALIZED (
    SELECT
        l.pid, l.locktype, l.relation, l.page, l.tuple, l.transactionid, l.classid, l.objid, l.objsubid, l.database,
        l.virtualtransaction, l.mode, l.granted,
        CASE WHEN NOT l.granted THEN CAST(to_jsonb(l) ->> 'waitstart' AS timestamptz) END AS waitstart,
        concat_ws(
            '/', l.locktype, l.database, l.relation, l.page, l.tuple, l.virtualxid, l.transactionid, l.classid, l.objid,
            l.objsubid
        ) AS thing
    FROM pg_locks AS l
),
people AS MATERIALIZED (
    SELECT
        a.*,
        coalesce(a.leader_pid, a.pid) AS session,
        coalesce(a.application_name LIKE 'qmon %' AND a.application_name <> 'qmon load', false) AS ours
    FROM pg_stat_get_activity(NULL) AS a
),
waiting AS MATERIALIZED (
    SELECT p.session, l.*, coalesce(l.waitstart, p.query_start) AS since
    FROM locks AS l
    JOIN people AS p ON p.pid = l.pid
    WHERE NOT l.granted
        AND p.datid = (SELECT d.oid FROM pg_database AS d WHERE d.datname = current_database())
    ORDER BY since
    LIMIT CAST(:limit AS int)
),
-- Who holds each of these locks, or waits for it. A prepared transaction has no session, but a virtual transaction id.
claims AS MATERIALIZED (
    SELECT
        l.thing,
        coalesce(p.session, 0) AS session,
        CASE WHEN l.pid IS NULL THEN l.virtualtransaction ELSE '' END AS prepared,
        bool_or(l.granted) AS granted
    FROM locks AS l
    LEFT JOIN people AS p ON p.pid = l.pid
    WHERE l.thing IN (SELECT w.thing FROM waiting AS w)
    GROUP BY 1, 2, 3
),
gids AS MATERIALIZED (
    SELECT l.virtualtransaction, x.gid, x.prepared, x.owner, x.database
    FROM pg_prepared_xacts AS x
    JOIN locks AS l ON l.transactionid = x.transaction AND l.locktype = 'transactionid' AND l.pid IS NULL
),
pairs AS (
    SELECT
        w.session,
        b.pid AS blocker,
        coalesce(c.prepared, '') AS prepared,
        bool_and(NOT coalesce(c.granted, true)) AS ahead
    FROM waiting AS w
    CROSS JOIN LATERAL (SELECT DISTINCT unnest(pg_blocking_pids(w.pid)) AS pid) AS b
    LEFT JOIN claims AS c ON c.thing = w.thing AND c.session = b.pid
    WHERE b.pid <> w.session
    GROUP BY 1, 2, 3
),
counted AS (
    SELECT
        p.*,
        count(*) FILTER (WHERE NOT p.ahead) OVER (PARTITION BY p.session) AS holders,
        count(*) FILTER (WHERE p.ahead) OVER (PARTITION BY p.session) AS line,
        row_number() OVER (PARTITION BY p.session ORDER BY p.ahead, a.xact_start NULLS FIRST, p.blocker) AS place
    FROM pairs AS p
    LEFT JOIN people AS a ON a.pid = p.blocker
),
listed AS MATERIALIZED (
    SELECT c.*
    FROM counted AS c
    WHERE (NOT c.ahead AND c.place <= 20) OR (c.holders = 0 AND c.place <= 3)
),
kept AS MATERIALIZED (
    SELECT k.*
    FROM listed AS k
    WHERE k.session NOT IN (SELECT a.session FROM people AS a WHERE a.ours)
        OR k.session IN (SELECT b.blocker FROM listed AS b)
),
found AS (
    SELECT k.session, CAST('' AS text) AS own, k.blocker, k.prepared, k.ahead, k.holders, k.line
    FROM kept AS k
    UNION ALL
    SELECT DISTINCT k.blocker, k.prepared, CAST(NULL AS int), '', false, CAST(0 AS bigint), CAST(0 AS bigint)
    FROM kept AS k
    WHERE k.blocker = 0 OR k.blocker NOT IN (SELECT w.session FROM kept AS w)
)
SELECT
    f.session,
    coalesce(own.gid, '') AS gid,
    f.blocker,
    coalesce(its.gid, '') AS blocker_gid,
    f.ahead,
    CAST(f.holders AS int) AS holders,
    CAST(f.line AS int) AS line,
    CAST(extract(epoch FROM clock_timestamp() - w.since) AS float8) AS waiting_s,
    coalesce(w.mode, '') AS mode,
    coalesce(
        CASE
            WHEN w.locktype = 'tuple' OR (w.locktype = 'transactionid' AND t.name IS NOT NULL)
                THEN t.name || ' row (' || coalesce(w.page, r.page) || ',' || coalesce(w.tuple, r.tuple) || ')'
            WHEN w.locktype = 'transactionid' THEN 'transaction ' || w.transactionid
            WHEN w.locktype = 'relation' THEN t.what || ' ' || t.name
            WHEN w.locktype = 'advisory' AND w.objsubid = 1
                THEN 'advisory lock ' || ((CAST(w.classid AS bigint) << 32) | CAST(w.objid AS bigint))
            WHEN w.locktype = 'advisory' THEN 'advisory lock ' || w.classid || ', ' || w.objid
            WHEN t.name IS NOT NULL THEN w.locktype || ' of ' || t.name
        END,
        w.locktype,
        ''
    ) AS object,
    CAST(coalesce(pg_partition_root(coalesce(w.relation, r.relation)), w.relation, r.relation) AS bigint) AS table_id,
    CAST(extract(epoch FROM a.backend_start) AS float8) AS started_at,
    coalesce(a.backend_type, '') AS kind,
    CASE WHEN f.session = 0 THEN 'prepared' WHEN a.pid IS NULL THEN 'gone' ELSE coalesce(nullif(a.state, 'disabled'), '') END AS state,
    CAST(extract(epoch FROM clock_timestamp() - coalesce(a.state_change, own.prepared)) AS float8) AS state_s,
    CAST(extract(epoch FROM clock_timestamp() - coalesce(a.xact_start, own.prepared)) AS float8) AS transaction_s,
    coalesce(CAST(u.rolname AS text), CAST(own.owner AS text), '') AS login,
    coalesce(a.application_name, '') AS application,
    coalesce(host(a.client_addr), CASE a.backend_type WHEN 'client backend' THEN 'this server' END, '') AS host,
    coalesce(CAST(d.datname AS text), CAST(own.database AS text), '') AS database,
    coalesce(left(a.query, CAST(:chars AS int)), '') AS statement,
    CAST(NULL AS int) AS transactions,
    CAST('' AS text) AS isolation,
    CAST(extract(epoch FROM clock_timestamp() - a.query_start) AS float8) AS batch_s,
    CAST(NULL AS bigint) AS reads,
    CAST(NULL AS bigint) AS writes,
    CAST(NULL AS bigint) AS memory,
    CAST(NULL AS float8) AS undone,
    CAST((SELECT nullif(count(DISTINCT x.pid), 0) FROM waiting AS x WHERE x.session = f.session) AS int) AS threads
FROM found AS f
LEFT JOIN people AS a ON a.pid = nullif(f.session, 0)
LEFT JOIN gids AS own ON f.session = 0 AND own.virtualtransaction = f.own
LEFT JOIN gids AS its ON f.blocker = 0 AND its.virtualtransaction = f.prepared
LEFT JOIN pg_roles AS u ON u.oid = a.usesysid
LEFT JOIN pg_database AS d ON d.oid = a.datid
LEFT JOIN (
    SELECT DISTINCT ON (x.session) x.* FROM waiting AS x ORDER BY x.session, x.since
) AS w ON w.session = f.session
LEFT JOIN (
    SELECT DISTINCT ON (x.pid) x.pid, x.relation, x.page, x.tuple
    FROM locks AS x
    WHERE x.locktype = 'tuple' AND x.granted
    ORDER BY x.pid
) AS r ON r.pid = w.pid AND w.locktype = 'transactionid'
LEFT JOIN LATERAL (
    SELECT
        n.nspname || '.' || c.relname AS name,
        CASE c.relkind WHEN 'i' THEN 'index' WHEN 'S' THEN 'sequence' ELSE 'table' END AS what
    FROM pg_class AS c
    JOIN pg_namespace AS n ON n.oid = c.relnamespace
    WHERE c.oid = coalesce(w.relation, r.relation)
) AS t ON true
ORDER BY waiting_s DESC NULLS FIRST, f.session, f.blocker
LIMIT 4000
