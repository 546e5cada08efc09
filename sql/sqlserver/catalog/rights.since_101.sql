-- The rights that qmon can use in Azure SQL Database, whether our user has each, its purpose, and the statement for it.
-- For Basic, S0, S1 and elastic pools, which need a server role: members are added in master.
-- > name   the right
-- > held   our login has it
-- > gives  its purpose
-- > grant  the statement that gives it
SELECT
    CAST(r.name AS nvarchar(60)) AS name,
    CAST(CASE WHEN r.held = 1 THEN 1 ELSE 0 END AS bit) AS held,
    CAST(r.gives AS nvarchar(200)) AS gives,
    CAST(CASE r.place WHEN 1 THEN N'ALTER SERVER ROLE ' + r.name + N' ADD MEMBER ' + r.whom ELSE N'GRANT ' + r.name + N' TO ' + r.whom END
        AS nvarchar(400)) AS [grant]
FROM (
    VALUES
        (1, N'##MS_ServerStateReader##', IS_SRVROLEMEMBER(N'##MS_ServerStateReader##'), QUOTENAME(SUSER_SNAME()), N'producers and consumers, messages in progress, locks, blocking, row versions, reads per pop, server counters, ending sessions; VIEW DATABASE STATE is not enough here'),
        (2, N'VIEW DATABASE STATE', HAS_PERMS_BY_NAME(QUOTENAME(DB_NAME()), N'DATABASE', 'VIEW DATABASE STATE'), QUOTENAME(USER_NAME()), N'push and pop rates; latches, locks, page splits and fragmentation by index; waits of this database; plans from Query Store'),
        (3, N'VIEW DEFINITION', HAS_PERMS_BY_NAME(QUOTENAME(DB_NAME()), N'DATABASE', 'VIEW DEFINITION'), QUOTENAME(USER_NAME()), N'positions of sequences, for rings and gaps; procedures that pop; security policies that hide rows'),
        (4, N'SELECT ON sys.sql_expression_dependencies', HAS_PERMS_BY_NAME(N'sys.sql_expression_dependencies', N'OBJECT', 'SELECT'), QUOTENAME(USER_NAME()), N'procedures that pop from tables that qmon did not install, for their reads per pop'),
        (5, N'KILL DATABASE CONNECTION', HAS_PERMS_BY_NAME(QUOTENAME(DB_NAME()), N'DATABASE', 'KILL DATABASE CONNECTION'), QUOTENAME(USER_NAME()), N'ends other sessions, together with the role above')
) AS r(place, name, held, whom, gives)
ORDER BY r.place
