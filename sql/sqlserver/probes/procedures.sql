-- The cost of some procedures so far, from the totals that the server keeps with its cached plans; neither plan
-- nor text is read. A call counts once it has ended. The totals of a procedure start again with each new plan.
-- :procedures     object ids, separated by commas
-- > procedure_id  the procedure's object id
-- > executions    calls that have ended
-- > logical_reads pages that they have read, in memory or not
-- > plans         identifies a set of plans: totals of different sets must not be compared
WITH wanted AS (
    SELECT v.item.value('.', 'int') AS object_id
    FROM (
        SELECT CAST(N'<i>' + REPLACE(CAST(:procedures AS nvarchar(max)), N',', N'</i><i>') + N'</i>' AS xml) AS list
    ) AS l
    CROSS APPLY l.list.nodes('/i') AS v(item)
)
SELECT
    CAST(p.object_id AS bigint) AS procedure_id,
    CAST(SUM(p.execution_count) AS bigint) AS executions,
    CAST(SUM(p.total_logical_reads) AS bigint) AS logical_reads,
    CAST(CHECKSUM_AGG(CHECKSUM(p.plan_handle, p.cached_time)) AS bigint) AS plans
FROM sys.dm_exec_procedure_stats AS p
WHERE p.database_id = DB_ID()
    AND p.object_id IN (SELECT w.object_id FROM wanted AS w)
GROUP BY p.object_id
