-- What our login may see of other sessions, and whether it may end them.
-- > role     our role
-- > own      this very session
-- > sees     our login sees the sessions of others
-- > grant    the statement that would help
SELECT
    CAST(SUSER_SNAME() AS nvarchar(128)) AS role,
    CAST(@@SPID AS int) AS own,
    CAST(CASE WHEN HAS_PERMS_BY_NAME(NULL, NULL, 'VIEW SERVER STATE') = 1 THEN 1 ELSE 0 END AS bit) AS sees,
    CAST(N'GRANT VIEW SERVER STATE TO ' + QUOTENAME(SUSER_SNAME()) AS nvarchar(300)) AS [grant]
