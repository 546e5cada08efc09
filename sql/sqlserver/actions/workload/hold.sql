-- Fault: lock the oldest messages, until the transaction ends. The statement first finds the messages without locks and
-- then locks them one by one: a scan with locks would lock more rows if its plan sorts.
-- {table}  the queue's table
-- {id}     column: the id
-- {state?} column: the state; without one every row is ready
-- :rows    number of rows
-- :ready   the state value of a ready message
-- > held   rows locked
SET NOCOUNT ON;
DECLARE @ready varchar(100), @rows int;
SELECT @rows = :rows, @ready = CAST(:ready AS varchar(100));
DECLARE @next TABLE (qmon_id bigint NOT NULL PRIMARY KEY);
INSERT INTO @next (qmon_id)
SELECT TOP (@rows) {id}
FROM {table} WITH (NOLOCK)
WHERE {state?} IS NULL
    OR {state?} = @ready
ORDER BY {id}
OPTION (MAXDOP 1);
SELECT CAST(COUNT(*) AS int) AS held
FROM @next AS n
INNER LOOP JOIN {table} AS q WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
    ON q.{id} = n.qmon_id AND ({state?} IS NULL OR {state?} = @ready)
OPTION (MAXDOP 1);
