-- Rows of these tables that a security policy hides from our login, and columns that are masked for it. Only the
-- function of a policy's predicate decides who sees all rows. A column computed from a masked column is masked, too. A
-- login that has neither VIEW DEFINITION nor ALTER ANY SECURITY POLICY sees no policy. Before 2022 UNMASK is a right on
-- the whole database.
-- :tables       table ids, separated by commas
-- > table_id    one of these
-- > column_name a column that is masked for our login; NULL: rows are hidden
-- > why         the reason why they are hidden
-- > helps       who can see all rows or values
SELECT
    CAST(t.id AS bigint) AS table_id,
    CAST(h.column_name AS nvarchar(128)) AS column_name,
    CAST(h.why AS nvarchar(200)) AS why,
    CAST(h.helps AS nvarchar(800)) AS helps
FROM (
    SELECT CAST(N'<i>' + REPLACE(CAST(:tables AS nvarchar(max)), N',', N'</i><i>') + N'</i>' AS xml) AS list
) AS l
CROSS APPLY l.list.nodes('/i') AS v(item)
CROSS APPLY (SELECT v.item.value('.', 'int') AS id) AS t
CROSS APPLY (
    SELECT
        CAST(NULL AS nvarchar(128)) AS column_name,
        N'a security policy filters this table: your login may see only some of the rows' AS why,
        N'the function of its predicate decides who sees all rows' AS helps
    FROM sys.security_predicates AS p
    JOIN sys.security_policies AS s ON s.object_id = p.object_id AND s.is_enabled = 1
    WHERE p.target_object_id = t.id AND p.predicate_type = 0
    UNION ALL
    SELECT
        c.name,
        N'column ' + c.name + N' is masked for this login',
        N'GRANT UNMASK TO ' + QUOTENAME(USER_NAME())
    FROM sys.columns AS m
    JOIN sys.columns AS c ON c.object_id = m.object_id
    WHERE m.object_id = t.id
        AND m.is_masked = 1
        AND (
            c.column_id = m.column_id
            OR EXISTS (
                SELECT 1
                FROM sys.computed_columns AS d
                WHERE d.object_id = c.object_id
                    AND d.column_id = c.column_id
                    AND (d.definition IS NULL OR CHARINDEX(QUOTENAME(m.name), d.definition) > 0)
            )
        )
        AND COALESCE(HAS_PERMS_BY_NAME(QUOTENAME(DB_NAME()), N'DATABASE', N'UNMASK'), 0) = 0
) AS h
