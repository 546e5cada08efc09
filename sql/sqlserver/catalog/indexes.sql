-- The key columns of the usable ordered indexes of some tables, one row per column. The server adds the columns of the
-- clustered index to a nonclustered index that is not unique: these columns are also listed.
-- :tables        object ids, separated by commas
-- > table_id     the table's object id
-- > index_name   the index's name
-- > is_unique    no two rows have the same key
-- > is_primary   it is the primary key
-- > is_partial   it does not hold every row
-- > is_ordered   false where partitions divide it by another column than its first: in the order of its keys it is then read
--                only by a merge of all partitions
-- > position     1 is the leading column
-- > column_name  the column
-- > predicate    the filter of a filtered index, as SQL; otherwise NULL
WITH wanted AS (
    SELECT v.item.value('.', 'int') AS object_id
    FROM (
        SELECT CAST(N'<i>' + REPLACE(CAST(:tables AS nvarchar(max)), N',', N'</i><i>') + N'</i>' AS xml) AS list
    ) AS l
    CROSS APPLY l.list.nodes('/i') AS v(item)
),
keyed AS (
    SELECT k.object_id, k.index_id, k.column_id, CAST(k.key_ordinal AS int) AS place
    FROM sys.index_columns AS k
    JOIN wanted AS w ON w.object_id = k.object_id
    WHERE k.key_ordinal > 0
    UNION ALL
    SELECT i.object_id, i.index_id, k.column_id, 100 + k.key_ordinal
    FROM sys.indexes AS i
    JOIN wanted AS w ON w.object_id = i.object_id
    JOIN sys.index_columns AS k ON k.object_id = i.object_id AND k.index_id = 1 AND k.key_ordinal > 0
    WHERE i.type = 2 AND i.is_unique = 0
      AND NOT EXISTS (
          SELECT 1 FROM sys.index_columns AS own
          WHERE own.object_id = i.object_id AND own.index_id = i.index_id
            AND own.column_id = k.column_id AND own.key_ordinal > 0
      )
)
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
       CAST(ROW_NUMBER() OVER (PARTITION BY i.object_id, i.index_id ORDER BY k.place) AS int) AS position,
       CAST(c.name AS nvarchar(128))                                                    AS column_name,
       i.filter_definition                                                              AS predicate
FROM sys.indexes AS i
JOIN keyed AS k ON k.object_id = i.object_id AND k.index_id = i.index_id
JOIN sys.columns AS c ON c.object_id = k.object_id AND c.column_id = k.column_id
WHERE i.type IN (1, 2) AND i.is_disabled = 0 AND i.is_hypothetical = 0
ORDER BY i.object_id, i.name, k.place
