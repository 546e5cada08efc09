-- Puts rows of a trash back into a table with an identity, each with the number it had, and nothing else: the server
-- lets only logins that may ALTER a table write its identity (IDENTITY_INSERT).
-- Runs as the owner of qmon's schema. No name comes from the caller: tables are given by their object id, the trash is
-- one of qmon.stores, and columns are those that both have. The caller is an operator or an owner of the database, may
-- read the trash, and may insert into the table: this is checked as the caller.
-- A table with a trigger on inserts is refused, because the trigger would run with the owner's rights; one with
-- row-level security, because that would check the owner and not the caller.
-- IDENTITY_INSERT ends with the text that it is set in, whatever becomes of it.
ALTER PROCEDURE qmon.put_back
    @table int,
    @trash int,
    @rows  xml
WITH EXECUTE AS OWNER
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;
    DECLARE @into nvarchar(600), @from nvarchar(600), @may bit, @list nvarchar(max), @policies int, @text nvarchar(max);
    SET @into = (
        SELECT QUOTENAME(s.name) + N'.' + QUOTENAME(t.name)
        FROM sys.tables AS t
        JOIN sys.schemas AS s ON s.schema_id = t.schema_id
        WHERE t.object_id = @table
            AND t.is_ms_shipped = 0
            AND s.name NOT IN (N'qmon', N'qmon_store')
            AND OBJECTPROPERTY(t.object_id, 'TableHasIdentity') = 1
    );
    SET @from = (
        SELECT QUOTENAME(s.name) + N'.' + QUOTENAME(t.name)
        FROM sys.tables AS t
        JOIN sys.schemas AS s ON s.schema_id = t.schema_id
        WHERE t.object_id = @trash
            AND s.name = N'qmon_store'
            AND EXISTS (
                SELECT 1
                FROM qmon.stores AS k
                WHERE k.kind = 'trash'
                    AND OBJECT_ID(N'qmon_store.trash_' + CONVERT(nvarchar(11), k.store), N'U') = t.object_id
            )
    );
    EXECUTE AS CALLER;
    SET @may = CASE WHEN (IS_ROLEMEMBER(N'qmon_operator') = 1 OR IS_ROLEMEMBER(N'db_owner') = 1)
                         AND HAS_PERMS_BY_NAME(@into, N'OBJECT', N'INSERT') = 1
                         AND HAS_PERMS_BY_NAME(@from, N'OBJECT', N'SELECT') = 1
                    THEN 1 ELSE 0 END;
    REVERT;
    IF @into IS NULL OR @from IS NULL OR @may = 0
    BEGIN
        RAISERROR (N'qmon.put_back: no table with an identity that the caller may insert into, or no trash', 16, 1);
        RETURN 1;
    END;
    IF OBJECT_ID(N'sys.security_predicates') IS NOT NULL
        EXEC sys.sp_executesql
            N'SELECT @policies = COUNT(*) FROM sys.security_predicates WHERE target_object_id = @table',
            N'@table int, @policies int OUTPUT', @table = @table, @policies = @policies OUTPUT;
    IF @policies > 0 OR EXISTS (
        SELECT 1
        FROM sys.triggers AS t
        WHERE t.parent_id = @table AND t.is_disabled = 0 AND OBJECTPROPERTY(t.object_id, 'ExecIsInsertTrigger') = 1
    )
    BEGIN
        RAISERROR (N'qmon.put_back: the table has a trigger on inserts or row-level security: its owner must put the rows back', 16, 1);
        RETURN 1;
    END;
    SET @list = (
        SELECT N', ' + QUOTENAME(c.name)
        FROM sys.columns AS c
        JOIN sys.columns AS k
            ON k.object_id = @trash AND k.name COLLATE Latin1_General_BIN2 = c.name COLLATE Latin1_General_BIN2
        WHERE c.object_id = @table
            AND c.is_computed = 0
            AND c.system_type_id <> 189
            AND COALESCE(COLUMNPROPERTY(c.object_id, c.name, 'GeneratedAlwaysType'), 0) = 0
        ORDER BY c.column_id
        FOR XML PATH(N''), TYPE
    ).value('.', 'nvarchar(max)');
    SET @list = STUFF(@list, 1, 2, N'');
    SET @text = N'SET IDENTITY_INSERT ' + @into + N' ON; INSERT INTO ' + @into + N' (' + @list + N') SELECT ' + @list
        + N' FROM ' + @from + N' WHERE qmon_row IN (SELECT r.n.value(''@k'', ''bigint'') FROM @rows.nodes(''/r'') AS r(n));'
        + N' SET IDENTITY_INSERT ' + @into + N' OFF';
    EXEC sys.sp_executesql @text, N'@rows xml', @rows = @rows;
END;
