-- What our own session has cost: pages it has read or found in the buffer pool since it began, as of its last statement.
-- Everybody may see their own session.
-- > buffers pages touched so far
SELECT CAST(s.logical_reads AS bigint) AS buffers
FROM sys.dm_exec_sessions AS s
WHERE s.session_id = @@SPID
