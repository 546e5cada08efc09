-- Makes an empty table in the schema of the stores, with columns of a table whose rows the caller may change, and
-- nothing else. The caller needs no right to create tables.
-- Runs as the owner of qmon's schema. No name comes from the caller: tables are given by their object id, and columns
-- are those of the catalog. The caller is an operator or an owner of the database, and may read and change the rows of
-- that table: this is checked as the caller.
-- Nothing of the table but the types of its columns comes along; the UNION keeps the identity from it. Each row of a
-- store has a number of its own (qmon_row), because kept rows may be equal or have no key.
-- Calls that create a store wait for each other.
ALTER PROCEDURE qmon.make_store
    @table     int,
    @kind      varchar(20),
    @about     nvarchar(600),
    @structure nvarchar(max),
    @columns   xml,
    @found_by  nvarchar(128)
WITH EXECUTE AS OWNER
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;
    DECLARE @from nvarchar(600), @list nvarchar(max), @asked int, @known int, @may bit, @store int, @name nvarchar(600);
    DECLARE @text nvarchar(max), @rows nvarchar(max);
    SET @from = (
        SELECT QUOTENAME(s.name) + N'.' + QUOTENAME(t.name)
        FROM sys.tables AS t
        JOIN sys.schemas AS s ON s.schema_id = t.schema_id
        WHERE t.object_id = @table
            AND t.is_ms_shipped = 0
            AND s.name NOT IN (N'qmon', N'qmon_store')
    );
    EXECUTE AS CALLER;
    SET @may = CASE WHEN (IS_ROLEMEMBER(N'qmon_operator') = 1 OR IS_ROLEMEMBER(N'db_owner') = 1)
                         AND HAS_PERMS_BY_NAME(@from, N'OBJECT', N'SELECT') = 1
                         AND HAS_PERMS_BY_NAME(@from, N'OBJECT', CASE @kind WHEN 'trash' THEN N'DELETE' ELSE N'UPDATE' END) = 1
                    THEN 1 ELSE 0 END;
    REVERT;
    DECLARE @wanted TABLE (name nvarchar(128) COLLATE Latin1_General_BIN2 NOT NULL);
    INSERT INTO @wanted (name)
    SELECT DISTINCT c.n.value('@k', 'nvarchar(128)') COLLATE Latin1_General_BIN2
    FROM @columns.nodes('/r') AS c(n);
    SET @asked = @@ROWCOUNT;
    SET @known = (
        SELECT COUNT(*)
        FROM sys.columns AS c
        JOIN @wanted AS w ON w.name = c.name COLLATE Latin1_General_BIN2
        WHERE c.object_id = @table
    );
    IF @from IS NULL OR @may = 0 OR COALESCE(@kind, '') NOT IN ('trash', 'kept') OR @asked = 0 OR @known <> @asked
        OR COALESCE(@found_by, N'') <> N'qmon_row'
            AND NOT EXISTS (SELECT 1 FROM @wanted AS w WHERE w.name = @found_by COLLATE Latin1_General_BIN2)
    BEGIN
        RAISERROR (N'qmon.make_store: the table does not exist, the caller may not change its rows, or the column does not exist', 16, 1);
        RETURN 1;
    END;
    SET @list = (
        SELECT N', q.' + QUOTENAME(c.name)
        FROM sys.columns AS c
        JOIN @wanted AS w ON w.name = c.name COLLATE Latin1_General_BIN2
        WHERE c.object_id = @table
        ORDER BY c.column_id
        FOR XML PATH(N''), TYPE
    ).value('.', 'nvarchar(max)');
    BEGIN TRANSACTION;
    INSERT INTO qmon.stores WITH (TABLOCKX) (kind, about, structure) VALUES (@kind, @about, @structure);
    SET @store = CONVERT(int, SCOPE_IDENTITY());
    SET @name = N'qmon_store.' + QUOTENAME(@kind + N'_' + CONVERT(nvarchar(11), @store));
    SET @rows = N'SELECT CAST('''' AS varchar(40)) AS qmon_operation'
        + CASE @kind WHEN 'trash' THEN N', CAST(NULL AS datetime2(3)) AS qmon_trashed_at' ELSE N'' END + @list;
    SET @text = @rows + N' INTO ' + @name + N' FROM ' + @from + N' AS q WHERE 1 = 0 UNION ALL '
        + @rows + N' FROM ' + @from + N' AS q WHERE 1 = 0';
    EXEC sys.sp_executesql @text;
    SET @text = N'ALTER TABLE ' + @name + N' ADD qmon_row bigint IDENTITY(1, 1) NOT NULL PRIMARY KEY NONCLUSTERED';
    EXEC sys.sp_executesql @text;
    IF @kind = 'trash'
    BEGIN
        SET @text = N'ALTER TABLE ' + @name + N' ADD DEFAULT SYSUTCDATETIME() FOR qmon_trashed_at';
        EXEC sys.sp_executesql @text;
    END;
    SET @text = N'CREATE INDEX qmon_of_operation ON ' + @name + N' (qmon_operation, ' + QUOTENAME(@found_by) + N')';
    EXEC sys.sp_executesql @text;
    COMMIT TRANSACTION;
    SELECT @store AS store;
END;
