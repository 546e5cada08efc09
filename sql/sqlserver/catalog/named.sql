-- An object of this database with this name that is not among "tables": a view, a synonym, a memory-optimized table and
-- so on, with its base objects, one row per base object. Upper and lower case are not distinguished.
-- :its_schema   its schema, '' if none was named
-- :its_name     its name
-- > named_schema  its schema
-- > named_name    its name
-- > visible       found without naming the schema
-- > kind          its kind, as in qmon/monitor/catalog/relation_kind.py
-- > place         target of a synonym outside this database; otherwise NULL
-- > made_schema   schema of its base object; NULL if there is none, or if it names none
-- > made_name     name of that
SELECT CAST(s.name AS nvarchar(128))                                                    AS named_schema,
       CAST(o.name AS nvarchar(128))                                                    AS named_name,
       CAST(CASE WHEN s.name = SCHEMA_NAME() THEN 1 ELSE 0 END AS bit)                  AS visible,
       CASE o.type WHEN N'V' THEN N'view'
                   WHEN N'SN' THEN N'synonym'
                   WHEN N'SQ' THEN N'queue of Service Broker'
                   WHEN N'SO' THEN N'sequence'
                   ELSE N'memory-optimized table' END                                                  AS kind,
       b.place                                                                          AS place,
       b.made_schema                                                                    AS made_schema,
       b.made_name                                                                      AS made_name
FROM sys.objects AS o
JOIN sys.schemas AS s ON s.schema_id = o.schema_id
OUTER APPLY (
    SELECT CAST(NULL AS nvarchar(300))                                                  AS place,
           CAST(u.TABLE_SCHEMA AS nvarchar(128))                                        AS made_schema,
           CAST(u.TABLE_NAME AS nvarchar(128))                                          AS made_name
    FROM INFORMATION_SCHEMA.VIEW_TABLE_USAGE AS u
    WHERE o.type = N'V'
      AND u.VIEW_SCHEMA COLLATE Latin1_General_BIN2 = s.name COLLATE Latin1_General_BIN2
      AND u.VIEW_NAME COLLATE Latin1_General_BIN2 = o.name COLLATE Latin1_General_BIN2
    UNION ALL
    SELECT CASE WHEN PARSENAME(y.base_object_name, 4) IS NOT NULL
                  OR PARSENAME(y.base_object_name, 3) <> DB_NAME()
                THEN CAST(y.base_object_name AS nvarchar(300)) END,
           CAST(PARSENAME(y.base_object_name, 2) AS nvarchar(128)),
           CAST(PARSENAME(y.base_object_name, 1) AS nvarchar(128))
    FROM sys.synonyms AS y
    WHERE y.object_id = o.object_id
) AS b
WHERE LOWER(o.name) = LOWER(CAST(:its_name AS nvarchar(128)))
  AND (:its_schema = N'' OR LOWER(s.name) = LOWER(CAST(:its_schema AS nvarchar(128))))
  AND s.name <> N'qmon'
  AND (o.type IN (N'V', N'SN', N'SQ', N'SO') OR OBJECTPROPERTY(o.object_id, N'TableIsMemoryOptimized') = 1)
ORDER BY s.name, o.name, b.made_schema, b.made_name
