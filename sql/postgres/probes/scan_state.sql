-- Counts the rows of one range of pages, by state. Reads only these pages: it lists each possible position of a row,
-- because this server has no TID range scan.
-- {part}         the table, or one of its partitions
-- {state}        column: the state
-- {due_at?}      column: when a message is due
-- {started_at?}  column: when it was popped
-- {enqueued_at?} column: when it was pushed
-- :first_page    the first page of the range
-- :end_page      the page that the range ends before
-- :ready         the state value of a ready message
-- :in_progress   the state value in progress, NULL if there is none
-- :done          the state value of a finished message, NULL if there is none
-- :dead          the state value of a dead message, NULL if there is none
-- :timeout       seconds after which a message in progress is stuck
-- :known         the state values that are known, each between two bars
-- > counted_at   server clock as the count began, seconds since the epoch
-- > rows_seen    rows that are not finished
-- > ready        ready and due
-- > in_progress  in progress
-- > timed        messages in progress with a known start time
-- > stuck        those in progress for longer than the timeout
-- > scheduled    ready but not due yet
-- > dead         dead
-- > oldest_at    when the oldest that is ready and due was pushed, seconds since the epoch
-- > longest_at   when the one longest in progress was popped, seconds since the epoch
-- > next_place   NULL: ranges are of pages
-- > strange      in a state that is unknown, or in none (NULL)
-- > strange_first  the first of these states as text, at most 100 characters
-- > strange_last  the last of them
SELECT
    CAST(extract(epoch FROM statement_timestamp()) AS float8) AS counted_at,
    count(*) AS rows_seen,
    count(*) FILTER (
        WHERE {state} = :ready AND coalesce({due_at?!utc} <= statement_timestamp(), true)
    ) AS ready,
    count(*) FILTER (WHERE {state} = :in_progress) AS in_progress,
    count(*) FILTER (WHERE {state} = :in_progress AND {started_at?!moment} IS NOT NULL) AS timed,
    count(*) FILTER (
        WHERE {state} = :in_progress
            AND {started_at?!moment} < statement_timestamp() - make_interval(secs => CAST(:timeout AS float8))
    ) AS stuck,
    count(*) FILTER (WHERE {state} = :ready AND {due_at?!utc} > statement_timestamp()) AS scheduled,
    count(*) FILTER (WHERE {state} = :dead) AS dead,
    CAST(extract(epoch FROM min({enqueued_at?!moment}) FILTER (
        WHERE {state} = :ready AND coalesce({due_at?!utc} <= statement_timestamp(), true)
    )) AS float8) AS oldest_at,
    CAST(extract(epoch FROM min({started_at?!moment}) FILTER (WHERE {state} = :in_progress)) AS float8) AS longest_at,
    CAST(NULL AS text) AS next_place,
    count(*) FILTER (WHERE (position('|' || CAST({state} AS text) || '|' IN CAST(:known AS text)) > 0) IS NOT TRUE) AS strange,
    left(min(coalesce(CAST({state} AS text), 'NULL')) FILTER (WHERE (position('|' || CAST({state} AS text) || '|' IN CAST(:known AS text)) > 0) IS NOT TRUE), 100) AS strange_first,
    left(max(coalesce(CAST({state} AS text), 'NULL')) FILTER (WHERE (position('|' || CAST({state} AS text) || '|' IN CAST(:known AS text)) > 0) IS NOT TRUE), 100) AS strange_last
FROM ONLY {part}
WHERE ctid = ANY (ARRAY(
    SELECT CAST(format('(%s,%s)', p.page, r.line) AS tid)
    FROM generate_series(CAST(:first_page AS bigint), CAST(:end_page AS bigint) - 1) AS p(page)
    CROSS JOIN generate_series(1, CAST(current_setting('block_size') AS int) / 28) AS r(line)
))
    AND coalesce({state} <> :done, true)
