-- Current waits of the load's sessions.
-- :prefix    prefix of their application names
-- > kind     the server's name of the wait; CPU if the session runs or could run
-- > event    empty
-- > sessions number of sessions
DECLARE @prefix nvarchar(128);
SET @prefix = CAST(:prefix AS nvarchar(128));
SELECT COALESCE(r.wait_type, N'CPU') AS kind, N'' AS event, CAST(COUNT(*) AS int) AS sessions
FROM sys.dm_exec_requests AS r
JOIN sys.dm_exec_sessions AS s ON s.session_id = r.session_id
WHERE LEFT(s.program_name, DATALENGTH(@prefix) / 2) COLLATE Latin1_General_BIN2 = @prefix COLLATE Latin1_General_BIN2
GROUP BY r.wait_type;
