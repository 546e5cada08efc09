-- Sessions that wait for a lock in this database, with their blockers: one row per pair, and one row without a blocker
-- for each session that only blocks. Tasks of one session count as one. Of qmon's sessions, only those that block
-- others are listed. Names come from the catalog without waiting for locks; functions for names would wait.
-- :limit          maximum number of pairs of waiting sessions; those with the longest waits first
-- :chars          maximum characters of a statement
-- :waiters        1: all statements; 0: only those of sessions that wait for no other session, the heads of the chains
-- > session       its id; 0 is a distributed transaction without a session, -3 one whose recovery is deferred
-- > gid           unit of work of that distributed transaction, otherwise empty
-- > blocker       session that it waits for, the same; NULL if it waits for none
-- > blocker_gid   unit of work of that distributed transaction, otherwise empty
-- > ahead         true: the blocker waits for the same lock, ahead of it in the queue
-- > holders       sessions that hold the lock it waits for
-- > line          sessions ahead of it in the lock queue, as far as the server reports them
-- > waiting_s     seconds it has waited for the lock
-- > mode          how it wants to lock
-- > object        what
-- > table_id      its table, if the server reports it
-- > started_at    when the session began, seconds since the epoch
-- > kind          client backend, or background worker
-- > state         active, idle in transaction, idle, rolling back; prepared; gone if it has ended
-- > state_s       seconds since its last request began (active) or ended
-- > transaction_s seconds since its oldest open transaction began
-- > login         its login
-- > application   its application name
-- > host          its host
-- > database      its database
-- > statement     its last statement, shortened; empty if it was not requested
-- > transactions  transactions that it has begun and not ended, nested ones included
-- > isolation     its isolation level; empty: not known
-- > batch_s       seconds since its last batch began
-- > reads         pages that its request has read in memory; of the session if it has no request
-- > writes        pages written, the same
-- > memory        bytes granted to its request
-- > undone        share of its rollback that is done, 0 to 1; NULL: it does not roll back
-- > threads       number of its threads that wait for that blocker
WITH tasks AS (
    SELECT TOP (:limit)
        CAST(t.session_id AS int) AS session,
        CAST(t.blocking_session_id AS int) AS blocker,
        MAX(CASE WHEN s.program_name LIKE N'qmon %' AND s.program_name <> N'qmon load' THEN 1 ELSE 0 END) AS ours,
        COUNT(DISTINCT t.waiting_task_address) AS threads,
        MAX(t.wait_duration_ms) AS waited_ms,
        MAX(t.resource_address) AS resource_address,
        MAX(SUBSTRING(t.resource_description, CHARINDEX(N'hobtid=', t.resource_description) + 7, 20)) AS hobt
    FROM sys.dm_os_waiting_tasks AS t
    JOIN sys.dm_exec_requests AS q ON q.session_id = t.session_id
    JOIN sys.dm_exec_sessions AS s ON s.session_id = t.session_id
    WHERE t.wait_type LIKE N'LCK[_]M[_]%'
        AND t.blocking_session_id <> t.session_id
        AND q.database_id = DB_ID()
    GROUP BY t.session_id, t.blocking_session_id
    ORDER BY MAX(t.wait_duration_ms) DESC
),
pairs AS (
    SELECT
        t.session,
        t.ours,
        CASE t.blocker WHEN -2 THEN 0 ELSE t.blocker END AS blocker,
        CAST(COALESCE(CONVERT(nvarchar(36), d.request_owner_guid), N'') AS nvarchar(36)) AS gid,
        CASE WHEN b.session_id IS NULL THEN 0 ELSE 1 END AS ahead,
        t.waited_ms,
        t.threads,
        l.resource_type,
        -- With optimized locking the lock is on a transaction; the description of the wait names the index that it is about.
        CASE l.resource_type
            WHEN N'XACT' THEN TRY_CAST(LEFT(t.hobt, PATINDEX(N'%[^0-9]%', t.hobt + N' ') - 1) AS bigint)
            ELSE l.resource_associated_entity_id
        END AS resource_associated_entity_id,
        l.resource_description,
        l.request_mode,
        CASE WHEN l.resource_database_id = DB_ID() THEN 1 ELSE 0 END AS here
    FROM tasks AS t
    LEFT JOIN sys.dm_tran_locks AS l ON l.lock_owner_address = t.resource_address AND l.request_session_id = t.session
    OUTER APPLY (
        SELECT TOP (1) o.session_id
        FROM sys.dm_os_waiting_tasks AS o
        WHERE o.session_id = t.blocker
            AND o.resource_address = t.resource_address
    ) AS b
    OUTER APPLY (
        SELECT TOP (1) o.request_owner_guid
        FROM sys.dm_tran_locks AS o
        WHERE t.blocker = -2
            AND o.request_session_id = -2
            AND o.request_status = N'GRANT'
            AND o.resource_type = l.resource_type
            AND o.resource_database_id = l.resource_database_id
            AND o.resource_associated_entity_id = l.resource_associated_entity_id
            AND o.resource_description = l.resource_description
    ) AS d
),
-- Both sessions of each pair, the waiting one (side 1) and its blocker (side 2), read once. Windows do the rest.
sides AS (
    SELECT
        p.*,
        e.side,
        e.who,
        e.who_gid,
        MAX(CASE e.side WHEN 1 THEN 1 ELSE 0 END) OVER (PARTITION BY e.who) AS waits,
        MAX(CASE e.side WHEN 2 THEN 1 ELSE 0 END) OVER (PARTITION BY e.who) AS blocks
    FROM pairs AS p
    CROSS APPLY (
        SELECT 1 AS side, p.session AS who, CAST(N'' AS nvarchar(36)) AS who_gid
        UNION ALL
        SELECT 2, p.blocker, p.gid
    ) AS e
),
-- Sessions of qmon count if they block others. The waiting side shows this, and so it applies to the whole pair.
told AS (
    SELECT
        s.*,
        CASE WHEN s.ours = 0 OR MAX(CASE s.side WHEN 1 THEN s.blocks ELSE 0 END) OVER (PARTITION BY s.session) = 1
            THEN 1 ELSE 0 END AS counts
    FROM sides AS s
),
found AS (
    SELECT
        t.who AS session,
        t.who_gid AS gid,
        CASE t.side WHEN 1 THEN t.blocker END AS blocker,
        CASE t.side WHEN 1 THEN t.gid ELSE N'' END AS blocker_gid,
        CASE t.side WHEN 1 THEN t.ahead ELSE 0 END AS ahead,
        SUM(CASE t.side WHEN 1 THEN 1 - t.ahead ELSE 0 END) OVER (PARTITION BY t.who, t.side) AS holders,
        SUM(CASE t.side WHEN 1 THEN t.ahead ELSE 0 END) OVER (PARTITION BY t.who, t.side) AS line,
        CASE t.side WHEN 1 THEN t.waited_ms END AS waited_ms,
        CASE t.side WHEN 1 THEN t.threads END AS threads,
        CASE t.side WHEN 1 THEN t.resource_type END AS resource_type,
        CASE t.side WHEN 1 THEN t.resource_associated_entity_id END AS resource_associated_entity_id,
        CASE t.side WHEN 1 THEN t.resource_description END AS resource_description,
        CASE t.side WHEN 1 THEN t.request_mode END AS request_mode,
        CASE t.side WHEN 1 THEN t.here ELSE 0 END AS here,
        CASE t.side WHEN 1 THEN 1 ELSE ROW_NUMBER() OVER (PARTITION BY t.who, t.who_gid, t.side ORDER BY t.session) END AS nth
    FROM told AS t
    WHERE t.counts = 1
        AND (t.side = 1 OR t.waits = 0)
)
SELECT TOP (4000)
    CAST(f.session AS int) AS session,
    f.gid,
    CAST(f.blocker AS int) AS blocker,
    f.blocker_gid,
    CAST(f.ahead AS bit) AS ahead,
    CAST(f.holders AS int) AS holders,
    CAST(f.line AS int) AS line,
    CAST(f.waited_ms / 1000.0 AS float) AS waiting_s,
    CAST(COALESCE(f.request_mode, N'') AS nvarchar(60)) AS mode,
    CAST(COALESCE(
        CASE
            WHEN o.name IS NULL THEN NULL
            WHEN f.resource_type = N'OBJECT' THEN N'table ' + h.name + N'.' + o.name
            WHEN f.resource_type = N'XACT' THEN h.name + N'.' + o.name + N' row changed by a transaction'
            WHEN f.resource_type IN (N'KEY', N'RID')
                THEN h.name + N'.' + o.name + N' row ' + RTRIM(f.resource_description)
            ELSE h.name + N'.' + o.name + N' ' + LOWER(f.resource_type) + N' ' + RTRIM(f.resource_description)
        END,
        LOWER(f.resource_type) + N' ' + RTRIM(COALESCE(f.resource_description, N'')),
        N''
    ) AS nvarchar(400)) AS object,
    CAST(o.object_id AS bigint) AS table_id,
    (CAST(DATEDIFF(DAY, '19700101', s.login_time) AS float) * 86400 + DATEDIFF(SECOND, CAST(s.login_time AS date), s.login_time)) + DATEPART(MILLISECOND, s.login_time) / 1000.0
        - DATEPART(TZOFFSET, SYSDATETIMEOFFSET()) * 60.0 AS started_at,
    CAST(CASE s.is_user_process WHEN 1 THEN 'client backend' WHEN 0 THEN 'background worker' ELSE '' END
        AS varchar(20)) AS kind,
    CAST(CASE
        WHEN f.session = 0 THEN 'prepared'
        WHEN s.session_id IS NULL THEN 'gone'
        WHEN x.rolls_back = 1 OR r.command = N'KILLED/ROLLBACK' THEN 'rolling back'
        WHEN r.session_id IS NOT NULL THEN 'active'
        WHEN x.began IS NOT NULL THEN 'idle in transaction'
        ELSE 'idle'
    END AS varchar(20)) AS state,
    CAST(DATEDIFF(DAY, e.at, GETDATE()) * 86400.0
        + DATEDIFF(MILLISECOND, DATEADD(DAY, DATEDIFF(DAY, e.at, GETDATE()), e.at), GETDATE()) / 1000.0 AS float) AS state_s,
    CAST(DATEDIFF(DAY, x.began, GETDATE()) * 86400.0
        + DATEDIFF(MILLISECOND, DATEADD(DAY, DATEDIFF(DAY, x.began, GETDATE()), x.began), GETDATE()) / 1000.0 AS float) AS transaction_s,
    CAST(COALESCE(s.login_name, N'') AS nvarchar(128)) AS login,
    CAST(COALESCE(s.program_name, N'') AS nvarchar(128)) AS application,
    CAST(COALESCE(s.host_name, N'') AS nvarchar(128)) AS host,
    CAST(COALESCE(DB_NAME(r.database_id), N'') AS nvarchar(128)) AS [database],
    CAST(COALESCE(LEFT(t.text, :chars), N'') AS nvarchar(4000)) AS statement,
    CAST(s.open_transaction_count AS int) AS transactions,
    CAST(CASE COALESCE(r.transaction_isolation_level, s.transaction_isolation_level)
        WHEN 1 THEN 'read uncommitted'
        WHEN 2 THEN 'read committed'
        WHEN 3 THEN 'repeatable read'
        WHEN 4 THEN 'serializable'
        WHEN 5 THEN 'snapshot'
        ELSE ''
    END AS varchar(20)) AS isolation,
    CAST(CASE WHEN s.last_request_start_time > '19000102' THEN DATEDIFF(DAY, s.last_request_start_time, GETDATE()) * 86400.0
        + DATEDIFF(MILLISECOND, DATEADD(DAY, DATEDIFF(DAY, s.last_request_start_time, GETDATE()), s.last_request_start_time), GETDATE()) / 1000.0 END AS float) AS batch_s,
    CAST(COALESCE(r.logical_reads, s.logical_reads) AS bigint) AS reads,
    CAST(COALESCE(r.writes, s.writes) AS bigint) AS writes,
    CAST(r.granted_query_memory AS bigint) * 8192 AS memory,
    CAST(CASE WHEN x.rolls_back = 1 OR r.command LIKE N'%ROLLBACK%' THEN r.percent_complete / 100.0 END AS float) AS undone,
    CAST(f.threads AS int) AS threads
FROM found AS f
LEFT JOIN sys.dm_exec_sessions AS s ON s.session_id = f.session
LEFT JOIN sys.partitions AS p WITH (NOLOCK)
    ON p.hobt_id = f.resource_associated_entity_id
    AND f.here = 1
    AND f.resource_type IN (N'KEY', N'RID', N'PAGE', N'HOBT', N'XACT')
LEFT JOIN sys.objects AS o WITH (NOLOCK)
    ON o.object_id = COALESCE(
        p.object_id,
        CASE WHEN f.here = 1 AND f.resource_type = N'OBJECT' THEN CAST(f.resource_associated_entity_id AS int) END
    )
LEFT JOIN sys.schemas AS h WITH (NOLOCK) ON h.schema_id = o.schema_id
OUTER APPLY (
    SELECT TOP (1)
        q.session_id,
        q.command,
        q.database_id,
        q.sql_handle,
        q.transaction_isolation_level,
        q.logical_reads,
        q.writes,
        q.granted_query_memory,
        q.percent_complete
    FROM sys.dm_exec_requests AS q
    WHERE q.session_id = f.session
    ORDER BY q.request_id
) AS r
-- A session whose login is under way has times of 1900.
CROSS APPLY (
    SELECT CASE WHEN v.at > '19000102' THEN v.at END AS at
    FROM (SELECT CASE WHEN r.session_id IS NULL THEN s.last_request_end_time ELSE s.last_request_start_time END AS at) AS v
) AS e
OUTER APPLY (
    SELECT TOP (1) c.most_recent_sql_handle
    FROM sys.dm_exec_connections AS c
    WHERE c.session_id = f.session
    ORDER BY c.last_read DESC
) AS c
OUTER APPLY (
    SELECT
        MIN(a.transaction_begin_time) AS began,
        MAX(CASE a.transaction_state WHEN 7 THEN 1 ELSE 0 END) AS rolls_back
    FROM sys.dm_tran_active_transactions AS a
    LEFT JOIN sys.dm_tran_session_transactions AS st ON st.transaction_id = a.transaction_id
    WHERE (st.session_id = f.session AND st.is_user_transaction = 1)
        OR (f.session = 0 AND CONVERT(nvarchar(36), a.transaction_uow) = f.gid)
) AS x
OUTER APPLY sys.dm_exec_sql_text(
    CASE WHEN f.blocker IS NULL OR CAST(:waiters AS bit) = 1 THEN COALESCE(r.sql_handle, c.most_recent_sql_handle) END
) AS t
WHERE f.nth = 1
ORDER BY waiting_s DESC, session, blocker
