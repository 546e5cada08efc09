-- The holders of the horizon, the oldest first: vacuum cannot remove rows that died after the horizon. Reads no table.
-- A session holds the horizon by the id of its transaction and by the snapshot of its statement, and only in its own
-- database. A standby's feedback and a slot hold it in all databases. Vacuum does not hold it. Our own session is left
-- out.
-- :limit          maximum number of holders
-- :chars          maximum characters of a statement
-- > kind          session, prepared, slot, standby
-- > session       its process id, 0 if it has none
-- > name          name of the prepared transaction, slot or standby, otherwise empty
-- > xid           transaction id that it holds at
-- > age           transaction ids taken since
-- > held_s        seconds since its transaction began, or was prepared; NULL: unknown
-- > started_at    when the session began, seconds since the epoch
-- > state         active, idle in transaction …; prepared; for a slot, in use or no reader
-- > state_s       seconds in that state
-- > login         its login
-- > application   its application name
-- > host          its host
-- > database      its database; empty for a standby and for a slot of all databases
-- > statement     its last statement, shortened
SELECT
    h.kind,
    coalesce(h.pid, 0) AS session,
    coalesce(h.name, '') AS name,
    CAST(h.xid AS text) AS xid,
    age(h.xid) AS age,
    CAST(extract(epoch FROM clock_timestamp() - h.began) AS float8) AS held_s,
    CAST(extract(epoch FROM h.backend_start) AS float8) AS started_at,
    coalesce(h.state, '') AS state,
    CAST(extract(epoch FROM clock_timestamp() - h.state_change) AS float8) AS state_s,
    coalesce(CAST(h.login AS text), '') AS login,
    coalesce(h.application, '') AS application,
    coalesce(h.host, '') AS host,
    coalesce(CAST(h.database AS text), '') AS database,
    coalesce(left(h.query, CAST(:chars AS int)), '') AS statement
FROM (
    SELECT
        CASE a.backend_type WHEN 'walsender' THEN 'standby' ELSE 'session' END AS kind,
        a.pid,
        CASE a.backend_type WHEN 'walsender' THEN a.application_name END AS name,
        CASE WHEN age(a.backend_xid) >= coalesce(age(a.backend_xmin), 0) THEN a.backend_xid ELSE a.backend_xmin
        END AS xid,
        coalesce(age(a.backend_xid) >= coalesce(age(a.backend_xmin), 0), false) AS by_itself,
        CASE a.backend_type WHEN 'walsender' THEN NULL ELSE a.xact_start END AS began,
        a.backend_start,
        a.state,
        a.state_change,
        u.rolname AS login,
        a.application_name AS application,
        coalesce(host(a.client_addr), CASE a.backend_type WHEN 'client backend' THEN 'this server' END) AS host,
        d.datname AS database,
        a.query
    FROM pg_stat_get_activity(NULL) AS a
    LEFT JOIN pg_roles AS u ON u.oid = a.usesysid
    LEFT JOIN pg_database AS d ON d.oid = a.datid
    WHERE (a.backend_xid IS NOT NULL OR a.backend_xmin IS NOT NULL)
        AND a.pid <> pg_backend_pid()
        AND (a.backend_type = 'walsender' OR d.datname = current_database())
        AND a.pid NOT IN (SELECT v.pid FROM pg_stat_progress_vacuum AS v)
    UNION ALL
    SELECT
        'prepared', NULL, x.gid, x.transaction, true, x.prepared, NULL, 'prepared', x.prepared, x.owner, NULL, NULL,
        x.database, NULL
    FROM pg_prepared_xacts AS x
    WHERE x.database = current_database()
    UNION ALL
    SELECT
        'slot', s.active_pid, s.slot_name, s.xmin, true, NULL, NULL,
        CASE WHEN s.active THEN 'in use' ELSE 'no reader' END,
        NULL, NULL, NULL, NULL, s.database, NULL
    FROM pg_replication_slots AS s
    WHERE s.xmin IS NOT NULL
) AS h
ORDER BY age(h.xid) DESC, h.by_itself DESC, h.began NULLS FIRST, h.pid
LIMIT CAST(:limit AS int)
