-- The key columns of the usable ordered indexes of one table, one row per column, for servers that take no list of
-- tables.
-- :table_id      the table's object id
-- > table_id     as asked
-- > index_name   the index's name
-- > is_unique    no two rows have the same key
-- > is_primary   it is the primary key
-- > is_partial   it does not hold every row
-- > is_ordered   false where partitions divide it by another column than its first: in the order of its keys it is then read
--                only by a merge of all partitions
-- > position     1 is the leading column
-- > column_name  the column
-- > predicate    the filter of a filtered index, as SQL; otherwise NULL
SELECT i.object_id                                                                      AS table_id,
       CAST(i.name AS nvarchar(128))                                                    AS index_name,
       i.is_unique                                                                      AS is_unique,
       i.is_primary_key                                                                 AS is_primary,
       i.has_filter                                                                     AS is_partial,
       CAST(CASE WHEN EXISTS (
           SELECT 1 FROM sys.partitions AS n
           WHERE n.object_id = i.object_id AND n.index_id = i.index_id AND n.partition_number = 2
       ) AND EXISTS (
           SELECT 1 FROM sys.index_columns AS d
           WHERE d.object_id = i.object_id AND d.index_id = i.index_id AND d.partition_ordinal = 1 AND d.key_ordinal <> 1
       ) THEN 0 ELSE 1 END AS bit) AS is_ordered,
       CAST(k.key_ordinal AS int)                                                       AS position,
       CAST(c.name AS nvarchar(128))                                                    AS column_name,
       CAST(i.filter_definition AS nvarchar(4000))                                      AS predicate
FROM sys.indexes AS i
JOIN sys.index_columns AS k ON k.object_id = i.object_id AND k.index_id = i.index_id
JOIN sys.columns AS c ON c.object_id = k.object_id AND c.column_id = k.column_id
WHERE i.object_id = CAST(:table_id AS int)
  AND i.type IN (1, 2) AND i.is_disabled = 0 AND i.is_hypothetical = 0
  AND k.key_ordinal > 0
ORDER BY i.name, k.key_ordinal
