-- Which tables a security policy filters: whom it lets see all, only the function of its predicate knows. A login that has
-- neither VIEW DEFINITION nor ALTER ANY SECURITY POLICY is shown no policy.
-- :tables    table ids, separated by commas
-- > table_id one of these
-- > why      what hides the rest
-- > helps    who sees all
SELECT
    CAST(p.target_object_id AS bigint) AS table_id,
    CAST(N'a security policy filters this table: our login may see a part of the rows' AS nvarchar(100)) AS why,
    CAST(N'the function of its predicate says who sees all' AS nvarchar(100)) AS helps
FROM (
    SELECT CAST(N'<i>' + REPLACE(CAST(:tables AS nvarchar(max)), N',', N'</i><i>') + N'</i>' AS xml) AS list
) AS l
CROSS APPLY l.list.nodes('/i') AS v(item)
JOIN sys.security_predicates AS p ON p.target_object_id = v.item.value('.', 'int') AND p.predicate_type = 0
JOIN sys.security_policies AS s ON s.object_id = p.object_id AND s.is_enabled = 1
