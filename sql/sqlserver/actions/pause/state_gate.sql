-- Whether our login may set the switch of a gate, and the switch's value.
-- {gate}     the trigger
-- > may_set  our login may set it
-- > until_ms milliseconds since the epoch
-- > now_ms   the server's wall clock
SELECT CAST(HAS_PERMS_BY_NAME(N'qmon.gates', N'OBJECT', N'UPDATE') AS bit) AS may_set,
       (CAST(DATEDIFF(DAY, '19700101', g.until_utc) AS bigint) * 86400 + DATEDIFF(SECOND, CAST(g.until_utc AS date), g.until_utc)) * 1000 AS until_ms,
       (CAST(DATEDIFF(SECOND, '20000101', SYSUTCDATETIME()) AS bigint) + 946684800) * 1000 AS now_ms
FROM qmon.gates AS g WITH (NOLOCK)
WHERE g.trigger_id = OBJECT_ID({gate!literal})
