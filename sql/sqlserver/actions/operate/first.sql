-- The first of the chosen messages, for people. Payloads are cut short by the server.
-- {table}      the queue's table
-- {id?}        column: the id
-- {state?}     column: the state
-- {since?}     column: when it was popped, or pushed
-- {owner?}     column: who popped it
-- {attempts?}  column: how often it was popped
-- {payload?}   column: the message
-- :keys        where the rows lie, XML
-- > key        where the row lies
-- > id         id as text
-- > state      state value as text
-- > age_s      seconds
-- > owner      who popped it
-- > attempts   how often it was popped
-- > payload    its first characters, bytes as hex digits; its size alone where it is large
SET NOCOUNT ON;
DECLARE @keys xml = CAST(CAST(:keys AS nvarchar(max)) AS xml);
SELECT CONVERT(nvarchar(450), {id?})                                                                        AS [key],
       CONVERT(nvarchar(450), {id?})                                                                        AS id,
       CONVERT(nvarchar(100), {state?})                                                                     AS state,
       CAST(DATEDIFF(SECOND, {since?}, SYSUTCDATETIME()) AS float)                                          AS age_s,
       RTRIM(CONVERT(nvarchar(400), {owner?}))                                                              AS owner,
       CONVERT(int, {attempts?})                                                                            AS attempts,
       CASE WHEN DATALENGTH({payload?}) > 65536
            THEN CONVERT(nvarchar(20), DATALENGTH({payload?}) / 1024) + N' kB'
            ELSE LEFT(CONVERT(nvarchar(max), {payload?}, 1), 200) END                                       AS payload
FROM {table} AS q WITH (READPAST, READCOMMITTEDLOCK)
WHERE {id?} IN (SELECT r.n.value('@k', 'nvarchar(450)') FROM @keys.nodes('/r') AS r(n))
