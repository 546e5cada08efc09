-- Reasons not to trust qmon's own schemas: each object that differs from the object that qmon creates. No row means
-- that the schemas are trusted or do not exist.
-- The schema qmon must belong to dbo or to our user, the stores to dbo or to the role that setup makes for them. A
-- member of db_owner can act as dbo, and can run code as any user of the database in other ways: see SECURITY.md.
-- > object  the object
-- > problem its problem
-- > advice  what to do
SELECT TOP (1) f.object, f.problem, f.advice
FROM (
    SELECT 1 AS place, N'the schema ' + QUOTENAME(s.name) AS object,
           N'is owned by ' + QUOTENAME(USER_NAME(s.principal_id)) + N', which is neither this user nor dbo' AS problem,
           N'its owner or dbo can: ALTER AUTHORIZATION ON SCHEMA::' + s.name + N' TO dbo' AS advice
    FROM sys.schemas AS s
    WHERE s.name IN (N'qmon', N'qmon_store')
        AND s.principal_id <> DATABASE_PRINCIPAL_ID(N'dbo')
        AND s.principal_id <> DATABASE_PRINCIPAL_ID()
        AND NOT (s.name = N'qmon_store' AND USER_NAME(s.principal_id) = N'qmon_store')
    UNION ALL
    SELECT 2, s.name + N'.' + QUOTENAME(o.name), N'is a ' + LOWER(REPLACE(o.type_desc, N'_', N' ')), N'drop it if it is not needed'
    FROM sys.objects AS o
    JOIN sys.schemas AS s ON s.schema_id = o.schema_id
    WHERE s.name IN (N'qmon', N'qmon_store')
        AND (
            s.name = N'qmon' AND o.name IN (N'queues', N'operations', N'stores', N'pauses', N'gates') AND o.type <> 'U'
            OR s.name = N'qmon_store' AND (o.name LIKE N'trash[_][0-9]%' OR o.name LIKE N'kept[_][0-9]%') AND o.type <> 'U'
        )
    UNION ALL
    SELECT 2, s.name + N'.' + QUOTENAME(o.name),
           N'is owned by ' + QUOTENAME(USER_NAME(o.principal_id)), N'drop it if it is not needed'
    FROM sys.objects AS o
    JOIN sys.schemas AS s ON s.schema_id = o.schema_id
    WHERE s.name IN (N'qmon', N'qmon_store')
        AND o.principal_id IS NOT NULL
        AND o.principal_id <> s.principal_id
    UNION ALL
    SELECT 3, s.name + N'.' + QUOTENAME(o.name), N'has the trigger ' + QUOTENAME(t.name), N'drop the trigger'
    FROM sys.triggers AS t
    JOIN sys.objects AS o ON o.object_id = t.parent_id
    JOIN sys.schemas AS s ON s.schema_id = o.schema_id
    WHERE s.name IN (N'qmon', N'qmon_store')
) AS f
ORDER BY f.place, f.object, f.problem
