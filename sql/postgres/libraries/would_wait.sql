-- How many of these messages would wait for a consumer if columns had other values.
-- {table}     the table of messages
-- {key}       the id, as a name alone
-- {rows!where}     condition: the row is ready, scheduled or blocked
-- :ids        which, a JSON array of rows
-- :written    the values, a row as JSON
-- :clock      JSON: columns that get the time, each with "time", or "seconds" since the epoch
-- > done      number of them
SELECT count(*) AS done
FROM (
    SELECT r.*
    FROM {table} AS t
    CROSS JOIN LATERAL jsonb_populate_record(t, CAST(:written AS jsonb) || (
        SELECT coalesce(jsonb_object_agg(c.key, CASE c.value
            WHEN 'time' THEN to_jsonb(clock_timestamp())
            ELSE to_jsonb(floor(extract(epoch FROM clock_timestamp())))
        END), '{}')
        FROM jsonb_each_text(CAST(:clock AS jsonb)) AS c
    )) AS r
    WHERE t.{key} IN (SELECT g.{key} FROM jsonb_populate_recordset(CAST(NULL AS {table}), CAST(:ids AS jsonb)) AS g)
) AS q
WHERE {rows!where}
