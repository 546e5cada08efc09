-- Counts the rows of one range of pages, in a queue that deletes on pop. Reads only these pages, by a TID range scan.
-- {part}         the table, or one of its partitions
-- {due_at?}      column: when a message is due
-- {enqueued_at?} column: when it was pushed
-- :first_page    the first page of the range
-- :end_page      the page that the range ends before
-- > counted_at   server clock as the count began, seconds since the epoch
-- > rows_seen    number of rows, whatever their state
-- > ready        rows that are due, those held by a consumer included
-- > in_progress  NULL: the locks show the held rows
-- > timed        NULL: no such state
-- > stuck        NULL: no such state
-- > scheduled    not due yet
-- > dead         NULL: no such state
-- > oldest_at    when the oldest that is ready and due was pushed, seconds since the epoch
-- > longest_at   NULL: no such state
-- > next_place   NULL: ranges are of pages
-- > strange      NULL: no column says the state
-- > strange_first  NULL
-- > strange_last  NULL
SELECT
    CAST(extract(epoch FROM statement_timestamp()) AS float8) AS counted_at,
    count(*) AS rows_seen,
    count(*) FILTER (WHERE coalesce({due_at?!utc} <= statement_timestamp(), true)) AS ready,
    CAST(NULL AS bigint) AS in_progress,
    CAST(NULL AS bigint) AS timed,
    CAST(NULL AS bigint) AS stuck,
    count(*) FILTER (WHERE {due_at?!utc} > statement_timestamp()) AS scheduled,
    CAST(NULL AS bigint) AS dead,
    CAST(extract(epoch FROM min({enqueued_at?!moment}) FILTER (
        WHERE coalesce({due_at?!utc} <= statement_timestamp(), true)
    )) AS float8) AS oldest_at,
    CAST(NULL AS float8) AS longest_at,
    CAST(NULL AS text) AS next_place,
    CAST(NULL AS bigint) AS strange,
    CAST(NULL AS text) AS strange_first,
    CAST(NULL AS text) AS strange_last
FROM ONLY {part}
WHERE ctid >= CAST(format('(%s,0)', CAST(:first_page AS bigint)) AS tid)
    AND ctid < CAST(format('(%s,0)', CAST(:end_page AS bigint)) AS tid)
