-- Drops a classic ring with its messages. Fails if a foreign key or a view with SCHEMABINDING depends on it.
-- Skips objects that are already dropped.
-- {table}    the ring; its key goes with it
-- {push_seq} sequence; a table if the server has no sequences
-- {pop_seq}  sequence; a table if the server has no sequences
-- {push}     procedure
-- {pop}      procedure
-- {reset}    procedure
-- {memory}   procedure
-- {position} procedure
-- {draw}     procedure
IF OBJECT_ID({push!literal}, N'P') IS NOT NULL DROP PROCEDURE {push};
IF OBJECT_ID({pop!literal}, N'P') IS NOT NULL DROP PROCEDURE {pop};
IF OBJECT_ID({reset!literal}, N'P') IS NOT NULL DROP PROCEDURE {reset};
IF OBJECT_ID({memory!literal}, N'P') IS NOT NULL DROP PROCEDURE {memory};
IF OBJECT_ID({position!literal}, N'P') IS NOT NULL DROP PROCEDURE {position};
IF OBJECT_ID({draw!literal}, N'P') IS NOT NULL DROP PROCEDURE {draw};
IF OBJECT_ID({table!literal}, N'U') IS NOT NULL DROP TABLE {table};
DECLARE @drop nvarchar(max);
SET @drop = (
    SELECT CASE o.type WHEN 'SO' THEN N'DROP SEQUENCE ' ELSE N'DROP TABLE ' END + {push_seq!literal}
    FROM sys.objects AS o
    WHERE o.object_id = OBJECT_ID({push_seq!literal})
);
EXEC (@drop);
SET @drop = (
    SELECT CASE o.type WHEN 'SO' THEN N'DROP SEQUENCE ' ELSE N'DROP TABLE ' END + {pop_seq!literal}
    FROM sys.objects AS o
    WHERE o.object_id = OBJECT_ID({pop_seq!literal})
);
EXEC (@drop);
