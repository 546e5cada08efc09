-- Whether a gate can be installed on a table, and the effects of the gate.
-- {table}       the table
-- > may_create  our login may alter it, as creating a trigger needs, and write into qmon's schema or make it
-- > owns        the same, as taking a gate away needs
-- > kind        table or other
-- > instead     it has INSTEAD OF triggers: the gate sees only the rows that they insert
-- > above       the parent of this partition, if the parent has a gate; always NULL here
-- > heirs       other tables inherit from it; always false here
SELECT CAST(HAS_PERMS_BY_NAME({table!literal}, N'OBJECT', N'ALTER') AS bit)  AS may_create,
       CAST(HAS_PERMS_BY_NAME({table!literal}, N'OBJECT', N'ALTER') AS bit)  AS owns,
       CASE WHEN o.type = 'U' THEN 'table' ELSE 'other' END                  AS kind,
       CAST(CASE WHEN EXISTS (
           SELECT *
           FROM sys.triggers AS t
           WHERE t.parent_id = o.object_id
               AND t.is_instead_of_trigger = 1
       ) THEN 1 ELSE 0 END AS bit)                                            AS instead,
       CAST(NULL AS nvarchar(300))                                            AS above,
       CAST(0 AS bit)                                                         AS heirs
FROM sys.objects AS o
WHERE o.object_id = OBJECT_ID({table!literal})
