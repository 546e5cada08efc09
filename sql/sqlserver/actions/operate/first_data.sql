-- The payloads of some messages of split tables, shortened by the server.
-- {data_table}  the table with the payloads
-- {data_id}     column: the id
-- {payload}     column: the message
-- :ids          the messages, XML
-- > id          id as text
-- > payload     its first characters, bytes as hex digits; only its size if it is large
SET NOCOUNT ON;
DECLARE @ids xml = CAST(CAST(:ids AS nvarchar(max)) AS xml);
SELECT TOP (50)
       CONVERT(nvarchar(450), {data_id})                                                                    AS id,
       CASE WHEN DATALENGTH({payload}) > 65536
            THEN CONVERT(nvarchar(20), DATALENGTH({payload}) / 1024) + N' kB'
            ELSE LEFT(CONVERT(nvarchar(max), {payload!read}, 1), 200) END                                        AS payload
FROM {data_table} WITH (ROWLOCK, READPAST, READCOMMITTEDLOCK)
WHERE {data_id} IN (SELECT r.n.value('@k', 'nvarchar(450)') FROM @ids.nodes('/r') AS r(n))
