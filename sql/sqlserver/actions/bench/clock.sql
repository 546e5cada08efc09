-- The server's clock. Slices of the load end at a time of this clock.
-- > at seconds since the epoch
SELECT CAST(DATEDIFF(DAY, '19700101', t.now) * 86400.0 + DATEDIFF(SECOND, CAST(t.now AS date), t.now) AS float)
        + DATEPART(NANOSECOND, t.now) / 1000000000.0 AS at
FROM (SELECT SYSUTCDATETIME() AS now) AS t
