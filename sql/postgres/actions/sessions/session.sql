-- The current state of one session, and the rights that ending it needs. Times are NULL if our role may not see them.
-- :session           its process id
-- > session          the same
-- > started_us       when it began, microseconds since the epoch
-- > transaction_us   when its open transaction began, the same; NULL if there is none
-- > kind             client backend, autovacuum worker …
-- > database         its database
-- > login            its login
-- > application      its application name
-- > host             its host
-- > state            active, idle in transaction, idle …
-- > state_s          seconds in that state
-- > transaction_s    seconds since its open transaction began
-- > statement        its last statement, shortened
-- > wrote            its transaction has changed or locked rows
-- > locks            locks it holds
-- > may_end          our role may end it
-- > grant            the statement that grants the right, if it is missing; NULL: only a superuser may
-- > log_bytes        NULL: the server does not say how much it has written
-- > rolled_back      NULL: rolling back takes no time here
SELECT
    a.pid AS session,
    CAST(extract(epoch FROM a.backend_start) * 1000000 AS bigint) AS started_us,
    CAST(extract(epoch FROM a.xact_start) * 1000000 AS bigint) AS transaction_us,
    coalesce(a.backend_type, '') AS kind,
    coalesce((SELECT CAST(d.datname AS text) FROM pg_database AS d WHERE d.oid = a.datid), '') AS database,
    coalesce(CAST(r.rolname AS text), '') AS login,
    coalesce(a.application_name, '') AS application,
    coalesce(host(a.client_addr), CASE a.backend_type WHEN 'client backend' THEN 'this server' ELSE '' END) AS host,
    coalesce(a.state, '') AS state,
    CAST(extract(epoch FROM clock_timestamp() - a.state_change) AS float8) AS state_s,
    CAST(extract(epoch FROM clock_timestamp() - a.xact_start) AS float8) AS transaction_s,
    coalesce(left(a.query, 200), '') AS statement,
    a.backend_xid IS NOT NULL AS wrote,
    (
        SELECT CAST(count(*) AS int)
        FROM pg_locks AS l
        WHERE l.pid = a.pid AND l.granted AND l.locktype <> 'virtualxid'
    ) AS locks,
    (SELECT m.rolsuper FROM pg_roles AS m WHERE m.rolname = current_user)
        OR CASE
            WHEN a.usesysid IS NULL
                THEN EXISTS (
                    SELECT 1
                    FROM pg_roles AS w
                    WHERE w.rolname = 'pg_signal_autovacuum_worker' AND pg_has_role(w.oid, 'USAGE')
                )
            WHEN r.rolsuper THEN false
            ELSE pg_has_role(a.usesysid, 'USAGE') OR pg_has_role('pg_signal_backend', 'USAGE')
        END AS may_end,
    CASE
        WHEN a.usesysid IS NOT NULL AND NOT r.rolsuper
            THEN 'GRANT pg_signal_backend TO ' || quote_ident(current_user)
    END AS grant,
    CAST(NULL AS bigint) AS log_bytes,
    CAST(NULL AS float8) AS rolled_back
FROM pg_stat_get_activity(CAST(:session AS int)) AS a
LEFT JOIN pg_roles AS r ON r.oid = a.usesysid
