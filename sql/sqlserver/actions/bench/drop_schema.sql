-- Drops the schema of a bench with all its objects: procedures before the types of their parameters, tables before the
-- sequences that number their rows. If the schema contains an object that no design creates (a view, a function), the
-- drop fails.
-- {schema} the schema
SET NOCOUNT ON;
SET XACT_ABORT ON;
DECLARE @schema sysname, @text nvarchar(max);
SET @schema = PARSENAME({schema!literal}, 1);
IF SCHEMA_ID(@schema) IS NOT NULL
BEGIN
    SET @text = COALESCE((
        SELECT N'DROP PROCEDURE ' + QUOTENAME(@schema) + N'.' + QUOTENAME(o.name) + N'; '
        FROM sys.procedures AS o
        WHERE o.schema_id = SCHEMA_ID(@schema)
        FOR XML PATH(N''), TYPE
    ).value('.', 'nvarchar(max)'), N'');
    SET @text = @text + COALESCE((
        SELECT N'DROP TABLE ' + QUOTENAME(@schema) + N'.' + QUOTENAME(o.name) + N'; '
        FROM sys.tables AS o
        WHERE o.schema_id = SCHEMA_ID(@schema)
        FOR XML PATH(N''), TYPE
    ).value('.', 'nvarchar(max)'), N'');
    SET @text = @text + COALESCE((
        SELECT N'DROP SEQUENCE ' + QUOTENAME(@schema) + N'.' + QUOTENAME(o.name) + N'; '
        FROM sys.sequences AS o
        WHERE o.schema_id = SCHEMA_ID(@schema)
        FOR XML PATH(N''), TYPE
    ).value('.', 'nvarchar(max)'), N'');
    SET @text = @text + COALESCE((
        SELECT N'DROP TYPE ' + QUOTENAME(@schema) + N'.' + QUOTENAME(o.name) + N'; '
        FROM sys.types AS o
        WHERE o.schema_id = SCHEMA_ID(@schema)
        FOR XML PATH(N''), TYPE
    ).value('.', 'nvarchar(max)'), N'');
    SET @text = @text + N'DROP SCHEMA ' + QUOTENAME(@schema) + N';';
    EXEC sys.sp_executesql @text;
END;
