-- qmon's own schema. Does nothing if it exists; the right to create one is then not needed.
IF SCHEMA_ID(N'qmon') IS NULL
    EXEC (N'CREATE SCHEMA qmon');
