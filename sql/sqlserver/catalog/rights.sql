-- The rights that qmon can use, whether our login has each, its purpose, and the GRANT for it.
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
        (1, N'VIEW SERVER STATE', HAS_PERMS_BY_NAME(NULL, NULL, 'VIEW SERVER STATE'), QUOTENAME(SUSER_SNAME()), N'activity of other sessions: waits, blocking, writers, horizon and version store, reads per pop, queue monitors of Service Broker, server counters, delay of a secondary (granted in master)'),
        (2, N'VIEW DATABASE STATE', HAS_PERMS_BY_NAME(QUOTENAME(DB_NAME()), N'DATABASE', 'VIEW DATABASE STATE'), QUOTENAME(USER_NAME()), N'rates, latches, locks, page splits and fragmentation by index'),
        (3, N'VIEW DEFINITION', HAS_PERMS_BY_NAME(QUOTENAME(DB_NAME()), N'DATABASE', 'VIEW DEFINITION'), QUOTENAME(USER_NAME()), N'positions of sequences, for rings and gaps; procedures that pop; security policies that hide rows'),
        (4, N'SELECT ON sys.sql_expression_dependencies', HAS_PERMS_BY_NAME(N'sys.sql_expression_dependencies', N'OBJECT', 'SELECT'), QUOTENAME(USER_NAME()), N'procedures that pop from tables that qmon did not install, for their reads per pop'),
        (5, N'ALTER ANY CONNECTION', HAS_PERMS_BY_NAME(NULL, NULL, 'ALTER ANY CONNECTION'), QUOTENAME(SUSER_SNAME()), N'ends other sessions (granted in master)'),
        (6, N'VIEW ANY DEFINITION', HAS_PERMS_BY_NAME(NULL, NULL, 'VIEW ANY DEFINITION'), QUOTENAME(SUSER_SNAME()), N'names of the other replicas, and whether commits wait for them (granted in master)')
) AS r(place, name, held, whom, gives)
ORDER BY r.place
