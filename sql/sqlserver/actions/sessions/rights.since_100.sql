-- What our user may see of other sessions of this database in Azure SQL Database, and whether it may end them.
-- > role     our role
-- > own      this very session
-- > sees     our user sees the sessions of others
-- > grant    the statement that would help
SELECT
    CAST(SUSER_SNAME() AS nvarchar(128)) AS role,
    CAST(@@SPID AS int) AS own,
    CAST(CASE WHEN HAS_PERMS_BY_NAME(QUOTENAME(DB_NAME()), N'DATABASE', 'VIEW DATABASE STATE') = 1 THEN 1 ELSE 0 END AS bit) AS sees,
    CAST(N'GRANT VIEW DATABASE STATE TO ' + QUOTENAME(USER_NAME()) AS nvarchar(300)) AS [grant]
