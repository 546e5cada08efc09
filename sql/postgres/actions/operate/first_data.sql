-- The payloads of some messages of split tables, shortened by the server.
-- {data_table}  the table with the payloads
-- {data_id}     column: the id
-- {payload}     column: the message
-- {sized?}      the same column, if its type gives the size without unpacking the value
-- :ids          the messages, an array as text
-- > id          id as text
-- > payload     its first characters; only its size if it is large
SELECT CAST({data_id} AS text)                                                                     AS id,
       CASE WHEN pg_column_size({payload}) > 65536 THEN coalesce(
                pg_size_pretty(CAST(octet_length({sized?}) AS bigint)),
                pg_size_pretty(CAST(pg_column_size({payload}) AS bigint)) || ' stored')
            ELSE left(CAST({payload} AS text), 200) END                                            AS payload
FROM {data_table}
WHERE {data_id} = ANY (:ids)
LIMIT 50
