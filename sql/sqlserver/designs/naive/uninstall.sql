-- Drops a naive queue with its messages. Fails if a foreign key or a view with SCHEMABINDING depends on it. Skips
-- objects that are already dropped.
-- {table}      the queue; its key goes with it
-- {seq}        sequence; a table if the server has no sequences
-- {messages}   table type
-- {push}       procedure
-- {push_batch} procedure
-- {pop}        procedure
-- {pop_batch}  procedure
-- {draw}       procedure
IF OBJECT_ID({push!literal}, N'P') IS NOT NULL DROP PROCEDURE {push};
IF OBJECT_ID({push_batch!literal}, N'P') IS NOT NULL DROP PROCEDURE {push_batch};
IF OBJECT_ID({pop!literal}, N'P') IS NOT NULL DROP PROCEDURE {pop};
IF OBJECT_ID({pop_batch!literal}, N'P') IS NOT NULL DROP PROCEDURE {pop_batch};
IF OBJECT_ID({draw!literal}, N'P') IS NOT NULL DROP PROCEDURE {draw};
IF TYPE_ID({messages!literal}) IS NOT NULL DROP TYPE {messages};
IF OBJECT_ID({table!literal}, N'U') IS NOT NULL DROP TABLE {table};
DECLARE @drop nvarchar(max);
SET @drop = (
    SELECT CASE o.type WHEN 'SO' THEN N'DROP SEQUENCE ' ELSE N'DROP TABLE ' END + {seq!literal}
    FROM sys.objects AS o
    WHERE o.object_id = OBJECT_ID({seq!literal})
);
EXEC (@drop);
