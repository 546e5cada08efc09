-- The cost of our own session: pages that it has read or found in the buffer pool since it began.
-- A session reports its counters at most once a second; on request, ours reports them at the end of this statement.
-- > buffers pages touched so far
-- > cpu_ms  NULL: unknown
SELECT CAST(sum(coalesce(b.hits, 0) + coalesce(b.reads, 0)) AS bigint) AS buffers, CAST(NULL AS bigint) AS cpu_ms
FROM pg_stat_get_backend_io(pg_backend_pid()) AS b
WHERE pg_stat_force_next_flush() IS NOT NULL
