-- The settings of this server, this database and the tables of queues that affect queues. Reads no table. Settings of
-- our role or connection do not apply to other sessions: instead, the result has the value that the database sets for
-- all sessions, or NULL.
-- :tables  table ids as an array, {1,2}
-- > name   the name of the setting
-- > object the table, or the first of several with the same value and the number of the others; empty: not a setting of a table
-- > value  NULL: unknown for other sessions
WITH RECURSIVE part AS (
    SELECT t.id FROM unnest(CAST(:tables AS oid[])) AS t(id)
    UNION
    SELECT i.inhrelid FROM part AS p JOIN pg_inherits AS i ON i.inhparent = p.id
),
given AS (
    SELECT
        left(c.item, strpos(c.item, '=') - 1) AS name,
        substr(c.item, strpos(c.item, '=') + 1) AS value,
        s.setrole <> 0 AS ours,
        s.setdatabase <> 0 AS of_database
    FROM pg_db_role_setting AS s
    CROSS JOIN LATERAL unnest(s.setconfig) AS c(item)
    WHERE s.setdatabase IN (0, (SELECT d.oid FROM pg_database AS d WHERE d.datname = current_database()))
        AND s.setrole IN (0, (SELECT r.oid FROM pg_roles AS r WHERE r.rolname = session_user))
),
of_server AS (
    SELECT
        w.place,
        w.name,
        CASE
            WHEN g.source = 'client' OR EXISTS (SELECT FROM given AS o WHERE o.name = w.name AND o.ours) THEN (
                SELECT o.value FROM given AS o WHERE o.name = w.name AND NOT o.ours ORDER BY o.of_database DESC LIMIT 1
            )
            WHEN g.unit IS NOT NULL AND g.reset_val <> '0' THEN g.reset_val || ' ' || g.unit
            ELSE g.reset_val
        END AS value
    FROM (
        VALUES
            (2, 'default_transaction_isolation'), (3, 'synchronous_commit'), (4, 'fsync'), (5, 'autovacuum'),
            (6, 'track_activities'), (7, 'track_counts'), (8, 'idle_in_transaction_session_timeout')
    ) AS w(place, name)
    LEFT JOIN pg_settings AS g ON g.name = w.name
),
of_table AS (
    SELECT
        quote_ident(n.nspname) || '.' || quote_ident(c.relname) AS object,
        CASE c.relpersistence WHEN 'u' THEN 'unlogged' WHEN 't' THEN 'temporary' ELSE 'permanent' END AS persistence,
        CASE WHEN coalesce((
            SELECT CAST(o.option_value AS boolean)
            FROM pg_options_to_table(c.reloptions) AS o
            WHERE o.option_name = 'autovacuum_enabled'
        ), true) THEN 'on' ELSE 'off' END AS vacuumed
    FROM part AS p
    JOIN pg_class AS c ON c.oid = p.id AND c.relkind = 'r'
    JOIN pg_namespace AS n ON n.oid = c.relnamespace
),
alike AS (
    SELECT 9 AS place, 'autovacuum_enabled' AS name, t.object, t.vacuumed AS value FROM of_table AS t
    UNION ALL
    SELECT 10, 'persistence', t.object, t.persistence FROM of_table AS t
)
SELECT x.name, x.object, x.value
FROM (
    SELECT 1 AS place, 'version' AS name, '' AS object, current_setting('server_version') AS value
    UNION ALL
    SELECT s.place, s.name, '', s.value FROM of_server AS s
    UNION ALL
    SELECT a.place, a.name, min(a.object) || CASE WHEN count(*) > 1 THEN ' and ' || count(*) - 1 || ' more' ELSE '' END, a.value
    FROM alike AS a
    GROUP BY a.place, a.name, a.value
) AS x
ORDER BY x.place, x.value
