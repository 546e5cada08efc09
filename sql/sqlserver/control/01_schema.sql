-- qmon's own schema. Does nothing where it exists, and then needs no right to create one.
IF SCHEMA_ID(N'qmon') IS NULL
    EXEC (N'CREATE SCHEMA qmon');
