-- Whether our login may set a switch of an installed queue, and the switch's value.
-- {switch}   the table that holds the end
-- :side      producers or consumers
-- > may_set  our login may set it
-- > until_ms milliseconds since the epoch
-- > now_ms   the server's wall clock
SELECT CAST(HAS_PERMS_BY_NAME({switch!literal}, N'OBJECT', N'UPDATE') AS bit) AS may_set,
       (CAST(DATEDIFF(DAY, '19700101', s.until_utc) AS bigint) * 86400 + DATEDIFF(SECOND, CAST(s.until_utc AS date), s.until_utc)) * 1000 AS until_ms,
       (CAST(DATEDIFF(SECOND, '20000101', SYSUTCDATETIME()) AS bigint) + 946684800) * 1000 AS now_ms
FROM {switch} AS s WITH (NOLOCK)
WHERE s.side = CASE :side WHEN 'producers' THEN 0 ELSE 1 END
