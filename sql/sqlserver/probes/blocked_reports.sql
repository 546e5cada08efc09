-- The last reports of blocked processes from the file of an event session, the newest first: the waiting session, its
-- wait, its blocker, and the statements of both. The server reads the file from the given block on, which keeps one
-- processor busy. Only the newest reports are converted to XML. Other databases are not included.
-- :path                the file
-- :file                the same as returned before, to begin after a block of it; empty: from its start
-- :offset              that block, the same; -1: from its start
-- :chars               maximum characters of a statement
-- > at                  when it was reported, seconds since the epoch
-- > waited_s            seconds that the session had waited
-- > table_id            table of the lock; NULL if the report does not name it. With optimized locking the lock is on a
--                       transaction: the table is that of the key in the description of the wait
-- > session             session that waited
-- > application         its application name
-- > statement           its last statement, shortened
-- > blocker             session that it waited for
-- > blocker_application its application name
-- > blocker_state       state of that session: running, sleeping, suspended
-- > blocker_statement   its last statement, shortened
-- > here                the lock is of this database
-- > file                position of the report: the file
-- > offset              and its block there
SELECT TOP (20)
    CAST(DATEDIFF(DAY, '19700101', r.at) * 86400.0 + DATEDIFF(SECOND, CAST(r.at AS date), r.at) AS float)
        + DATEPART(MILLISECOND, r.at) / 1000.0 AS at,
    CAST(COALESCE(r.duration, 0) / 1000000.0 AS float) AS waited_s,
    CAST(CASE h.here WHEN 1 THEN COALESCE(NULLIF(r.object_id, 0), p.object_id) END AS bigint) AS table_id,
    COALESCE(b.item.value('@spid', 'int'), 0) AS session,
    CAST(COALESCE(CASE h.here WHEN 1 THEN b.item.value('@clientapp', 'nvarchar(128)') END, N'') AS nvarchar(128)) AS application,
    CAST(COALESCE(
        CASE h.here WHEN 1 THEN LEFT(LTRIM(b.item.value('(inputbuf/text())[1]', 'nvarchar(4000)')), :chars) END, N''
    ) AS nvarchar(4000)) AS statement,
    COALESCE(o.item.value('@spid', 'int'), 0) AS blocker,
    CAST(COALESCE(CASE h.here WHEN 1 THEN o.item.value('@clientapp', 'nvarchar(128)') END, N'') AS nvarchar(128))
        AS blocker_application,
    CAST(COALESCE(o.item.value('@status', 'nvarchar(30)'), N'') AS nvarchar(30)) AS blocker_state,
    CAST(COALESCE(
        CASE h.here WHEN 1 THEN LEFT(LTRIM(o.item.value('(inputbuf/text())[1]', 'nvarchar(4000)')), :chars) END, N''
    ) AS nvarchar(4000)) AS blocker_statement,
    CAST(h.here AS bit) AS here,
    r.file_name AS [file],
    r.file_offset AS [offset]
FROM (
    SELECT
        n.file_name,
        n.file_offset,
        e.item.value('@timestamp', 'datetime2(3)') AS at,
        e.item.value('(data[@name="duration"]/value/text())[1]', 'bigint') AS duration,
        e.item.value('(data[@name="database_id"]/value/text())[1]', 'int') AS database_id,
        e.item.value('(data[@name="object_id"]/value/text())[1]', 'int') AS object_id,
        e.item.query('data[@name="blocked_process"]/value/blocked-process-report') AS report
    FROM (
        SELECT TOP (20) f.file_name, f.file_offset, TRY_CAST(f.event_data AS xml) AS report
        FROM sys.fn_xe_file_target_read_file(
            CAST(:path AS nvarchar(260)),
            NULL,
            NULLIF(CAST(:file AS nvarchar(260)), N''),
            NULLIF(CAST(:offset AS bigint), -1)
        ) AS f
        WHERE f.object_name = N'blocked_process_report'
        ORDER BY f.file_name DESC, f.file_offset DESC
    ) AS n
    CROSS APPLY n.report.nodes('/event') AS e(item)
) AS r
CROSS APPLY r.report.nodes('/blocked-process-report/blocked-process/process') AS b(item)
CROSS APPLY r.report.nodes('/blocked-process-report/blocking-process/process') AS o(item)
CROSS APPLY (SELECT CASE WHEN r.database_id = DB_ID() THEN 1 ELSE 0 END AS here) AS h
-- Such as "XACT: 5:6081:0 KEY: 5:72057594048610304 (8194443284a0)": behind the database's number the index of the key.
CROSS APPLY (
    SELECT CAST(SUBSTRING(v.resource, NULLIF(CHARINDEX(N' KEY: ', v.resource), 0) + 6, 100) AS nvarchar(100)) AS [key]
    FROM (SELECT b.item.value('@waitresource', 'nvarchar(200)') AS resource) AS v
) AS w
CROSS APPLY (SELECT SUBSTRING(w.[key], CHARINDEX(N':', w.[key]) + 1, 20) AS hobt) AS x
LEFT JOIN sys.partitions AS p WITH (NOLOCK)
    ON p.hobt_id = TRY_CAST(LEFT(x.hobt, PATINDEX(N'%[^0-9]%', x.hobt + N' ') - 1) AS bigint)
ORDER BY r.at DESC
