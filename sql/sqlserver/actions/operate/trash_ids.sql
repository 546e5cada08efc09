-- The ids of some rows of the trash.
-- {trash}  the table
-- {id}     column: the id
-- :keys    ids of the rows, XML
-- > id     id as text
SET NOCOUNT ON;
DECLARE @keys xml = CAST(CAST(:keys AS nvarchar(max)) AS xml);
SELECT CONVERT(nvarchar(450), {id}) AS id
FROM {trash}
WHERE {id} IN (SELECT r.n.value('@k', 'nvarchar(450)') FROM @keys.nodes('/r') AS r(n))
