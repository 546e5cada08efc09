-- Lets the acting role undo what was done before there was such a role.
DECLARE @grants nvarchar(max);
SET @grants = N'';
SELECT @grants = @grants + N'GRANT SELECT, INSERT, UPDATE, DELETE ON OBJECT::qmon.' + QUOTENAME(t.name)
    + N' TO qmon_operator;'
FROM sys.tables AS t
WHERE t.schema_id = SCHEMA_ID(N'qmon') AND (t.name LIKE N'trash[_][0-9]%' OR t.name LIKE N'kept[_][0-9]%');
EXEC (@grants)
