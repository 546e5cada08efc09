-- The delay of this replica, if it is a secondary of an availability group; no row if it is not. The last redone commit
-- has the time of the primary's clock, read as our zone: if that is later by more than five seconds, the delay is
-- unknown. The primary's figures about this replica (secondary_lag_seconds) are not used here.
-- > replay_paused true where data movement is suspended
-- > behind_s      seconds since the commit that was redone last, 0 where all that came was redone; NULL: unknown
SELECT
    CAST(CASE WHEN r.is_suspended = 0 THEN 0 ELSE 1 END AS bit) AS replay_paused,
    CAST(
        CASE
            WHEN r.is_primary_replica = 1 THEN NULL
            WHEN r.is_suspended = 0 AND r.synchronization_state IN (1, 2) AND r.redo_queue_size = 0 THEN 0
            WHEN r.last_commit_time <= SYSDATETIME() THEN DATEDIFF(DAY, r.last_commit_time, SYSDATETIME()) * 86400.0
                + DATEDIFF(MILLISECOND, DATEADD(DAY, DATEDIFF(DAY, r.last_commit_time, SYSDATETIME()), r.last_commit_time), SYSDATETIME()) / 1000.0
            WHEN r.last_commit_time <= DATEADD(SECOND, 5, SYSDATETIME()) THEN 0
        END AS float
    ) AS behind_s
FROM sys.dm_hadr_database_replica_states AS r
WHERE r.database_id = DB_ID() AND r.is_local = 1
