-- What our own session has cost: servers before 18 do not say without an extension.
-- > buffers pages touched so far, NULL: unknown
-- > cpu_ms  NULL: unknown
SELECT CAST(NULL AS bigint) AS buffers, CAST(NULL AS bigint) AS cpu_ms
