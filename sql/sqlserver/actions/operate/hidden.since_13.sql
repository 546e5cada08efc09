-- The reason why rows of the table are hidden from our login: a security policy filters the table. See the probe
-- "partial".
-- {table}  the table
-- > kind   hidden
-- > name   the reason why they are hidden
SELECT CAST(N'hidden' AS nvarchar(10)) AS kind,
       CAST(N'a security policy filters this table: your login may see only some of the rows' AS nvarchar(100)) AS name
FROM sys.security_predicates AS p
JOIN sys.security_policies AS s ON s.object_id = p.object_id AND s.is_enabled = 1
WHERE p.target_object_id = OBJECT_ID({table!literal}, N'U') AND p.predicate_type = 0
