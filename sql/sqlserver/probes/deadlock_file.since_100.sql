-- The current file of a database-level event session in Azure SQL Database: of a session that collects
-- database_xml_deadlock_report, if there is a session with a file. Reading this view makes the server flush its
-- buffered events.
-- > path its address in the storage of the account
SELECT TOP (1) CAST(f.item.value('@name', 'nvarchar(260)') AS nvarchar(260)) AS path
FROM (
    SELECT TRY_CAST(t.target_data AS xml) AS target
    FROM sys.dm_xe_database_session_events AS e
    JOIN sys.dm_xe_database_session_targets AS t ON t.event_session_address = e.event_session_address
    WHERE e.event_name = N'database_xml_deadlock_report'
        AND t.target_name = N'event_file'
) AS x
CROSS APPLY x.target.nodes('/EventFileTarget/File') AS f(item)
