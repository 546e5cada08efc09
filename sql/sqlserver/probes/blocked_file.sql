-- The current file of an event session that collects blocked_process_report, if there is one with a file; the server
-- makes such reports only if "blocked process threshold" is set. Reading this makes the server flush its buffered
-- events. Needs VIEW SERVER STATE (2022 and later: VIEW SERVER PERFORMANCE STATE).
-- > path its path on the server
SELECT TOP (1) CAST(f.item.value('@name', 'nvarchar(260)') AS nvarchar(260)) AS path
FROM (
    SELECT TRY_CAST(t.target_data AS xml) AS target
    FROM sys.dm_xe_session_events AS e
    JOIN sys.dm_xe_session_targets AS t ON t.event_session_address = e.event_session_address
    WHERE e.event_name = N'blocked_process_report'
        AND t.target_name = N'event_file'
) AS x
CROSS APPLY x.target.nodes('/EventFileTarget/File') AS f(item)
