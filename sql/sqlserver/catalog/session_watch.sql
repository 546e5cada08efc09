-- Sets up a session that only watches: it never waits for a lock on rows. No values are bound, since settings made in a
-- statement with values end with that statement.
-- The DSN, the driver, the login or the server's "user options" may have set any of these to something else.
-- {lock_timeout!int}  milliseconds to wait for a lock, -1 forever
-- > version           the server's version, such as 16.0.4135.4; 100.0 in Azure SQL Database and 16.0 in a Managed Instance,
--                     which both have what later versions have and call themselves 12. 101.0 in Azure SQL Database if
--                     VIEW DATABASE STATE is not enough to read sys.dm_exec_connections: Basic, S0, S1, elastic pools
-- > session_id        the server's id of this session
-- > login             our role
-- > standby           the database may only be read: a readable secondary, or one that is set so
SET QUOTED_IDENTIFIER, ANSI_NULLS, ANSI_PADDING, ANSI_WARNINGS, CONCAT_NULL_YIELDS_NULL, ARITHABORT ON;
SET NUMERIC_ROUNDABORT, NOCOUNT OFF;
SET ROWCOUNT 0;
SET TEXTSIZE 2147483647;
SET TRANSACTION ISOLATION LEVEL READ UNCOMMITTED;
SET LOCK_TIMEOUT {lock_timeout!int};
DECLARE @restricted bit = 0;
IF CAST(SERVERPROPERTY('EngineEdition') AS int) IN (5, 12)
    AND HAS_PERMS_BY_NAME(QUOTENAME(DB_NAME()), N'DATABASE', 'VIEW DATABASE STATE') = 1
BEGIN TRY
    EXEC sys.sp_executesql N'DECLARE @one int; SELECT TOP (1) @one = c.session_id FROM sys.dm_exec_connections AS c;';
END TRY
BEGIN CATCH
    SET @restricted = 1;
END CATCH;
SELECT CASE
           WHEN CAST(SERVERPROPERTY('EngineEdition') AS int) IN (5, 12) THEN CASE @restricted WHEN 1 THEN N'101.0' ELSE N'100.0' END
           WHEN CAST(SERVERPROPERTY('EngineEdition') AS int) = 8
               AND CAST(SERVERPROPERTY('ProductVersion') AS nvarchar(128)) LIKE N'12.%' THEN N'16.0'
           ELSE CAST(SERVERPROPERTY('ProductVersion') AS nvarchar(128))
       END                                                     AS version,
       CAST(@@SPID AS int)                                     AS session_id,
       CAST(SUSER_SNAME() AS nvarchar(128))                    AS login,
       CAST(CASE WHEN CAST(DATABASEPROPERTYEX(DB_NAME(), 'Updateability') AS nvarchar(20)) = N'READ_ONLY' THEN 1
                 ELSE 0 END AS bit)                            AS standby;
