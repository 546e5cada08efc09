-- The number of sessions of the load that are still connected.
-- :prefix    prefix of their application names
-- > sessions number
DECLARE @prefix nvarchar(128);
SET @prefix = CAST(:prefix AS nvarchar(128));
SELECT CAST(COUNT(*) AS int) AS sessions
FROM sys.dm_exec_sessions AS s
WHERE LEFT(s.program_name, DATALENGTH(@prefix) / 2) COLLATE Latin1_General_BIN2 = @prefix COLLATE Latin1_General_BIN2;
