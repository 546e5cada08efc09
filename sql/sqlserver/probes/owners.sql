-- The owners of the longest-running messages in progress, as far as the index gives them first, and the proof about
-- each owner. Uses the same words as action/operate/choose.
-- Recompiled for each execution if the index is filtered: only then can the statement use that index.
-- {table}          the queue's table
-- {called!text}     columns: the name of a message
-- {state}          column: the state
-- {started_at?}    column: when it was popped
-- {owner?}         column: its consumer
-- {lease?}         column: end of its lease
-- {beat?}          column: when its owner was last heard of
-- {attempts?}      column: number of pops
-- {error?}         column: its last error
-- {progress_index} the index of the rows in progress
-- :in_progress     the state value of a message in progress
-- :kind            kind of the owner: session, lease, heartbeat, name; none without an owner
-- :sees            whether our role can see other sessions
-- :vanished        whether a session that is gone proves that its consumer is dead
-- :timeout         seconds after which a heartbeat is stale
-- :limit           maximum number of rows
-- > id             id as text
-- > owner          its consumer, from the row
-- > owner_state    dead, alive, unknown; none without an owner
-- > attempts       number of pops
-- > age_s          seconds since it was popped
-- > error          the end of its last error, if it was popped before
SELECT
    s.qmon_id AS id,
    s.qmon_owner AS owner,
    CAST(CASE
        WHEN CAST(:kind AS varchar(20)) = 'none' THEN 'none'
        WHEN s.qmon_owner IS NULL THEN 'unknown'
        WHEN CAST(:kind AS varchar(20)) = 'lease' THEN CASE WHEN s.qmon_lease < SYSUTCDATETIME() THEN 'dead' ELSE 'alive' END
        WHEN CAST(:kind AS varchar(20)) = 'heartbeat' THEN CASE
            WHEN s.qmon_beat < DATEADD(SECOND, -CAST(CAST(:timeout AS float) AS int), SYSUTCDATETIME()) THEN 'dead'
            ELSE 'alive'
        END
        WHEN CAST(:kind AS varchar(20)) = 'session' AND CAST(:sees AS bit) = 1
            AND s.qmon_owner LIKE N'[0-9]%/[12][0-9]%-%T%:%' THEN CASE
            WHEN EXISTS (
                SELECT 1
                FROM sys.dm_exec_sessions AS v
                WHERE CONVERT(varchar(11), v.session_id) + '/' + CONVERT(varchar(23), v.login_time, 126) = s.qmon_owner
            ) THEN 'alive'
            WHEN CAST(:vanished AS bit) = 1 THEN 'dead'
            ELSE 'unknown'
        END
        ELSE 'unknown'
    END AS varchar(10)) AS owner_state,
    s.qmon_attempts AS attempts,
    CAST(
        DATEDIFF(DAY, s.qmon_at, SYSUTCDATETIME()) * 86400.0
        + DATEDIFF(MILLISECOND, DATEADD(DAY, DATEDIFF(DAY, s.qmon_at, SYSUTCDATETIME()), s.qmon_at), SYSUTCDATETIME()) / 1000.0
    AS float) AS age_s,
    CAST(s.qmon_error AS nvarchar(400)) AS error
FROM (
    SELECT TOP (:limit)
        {called!text} AS qmon_id,
        RTRIM(CONVERT(nvarchar(400), {owner?})) AS qmon_owner,
        {lease?!utc} AS qmon_lease,
        {beat?!utc} AS qmon_beat,
        CAST({attempts?} AS int) AS qmon_attempts,
        {started_at?!moment} AS qmon_at,
        CASE WHEN CAST({attempts?} AS int) > 1 THEN {error?!newest} END AS qmon_error
    FROM {table} WITH (INDEX ({progress_index}))
    WHERE {state} = CAST(:in_progress AS {state!type}(100))
) AS s
OPTION (MAXDOP 1{progress_index!recompile})
