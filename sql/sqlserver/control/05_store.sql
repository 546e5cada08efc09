-- The schema of the stores, tables that keep what an undo needs. It belongs to a role that owns nothing else, so
-- objects in it can access no other table. And the two procedures by which operators use more than their own rights,
-- still empty, in qmon's own schema: they run as its owner, which a role cannot be. Does nothing if they exist.
IF DATABASE_PRINCIPAL_ID(N'qmon_store') IS NULL
    EXEC (N'CREATE ROLE qmon_store');
IF SCHEMA_ID(N'qmon_store') IS NULL
    EXEC (N'CREATE SCHEMA qmon_store AUTHORIZATION qmon_store');
IF OBJECT_ID(N'qmon.make_store', N'P') IS NULL
    EXEC (N'CREATE PROCEDURE qmon.make_store AS RETURN 0');
IF OBJECT_ID(N'qmon.put_back', N'P') IS NULL
    EXEC (N'CREATE PROCEDURE qmon.put_back AS RETURN 0')
