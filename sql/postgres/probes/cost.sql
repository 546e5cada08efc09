-- The cost of our own session: unknown before version 18 without an extension.
-- > buffers pages touched so far, NULL: unknown
-- > cpu_ms  NULL: unknown
SELECT CAST(NULL AS bigint) AS buffers, CAST(NULL AS bigint) AS cpu_ms
