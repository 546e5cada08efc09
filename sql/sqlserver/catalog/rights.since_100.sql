-- The rights that qmon can use in Azure SQL Database, whether our user has each, its purpose, and the GRANT for it.
-- > name   the right
-- > held   our login has it
-- > gives  its purpose
-- > grant  the statement that gives it
SELECT
    CAST(r.name AS nvarchar(60)) AS name,
    CAST(CASE WHEN r.held = 1 THEN 1 ELSE 0 END AS bit) AS held,
    CAST(r.gives AS nvarchar(200)) AS gives,
    CAST(N'GRANT ' + r.name + N' TO ' + r.whom AS nvarchar(400)) AS [grant]
FROM (
    VALUES
        (1, N'VIEW DATABASE STATE', HAS_PERMS_BY_NAME(QUOTENAME(DB_NAME()), N'DATABASE', 'VIEW DATABASE STATE'), QUOTENAME(USER_NAME()), N'activity of other sessions in this database, its waits and row versions, reads per pop, rates, latches, locks and fragmentation by index'),
        (2, N'VIEW DEFINITION', HAS_PERMS_BY_NAME(QUOTENAME(DB_NAME()), N'DATABASE', 'VIEW DEFINITION'), QUOTENAME(USER_NAME()), N'positions of sequences, for rings and gaps; procedures that pop; security policies that hide rows'),
        (3, N'SELECT ON sys.sql_expression_dependencies', HAS_PERMS_BY_NAME(N'sys.sql_expression_dependencies', N'OBJECT', 'SELECT'), QUOTENAME(USER_NAME()), N'procedures that pop from tables that qmon did not install, for their reads per pop'),
        (4, N'KILL DATABASE CONNECTION', HAS_PERMS_BY_NAME(QUOTENAME(DB_NAME()), N'DATABASE', 'KILL DATABASE CONNECTION'), QUOTENAME(USER_NAME()), N'ends other sessions')
) AS r(place, name, held, whom, gives)
ORDER BY r.place
