-- The last deadlocks from the file of an event session, the newest first: pairs of sessions that waited for each other,
-- with their statements. The server reads the file from the given block on, which keeps one processor busy. Only the
-- newest reports are converted to XML. Read only after the count of deadlocks has risen. One row per pair: the waiting
-- session and the session that it waited for.
-- :path         the file
-- :file         the same as returned before, to begin after a block of it; empty: from its start
-- :offset       that block, the same; -1: from its start
-- :chars        maximum characters of a statement
-- > at          when the server resolved it, seconds since the epoch
-- > session     session that waited
-- > blocker     session that it waited for
-- > table_id    table of the lock, by its index or name, if the report has either; NULL if it is in another database
-- > application its application name; empty if the lock is in another database
-- > statement   its last statement, shortened; empty if the lock is in another database
-- > here        the lock is of this database
-- > file        position of the report: the file
-- > offset      and its block there
SELECT TOP (200)
    CAST(DATEDIFF(DAY, '19700101', r.at) * 86400.0 + DATEDIFF(SECOND, CAST(r.at AS date), r.at) AS float)
        + DATEPART(MILLISECOND, r.at) / 1000.0 AS at,
    COALESCE(p.item.value('@spid', 'int'), 0) AS session,
    COALESCE(b.item.value('@spid', 'int'), 0) AS blocker,
    CAST(CASE h.here WHEN 1 THEN COALESCE(n.object_id, OBJECT_ID(COALESCE(
        k.item.value('@objectname', 'nvarchar(400)'), k.item.value('(UnderlyingResource/*/@objectname)[1]', 'nvarchar(400)')
    ))) END AS bigint) AS table_id,
    CAST(COALESCE(CASE h.here WHEN 1 THEN p.item.value('@clientapp', 'nvarchar(128)') END, N'') AS nvarchar(128)) AS application,
    CAST(COALESCE(
        CASE h.here WHEN 1 THEN LEFT(LTRIM(p.item.value('(inputbuf/text())[1]', 'nvarchar(4000)')), :chars) END, N''
    ) AS nvarchar(4000)) AS statement,
    CAST(h.here AS bit) AS here,
    r.file_name AS [file],
    r.file_offset AS [offset]
FROM (
    SELECT TOP (10)
        n.file_name,
        n.file_offset,
        n.of_the_database,
        e.item.value('@timestamp', 'datetime2(3)') AS at,
        e.item.query('data/value/deadlock') AS graph
    FROM (
        SELECT TOP (20)
            f.file_name,
            f.file_offset,
            CASE f.object_name WHEN N'database_xml_deadlock_report' THEN 1 ELSE 0 END AS of_the_database,
            TRY_CAST(f.event_data AS xml) AS report
        FROM sys.fn_xe_file_target_read_file(
            CAST(:path AS nvarchar(260)),
            NULL,
            NULLIF(CAST(:file AS nvarchar(260)), N''),
            NULLIF(CAST(:offset AS bigint), -1)
        ) AS f
        WHERE f.object_name IN (N'xml_deadlock_report', N'database_xml_deadlock_report')
        ORDER BY f.file_name DESC, f.file_offset DESC
    ) AS n
    CROSS APPLY n.report.nodes('/event') AS e(item)
    ORDER BY e.item.value('@timestamp', 'datetime2(3)') DESC
) AS r
CROSS APPLY r.graph.nodes('/deadlock/resource-list/*') AS k(item)
CROSS APPLY k.item.nodes('waiter-list/waiter') AS w(item)
CROSS APPLY k.item.nodes('owner-list/owner') AS o(item)
CROSS APPLY r.graph.nodes('/deadlock/process-list/process') AS p(item)
CROSS APPLY r.graph.nodes('/deadlock/process-list/process') AS b(item)
CROSS APPLY (
    SELECT CASE
        WHEN r.of_the_database = 1
            OR COALESCE(k.item.value('@dbid', 'int'), k.item.value('(UnderlyingResource/*/@dbid)[1]', 'int')) = DB_ID() THEN 1
        ELSE 0
    END AS here
) AS h
OUTER APPLY (
    -- In Azure SQL Database the name of the object may begin with another name of the database.
    SELECT TOP (1) t.object_id
    FROM sys.partitions AS t WITH (NOLOCK)
    WHERE t.hobt_id = TRY_CAST(COALESCE(
        k.item.value('@hobtid', 'nvarchar(20)'), k.item.value('(UnderlyingResource/*/@hobtid)[1]', 'nvarchar(20)')
    ) AS bigint)
) AS n
WHERE p.item.value('@id', 'nvarchar(60)') = w.item.value('@id', 'nvarchar(60)')
    AND b.item.value('@id', 'nvarchar(60)') = o.item.value('@id', 'nvarchar(60)')
ORDER BY r.at DESC
