-- The last deadlocks of this database in Azure SQL Database: from the memory of a database-level event session that
-- collects database_xml_deadlock_report, if there is one; the server has none by default. Read only after the count of
-- deadlocks has risen. One row per pair: the waiting session and the session that it waited for.
-- :chars        maximum characters of a statement
-- > at          when the server resolved it, seconds since the epoch
-- > session     session that waited
-- > blocker     session that it waited for
-- > table_id    table of the lock, by its index or name, if the report has either
-- > application its application name
-- > statement   its last statement, shortened
SELECT TOP (100)
    CAST(DATEDIFF(DAY, '19700101', r.at) * 86400.0 + DATEDIFF(SECOND, CAST(r.at AS date), r.at) AS float)
        + DATEPART(MILLISECOND, r.at) / 1000.0 AS at,
    COALESCE(p.item.value('@spid', 'int'), 0) AS session,
    COALESCE(b.item.value('@spid', 'int'), 0) AS blocker,
    CAST(COALESCE(n.object_id, OBJECT_ID(COALESCE(
        k.item.value('@objectname', 'nvarchar(400)'), k.item.value('(UnderlyingResource/*/@objectname)[1]', 'nvarchar(400)')
    ))) AS bigint) AS table_id,
    CAST(COALESCE(p.item.value('@clientapp', 'nvarchar(128)'), N'') AS nvarchar(128)) AS application,
    CAST(COALESCE(LEFT(LTRIM(p.item.value('(inputbuf/text())[1]', 'nvarchar(4000)')), :chars), N'') AS nvarchar(4000)) AS statement
FROM (
    SELECT TOP (5) e.item.value('@timestamp', 'datetime2(3)') AS at, e.item.query('data/value/deadlock') AS graph
    FROM (
        SELECT TRY_CAST(t.target_data AS xml) AS target
        FROM sys.dm_xe_database_session_targets AS t
        WHERE t.target_name = N'ring_buffer'
            AND CHARINDEX(N'database_xml_deadlock_report', t.target_data) > 0
    ) AS x
    CROSS APPLY x.target.nodes('/RingBufferTarget/event[@name="database_xml_deadlock_report"]') AS e(item)
    ORDER BY e.item.value('@timestamp', 'datetime2(3)') DESC
) AS r
CROSS APPLY r.graph.nodes('/deadlock/resource-list/*') AS k(item)
CROSS APPLY k.item.nodes('waiter-list/waiter') AS w(item)
CROSS APPLY k.item.nodes('owner-list/owner') AS o(item)
CROSS APPLY r.graph.nodes('/deadlock/process-list/process') AS p(item)
CROSS APPLY r.graph.nodes('/deadlock/process-list/process') AS b(item)
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
