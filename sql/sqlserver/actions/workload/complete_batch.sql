-- Complete many messages of the workload.
-- {complete_batch} procedure of the design
-- {ids}            type: its argument
-- :ids             ids, numbered, as XML
-- :attempts        the attempt of each, as pop returned it, the same way
-- > done           number of messages that were still in progress
SET NOCOUNT ON;
DECLARE @texts xml, @tries xml, @ids {ids};
SET @texts = CAST(CAST(:ids AS nvarchar(max)) AS xml);
SET @tries = CAST(CAST(:attempts AS nvarchar(max)) AS xml);
INSERT INTO @ids (id, attempt)
SELECT r.n.value('@k', 'bigint'), t.n.value('@k', 'int')
FROM @texts.nodes('/r') AS r(n)
JOIN @tries.nodes('/r') AS t(n) ON t.n.value('@n', 'int') = r.n.value('@n', 'int');
EXEC {complete_batch} @ids = @ids;
