-- The CHECK constraints that combine a table's state with other columns, one row for each other column.
-- {table}        the table
-- :state         column: the state
-- > name         the constraint
-- > column_name  another column that it looks at
DECLARE @state nvarchar(128) = :state;
SELECT CAST(k.name AS nvarchar(128)) AS name, CAST(c.name AS nvarchar(128)) AS column_name
FROM sys.objects AS k
JOIN sys.sql_expression_dependencies AS d
    ON d.referencing_id = k.object_id AND d.referenced_id = k.parent_object_id AND d.referenced_minor_id > 0
JOIN sys.columns AS c ON c.object_id = k.parent_object_id AND c.column_id = d.referenced_minor_id
WHERE k.parent_object_id = OBJECT_ID({table!literal}, N'U')
    AND k.type = 'C'
    AND c.name <> @state
    AND EXISTS (
        SELECT 1
        FROM sys.sql_expression_dependencies AS e
        JOIN sys.columns AS s ON s.object_id = k.parent_object_id AND s.column_id = e.referenced_minor_id
        WHERE e.referencing_id = k.object_id AND e.referenced_id = k.parent_object_id AND s.name = @state
    )
ORDER BY 1, 2
