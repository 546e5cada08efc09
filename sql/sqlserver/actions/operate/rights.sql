-- What we lack to change a table or to set a sequence: the statement that would give it; no row where nothing.
-- {table}   the table or sequence
-- :needed   privileges, separated by commas
-- > helps   a GRANT
SELECT N'GRANT ' + STUFF(m.missing, 1, 2, N'') + N' ON OBJECT::' + {table!literal} + N' TO ' + QUOTENAME(USER_NAME())
           AS helps
FROM (
    SELECT (
        SELECT N', ' + p.privilege
        FROM (SELECT N'DELETE' AS privilege UNION ALL SELECT N'INSERT' UNION ALL SELECT N'UPDATE') AS p
        WHERE CHARINDEX(p.privilege, :needed) > 0
            AND HAS_PERMS_BY_NAME({table!literal}, N'OBJECT', p.privilege) = 0
        ORDER BY p.privilege
        FOR XML PATH(N'')
    ) AS missing
) AS m
WHERE m.missing IS NOT NULL
