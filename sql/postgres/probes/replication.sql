-- The connected server and its replicas: replicas that stream its log, and physical slots without a reader. Reads no
-- table. Without pg_read_all_stats, only the existence of a replica is known.
-- > name        cluster_name, or the address at which the server was reached; for a replica its name or address
-- > host        address and port of the answering server (empty over a socket: the port), otherwise empty
-- > local       it is the server that answers
-- > role        primary, secondary; empty: it is the only one
-- > state       of a copy the server's word: startup, catchup, streaming; of a secondary whether it receives log
-- > timeline    of the server that answers: one more with each promotion; NULL: unknown
-- > healthy     a copy is streaming; NULL: unknown
-- > synchronous commits wait for it; NULL: unknown
-- > connected   it is; NULL: unknown
-- > suspended   why nothing moves; empty: it does
-- > unsent      bytes of log that were not sent to it yet; of a slot those that are kept for it; NULL: unknown
-- > unredone    bytes of log that were sent and that it has not replayed; NULL: unknown
-- > behind_s    seconds that the last commits took until they were replayed there; NULL: unknown, or nothing was written
WITH here AS (
    SELECT
        pg_is_in_recovery() AS standby,
        CASE WHEN pg_is_in_recovery() THEN pg_last_wal_receive_lsn() ELSE pg_current_wal_lsn() END AS upto
),
copies AS (
    SELECT
        coalesce(nullif(w.application_name, ''), host(w.client_addr), '') AS name,
        w.state,
        w.state = 'streaming' AS healthy,
        w.sync_state IN ('sync', 'quorum') AS synchronous,
        true AS connected,
        pg_wal_lsn_diff(h.upto, w.sent_lsn) AS unsent,
        pg_wal_lsn_diff(w.sent_lsn, w.replay_lsn) AS unredone,
        extract(epoch FROM w.replay_lag) AS behind_s
    FROM pg_stat_replication AS w
    CROSS JOIN here AS h
    WHERE w.state IS DISTINCT FROM 'backup'
        AND NOT EXISTS (
            SELECT FROM pg_replication_slots AS l WHERE l.slot_type = 'logical' AND l.active_pid = w.pid
        )
    UNION ALL
    SELECT
        CAST(s.slot_name AS text), 'slot', false, NULL, false,
        pg_wal_lsn_diff(h.upto, s.restart_lsn), NULL, NULL
    FROM pg_replication_slots AS s
    CROSS JOIN here AS h
    WHERE s.slot_type = 'physical'
        AND NOT s.active
        AND s.restart_lsn IS NOT NULL
        AND NOT s.temporary
)
SELECT
    coalesce(
        nullif(current_setting('cluster_name'), ''), host(inet_server_addr()) || ':' || inet_server_port(),
        'port ' || current_setting('port')
    ) AS name,
    coalesce(host(inet_server_addr()) || ':' || inet_server_port(), 'port ' || current_setting('port')) AS host,
    true AS local,
    CASE WHEN h.standby THEN 'secondary' WHEN EXISTS (SELECT FROM copies) THEN 'primary' ELSE '' END AS role,
    CASE
        WHEN NOT h.standby THEN ''
        WHEN pg_is_wal_replay_paused() THEN 'replay paused'
        WHEN EXISTS (SELECT FROM pg_stat_get_wal_receiver() AS r WHERE r.pid IS NOT NULL) THEN 'receiving'
        ELSE 'not receiving'
    END AS state,
    CASE
        WHEN h.standby THEN (SELECT c.timeline_id FROM pg_control_checkpoint() AS c)
        ELSE CAST(CAST('x' || left(pg_walfile_name(h.upto), 8) AS bit(32)) AS integer)
    END AS timeline,
    CAST(NULL AS boolean) AS healthy,
    CAST(NULL AS boolean) AS synchronous,
    CAST(NULL AS boolean) AS connected,
    '' AS suspended,
    CAST(NULL AS bigint) AS unsent,
    CAST(NULL AS bigint) AS unredone,
    CAST(NULL AS float8) AS behind_s
FROM here AS h
UNION ALL
SELECT
    t.name, '', false, 'secondary', coalesce(t.state, ''), NULL, t.healthy, t.synchronous, t.connected, '',
    CAST(CASE WHEN t.unsent >= 0 THEN t.unsent WHEN t.unsent < 0 THEN 0 END AS bigint),
    CAST(CASE WHEN t.unredone >= 0 THEN t.unredone WHEN t.unredone < 0 THEN 0 END AS bigint),
    CAST(t.behind_s AS float8)
FROM (SELECT c.* FROM copies AS c ORDER BY c.name LIMIT 20) AS t
ORDER BY 3 DESC, 1
