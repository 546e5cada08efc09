-- The first messages of a store, to show to people. The server shortens payloads.
-- {store}      the trash, or the rows that requeues changed
-- {called?!text} columns: the name of a message
-- {state?}     column: the state
-- {since?}     column: when it was popped, or pushed
-- {owner?}     column: its consumer
-- {attempts?}  column: number of pops
-- {payload?}   column: the message
-- :rows        which rows of the store, XML
-- > key        the row of the store
-- > id         id as text
-- > state      state value as text
-- > age_s      seconds
-- > owner      its consumer
-- > attempts   number of pops
-- > payload    its first characters, bytes as hex digits; only its size if it is large
SET NOCOUNT ON;
DECLARE @rows xml = CAST(CAST(:rows AS nvarchar(max)) AS xml);
SELECT CONVERT(nvarchar(20), q.qmon_row)                                                                  AS [key],
       {called?!text.q}                                                                                     AS id,
       CONVERT(nvarchar(100), {state?})                                                                     AS state,
       CAST(DATEDIFF(DAY, {since?!moment}, SYSUTCDATETIME()) * 86400.0
           + DATEDIFF(MILLISECOND, DATEADD(DAY, DATEDIFF(DAY, {since?!moment}, SYSUTCDATETIME()), {since?!moment}), SYSUTCDATETIME()) / 1000.0 AS float)                                          AS age_s,
       RTRIM(CONVERT(nvarchar(400), {owner?}))                                                              AS owner,
       CONVERT(int, {attempts?})                                                                            AS attempts,
       CASE WHEN DATALENGTH({payload?}) > 65536
            THEN CONVERT(nvarchar(20), DATALENGTH({payload?}) / 1024) + N' kB'
            ELSE LEFT(CONVERT(nvarchar(max), {payload?!read}, 1), 200) END                                       AS payload
FROM {store} AS q
WHERE q.qmon_row IN (SELECT r.n.value('@k', 'bigint') FROM @rows.nodes('/r') AS r(n))
