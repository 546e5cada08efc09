-- The queues of Service Broker: Azure SQL Database has none.
-- > queue_id        its object id
-- > queue_schema    its schema
-- > queue           its name
-- > depth           messages in it
-- > receives        RECEIVE is allowed
-- > enqueues        true: enqueue is on
-- > activates       the server starts the procedure when messages come
-- > procedure       that procedure
-- > max_readers     its maximum number of instances
-- > poison_handling five rollbacks in a row turn the queue off
SELECT TOP (0)
    CAST(0 AS bigint) AS queue_id,
    CAST(N'' AS nvarchar(128)) AS queue_schema,
    CAST(N'' AS nvarchar(128)) AS queue,
    CAST(NULL AS bigint) AS depth,
    CAST(0 AS bit) AS receives,
    CAST(0 AS bit) AS enqueues,
    CAST(0 AS bit) AS activates,
    CAST(N'' AS nvarchar(776)) AS [procedure],
    CAST(0 AS int) AS max_readers,
    CAST(0 AS bit) AS poison_handling
