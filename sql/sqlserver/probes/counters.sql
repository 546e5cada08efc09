-- What the server has counted of one queue table since it last took it into memory, and the rows there are. Reads no table;
-- the id is given, since NULL would ask about every table there is. Counted is what was done, committed or not: a rollback
-- is not taken back. Needs VIEW DATABASE STATE (2022 and later: VIEW DATABASE PERFORMANCE STATE).
-- Where the state is part of the clustered key, popping moves the row, an insert and a delete to the server: the identity then
-- says how many of the inserts were pushes.
-- {state?}                 column: the state
-- :table_id                the table's object id
-- > table_id               as asked
-- > inserted               rows inserted
-- > updated                rows updated
-- > deleted                rows deleted
-- > hot_updated            always 0: not told apart
-- > live                   rows there are: each row written moves it, before its commit
-- > dead                   always 0: not known without reading the table
-- > modified_since_analyze always NULL: what was committed is not counted apart
-- > vacuums                always 0: ghosts are removed all the time
-- > analyzes               always 0: statistics are another thing here
-- > bytes                  size of the table
SELECT
    CAST(:table_id AS bigint) AS table_id,
    CASE WHEN m.pushed IS NULL THEN c.inserted ELSE m.pushed END AS inserted,
    CASE WHEN m.pushed IS NULL THEN c.updated ELSE c.updated + c.inserted - m.pushed END AS updated,
    CASE WHEN m.pushed IS NULL THEN c.deleted ELSE c.deleted - c.inserted + m.pushed END AS deleted,
    CAST(0 AS bigint) AS hot_updated,
    p.live,
    CAST(0 AS bigint) AS dead,
    CAST(NULL AS bigint) AS modified_since_analyze,
    CAST(0 AS bigint) AS vacuums,
    CAST(0 AS bigint) AS analyzes,
    b.bytes
FROM (
    SELECT
        CAST(SUM(s.leaf_insert_count) AS bigint) AS inserted,
        CAST(SUM(s.leaf_update_count) AS bigint) AS updated,
        CAST(SUM(s.leaf_delete_count + s.leaf_ghost_count) AS bigint) AS deleted
    FROM sys.dm_db_index_operational_stats(DB_ID(), COALESCE(CAST(:table_id AS int), -1), NULL, NULL) AS s
    WHERE s.index_id IN (0, 1)
) AS c
CROSS JOIN (
    SELECT CAST(COALESCE(SUM(r.rows), 0) AS bigint) AS live
    FROM sys.partitions AS r
    WHERE r.object_id = CAST(:table_id AS int)
        AND r.index_id IN (0, 1)
) AS p
CROSS JOIN (
    SELECT CAST(COALESCE(SUM(a.used_pages), 0) * 8192 AS bigint) AS bytes
    FROM sys.partitions AS r
    JOIN sys.allocation_units AS a ON a.container_id = r.hobt_id AND a.type IN (1, 3)
    WHERE r.object_id = CAST(:table_id AS int)
        AND r.index_id IN (0, 1)
) AS b
OUTER APPLY (
    SELECT CAST(IDENT_CURRENT(QUOTENAME(h.name) + N'.' + QUOTENAME(t.name)) AS bigint) AS pushed
    FROM sys.tables AS t
    JOIN sys.schemas AS h ON h.schema_id = t.schema_id
    JOIN sys.index_columns AS k ON k.object_id = t.object_id AND k.index_id = 1 AND k.key_ordinal > 0
    JOIN sys.columns AS o ON o.object_id = k.object_id AND o.column_id = k.column_id
    WHERE t.object_id = CAST(:table_id AS int)
        AND QUOTENAME(o.name) = {state?!literal}
) AS m
WHERE c.inserted IS NOT NULL
