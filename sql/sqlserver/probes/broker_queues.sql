-- The queues of Service Broker in this database, the queue with the most messages first. An internal table stores a
-- queue's messages. The server counts the rows of this table, so no message is read.
-- > queue_id        its object id
-- > queue_schema    its schema
-- > queue           its name
-- > depth           messages in it, those that retention keeps among them; NULL if our role may not see its table
-- > receives        RECEIVE is allowed
-- > enqueues        true: enqueue is on
-- > activates       the server starts the procedure when messages come
-- > procedure       that procedure, empty if there is none
-- > max_readers     its maximum number of instances
-- > poison_handling five rollbacks in a row turn the queue off
SELECT TOP (200)
    CAST(q.object_id AS bigint) AS queue_id,
    CAST(s.name AS nvarchar(128)) AS queue_schema,
    CAST(q.name AS nvarchar(128)) AS queue,
    n.depth,
    q.is_receive_enabled AS receives,
    q.is_enqueue_enabled AS enqueues,
    q.is_activation_enabled AS activates,
    CAST(COALESCE(q.activation_procedure, N'') AS nvarchar(776)) AS [procedure],
    CAST(q.max_readers AS int) AS max_readers,
    q.is_poison_message_handling_enabled AS poison_handling
FROM sys.service_queues AS q
JOIN sys.schemas AS s ON s.schema_id = q.schema_id
OUTER APPLY (
    SELECT CAST(SUM(p.rows) AS bigint) AS depth
    FROM sys.internal_tables AS t
    JOIN sys.partitions AS p ON p.object_id = t.object_id AND p.index_id IN (0, 1)
    WHERE t.parent_id = q.object_id
        AND t.internal_type = 201
) AS n
WHERE q.is_ms_shipped = 0
ORDER BY n.depth DESC, q.object_id
OPTION (MAXDOP 1)
