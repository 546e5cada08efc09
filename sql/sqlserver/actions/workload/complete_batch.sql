-- Complete many messages of the workload.
-- {complete_batch} procedure of the design
-- {ids}            type: what it takes
-- :ids             ids, numbered, as XML
-- > done           how many were still in progress
SET NOCOUNT ON;
DECLARE @texts xml, @ids {ids};
SET @texts = CAST(CAST(:ids AS nvarchar(max)) AS xml);
INSERT INTO @ids (id)
SELECT r.n.value('@k', 'bigint')
FROM @texts.nodes('/r') AS r(n);
EXEC {complete_batch} @ids = @ids;
