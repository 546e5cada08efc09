-- Restores the values that a requeue changed, for messages that we have locked, and returns which of them have these
-- values: read from the table, after its triggers.
-- {table}          the queue's table
-- {kept}           changed rows as they were before
-- {key!list}       columns: the key of a row
-- {columns!list}   the columns that were changed
-- {certain!list}   those of them that must be as before: all but times that the server's clock gave
-- :rows            kept rows, XML
-- > place          nothing: rows are known by their key
-- > same           a message that was written is as it was before
SET NOCOUNT ON;
DECLARE @rows xml = CAST(CAST(:rows AS nvarchar(max)) AS xml);
UPDATE q
SET {columns!set.k}
FROM {kept} AS k
INNER LOOP JOIN {table} AS q WITH (FORCESEEK, ROWLOCK, READPAST, READCOMMITTEDLOCK) ON {key!on.k}
WHERE k.qmon_row IN (SELECT r.n.value('@k', 'bigint') FROM @rows.nodes('/r') AS r(n));
SELECT N'' AS place,
       CAST(CASE WHEN EXISTS (
           SELECT 1
           FROM {table} AS q WITH (FORCESEEK, ROWLOCK, READPAST, READCOMMITTEDLOCK)
           WHERE {key!on.k}
               AND CONVERT(nvarchar(max), (SELECT {certain!list.q} FOR XML RAW, BINARY BASE64)) COLLATE Latin1_General_BIN
                   = CONVERT(nvarchar(max), (SELECT {certain!list.k} FOR XML RAW, BINARY BASE64)) COLLATE Latin1_General_BIN
       ) THEN 1 ELSE 0 END AS bit) AS same
FROM {kept} AS k
WHERE k.qmon_row IN (SELECT r.n.value('@k', 'bigint') FROM @rows.nodes('/r') AS r(n))
