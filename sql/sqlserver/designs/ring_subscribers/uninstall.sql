-- Drops a ring for several subscribers with its messages. Fails if a foreign key or a view with SCHEMABINDING
-- depends on it. Skips objects that are already dropped.
-- {table}          the ring; its key goes with it
-- {spare}          spare numbers
-- {readers}        its subscribers
-- {push_seq}       sequence; a table if the server has no sequences
-- {push}           procedure
-- {pop}            procedure
-- {repair}         procedure
-- {requeue_orphan} procedure
-- {fill_hole}      procedure
-- {take}           procedure
-- {settle}         procedure
-- {full}           procedure
-- {memory}         procedure
-- {position}       procedure
-- {draw}           procedure
IF OBJECT_ID({push!literal}, N'P') IS NOT NULL DROP PROCEDURE {push};
IF OBJECT_ID({pop!literal}, N'P') IS NOT NULL DROP PROCEDURE {pop};
IF OBJECT_ID({repair!literal}, N'P') IS NOT NULL DROP PROCEDURE {repair};
IF OBJECT_ID({requeue_orphan!literal}, N'P') IS NOT NULL DROP PROCEDURE {requeue_orphan};
IF OBJECT_ID({fill_hole!literal}, N'P') IS NOT NULL DROP PROCEDURE {fill_hole};
IF OBJECT_ID({take!literal}, N'P') IS NOT NULL DROP PROCEDURE {take};
IF OBJECT_ID({settle!literal}, N'P') IS NOT NULL DROP PROCEDURE {settle};
IF OBJECT_ID({full!literal}, N'P') IS NOT NULL DROP PROCEDURE {full};
IF OBJECT_ID({memory!literal}, N'P') IS NOT NULL DROP PROCEDURE {memory};
IF OBJECT_ID({position!literal}, N'P') IS NOT NULL DROP PROCEDURE {position};
IF OBJECT_ID({draw!literal}, N'P') IS NOT NULL DROP PROCEDURE {draw};
DECLARE @statement nvarchar(max);
SET @statement = N'';
IF OBJECT_ID({readers!literal}, N'U') IS NOT NULL
    SELECT @statement = @statement
        + CASE o.type WHEN 'SO' THEN N'DROP SEQUENCE ' ELSE N'DROP TABLE ' END + r.pop_seq + N'; '
    FROM {readers} AS r
    JOIN sys.objects AS o ON o.object_id = OBJECT_ID(r.pop_seq);
EXEC (@statement);
IF OBJECT_ID({readers!literal}, N'U') IS NOT NULL DROP TABLE {readers};
IF OBJECT_ID({spare!literal}, N'U') IS NOT NULL DROP TABLE {spare};
IF OBJECT_ID({table!literal}, N'U') IS NOT NULL DROP TABLE {table};
DECLARE @drop nvarchar(max);
SET @drop = (
    SELECT CASE o.type WHEN 'SO' THEN N'DROP SEQUENCE ' ELSE N'DROP TABLE ' END + {push_seq!literal}
    FROM sys.objects AS o
    WHERE o.object_id = OBJECT_ID({push_seq!literal})
);
EXEC (@drop);
