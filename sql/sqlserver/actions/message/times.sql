-- Times since a message was pushed and popped, by the server's clock.
-- {table}        the table
-- {key!where}    condition: the row's key
-- {enqueued_at?} column: when it was pushed
-- {started_at?}  column: when it was popped
-- > pushed_s     seconds since it was pushed
-- > popped_s     seconds since it was popped
SELECT TOP (1)
       CAST(DATEDIFF(DAY, {enqueued_at?!moment.q}, SYSUTCDATETIME()) * 86400.0
           + DATEDIFF(MILLISECOND, DATEADD(DAY, DATEDIFF(DAY, {enqueued_at?!moment.q}, SYSUTCDATETIME()), {enqueued_at?!moment.q}), SYSUTCDATETIME()) / 1000.0 AS float) AS pushed_s,
       CAST(DATEDIFF(DAY, {started_at?!moment.q}, SYSUTCDATETIME()) * 86400.0
           + DATEDIFF(MILLISECOND, DATEADD(DAY, DATEDIFF(DAY, {started_at?!moment.q}, SYSUTCDATETIME()), {started_at?!moment.q}), SYSUTCDATETIME()) / 1000.0 AS float)  AS popped_s
FROM {table} AS q
WHERE {key!where}
OPTION (MAXDOP 1)
