-- The number of messages in progress that were popped since a given time, at most 1,000: committed pops, without delay.
-- {table}       the queue's table
-- {state}       column: the state
-- {started_at}  column: when it was popped
-- :in_progress  the state value of a message in progress
-- :since        the moment, as text
-- > moved       number of rows
DECLARE @in_progress nvarchar(200) = :in_progress;
DECLARE @since datetime2(6) = CAST(CAST(:since AS datetimeoffset(6)) AS datetime2(6));
SELECT COUNT_BIG(*) AS moved
FROM (
    SELECT TOP (1000) 1 AS one
    FROM {table} WITH (ROWLOCK, READPAST, READCOMMITTEDLOCK)
    WHERE {state} = CAST(@in_progress AS varchar(200)) AND {started_at} > @since
) AS t
OPTION (RECOMPILE, MAXDOP 1)
