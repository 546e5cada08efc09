-- The cost of our own session: pages that it has read or found in the buffer pool since it began, and its processor
-- time, as of its last batch. Every login may see its own session.
-- > buffers pages touched so far
-- > cpu_ms  milliseconds on a processor so far
SELECT CAST(s.logical_reads AS bigint) AS buffers, CAST(s.cpu_time AS bigint) AS cpu_ms
FROM sys.dm_exec_sessions AS s
WHERE s.session_id = @@SPID
