-- Whether operations can be recorded in this database.
-- > recorded    the table of operations is there
-- > writable    we may use the procedures that write into it, make stores and put rows back
-- > can_create  true: our role may create the missing objects
SELECT CAST(CASE WHEN OBJECT_ID(N'qmon.operations', N'U') IS NOT NULL THEN 1 ELSE 0 END AS bit) AS recorded,
       CAST(CASE WHEN HAS_PERMS_BY_NAME(N'qmon.operations', N'OBJECT', N'SELECT') = 1
                      AND HAS_PERMS_BY_NAME(N'qmon.operation_begin', N'OBJECT', N'EXECUTE') = 1
                      AND HAS_PERMS_BY_NAME(N'qmon.operation_emptied', N'OBJECT', N'EXECUTE') = 1
                      AND HAS_PERMS_BY_NAME(N'qmon.stores', N'OBJECT', N'SELECT') = 1
                      AND HAS_PERMS_BY_NAME(N'qmon.make_store', N'OBJECT', N'EXECUTE') = 1
                      AND HAS_PERMS_BY_NAME(N'qmon.put_back', N'OBJECT', N'EXECUTE') = 1
                 THEN 1 ELSE 0 END AS bit)                                                      AS writable,
       CAST(CASE WHEN HAS_PERMS_BY_NAME(QUOTENAME(DB_NAME()), N'DATABASE', N'CREATE TABLE') = 1
                      AND (
                          SCHEMA_ID(N'qmon') IS NULL AND HAS_PERMS_BY_NAME(QUOTENAME(DB_NAME()), N'DATABASE', N'CREATE SCHEMA') = 1
                          OR HAS_PERMS_BY_NAME(N'qmon', N'SCHEMA', N'ALTER') = 1
                      )
                      AND HAS_PERMS_BY_NAME(QUOTENAME(DB_NAME()), N'DATABASE', N'CREATE PROCEDURE') = 1
                      AND HAS_PERMS_BY_NAME(QUOTENAME(DB_NAME()), N'DATABASE', N'CREATE ROLE') = 1
                 THEN 1 ELSE 0 END AS bit)                                                      AS can_create
