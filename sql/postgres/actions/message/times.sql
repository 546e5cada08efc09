-- Times since a message was pushed and popped, by the server's clock.
-- {table}        the table
-- {key!where}    condition: the row's key
-- {enqueued_at?} column: when it was pushed
-- {started_at?}  column: when it was popped
-- > pushed_s     seconds since it was pushed
-- > popped_s     seconds since it was popped
SELECT CAST(extract(epoch FROM clock_timestamp() - {enqueued_at?!moment.q}) AS float8) AS pushed_s,
       CAST(extract(epoch FROM clock_timestamp() - {started_at?!moment.q}) AS float8)  AS popped_s
FROM {table} AS q
WHERE {key!where}
LIMIT 1
