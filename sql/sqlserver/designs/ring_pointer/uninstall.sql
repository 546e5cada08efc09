-- Drops a ring of pointers with its messages. Fails if a foreign key or a view with SCHEMABINDING depends on it.
-- Skips objects that are already dropped.
-- {table}          the ring; its key goes with it
-- {spare}          spare numbers
-- {data_0}         payloads
-- {data_1}         payloads
-- {data_2}         payloads
-- {data_3}         payloads
-- {push_seq}       sequence; a table if the server has no sequences
-- {pop_seq}        sequence; a table if the server has no sequences
-- {data}           view
-- {push}           procedure
-- {pop}            procedure
-- {repair}         procedure
-- {requeue_orphan} procedure
-- {fill_hole}      procedure
-- {take}           procedure
-- {settle}         procedure
-- {full}           procedure
-- {store}          procedure
-- {fetch}          procedure
-- {memory}         procedure
-- {position}       procedure
-- {draw}           procedure
IF OBJECT_ID({data!literal}, N'V') IS NOT NULL DROP VIEW {data};
IF OBJECT_ID({push!literal}, N'P') IS NOT NULL DROP PROCEDURE {push};
IF OBJECT_ID({pop!literal}, N'P') IS NOT NULL DROP PROCEDURE {pop};
IF OBJECT_ID({repair!literal}, N'P') IS NOT NULL DROP PROCEDURE {repair};
IF OBJECT_ID({requeue_orphan!literal}, N'P') IS NOT NULL DROP PROCEDURE {requeue_orphan};
IF OBJECT_ID({fill_hole!literal}, N'P') IS NOT NULL DROP PROCEDURE {fill_hole};
IF OBJECT_ID({take!literal}, N'P') IS NOT NULL DROP PROCEDURE {take};
IF OBJECT_ID({settle!literal}, N'P') IS NOT NULL DROP PROCEDURE {settle};
IF OBJECT_ID({full!literal}, N'P') IS NOT NULL DROP PROCEDURE {full};
IF OBJECT_ID({store!literal}, N'P') IS NOT NULL DROP PROCEDURE {store};
IF OBJECT_ID({fetch!literal}, N'P') IS NOT NULL DROP PROCEDURE {fetch};
IF OBJECT_ID({memory!literal}, N'P') IS NOT NULL DROP PROCEDURE {memory};
IF OBJECT_ID({position!literal}, N'P') IS NOT NULL DROP PROCEDURE {position};
IF OBJECT_ID({draw!literal}, N'P') IS NOT NULL DROP PROCEDURE {draw};
IF OBJECT_ID({data_3!literal}, N'U') IS NOT NULL DROP TABLE {data_3};
IF OBJECT_ID({data_2!literal}, N'U') IS NOT NULL DROP TABLE {data_2};
IF OBJECT_ID({data_1!literal}, N'U') IS NOT NULL DROP TABLE {data_1};
IF OBJECT_ID({data_0!literal}, N'U') IS NOT NULL DROP TABLE {data_0};
IF OBJECT_ID({spare!literal}, N'U') IS NOT NULL DROP TABLE {spare};
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
