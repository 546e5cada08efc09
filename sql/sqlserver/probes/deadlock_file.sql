-- The current file of the server's own health session. Reading this view makes the server flush its buffered events. No
-- row if the session writes to no file, or does not run.
-- > path its path on the server
SELECT TOP (1) CAST(f.item.value('@name', 'nvarchar(260)') AS nvarchar(260)) AS path
FROM (
    SELECT TRY_CAST(t.target_data AS xml) AS target
    FROM sys.dm_xe_sessions AS s
    JOIN sys.dm_xe_session_targets AS t ON t.event_session_address = s.address
    WHERE s.name = N'system_health'
        AND t.target_name = N'event_file'
) AS x
CROSS APPLY x.target.nodes('/EventFileTarget/File') AS f(item)
