-- The transmission queue of this database: messages that were sent and not delivered. The server counts the rows. At
-- most 100 rows are read, in no order, because finding the oldest row would mean reading all rows.
-- > enabled   Service Broker is on in this database
-- > messages  messages in it; NULL if our role may not see the table behind it
-- > counted   messages read of them
-- > oldest_s  seconds since the oldest of these was sent
-- > service   recipient of the first of these that could not be delivered, or of the oldest
-- > status    why it could not be; empty: it was not tried yet
SELECT TOP (1)
    CAST(d.is_broker_enabled AS bit) AS enabled,
    n.messages,
    CAST(COALESCE(f.counted, 0) AS int) AS counted,
    CAST(
        DATEDIFF(DAY, f.oldest_at, GETUTCDATE()) * 86400.0
        + DATEDIFF(MILLISECOND, DATEADD(DAY, DATEDIFF(DAY, f.oldest_at, GETUTCDATE()), f.oldest_at), GETUTCDATE()) / 1000.0
    AS float) AS oldest_s,
    CAST(COALESCE(f.to_service_name, N'') AS nvarchar(256)) AS service,
    CAST(COALESCE(f.transmission_status, N'') AS nvarchar(4000)) AS status
FROM sys.databases AS d
OUTER APPLY (
    SELECT CAST(SUM(p.rows) AS bigint) AS messages
    FROM sys.objects AS o
    JOIN sys.partitions AS p ON p.object_id = o.object_id AND p.index_id IN (0, 1)
    WHERE o.name = N'sysxmitqueue'
        AND o.type = 'S'
) AS n
OUTER APPLY (
    SELECT TOP (1)
        COUNT(*) OVER () AS counted,
        MIN(x.enqueue_time) OVER () AS oldest_at,
        x.to_service_name,
        x.transmission_status
    FROM (
        SELECT TOP (CASE n.messages WHEN 0 THEN 0 ELSE 100 END) t.enqueue_time, t.to_service_name, t.transmission_status
        FROM sys.transmission_queue AS t
    ) AS x
    ORDER BY CASE WHEN x.transmission_status <> N'' THEN 0 ELSE 1 END, x.enqueue_time
) AS f
WHERE d.database_id = DB_ID()
OPTION (MAXDOP 1)
