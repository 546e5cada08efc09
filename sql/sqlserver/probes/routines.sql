-- The object ids of the procedures by which an installed queue is pushed into and popped from, found by their names. A
-- login without the right to see them (VIEW DEFINITION, or a right on them) gets none.
-- {push?}        procedure: pushes one message
-- {push_batch?}  procedure: pushes several
-- {pop?}         procedure: pops one message
-- {pop_batch?}   procedure: pops several
-- > verb         push or pop
-- > procedure_id its object id
SELECT
    CAST(r.verb AS varchar(4)) AS verb,
    CAST(COALESCE(r.id, 0) AS bigint) AS procedure_id
FROM (
    SELECT 'push' AS verb, OBJECT_ID(CAST({push?!literal} AS nvarchar(600)), N'P') AS id
    UNION ALL SELECT 'push', OBJECT_ID(CAST({push_batch?!literal} AS nvarchar(600)), N'P')
    UNION ALL SELECT 'pop', OBJECT_ID(CAST({pop?!literal} AS nvarchar(600)), N'P')
    UNION ALL SELECT 'pop', OBJECT_ID(CAST({pop_batch?!literal} AS nvarchar(600)), N'P')
) AS r
WHERE r.id IS NOT NULL
