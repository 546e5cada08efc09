-- The server's wall clock, by which pauses end.
-- > now_ms  milliseconds since the epoch
SELECT (CAST(DATEDIFF(SECOND, '20000101', n.now) AS bigint) + 946684800) * 1000 + DATEPART(MILLISECOND, n.now) AS now_ms
FROM (SELECT SYSUTCDATETIME() AS now) AS n
