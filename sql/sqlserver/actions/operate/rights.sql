-- Rights that we lack to change a table or to set a sequence, as the statement that grants them; no row if none are
-- missing.
-- {table}   the table or sequence
-- :needed   privileges, separated by commas
-- > helps   a GRANT, or the role that can do it
SELECT h.helps
FROM (SELECT CAST(:needed AS varchar(100)) AS needed) AS a
CROSS APPLY (
    SELECT N'GRANT ' + STUFF(m.missing, 1, 2, N'') + N' ON OBJECT::' + {table!literal} + N' TO ' + QUOTENAME(USER_NAME())
               AS helps
    FROM (
        SELECT (
            SELECT N', ' + p.privilege
            FROM (SELECT N'DELETE' AS privilege UNION ALL SELECT N'INSERT' UNION ALL SELECT N'UPDATE') AS p
            WHERE CHARINDEX(p.privilege, a.needed) > 0
                AND HAS_PERMS_BY_NAME({table!literal}, N'OBJECT', p.privilege) = 0
            ORDER BY p.privilege
            FOR XML PATH(N'')
        ) AS missing
    ) AS m
    WHERE m.missing IS NOT NULL
    UNION ALL
    SELECT N'the owner of ' + {table!literal} + N' does it: only who may ALTER it writes its identity where a trigger fires on inserts,'
           + N' or where there is no qmon.put_back that you may execute'
    WHERE CHARINDEX('INSERT', a.needed) > 0
        AND OBJECTPROPERTY(OBJECT_ID({table!literal}), 'TableHasIdentity') = 1
        AND HAS_PERMS_BY_NAME({table!literal}, N'OBJECT', 'ALTER') = 0
        AND (
            COALESCE(HAS_PERMS_BY_NAME(N'qmon.put_back', N'OBJECT', 'EXECUTE'), 0) = 0
            OR OBJECTPROPERTY(OBJECT_ID({table!literal}), 'TableHasInsertTrigger') = 1
        )
) AS h
